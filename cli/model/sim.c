// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt sim: runs one scenario in virtual time and checks its expectations. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/trace.h"
#include "load.h"
#include "results.h"
#include "rows.h"
#include "sim/compare.h"
#include "sim/expect.h"
#include "sim/json.h"

/* A run and the references that it is measured against. */
struct outcome {
	const struct gp_scenario *sc;
	struct gp_result result;
	struct gp_figures figures;
	bool measured;		/* @figures compare the run with each task running alone */
	u32 failed;		/* expectations */
	char failure[GP_SCENARIO_EXPECTS][512];	/* of each expectation; "" if it holds */
};

static int run(const struct gp_options *o, struct outcome *out)
{
	struct gp_run_args args = { .seed = o->seed, .invariants = o->check };
	struct gp_trace_out trace;
	char why[256] = "";
	int err;

	if (gp_trace_open(&trace, o->trace, GP_PERFETTO_VIRTUAL))
		return GP_EXIT_BAD;
	args.trace = trace.to;
	args.drawing = trace.drawing;
	err = gp_run(out->sc, &args, &out->result, why, sizeof(why));
	if (gp_trace_close(&trace, 0)) {
		if (!err)
			gp_result_fini(&out->result);
		return GP_EXIT_BAD;
	}
	if (err)
		gp_error("%s: %s", out->sc->name, *why ? why : strerror(-err));
	return !err ? GP_EXIT_OK : err == -EPROTO ? GP_EXIT_FAILED : GP_EXIT_BAD;
}

/* Measures the run against the same tasks alone if the options ask for it, by three more runs. */
static int measure(const struct gp_options *o, struct outcome *out)
{
	static const char *const none[] = { NULL };
	struct gp_compare_args args = {
		.scenario = out->sc, .seed = o->seed, .rows = none, .pool.width = o->jobs,
		.pool.progress = gp_progress_wanted(o->progress) ? gp_progress : NULL,
	};
	struct gp_comparison c = { 0 };
	struct gp_baseline base = { 0 };
	char why[256];
	int err;

	out->measured = o->json || gp_expect_needs_baseline(out->sc);
	if (out->measured) {
		err = gp_compare(&args, &c, why, sizeof(why));
		if (err) {
			gp_error("%s: %s", out->sc->name, why);
			return GP_EXIT_BAD;
		}
		base = gp_comparison_baseline(&c);
	}
	err = gp_figures(&out->result, &base, &out->figures);
	gp_comparison_fini(&c);
	if (err)
		gp_error("out of memory");
	return err ? GP_EXIT_BAD : GP_EXIT_OK;
}

static void check(struct outcome *out)
{
	for (u32 i = 0; i < out->sc->nr_expects; i++)
		out->failed += (u32)gp_expect_check(&out->sc->expect[i], &out->result,
						    &out->figures, out->failure[i],
						    sizeof(out->failure[0]));
}

static const char *name_of(const struct outcome *out, struct gp_label *label)
{
	*label = gp_label_of(out->sc);
	return label->s;
}

static int print_json(const struct gp_options *o, const struct outcome *out)
{
	json_t *failed = json_array(), *expects = json_array(), *head, *row;
	struct gp_label label;

	for (u32 i = 0; i < out->sc->nr_expects; i++) {
		const char *why = out->failure[i];

		json_array_append_new(expects, json_pack("{s:s, s:b, s:s}", "expects",
							 out->sc->expect[i].text, "holds", !*why,
							 "why", why));
		if (*why)
			json_array_append_new(failed, json_string(why));
	}
	head = gp_json_head(name_of(out, &label), o->seed);
	row = gp_json_row("sim", &out->result, &out->figures);
	json_object_update(head, row);
	json_decref(row);
	gp_json_put(head, "expectations", json_integer(out->sc->nr_expects));
	gp_json_put(head, "expectations_failed", failed);
	gp_json_put(head, "expects", expects);
	return gp_json_print(head, stdout);
}

