// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A comparison as JSON: every row, the closed form, and where another row beats ours. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "results.h"
#include "sim/closed.h"

/* ---- distributions ---- */

/* In thousandths, denser in the tail. */
static const u16 quantiles[] = {
	0, 10, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850,
	900, 925, 950, 960, 970, 980, 985, 990, 992, 994, 996, 998, 999, 1000,
};
enum { NR_QUANTILES = sizeof(quantiles) / sizeof(*quantiles) };

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Returns the latency at each quantile. An unserved request counts as the slowest and is null. */
static json_t *distribution(const struct gp_result *r)
{
	u64 n = r->nr_requests, unserved = 0;
	u64 *sorted = malloc((n + 1) * sizeof(*sorted));
	json_t *list = json_array();

	if (!sorted)
		return list;
	if (n)
		memcpy(sorted, r->request_ns, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	while (unserved < n && !sorted[unserved])
		unserved++;
	for (u32 i = 0; i < NR_QUANTILES && n; i++) {
		u64 at = (n - 1) * quantiles[i] / 1000 + unserved;

		json_array_append_new(list, at < n ? json_integer((json_int_t)sorted[at]) :
						     json_null());
	}
	free(sorted);
	return list;
}

static json_t *quantile_list(void)
{
	json_t *list = json_array();

	for (u32 i = 0; i < NR_QUANTILES; i++)
		json_array_append_new(list, gp_json_fraction(true, quantiles[i] / 1000.0));
	return list;
}

/* ---- rows ---- */

static json_t *row_json(const struct gp_compared *row)
{
	json_t *o = gp_json_row(row->name, &row->result, &row->figures);

	gp_json_put(o, "what", json_string(row->what));
	gp_json_put(o, "spec", json_string(row->spec));
	gp_json_put(o, "cdf", distribution(&row->result));
	return o;
}

/* Returns the online tasks alone, against which all rows are measured. */
static json_t *alone(const struct gp_result *r)
{
	json_t *o = json_pack("{s:I}", "p99", (json_int_t)r->online.p99);

	gp_json_put(o, "gpu_share",
		    gp_json_fraction(r->length_ns, (double)r->online_busy_ns /
				     (double)r->length_ns));
	return o;
}

static json_t *closed_form(const struct gp_scenario *sc, const struct gp_compared *row)
{
	struct gp_closed f;
	json_t *o;

	if (!row || !row->figures.has_added || gp_closed_form(sc, row, &f))
		return json_null();
	o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		      "name", row->name,
		      "poll", (json_int_t)f.poll_ns, "wake", (json_int_t)f.wake_ns,
		      "decide", (json_int_t)f.decide_ns, "command", (json_int_t)f.command_ns,
		      "grace", (json_int_t)f.grace_ns, "save", (json_int_t)f.save_ns,
		      "runlist", (json_int_t)f.runlist_ns, "map", (json_int_t)f.map_ns,
		      "sum", (json_int_t)f.sum_ns, "added", (json_int_t)f.added_ns,
		      "simulated", (json_int_t)row->figures.added.mean);
	gp_json_put(o, "victim_on", gp_json_fraction(true, f.victim_on));
	gp_json_put(o, "simulated_of_form",
		    gp_json_fraction(true, (double)row->figures.added.mean / (double)f.added_ns));
	return o;
}

/* ---- where another row is better ---- */

static json_t *metric(const struct gp_beaten *v)
{
	json_t *o = json_object(), *others = json_array();

	gp_json_put(o, "name", json_string(v->metric));
	gp_json_put(o, "unit", json_string(v->unit));
	gp_json_put(o, "best_of_ours", v->best ? json_string(v->best->name) : json_null());
	gp_json_put(o, "ours", gp_json_fraction(v->best, v->ours));
	gp_json_put(o, "with_hints", gp_json_fraction(v->has_hinted, v->hinted));
	for (u32 i = 0; i < v->nr; i++) {
		json_t *other = json_object();

		gp_json_put(other, "name", json_string(v->row[i]->name));
		gp_json_put(other, "what", json_string(v->row[i]->what));
		gp_json_put(other, "value", gp_json_fraction(true, v->value[i]));
		gp_json_put(other, "saturated", json_boolean(v->row[i]->figures.saturated));
		json_array_append_new(others, other);
	}
	gp_json_put(o, "better", others);
	return o;
}

static json_t *metrics(const struct gp_comparison *c)
{
	json_t *list = json_array();
	struct gp_beaten v;

	for (u32 i = 0; i < GP_BEATEN_METRICS; i++) {
		gp_beaten_by(c, i, &v);
		json_array_append_new(list, metric(&v));
	}
	return list;
}

json_t *gp_compare_json(const struct gp_scenario *sc, const struct gp_comparison *c)
{
	struct gp_label label = gp_label_of(sc);
	json_t *root = gp_json_head(label.s, c->seed), *rows = json_array(), *failed = json_array();

	for (u32 i = 0; i < c->nr; i++) {
		const struct gp_compared *row = &c->row[i];

		if (row->err)
			json_array_append_new(failed, json_pack("{s:s, s:s}", "name", row->name,
								"why", row->why));
		else
			json_array_append_new(rows, row_json(row));
	}
	gp_json_put(root, "length", json_integer((json_int_t)sc->length_ns));
	gp_json_put(root, "quantiles", quantile_list());
	gp_json_put(root, "alone", alone(&c->alone));
	gp_json_put(root, "rows", rows);
	gp_json_put(root, "not_run", failed);
	gp_json_put(root, "closed_form", closed_form(sc, gp_compared_find(c, "ours-evict")));
	gp_json_put(root, "better", metrics(c));
	return root;
}
