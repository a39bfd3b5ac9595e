// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt compare --robust: tests whether the order of the rows depends on assumed costs. Every
 * assumed cost is halved, kept and tripled.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "results.h"

/* Rows whose values differ by less than this share a place in the order. */
#define TIE	0.01

static const char *const scales[] = { "0.5", "1", "3" };
enum { NR_SCALES = sizeof(scales) / sizeof(*scales), RANKS_MAX = 128 };

/* The rows of one comparison, best p99 first. Rows that do not keep up come last. */
struct order {
	struct gp_comparison c;
	const struct gp_compared *rank[RANKS_MAX];
	u32 nr;
};

static int by_p99(const void *a, const void *b)
{
	const struct gp_compared *x = *(const struct gp_compared *const *)a;
	const struct gp_compared *y = *(const struct gp_compared *const *)b;

	if (x->figures.saturated != y->figures.saturated)
		return x->figures.saturated ? 1 : -1;
	if (x->result.online.p99 != y->result.online.p99)
		return x->result.online.p99 < y->result.online.p99 ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void rank(struct order *o)
{
	for (u32 i = 0; i < o->c.nr && o->nr < RANKS_MAX; i++) {
		const struct gp_compared *row = &o->c.row[i];

		/* A row without answers has no p99. */
		if (!row->err && (row->result.online.count || row->figures.saturated))
			o->rank[o->nr++] = row;
	}
	qsort(o->rank, o->nr, sizeof(*o->rank), by_p99);
}

/* True if @a comes before @b by more than a tie. */
static bool before(const struct gp_compared *a, const struct gp_compared *b)
{
	double x = (double)a->result.online.p99, y = (double)b->result.online.p99;

	if (a->figures.saturated || b->figures.saturated)
		return !a->figures.saturated;
	return x < y * (1 - TIE);
}

/* Adds to @list the pairs that change places between @a and @b. */
static void swaps(const struct order *a, const struct order *b, json_t *list)
{
	for (u32 i = 0; i < a->nr; i++) {
		for (u32 k = i + 1; k < a->nr; k++) {
			const char *first = a->rank[i]->name, *second = a->rank[k]->name;
			const struct gp_compared *x = gp_compared_find(&b->c, first);
			const struct gp_compared *y = gp_compared_find(&b->c, second);

			if (!x || !y || !before(a->rank[i], a->rank[k]) || !before(y, x))
				continue;
			json_array_append_new(list, json_pack("[s, s]", first, second));
		}
	}
}

static void print_orders(const struct order *orders)
{
	static const char *const head[] = {
		"place", "assumed x 0.5", "p99", "x 1", "p99", "x 3", "p99", NULL,
	};
	struct gp_table t;

	gp_table_init(&t, head, 1 << 1 | 1 << 3 | 1 << 5);
	for (u32 i = 0; i < orders[1].nr; i++) {
		gp_table_row(&t, gp_row_paint(orders[1].rank[i]));
		gp_table_cell(&t, gp_count(i + 1).s);
		for (int k = 0; k < NR_SCALES; k++) {
			const struct gp_compared *row = i < orders[k].nr ? orders[k].rank[i] : NULL;

			gp_table_cell(&t, row ? row->name : "");
			gp_table_cell(&t, !row ? "" : row->figures.saturated ? "saturated" :
				      gp_time(row->result.online.p99).s);
		}
	}
	gp_table_print(&t, stdout);
}

static void print_text(const struct gp_asked *asked, const struct order *orders, json_t *swapped)
{
	size_t i;
	json_t *pair;

	gp_results_head(asked->sc, asked->label.s, asked->o->seed, asked->o->seed);
	puts("rows by p99 of the online requests, with every assumed cost scaled:\n");
	print_orders(orders);
	if (!json_array_size(swapped)) {
		printf("\n%sthe order stays%s (rows closer than %.0f %% count as one place)\n",
		       gp_paint(GP_GOOD), gp_paint(GP_PLAIN), TIE * 100);
		return;
	}
	printf("\n%sthe order changes%s:\n", gp_paint(GP_BAD), gp_paint(GP_PLAIN));
	json_array_foreach(swapped, i, pair)
		printf("  %s and %s\n", json_string_value(json_array_get(pair, 0)),
		       json_string_value(json_array_get(pair, 1)));
}

static int print_json(const struct gp_asked *asked, const struct order *orders, json_t *swapped)
{
	json_t *root = gp_json_head(asked->label.s, asked->o->seed), *list = json_array();

	for (int k = 0; k < NR_SCALES; k++) {
		json_t *rows = json_array();

		for (u32 i = 0; i < orders[k].nr; i++) {
			const struct gp_compared *row = orders[k].rank[i];
			bool saturated = row->figures.saturated;

			json_array_append_new(rows, json_pack("{s:s, s:s, s:I}", "name", row->name,
				"state", saturated ? "saturated" : "ok",
				"p99", (json_int_t)row->result.online.p99));
		}
		json_array_append_new(list,
				      json_pack("{s:s, s:o}", "scale", scales[k], "order", rows));
	}
	gp_json_put(root, "scales", list);
	gp_json_put(root, "stays", json_boolean(!json_array_size(swapped)));
	gp_json_put(root, "swapped", json_incref(swapped));
	return gp_json_print(root, stdout);
}

static int run_scale(const struct gp_asked *asked, const char *scale, struct order *order)
{
	struct gp_scenario *sc = malloc(sizeof(*sc));
	struct gp_compare_args args = {
		.scenario = sc, .seed = asked->o->seed, .rows = asked->rows,
	};
	char err[256], what[64];
	int code = GP_EXIT_BAD;

	if (!sc)
		return GP_EXIT_BAD;
	*sc = *asked->sc;
	if (gp_scenario_set(sc, "costs.scale.assumed", scale, err, sizeof(err))) {
		gp_error("%s", err);
		goto free_sc;
	}
	snprintf(what, sizeof(what), "assumed x %s: ", scale);
	args.pool.ctx = what;
	code = gp_compare_shown(asked->o, &args, &order->c);
	if (!code)
		rank(order);

free_sc:
	free(sc);
	return code;
}

/* Runs all scales into @orders and adds to @swapped the pairs that change places. */
static int run_orders(const struct gp_asked *asked, struct order *orders, json_t *swapped)
{
	int code = orders ? GP_EXIT_OK : GP_EXIT_BAD;

	for (int i = 0; i < NR_SCALES && !code; i++)
		code = run_scale(asked, scales[i], &orders[i]);
	if (!code && !orders[1].nr) {
		gp_error("compare: no row has answered an online request, so there is no order: "
			 "give it more time with --length");
		code = GP_EXIT_BAD;
	}
	if (!code) {
		swaps(&orders[1], &orders[0], swapped);
		swaps(&orders[1], &orders[2], swapped);
	}
	return code;
}

static void free_orders(struct order *orders)
{
	for (int i = 0; orders && i < NR_SCALES; i++)
		gp_comparison_fini(&orders[i].c);
	free(orders);
}

int gp_compare_robust(const struct gp_asked *asked)
{
	struct order *orders = calloc(NR_SCALES, sizeof(*orders));
	json_t *swapped = json_array();
	int code = run_orders(asked, orders, swapped);

	if (!code) {
		if (!asked->o->json)
			print_text(asked, orders, swapped);
		else if (print_json(asked, orders, swapped))
			code = GP_EXIT_BAD;
		if (!code && json_array_size(swapped))
			code = GP_EXIT_FAILED;
	}
	free_orders(orders);
	json_decref(swapped);
	return code;
}