static void print_tasks(const struct gp_result *r)
{
	static const char *const head[] = {
		"task", "role", "offered", "served", "mean", "p50", "p99", "max", "off for",
		"times", "longest", NULL,
	};
	struct gp_table t;

	gp_table_init(&t, head, 1 << 0 | 1 << 1);
	for (u32 i = 0; i < r->nr_tasks; i++) {
		const struct gp_task_result *k = &r->task[i];

		gp_table_row(&t, k->online ? GP_BOLD : GP_PLAIN);
		gp_table_cell(&t, k->name);
		gp_table_cell(&t, k->online ? "online" : "offline");
		gp_table_cell(&t, k->offered ? gp_count(k->offered).s : "-");
		gp_table_cell(&t, gp_count(k->offered ? k->served : k->kernels).s);
		gp_table_cell(&t, k->latency.count ? gp_time(k->latency.mean).s : "-");
		gp_table_cell(&t, k->latency.count ? gp_time(k->latency.p50).s : "-");
		gp_table_cell(&t, k->latency.count ? gp_time(k->latency.p99).s : "-");
		gp_table_cell(&t, k->latency.count ? gp_time(k->latency.max).s : "-");
		gp_table_cell(&t, gp_time(k->off_ns).s);
		gp_table_cell(&t, gp_count(k->preempted).s);
		gp_table_cell(&t, gp_time(k->longest_hold_ns).s);
	}
	gp_table_print(&t, stdout);
}

static void print_figures(const struct outcome *out)
{
	const struct gp_figures *f = &out->figures;

	if (!out->measured)
		return;
	putchar('\n');
	if (f->has_ratio)
		printf("online beside alone: mean x %.4f, p99 x %.4f\n", f->ratio_mean,
		       f->ratio_p99);
	if (f->saturated)
		printf("%ssaturated%s: %" PRIu64 " of %" PRIu64
		       " requests served, so there is no ratio\n",
		       gp_paint(GP_BAD), gp_paint(GP_PLAIN), out->result.served,
		       out->result.offered);
	if (f->has_added)
		printf("added per request: mean %s, p99 %s, max %s\n",
		       gp_time_signed(f->added.mean).s, gp_time_signed(f->added.p99).s,
		       gp_time_signed(f->added.max).s);
	if (f->has_goodput)
		printf("offline goodput: %.4f of what fits on the slots and time that are left\n",
		       f->goodput);
}

static void print_expectations(const struct outcome *out)
{
	u32 nr = out->sc->nr_expects;

	putchar('\n');
	for (u32 i = 0; i < nr; i++) {
		if (*out->failure[i])
			printf("%sFAILED%s %s\n", gp_paint(GP_BAD), gp_paint(GP_PLAIN),
			       out->failure[i]);
	}
	if (!nr)
		puts("the scenario expects nothing");
	else
		printf("%s%" PRIu32 " of %" PRIu32 " expectations hold%s\n",
		       gp_paint(out->failed ? GP_BAD : GP_GOOD), nr - out->failed, nr,
		       gp_paint(GP_PLAIN));
}

static void print_text(const struct gp_options *o, const struct outcome *out)
{
	struct gp_label label;

	gp_results_head(out->sc, name_of(out, &label), o->seed, o->seed);
	print_tasks(&out->result);
	gp_results_parts(&out->result);
	print_figures(out);
	print_expectations(out);
	if (o->trace)
		printf("wrote %s\n", o->trace);
}

static int sim(const struct gp_options *o, struct outcome *out)
{
	int code = run(o, out);

	if (code)
		return code;
	code = measure(o, out);
	if (!code) {
		check(out);
		if (!o->json)
			print_text(o, out);
		else if (print_json(o, out))
			code = GP_EXIT_BAD;
	}
	gp_result_fini(&out->result);
	return code ? code : out->failed ? GP_EXIT_FAILED : GP_EXIT_OK;
}

/* Changes @sc to the one row that --rows names. 0, or -EINVAL after one line on stderr. */
static int apply_row(const struct gp_options *o, struct gp_scenario *sc)
{
	struct gp_row_list list;
	char why[256];

	if (gp_row_list_read(&list, o))
		return -EINVAL;
	if (!list.row[0])
		return 0;
	if (list.row[1])
		snprintf(why, sizeof(why), "'%s' names several rows; sim runs one", o->rows);
	else if (!gp_row_apply(sc, list.row[0], why, sizeof(why)))
		return 0;
	gp_error("--rows: %s", why);
	return -EINVAL;
}

int gp_cmd_sim(const struct gp_options *o)
{
	static struct outcome out;
	struct gp_scenario *sc;
	int code;

	if (gp_load(o, &sc))
		return GP_EXIT_BAD;
	out.sc = sc;
	code = apply_row(o, sc) ? GP_EXIT_BAD : sim(o, &out);
	free(sc);
	return code;
}
