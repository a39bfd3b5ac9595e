// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a row of a comparison means. */
#include "figures.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return (x > y) - (x < y);
}

/* Nearest rank: the smallest value that at least @percent of all do not exceed. */
static s64 quantile(const s64 *sorted, u64 n, u64 percent)
{
	return sorted[(n * percent + 99) / 100 - 1];
}

static struct gp_added spread_of(s64 *values, u64 n)
{
	struct gp_added a = { .count = n };
	s64 sum = 0;

	qsort(values, n, sizeof(*values), by_value);
	for (u64 i = 0; i < n; i++)
		sum += values[i];
	a.mean = sum / (s64)n;
	a.p50 = quantile(values, n, 50);
	a.p99 = quantile(values, n, 99);
	a.max = values[n - 1];
	return a;
}

/*
 * Arrivals are common to all rows, so request i is the same request in both.
 * One that was never answered has no latency and is left out; `saturated` is
 * where that shows.
 */
static int add_added(const struct gp_result *r, const struct gp_result *alone,
		     struct gp_figures *f)
{
	u64 n = r->nr_requests < alone->nr_requests ? r->nr_requests : alone->nr_requests;
	u64 kept = 0;
	s64 *values;

	if (!n)
		return 0;
	values = malloc(n * sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (u64 i = 0; i < n; i++) {
		if (r->request_ns[i] && alone->request_ns[i])
			values[kept++] = (s64)(r->request_ns[i] - alone->request_ns[i]);
	}
	if (kept) {
		f->added = spread_of(values, kept);
		f->has_added = true;
	}
	free(values);
	return 0;
}

static void add_ratio(const struct gp_result *r, const struct gp_result *alone,
		      struct gp_figures *f)
{
	if (f->saturated || !r->online.count || !alone->online.mean || !alone->online.p99)
		return;
	f->has_ratio = true;
	f->ratio_mean = (double)r->online.mean / (double)alone->online.mean;
	f->ratio_p99 = (double)r->online.p99 / (double)alone->online.p99;
}

/* GPU by GPU: a server on one of them leaves all of the others. */
static void add_goodput(const struct gp_result *r, const struct gp_baseline *base,
			struct gp_figures *f)
{
	const struct gp_result *off = base->offline_alone;
	double fits = 0;

	if (!off || !off->length_ns)
		return;
	for (u32 g = 0; g < off->nr_gpus; g++) {
		u64 busy = base->alone ? base->alone->gpu[g].online_busy_ns : 0;

		if (busy < r->length_ns)
			fits += (double)off->gpu[g].offline_work_ns / (double)off->length_ns *
				(double)(r->length_ns - busy);
	}
	if (fits <= 0)
		return;
	f->goodput = (double)r->offline_work_ns / fits;
	f->has_goodput = true;
}

static void add_total(const struct gp_result *r, const struct gp_result *native,
		      struct gp_figures *f)
{
	u64 all = native->online_work_ns + native->offline_work_ns;

	if (!all)
		return;
	f->total_vs_native = (double)(r->online_work_ns + r->offline_work_ns) / (double)all;
	f->has_total = true;
}

int gp_figures(const struct gp_result *r, const struct gp_baseline *base,
	       struct gp_figures *ret)
{
	struct gp_figures f = { .saturated = r->served * 100 < r->offered * 99 };

	if (r->length_ns)
		f.monitor_cpu = (double)r->monitor_cpu_ns / (double)r->length_ns;
	if (base->alone) {
		if (add_added(r, base->alone, &f))
			return -ENOMEM;
		add_ratio(r, base->alone, &f);
	}
	add_goodput(r, base, &f);
	if (base->native)
		add_total(r, base->native, &f);
	*ret = f;
	return 0;
}
