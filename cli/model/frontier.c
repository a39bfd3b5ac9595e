// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt compare --frontier: shows how much offline work each microsecond of latency costs. The
 * learnt linger follows from the observed gaps and a price of latency. Rows with a fixed linger
 * show what a manual setting achieves.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "results.h"

/* A fixed linger counts as better only beyond this margin. */
#define MARGIN	0.02

static const struct {
	const char *name;
	const char *spec;
	bool fixed;
} points[] = {
	{ "learnt, weight 0", "ours-evict:policy.latency_weight=0", false },
	{ "learnt, weight 1", "ours-evict:policy.latency_weight=1", false },
	{ "learnt, weight 2", "ours-evict:policy.latency_weight=2", false },
	{ "learnt, weight 5", "ours-evict:policy.latency_weight=5", false },
	{ "learnt, weight 10", "ours-evict:policy.latency_weight=10", false },
	{ "learnt, weight 20", "ours-evict:policy.latency_weight=20", false },
	{ "learnt, weight 50", "ours-evict:policy.latency_weight=50", false },
	{ "learnt, weight 100", "ours-evict:policy.latency_weight=100", false },
	{ "ski rental", "ours-evict:policy.linger=ski", true },
	{ "fixed 0", "ours-evict:policy.linger=0", true },
	{ "fixed 50 us", "ours-evict:policy.linger=50us", true },
	{ "fixed 100 us", "ours-evict:policy.linger=100us", true },
	{ "fixed 200 us", "ours-evict:policy.linger=200us", true },
	{ "fixed 500 us", "ours-evict:policy.linger=500us", true },
	{ "fixed 1 ms", "ours-evict:policy.linger=1ms", true },
	{ "fixed 2 ms", "ours-evict:policy.linger=2ms", true },
};

enum { NR_POINTS = sizeof(points) / sizeof(*points) };

static double added_of(const struct gp_compared *row)
{
	return (double)row->figures.added.mean;
}

/* True if @a is at least as good as @b in both figures and better in one by more than @margin. */
static bool dominates(const struct gp_compared *a, const struct gp_compared *b, double margin)
{
	const struct gp_figures *f = &a->figures, *g = &b->figures;

	if (added_of(a) > added_of(b) || f->goodput < g->goodput)
		return false;
	return added_of(a) < added_of(b) * (1 - margin) || f->goodput > g->goodput * (1 + margin);
}

/* Returns the first point that dominates @i, or -1. */
static int dominator(const struct gp_comparison *c, int i)
{
	for (int k = 0; k < NR_POINTS; k++) {
		if (k != i && dominates(&c->row[k], &c->row[i], 0))
			return k;
	}
	return -1;
}

/* True if a learnt point is at least as good as @fixed in both figures. */
static bool matched(const struct gp_comparison *c, int fixed)
{
	for (int i = 0; i < NR_POINTS; i++) {
		if (!points[i].fixed && added_of(&c->row[i]) <= added_of(&c->row[fixed]) &&
		    c->row[i].figures.goodput >= c->row[fixed].figures.goodput)
			return true;
	}
	return false;
}

/*
 * Returns a learnt point that a fixed one, *@by, dominates by more than the margin, or -1.
 * Ignores a fixed point that another learnt point matches, because a user can choose that learnt
 * point instead.
 */
static int beaten(const struct gp_comparison *c, int *by)
{
	for (*by = 0; *by < NR_POINTS; ++*by) {
		if (!points[*by].fixed || matched(c, *by))
			continue;
		for (int i = 0; i < NR_POINTS; i++) {
			if (!points[i].fixed && dominates(&c->row[*by], &c->row[i], MARGIN))
				return i;
		}
	}
	return -1;
}

/* Prints the learnt settings that are worse than a fixed linger. */
static void print_poor_settings(const struct gp_comparison *c)
{
	for (int i = 0; i < NR_POINTS; i++) {
		for (int k = 0; !points[i].fixed && k < NR_POINTS; k++) {
			if (points[k].fixed && matched(c, k) &&
			    dominates(&c->row[k], &c->row[i], MARGIN))
				printf("but %s is better than %s, and %s\n", points[k].name,
				       points[i].name, "another weight of ours as good");
		}
	}
}

static double per_request(const struct gp_result *r)
{
	return r->served ? (double)r->preemptions / (double)r->served : 0;
}

