// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt what-if: repeats in the simulator what this node recorded, natively and with each
 * policy and mechanism.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine/ask.h"
#include "cli/table.h"
#include "load.h"
#include "rows.h"
#include "sim/json.h"
#include "sim/recorded.h"

enum { WAYS = 16, SPEC = GP_ROW_NAME * 2 };

/* A policy and a mechanism to try. */
struct way {
	const char *policy, *mechanism;
	char spec[SPEC];	/* of the row */
};

struct what_if {
	const struct gp_options *o;
	struct gp_history *h;
	struct gp_scenario *sc;
	struct gp_arrival *arrivals;
	u64 *recorded_ns;	/* durations of online periods, sorted */
	u64 nr_recorded, recorded_mean_ns;
	u32 fitted;		/* consecutive workgroups of an offline kernel; 0: not fitted */
	struct way way[WAYS];
	u32 nr_ways;
	const char *row[WAYS + 2];
};

static const struct {
	const char *mechanism, *row, *what;
} mechanisms[] = {
	{ "debug", "ours-debug", "gpreemptd, unmodified kernel" },
	{ "evict", "ours-evict", "kernel module" },
	{ "direct", "ours-direct", "kernel module, victims only" },
};

enum { NR_MECHANISMS = sizeof(mechanisms) / sizeof(*mechanisms) };

/* ---- what was recorded ---- */

static int in_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool is_server(const struct gp_history_seat *s)
{
	return gp_history_online(s) && !gp_history_always_busy(s) && s->nr;
}

static int collect_recorded(struct what_if *w)
{
	u64 sum = 0, nr = 0;

	for (u32 i = 0; i < w->h->nr; i++)
		nr += is_server(&w->h->seat[i]) ? w->h->seat[i].nr : 0;
	w->recorded_ns = calloc(nr ? nr : 1, sizeof(u64));
	if (!w->recorded_ns)
		return -ENOMEM;
	for (u32 i = 0; i < w->h->nr; i++) {
		const struct gp_history_seat *s = &w->h->seat[i];

		for (u32 k = 0; is_server(s) && k < s->nr; k++) {
			u64 ns = s->period[k].done_ns - s->period[k].at_ns;

			w->recorded_ns[w->nr_recorded++] = ns;
			sum += ns;
		}
	}
	qsort(w->recorded_ns, nr, sizeof(u64), in_order);
	w->recorded_mean_ns = nr ? sum / nr : 0;
	return 0;
}

static u64 recorded(const struct what_if *w, u32 permille)
{
	u64 rank = (w->nr_recorded * permille + 999) / 1000;

	return w->nr_recorded ? w->recorded_ns[rank ? rank - 1 : 0] : 0;
}

/* ---- the one number that is fitted ---- */

/* Returns the number of changed tasks. */
static u32 set_rounds(struct gp_scenario *sc, u32 rounds)
{
	u32 nr = 0;

	for (u32 i = 0; i < sc->nr_tasks; i++) {
		struct gp_task_spec *t = &sc->task[i];

		if (t->online || t->loop != GP_LOOP_CLOSED)
			continue;
		t->workgroup_ns = rounds > 1 ? t->kernel_ns.a_ns / rounds : 0;
		nr++;
	}
	return nr;
}

/* Stores the mean latency of a native run with @rounds workgroups in a row per offline kernel. */
static int native_mean(const struct what_if *w, u32 rounds, u64 *ret)
{
	struct gp_scenario *sc = malloc(sizeof(*sc));
	struct gp_run_args args = { .seed = w->o->seed };
	struct gp_result result;
	char why[256];
	int err = -ENOMEM;

	if (!sc)
		return err;
	*sc = *w->sc;
	set_rounds(sc, rounds);
	err = gp_row_apply(sc, "native", why, sizeof(why));
	if (!err)
		err = gp_run(sc, &args, &result, why, sizeof(why));
	if (!err) {
		*ret = result.online.mean;
		gp_result_fini(&result);
	}
	free(sc);
	return err;
}

