// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Computes the figures of a row of a comparison. */
#include "figures.h"

#include <stdlib.h>

#include "core/hist.h"

static int by_value(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return (x > y) - (x < y);
}

static struct gp_added spread_of(s64 *values, u64 n)
{
	struct gp_added a = { .count = n };
	s64 sum = 0;

	qsort(values, n, sizeof(*values), by_value);
	for (u64 i = 0; i < n; i++)
		sum += values[i];
	a.mean = sum / (s64)n;
	a.p50 = values[gp_rank(n, 5000) - 1];
	a.p99 = values[gp_rank(n, 9900) - 1];
	a.max = values[n - 1];
	return a;
}

/*
 * Adds the latency that a row adds. Arrivals are common to all rows, so request i is the same
 * request in both. A request that was never answered has no latency and is skipped; `saturated`
 * shows that.
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

static double least(double a, double b)
{
	return a < b ? a : b;
}

/*
 * Returns the offline work that fits on GPU @g beside the online work of @r: the slots that the
 * online work leaves free on average, but no more than the offline load uses alone.
 */
static double fits_on(const struct gp_result *r, const struct gp_result *off, u32 g)
{
	double rate = (double)off->gpu[g].offline_work_ns / (double)off->length_ns;
	double length = (double)r->length_ns, busy = (double)r->gpu[g].online_busy_ns;

	if (busy <= 0)
		return rate * length;
	return rate * (length - busy) +
	       least(rate * busy, busy - least(busy, (double)r->gpu[g].online_work_ns));
}

/* Sums over the GPUs, because a server on one GPU leaves the others free. */
static double all_that_fits(const struct gp_result *r, const struct gp_result *off)
{
	double fits = 0;

	for (u32 g = 0; g < off->nr_gpus; g++)
		fits += fits_on(r, off, g);
	return fits;
}

static void add_goodput(const struct gp_result *r, const struct gp_baseline *base,
			struct gp_figures *f)
{
	const struct gp_result *off = base->offline_alone;
	double done = (double)r->offline_work_ns, fits;

	if (r->length_ns && r->nr_gpus) {
		f->has_total_work = true;
		f->total_work = (done + (double)r->online_work_ns) /
				((double)r->length_ns * r->nr_gpus);
	}
	fits = off && off->length_ns ? all_that_fits(r, off) : 0;
	if (fits <= 0)
		return;
	/* Only a gang could do more, because others can use the slots that it leaves free. */
	f->goodput = least(1, done / fits);
	f->has_goodput = true;
	if (!f->has_added || !r->served || f->saturated)
		return;
	/*
	 * The reference is the same for every row: the slots that the online work leaves free
	 * alone.
	 */
	f->has_cost = true;
	f->cost = (double)r->latency_weight * (double)f->added.mean +
		  (all_that_fits(base->alone, off) - done) / (double)r->served;
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