static void print_text(const struct gp_asked *asked, const struct gp_comparison *c)
{
	static const char *const head[] = { "linger", "+ mean", "+ p99", "goodput",
					    "preemptions per request", "", NULL };
	int loser, by;
	struct gp_table t;

	gp_results_head(asked->sc, asked->label.s, c->seed, c->seed);
	gp_table_init(&t, head, 1 << 0 | 1 << 5);
	for (int i = 0; i < NR_POINTS; i++) {
		const struct gp_compared *row = &c->row[i];
		const struct gp_result *r = &row->result;
		char note[64] = "";

		by = dominator(c, i);
		if (by >= 0)
			snprintf(note, sizeof(note), "dominated by %s", points[by].name);
		gp_table_row(&t, by >= 0 ? GP_DIM : points[i].fixed ? GP_PLAIN : GP_OURS);
		gp_table_cell(&t, points[i].name);
		gp_table_cell(&t, gp_time_signed(row->figures.added.mean).s);
		gp_table_cell(&t, gp_time_signed(row->figures.added.p99).s);
		gp_table_cell(&t, gp_fraction(row->figures.has_goodput, row->figures.goodput, 4).s);
		gp_table_cell(&t, gp_fraction(r->served, per_request(r), 2).s);
		gp_table_cell(&t, note);
	}
	gp_table_print(&t, stdout);
	loser = beaten(c, &by);
	if (loser >= 0)
		printf("\n%sa fixed linger dominates ours by more than %.0f %%%s: %s beats %s\n",
		       gp_paint(GP_BAD), MARGIN * 100, gp_paint(GP_PLAIN), points[by].name,
		       points[loser].name);
	else
		printf("\n%sno fixed linger dominates ours by more than %.0f %%%s\n",
		       gp_paint(GP_GOOD), MARGIN * 100, gp_paint(GP_PLAIN));
	print_poor_settings(c);
}

static json_t *as_json(const struct gp_asked *asked, const struct gp_comparison *c)
{
	json_t *root = gp_json_head(asked->label.s, c->seed), *list = json_array();
	int by;

	for (int i = 0; i < NR_POINTS; i++) {
		const struct gp_compared *row = &c->row[i];
		json_t *o = json_object();

		by = dominator(c, i);
		gp_json_put(o, "name", json_string(points[i].name));
		gp_json_put(o, "fixed", json_boolean(points[i].fixed));
		gp_json_put(o, "added_mean", json_integer(row->figures.added.mean));
		gp_json_put(o, "added_p99", json_integer(row->figures.added.p99));
		gp_json_put(o, "offline_goodput", gp_json_fraction(row->figures.has_goodput,
								   row->figures.goodput));
		gp_json_put(o, "preemptions", json_integer((json_int_t)row->result.preemptions));
		gp_json_put(o, "served", json_integer((json_int_t)row->result.served));
		gp_json_put(o, "dominated_by", by < 0 ? json_null() : json_string(points[by].name));
		json_array_append_new(list, o);
	}
	gp_json_put(root, "points", list);
	gp_json_put(root, "fixed_dominates", json_boolean(beaten(c, &by) >= 0));
	return root;
}

static int finish(const struct gp_asked *asked, const struct gp_comparison *c)
{
	int by;

	if (!asked->o->json)
		print_text(asked, c);
	else if (gp_json_print(as_json(asked, c), stdout))
		return GP_EXIT_BAD;
	return beaten(c, &by) >= 0 ? GP_EXIT_FAILED : GP_EXIT_OK;
}

static int run_points(const struct gp_asked *asked, struct gp_comparison *c)
{
	const char *rows[NR_POINTS + 1] = { NULL };
	struct gp_compare_args args = {
		.scenario = asked->sc, .seed = asked->o->seed, .rows = rows,
	};
	int code;

	for (int i = 0; i < NR_POINTS; i++)
		rows[i] = points[i].spec;
	code = gp_compare_shown(asked->o, &args, c);
	for (u32 i = 0; !code && i < c->nr; i++) {
		if (!c->row[i].err)
			continue;
		gp_error("%s: %s", points[i].name, c->row[i].why);
		gp_comparison_fini(c);
		return GP_EXIT_BAD;
	}
	return code;
}

int gp_compare_frontier(const struct gp_asked *asked)
{
	struct gp_comparison c;
	int code = run_points(asked, &c);

	if (code)
		return code;
	code = finish(asked, &c);
	gp_comparison_fini(&c);
	return code;
}