/*
 * Finds how many workgroups in a row an offline kernel has. The queue pointers do not show how
 * long a workgroup keeps its slot, and native waiting times depend on little else. Chooses the
 * value whose native run is closest to the recording. The recording must not contain preemptions.
 */
static void fit(struct what_if *w)
{
	static const u32 rounds[] = { 1, 4, 16, 64 };
	u64 best = GP_NEVER;

	if (w->h->acted || !w->nr_recorded || w->o->nr_sets || !set_rounds(w->sc, 1))
		return;
	for (u32 i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		u64 mean, off;

		if (native_mean(w, rounds[i], &mean))
			return;
		off = mean > w->recorded_mean_ns ? mean - w->recorded_mean_ns :
						   w->recorded_mean_ns - mean;
		if (off < best) {
			best = off;
			w->fitted = rounds[i];
		}
	}
	set_rounds(w->sc, w->fitted);
}

/* ---- the ways ---- */

static void add_way(struct what_if *w, const char *policy, u32 m)
{
	struct way *way = &w->way[w->nr_ways];

	if (w->nr_ways == WAYS)
		return;
	way->policy = policy;
	way->mechanism = mechanisms[m].mechanism;
	snprintf(way->spec, sizeof(way->spec), "%s:policy.name=%s", mechanisms[m].row, policy);
	w->row[++w->nr_ways] = way->spec;
}

static bool reserves(const struct what_if *w)
{
	for (u32 i = 0; i < w->sc->nr_tasks; i++) {
		if (w->sc->task[i].class.period_ns)
			return true;
	}
	return false;
}

static bool is_asked(const struct what_if *w, const char *policy)
{
	if (w->o->policy)
		return !strcmp(w->o->policy, policy);
	return strcmp(policy, "fifo") && (strcmp(policy, "deadline") || reserves(w));
}

/* Plans the requested policies and mechanisms, by default each combination that could differ. */
static int plan(struct what_if *w)
{
	w->row[0] = "native";
	for (u32 m = 0; m < NR_MECHANISMS; m++) {
		if (w->o->mechanism && strcmp(w->o->mechanism, mechanisms[m].mechanism))
			continue;
		for (u32 p = 0; gp_policies[p]; p++) {
			if (is_asked(w, gp_policies[p]->name))
				add_way(w, gp_policies[p]->name, m);
		}
	}
	if (w->nr_ways)
		return GP_EXIT_OK;
	gp_error("what-if: no policy '%s' or mechanism '%s'; there are priority, fair, deadline, "
		 "fifo, and debug, evict, direct", w->o->policy ? w->o->policy : "any",
		 w->o->mechanism ? w->o->mechanism : "any");
	return GP_EXIT_BAD;
}

/* ---- telling ---- */

/* Returns offline work as a difference from native, in millionths of native. */
static s64 training(const struct gp_result *r, const struct gp_result *native)
{
	if (!native->offline_work_ns)
		return 0;
	return (s64)(r->offline_work_ns / (native->offline_work_ns / 1000000 + 1)) - 1000000;
}

static struct gp_text percent(s64 millionths)
{
	struct gp_text t;

	snprintf(t.s, sizeof(t.s), "%+.1f %%", (double)millionths / 1e4);
	return t;
}

static void print_history(const struct what_if *w)
{
	const struct gp_history *h = w->h;

	printf("recorded: %s, %" PRIu32 " GPU%s, looks at least every %s%s\n",
	       gp_duration(h->length_ns).s, h->gpus, h->gpus == 1 ? "" : "s",
	       gp_duration(h->resolution_ns).s,
	       h->acted ? "; a process was preempted meanwhile" : "");
	for (u32 i = 0; i < h->nr; i++) {
		const struct gp_history_seat *s = &h->seat[i];
		u64 life = s->to_ns - s->from_ns;

		if (!s->nr && !s->busy_ns)
			continue;
		printf("  %s (%" PRIu32 "), %s: ", *s->who.name ? s->who.name : "task",
		       s->who.pid ? s->who.pid : s->task, *s->who.class_name ? s->who.class_name :
		       gp_history_online(s) ? "online" : "offline");
		if (gp_history_always_busy(s))
			printf("always busy, %s a kernel\n", gp_time(gp_history_unit_ns(h, s)).s);
		else
			printf("%s requests, busy %" PRIu64 " %% of the time\n", gp_count(s->nr).s,
			       life ? s->busy_ns * 100 / life : 0);
	}
	if (w->nr_recorded)
		printf("  online requests took %s (median), %s (p99)\n",
		       gp_time(recorded(w, 500)).s, gp_time(recorded(w, 990)).s);
}

