// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Computes where another row is better than gpreempt's own rows. A server that announces its
 * requests helps every design. Rows that know of requests ahead are therefore compared with
 * ours-hint, all other rows with the best own row without hints.
 */
#include "results.h"

#include <string.h>

enum { SHOWN = 4 };

struct metric {
	const char *name;
	const char *unit;
	bool more_is_better;
	/* returns false if the row has no such figure */
	bool (*of)(const struct gp_compared *row, double *ret);
	struct gp_text (*text)(double value);
};

static bool added_mean(const struct gp_compared *row, double *ret)
{
	*ret = (double)row->figures.added.mean;
	return row->figures.has_added && !row->figures.saturated;
}

static bool added_p99(const struct gp_compared *row, double *ret)
{
	*ret = (double)row->figures.added.p99;
	return row->figures.has_added && !row->figures.saturated;
}

static bool worst(const struct gp_compared *row, double *ret)
{
	*ret = (double)row->result.online.max;
	return row->result.online.count && !row->figures.saturated;
}

static bool goodput(const struct gp_compared *row, double *ret)
{
	*ret = row->figures.goodput;
	return row->figures.has_goodput;
}

static bool total(const struct gp_compared *row, double *ret)
{
	*ret = row->figures.total_vs_native;
	return row->figures.has_total;
}

static bool processor(const struct gp_compared *row, double *ret)
{
	*ret = row->figures.monitor_cpu;
	return true;
}

static struct gp_text as_added(double ns)
{
	return gp_time_signed((s64)ns);
}

static struct gp_text as_time(double ns)
{
	return gp_time((u64)ns);
}

static struct gp_text as_fraction(double value)
{
	return gp_fraction(true, value, 3);
}

static const struct metric metrics[] = {
	{ "mean added latency", "ns", false, added_mean, as_added },
	{ "p99 added latency", "ns", false, added_p99, as_added },
	{ "worst latency", "ns", false, worst, as_time },
	{ "offline goodput", "fraction", true, goodput, as_fraction },
	{ "total work", "fraction", true, total, as_fraction },
	{ "processor time", "fraction", false, processor, gp_percent },
};

static_assert(sizeof(metrics) / sizeof(*metrics) == GP_BEATEN_METRICS, "a metric is not counted");

/*
 * True for a row to compare with. The rows `alone` and `offline-alone` run half of the work, and
 * `bound` is not a real method.
 */
static bool competes(const struct gp_compared *row)
{
	return !row->err && !gp_is_ours(row->name) && strcmp(row->name, "alone") &&
	       strcmp(row->name, "offline-alone") && strncmp(row->name, "bound", 5);
}

static bool better(const struct metric *m, double a, double b)
{
	double margin = 0.01 * (b < 0 ? -b : b);

	return m->more_is_better ? a > b + margin : a < b - margin;
}

#define HINTED	"ours-hint"

static const struct gp_compared *best_of_ours(const struct gp_comparison *c, const struct metric *m,
					      double *ret)
{
	const struct gp_compared *best = NULL;
	double value;

	for (u32 i = 0; i < c->nr; i++) {
		const struct gp_compared *row = &c->row[i];

		if (row->err || !gp_is_ours(row->name) || !strcmp(row->name, HINTED) ||
		    !m->of(row, &value))
			continue;
		if (!best || (m->more_is_better ? value > *ret : value < *ret)) {
			best = row;
			*ret = value;
		}
	}
	return best;
}

bool gp_beaten_by(const struct gp_comparison *c, u32 metric, struct gp_beaten *v)
{
	const struct metric *m = &metrics[metric];
	const struct gp_compared *hinted = gp_compared_find(c, HINTED);
	double value;

	memset(v, 0, sizeof(*v));
	v->metric = m->name;
	v->unit = m->unit;
	v->best = best_of_ours(c, m, &v->ours);
	v->has_hinted = hinted && m->of(hinted, &v->hinted);
	for (u32 i = 0; v->best && i < c->nr && v->nr < GP_BEATEN_ROWS; i++) {
		const struct gp_compared *row = &c->row[i];

		bool ahead = v->has_hinted && gp_row_is_ahead(row->name);

		if (!competes(row) || !m->of(row, &value) ||
		    !better(m, value, ahead ? v->hinted : v->ours))
			continue;
		v->row[v->nr] = row;
		v->value[v->nr++] = value;
	}
	v->has_hinted = v->has_hinted && better(m, v->hinted, v->ours);
	return v->nr;
}

/* Returns whether another row is better. */
static bool print_metric(const struct gp_comparison *c, u32 metric)
{
	const struct metric *m = &metrics[metric];
	struct gp_beaten v;

	if (!gp_beaten_by(c, metric, &v))
		return false;
	printf("  %-18s  ", m->name);
	for (u32 i = 0; i < v.nr && i < SHOWN; i++)
		printf("%s%s %s%s", i ? ", " : "", v.row[i]->name, m->text(v.value[i]).s,
		       v.row[i]->figures.saturated ? " (saturated)" : "");
	if (v.nr > SHOWN)
		printf(" and %u more", v.nr - SHOWN);
	printf("; ours at best %s %s", v.best->name, m->text(v.ours).s);
	if (v.has_hinted)
		printf(", with hints %s", m->text(v.hinted).s);
	putchar('\n');
	return true;
}

void gp_results_verdict(const struct gp_comparison *c)
{
	bool any = false, ours = false, others = false;

	for (u32 i = 0; i < c->nr; i++) {
		ours |= !c->row[i].err && gp_is_ours(c->row[i].name);
		others |= competes(&c->row[i]);
	}
	if (!ours || !others)
		return;
	printf("%swhere another row is better than the best of ours%s (by more than 1 %%):\n",
	       gp_paint(GP_BOLD), gp_paint(GP_PLAIN));
	for (u32 i = 0; i < GP_BEATEN_METRICS; i++)
		any |= print_metric(c, i);
	if (!any)
		puts("  nowhere");
}
