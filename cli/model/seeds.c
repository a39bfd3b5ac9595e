// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt compare --seeds: prints the minimum, median and maximum over many seeds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "results.h"
#include "sim/closed.h"

struct figure {
	const char *name;	/* in JSON */
	const char *title;
	double unit;		/* divides the values for printing */
	int digits;
};

enum {
	RATIO_MEAN, RATIO_P99, ADDED_MEAN, ADDED_P99, ADDED_MAX, GOODPUT, TOTAL, PER_REQUEST,
	MONITOR, CLOSED, NR_FIGURES,
};

static const struct figure figures[NR_FIGURES] = {
	[RATIO_MEAN]	= { "ratio_mean", "x mean", 1, 4 },
	[RATIO_P99]	= { "ratio_p99", "x p99", 1, 4 },
	[ADDED_MEAN]	= { "added_mean", "+ mean us", 1e3, 1 },
	[ADDED_P99]	= { "added_p99", "+ p99 us", 1e3, 1 },
	[ADDED_MAX]	= { "added_max", "+ max us", 1e3, 1 },
	[GOODPUT]	= { "offline_goodput", "goodput", 1, 4 },
	[TOTAL]		= { "total_vs_native", "total", 1, 4 },
	[PER_REQUEST]	= { "preemptions_per_request", "preemptions per request", 1, 3 },
	[MONITOR]	= { "monitor_cpu", "monitor, % of a core", 0.01, 2 },
	[CLOSED]	= { "closed_form", "+ mean / closed form", 1, 4 },
};

/* The figures of one row with all seeds. */
struct spread {
	char name[GP_ROW_NAME];
	u32 runs, saturated, failed;
	u64 lost, doubled;
	u32 nr[NR_FIGURES];
	double *value[NR_FIGURES];
};

struct seeds {
	u32 max_runs;
	u32 nr;
	struct spread row[GP_ROWS_MAX * 2];
};

static struct spread *spread_of(struct seeds *s, const char *name)
{
	struct spread *row;

	for (u32 i = 0; i < s->nr; i++) {
		if (!strcmp(s->row[i].name, name))
			return &s->row[i];
	}
	if (s->nr == sizeof(s->row) / sizeof(*s->row))
		return NULL;
	row = &s->row[s->nr++];
	snprintf(row->name, sizeof(row->name), "%s", name);
	for (int i = 0; i < NR_FIGURES; i++) {
		row->value[i] = calloc(s->max_runs, sizeof(double));
		if (!row->value[i])
			abort();
	}
	return row;
}

static void add(struct spread *s, int figure, bool known, double value)
{
	if (known)
		s->value[figure][s->nr[figure]++] = value;
}

static void add_row(struct spread *s, const struct gp_scenario *sc, const struct gp_compared *row)
{
	const struct gp_figures *f = &row->figures;
	const struct gp_result *r = &row->result;
	struct gp_closed closed;

	s->runs++;
	s->saturated += f->saturated;
	s->lost += r->work_lost;
	s->doubled += r->work_doubled;
	add(s, RATIO_MEAN, f->has_ratio, f->ratio_mean);
	add(s, RATIO_P99, f->has_ratio, f->ratio_p99);
	add(s, ADDED_MEAN, f->has_added, (double)f->added.mean);
	add(s, ADDED_P99, f->has_added, (double)f->added.p99);
	add(s, ADDED_MAX, f->has_added, (double)f->added.max);
	add(s, GOODPUT, f->has_goodput, f->goodput);
	add(s, TOTAL, f->has_total, f->total_vs_native);
	add(s, PER_REQUEST, r->served,
	    (double)r->preemptions / (double)(r->served ? r->served : 1));
	add(s, MONITOR, true, f->monitor_cpu);
	if (f->has_added && !gp_closed_form(sc, row, &closed) && closed.added_ns)
		add(s, CLOSED, true, (double)f->added.mean / (double)closed.added_ns);
}