static void print_rows(const struct what_if *w, const struct gp_comparison *c)
{
	static const char *const head[] = { "policy", "mechanism", "p50", "p99", "training",
					    "preemptions", NULL };
	const struct gp_result *native = &c->row[0].result;
	struct gp_table t;

	gp_table_init(&t, head, 1 << 0 | 1 << 1);
	for (u32 i = 0; i < c->nr; i++) {
		const struct gp_result *r = &c->row[i].result;

		gp_table_row(&t, i ? GP_PLAIN : GP_BOLD);
		gp_table_cell(&t, i ? w->way[i - 1].policy : "none");
		gp_table_cell(&t, i ? w->way[i - 1].mechanism : "(native)");
		if (c->row[i].err) {
			gp_table_cell(&t, "not modelled");
			continue;
		}
		gp_table_cell(&t, gp_time(r->online.p50).s);
		gp_table_cell(&t, gp_time(r->online.p99).s);
		gp_table_cell(&t, i ? percent(training(r, native)).s : "");
		gp_table_cell(&t, gp_count(r->preemptions).s);
	}
	putchar('\n');
	gp_table_print(&t, stdout);
}

static void print_notes(const struct what_if *w)
{
	puts("\nassumed: kernels that fill the GPU; a busy time is one request; requests come\n"
	     "when they came, whatever was waited for; no more work than was recorded. Work\n"
	     "beside others takes what it took alone at other times, or in the fastest tenth.\n"
	     "The GPU is a virtual MI308X.");
	if (w->fitted)
		printf("fitted: offline kernels with %" PRIu32 " workgroups one after the other, "
		       "which natively\ncome closest to what was recorded.\n", w->fitted);
	else
		puts("not fitted: how long a workgroup of an offline kernel runs; it is taken\n"
		     "to be as long as the kernel: the native figures are the worst there are.");
	puts(GP_MODEL_NOTE);
}

static u64 p99_of(const struct gp_comparison *c, u32 row)
{
	return c->row[row].result.online.p99;
}

static void print_text(const struct what_if *w, const struct gp_comparison *c)
{
	const struct gp_result *native = &c->row[0].result;
	u32 best = 0;

	print_history(w);
	print_rows(w, c);
	putchar('\n');
	for (u32 i = 1; i < c->nr; i++) {
		if (!c->row[i].err && (!best || p99_of(c, i) < p99_of(c, best)))
			best = i;
	}
	if (!native->online.count)
		puts("no online process had gaps in its work: there is no latency to speak of");
	else if (best)
		printf("lowest p99: %s by %s, %s instead of %s natively, training %s\n",
		       w->way[best - 1].policy, w->way[best - 1].mechanism,
		       gp_time(p99_of(c, best)).s, gp_time(native->online.p99).s,
		       percent(training(&c->row[best].result, native)).s);
	print_notes(w);
}

static json_t *history_json(const struct what_if *w)
{
	json_t *processes = json_array();

	for (u32 i = 0; i < w->h->nr; i++) {
		const struct gp_history_seat *s = &w->h->seat[i];

		json_array_append_new(processes, json_pack(
			"{s:I, s:s, s:s, s:i, s:b, s:b, s:I, s:I, s:I, s:I}",
			"pid", (json_int_t)s->who.pid, "name", s->who.name, "class",
			s->who.class_name, "gpu", (int)s->device, "online", gp_history_online(s),
			"always_busy", gp_history_always_busy(s), "requests", (json_int_t)s->nr,
			"busy_ns", (json_int_t)s->busy_ns, "off_ns", (json_int_t)s->off_ns,
			"unit_ns", (json_int_t)gp_history_unit_ns(w->h, s)));
	}
	return json_pack("{s:I, s:I, s:i, s:b, s:I, s:I, s:I, s:o}", "length_ns",
			 (json_int_t)w->h->length_ns, "resolution_ns",
			 (json_int_t)w->h->resolution_ns, "gpus", (int)w->h->gpus, "acted",
			 w->h->acted, "requests", (json_int_t)w->nr_recorded, "p50_ns",
			 (json_int_t)recorded(w, 500), "p99_ns", (json_int_t)recorded(w, 990),
			 "processes", processes);
}

static int print_json(const struct what_if *w, const struct gp_comparison *c)
{
	json_t *ways = json_array(), *root = json_object();

	for (u32 i = 0; i < c->nr; i++) {
		const struct gp_result *r = &c->row[i].result;
		json_t *way = json_pack("{s:s, s:s}", "policy", i ? w->way[i - 1].policy : "none",
					"mechanism", i ? w->way[i - 1].mechanism : "native");

		if (c->row[i].err) {
			gp_json_put(way, "not_modelled", json_string(c->row[i].why));
		} else {
			json_t *figures = json_pack(
				"{s:I, s:I, s:I, s:I, s:f, s:I}", "requests",
				(json_int_t)r->online.count, "mean_ns", (json_int_t)r->online.mean,
				"p50_ns", (json_int_t)r->online.p50, "p99_ns",
				(json_int_t)r->online.p99, "training",
				(double)training(r, &c->row[0].result) / 1e6, "preemptions",
				(json_int_t)r->preemptions);

			json_object_update(way, figures);
			json_decref(figures);
		}
		json_array_append_new(ways, way);
	}
	gp_json_put(root, "note", json_string(GP_MODEL_NOTE));
	gp_json_put(root, "recorded", history_json(w));
	gp_json_put(root, "fitted_workgroups", json_integer(w->fitted));
	gp_json_put(root, "ways", ways);
	return gp_ask_print(w->o, root);
}

/* ---- life ---- */

/* Returns enum gp_exit. */
static int read_file(struct what_if *w)
{
	struct gp_tracefile_error err;
	struct gp_tracefile trace;
	int bad = gp_tracefile_open(w->o->file, &trace, &err);

	if (!bad) {
		bad = gp_history_read(&trace, &w->h, &err);
		gp_tracefile_close(&trace);
	}
	if (!bad)
		bad = gp_history_scenario(w->h, w->sc, &w->arrivals, &err);
	if (!bad)
		bad = collect_recorded(w);
	if (!bad)
		return GP_EXIT_OK;
	gp_error("%s: %s%s", w->o->file, bad == -ENOMEM ? "out of memory" : err.text,
		 strstr(w->o->file, ".pftrace") || strstr(w->o->file, ".json") ?
		 "; 'gpreempt record FILE.gptrace' makes one" : "");
	return GP_EXIT_BAD;
}

static int what_if(struct what_if *w)
{
	struct gp_compare_args args = { .scenario = w->sc, .seed = w->o->seed, .rows = w->row };
	struct gp_comparison c;
	int code = read_file(w);

	if (!code && gp_load_apply(w->o, w->sc))
		code = GP_EXIT_BAD;
	if (!code)
		code = plan(w);
	if (code)
		return code;
	fit(w);
	code = gp_compare_shown(w->o, &args, &c);
	if (code)
		return code;
	if (w->o->json)
		code = print_json(w, &c);
	else
		print_text(w, &c);
	gp_comparison_fini(&c);
	return code;
}

int gp_cmd_what_if(const struct gp_options *o)
{
	struct what_if *w = calloc(1, sizeof(*w));
	int code = GP_EXIT_FAILED;

	if (w)
		w->sc = calloc(1, sizeof(*w->sc));
	if (w && w->sc) {
		w->o = o;
		code = what_if(w);
		gp_history_free(w->h);
		free(w->arrivals);
		free(w->recorded_ns);
		free(w->sc);
	}
	free(w);
	return code;
}