static void add_all(struct seeds *s, const struct gp_scenario *sc, const struct gp_comparison *c)
{
	for (u32 i = 0; i < c->nr; i++) {
		struct spread *row = spread_of(s, c->row[i].name);

		if (!row)
			continue;
		if (c->row[i].err) {
			gp_error("seed %" PRIu64 ", %s: %s", c->seed, c->row[i].name,
				 c->row[i].why);
			row->failed++;
		} else {
			add_row(row, sc, &c->row[i]);
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(struct seeds *s)
{
	for (u32 i = 0; i < s->nr; i++) {
		for (int k = 0; k < NR_FIGURES; k++)
			qsort(s->row[i].value[k], s->row[i].nr[k], sizeof(double), by_value);
	}
}

static double median(const struct spread *s, int figure)
{
	u32 n = s->nr[figure];

	return (s->value[figure][(n - 1) / 2] + s->value[figure][n / 2]) / 2;
}

static void print_row(const struct spread *s)
{
	static const char *const head[] = { "", "min", "median", "max", NULL };
	struct gp_table t;

	printf("%s%s%s: %" PRIu32 " runs, %" PRIu32 " saturated, %" PRIu64
	       " workgroups lost, %" PRIu64 " done twice\n",
	       gp_paint(gp_is_ours(s->name) ? GP_OURS : GP_BOLD), s->name, gp_paint(GP_PLAIN),
	       s->runs, s->saturated, s->lost, s->doubled);
	gp_table_init(&t, head, 1 << 0);
	for (int i = 0; i < NR_FIGURES; i++) {
		const struct figure *f = &figures[i];

		if (!s->nr[i])
			continue;
		gp_table_row(&t, GP_PLAIN);
		gp_table_cell(&t, f->title);
		gp_table_cell(&t, gp_fraction(true, s->value[i][0] / f->unit, f->digits).s);
		gp_table_cell(&t, gp_fraction(true, median(s, i) / f->unit, f->digits).s);
		gp_table_cell(&t,
			      gp_fraction(true, s->value[i][s->nr[i] - 1] / f->unit, f->digits).s);
	}
	gp_table_print(&t, stdout);
	putchar('\n');
}

static int print_json(const struct gp_asked *asked, const struct seeds *s)
{
	json_t *root = gp_json_head(asked->label.s, asked->o->seed), *rows = json_array();

	gp_json_put(root, "last_seed", json_integer((json_int_t)asked->o->last_seed));
	for (u32 i = 0; i < s->nr; i++) {
		const struct spread *row = &s->row[i];
		json_t *o = json_pack("{s:s, s:i, s:i, s:i, s:I, s:I}", "name", row->name,
				      "runs", (int)row->runs, "saturated", (int)row->saturated,
				      "not_run", (int)row->failed,
				      "work_lost", (json_int_t)row->lost,
				      "work_doubled", (json_int_t)row->doubled);

		for (int k = 0; k < NR_FIGURES; k++) {
			json_t *f = json_object();

			if (!row->nr[k]) {
				json_decref(f);
				gp_json_put(o, figures[k].name, json_null());
				continue;
			}
			gp_json_put(f, "min", gp_json_fraction(true, row->value[k][0]));
			gp_json_put(f, "median", gp_json_fraction(true, median(row, k)));
			gp_json_put(f, "max",
				    gp_json_fraction(true, row->value[k][row->nr[k] - 1]));
			gp_json_put(o, figures[k].name, f);
		}
		json_array_append_new(rows, o);
	}
	gp_json_put(root, "rows", rows);
	return gp_json_print(root, stdout);
}

static int run_all(const struct gp_asked *asked, struct seeds *s)
{
	const struct gp_options *o = asked->o;

	for (u64 seed = o->seed; seed - o->seed < s->max_runs; seed++) {
		struct gp_compare_args args = {
			.scenario = asked->sc, .seed = seed, .rows = asked->rows,
		};
		struct gp_comparison c;
		char what[48];
		int code;

		snprintf(what, sizeof(what), "seed %" PRIu64 ": ", seed);
		args.pool.ctx = what;
		code = gp_compare_shown(o, &args, &c);
		if (code)
			return code;
		add_all(s, asked->sc, &c);
		gp_comparison_fini(&c);
	}
	sort(s);
	return GP_EXIT_OK;
}

int gp_compare_seeds(const struct gp_asked *asked)
{
	struct seeds *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return GP_EXIT_BAD;
	s->max_runs = (u32)(asked->o->last_seed - asked->o->seed + 1);
	code = run_all(asked, s);
	if (!code && asked->o->json) {
		code = print_json(asked, s) ? GP_EXIT_BAD : GP_EXIT_OK;
	} else if (!code) {
		gp_results_head(asked->sc, asked->label.s, asked->o->seed, asked->o->last_seed);
		for (u32 i = 0; i < s->nr; i++)
			print_row(&s->row[i]);
	}
	for (u32 i = 0; i < s->nr; i++) {
		for (int k = 0; k < NR_FIGURES; k++)
			free(s->row[i].value[k]);
	}
	free(s);
	return code;
}
