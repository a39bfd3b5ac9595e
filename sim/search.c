// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finds the best setting of rows that need a search, by running a shorter part of the scenario. */
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "rows.h"

#define SEARCH_NS	(5 * GP_SEC)	/* enough for a few hundred requests */

struct search {
	struct gp_scenario sc;
	u64 seed;
	const struct gp_why *why;
};

/* Runs the scenario as @row with additional settings. */
static int run_row(const struct search *s, const char *row, struct gp_result *ret)
{
	struct gp_run_args args = { .seed = s->seed };
	struct gp_scenario sc = s->sc;
	int err = gp_row_apply(&sc, row, s->why->text, s->why->size);

	return err ? err : gp_run(&sc, &args, ret, s->why->text, s->why->size);
}

static int alone_p99(const struct search *s, const char *row, u64 *ret)
{
	struct gp_result r;
	int err = run_row(s, row, &r);

	if (err)
		return err;
	/* Requests that were not answered count as later than all others. */
	*ret = r.served * 100 < r.offered * 99 ? GP_NEVER : r.online.p99;
	gp_result_fini(&r);
	return 0;
}

static int p99_with(const struct search *s, u32 cus, u64 *ret)
{
	char row[GP_ROW_NAME];

	snprintf(row, sizeof(row), "cu-mask:gpu.online_cus=%u", cus);
	return alone_p99(s, row, ret);
}

/*
 * Finds the smallest number of CUs whose p99 is at most 1.10 of alone. If there is none (a kernel
 * of one round needs a second one as soon as a slot is missing), it is the smallest number that is
 * as good as nearly all CUs.
 */
static int search_cus(const struct search *s, u32 *ret)
{
	u32 low = 1, high = gp_row_cus(&s->sc, 100) - 1;
	u64 alone, wanted, p99;
	int err = alone_p99(s, "alone", &alone);

	if (!err)
		err = p99_with(s, high, &p99);
	if (err)
		return err;
	wanted = p99 > alone + alone / 10 && p99 != GP_NEVER ? p99 + p99 / 100 : alone + alone / 10;
	while (!err && low < high) {
		u32 middle = low + (high - low) / 2;

		err = p99_with(s, middle, &p99);
		if (!err && p99 <= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	*ret = low;
	return err;
}

/* ---- the bound ---- */

/*
 * Computes the cost of a request in ns of offline GPU time, without terms that are common to all
 * candidates: its added latency at the price of latency, less the offline work done meanwhile.
 */
static int cost_of(const struct search *s, const char *row, const struct gp_result *alone,
		   double *ret)
{
	struct gp_baseline base = { alone, NULL, NULL };
	struct gp_figures f;
	struct gp_result r;
	int err = run_row(s, row, &r);

	if (err)
		return err;
	err = gp_figures(&r, &base, &f);
	*ret = 1e300;
	if (!err && f.has_added && !f.saturated)
		*ret = (double)s->sc.param[GP_LATENCY_WEIGHT] * (double)f.added.mean -
		       (double)r.offline_work_ns / (double)r.served;
	gp_result_fini(&r);
	return err;
}

/* The candidates for victims. BY() resumes the victim at once, or after a learnt linger. */
#define BY(name)	"mechanism.name=" name, "mechanism.name=" name ":policy.linger=learnt"
#define LEAVE		"monitor.placement=none:mechanism.name=none"

enum { BY_ITS_OWN_POLICY, ON_CUS_OF_ITS_OWN };

/* The first two end with the scenario's setting. */
static const char *const ways[] = {
	[BY_ITS_OWN_POLICY] = "mechanism.name=direct:policy.linger=learnt:policy.name=",
	[ON_CUS_OF_ITS_OWN] = LEAVE ":gpu.online_cus=",
	BY("direct"), BY("evict"), BY("drain"), LEAVE,
};

enum { NR_WAYS = sizeof(ways) / sizeof(ways[0]) };

static int search_way(const struct search *s, const char *bound, char best[GP_ROW_NAME * 2])
{
	char row[GP_ROW_NAME * 2];
	struct gp_result alone;
	double least = 0, cost;
	u32 cus = 0;
	int err = run_row(s, "alone", &alone);

	if (err)
		return err;
	err = search_cus(s, &cus);
	for (u32 i = 0; i < NR_WAYS && !err; i++) {
		int n = snprintf(row, sizeof(row), "%s:%s", bound, ways[i]);

		if (i == ON_CUS_OF_ITS_OWN)
			snprintf(row + n, sizeof(row) - (size_t)n, "%u", cus);
		if (i == BY_ITS_OWN_POLICY)
			snprintf(row + n, sizeof(row) - (size_t)n, "%s", s->sc.policy->name);
		err = cost_of(s, row, &alone, &cost);
		if (!err && (!i || cost < least)) {
			least = cost;
			memcpy(best, row, sizeof(row));
		}
	}
	gp_result_fini(&alone);
	return err;
}

static int offline_work(const struct search *s, const char *row, u64 *ret)
{
	struct gp_result r;
	int err = run_row(s, row, &r);

	if (err)
		return err;
	*ret = r.offline_work_ns;
	gp_result_fini(&r);
	return 0;
}

/* Finds the smallest of 1, 2, 4, 8, 16 kernels in flight that costs less than 3 % alone. */
static int search_in_flight(const struct search *s, u32 *ret)
{
	u64 free_work, work;
	int err = offline_work(s, "offline-alone", &free_work);
	u32 t;

	for (t = 1; !err && t < 16; t *= 2) {
		char row[GP_ROW_NAME];

		snprintf(row, sizeof(row), "throttle:run.only=offline:monitor.in_flight=%u", t);
		err = offline_work(s, row, &work);
		if (!err && work * 100 > free_work * 97)
			break;
	}
	*ret = t;
	return err;
}

static void name_row(struct gp_row_concrete *row, const char *name, const char *spec)
{
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->spec, sizeof(row->spec), "%s", spec);
}

static int expand_cu_mask(const struct search *s, struct gp_row_concrete ret[2])
{
	char spec[GP_ROW_NAME];
	u32 cus;
	int err = search_cus(s, &cus);

	if (err)
		return err;
	snprintf(spec, sizeof(spec), "cu-mask:gpu.online_cus=%u", cus);
	name_row(&ret[0], "cu-mask", spec);
	snprintf(spec, sizeof(spec), "cu-mask:gpu.online_cus=%u", gp_row_cus(&s->sc, 25));
	name_row(&ret[1], "cu-mask-25%", spec);
	return 0;
}

static int expand_throttle(const struct search *s, struct gp_row_concrete ret[2])
{
	char spec[GP_ROW_NAME];
	u32 t;
	int err = search_in_flight(s, &t);

	if (err)
		return err;
	snprintf(spec, sizeof(spec), "throttle:monitor.in_flight=%u", t);
	name_row(&ret[0], "throttle", spec);
	name_row(&ret[1], "throttle-16", "throttle:monitor.in_flight=16");
	return 0;
}

static int expand_bound(const struct search *s, const char *row, struct gp_row_concrete *ret)
{
	name_row(ret, row, "");
	return search_way(s, row, ret->spec);
}

int gp_row_expand(const struct gp_scenario *sc, const char *row, u64 seed,
		  struct gp_expansion *ret)
{
	struct gp_why why = { ret->why, sizeof(ret->why) };
	struct search s = { .sc = *sc, .seed = seed, .why = &why };

	if (s.sc.length_ns > SEARCH_NS)
		s.sc.length_ns = SEARCH_NS;
	ret->nr = 2;
	if (!strcmp(row, "cu-mask"))
		return expand_cu_mask(&s, ret->row);
	if (!strcmp(row, "throttle"))
		return expand_throttle(&s, ret->row);
	ret->nr = 1;
	if (!strcmp(row, "bound") || !strcmp(row, "bound-ahead"))
		return expand_bound(&s, row, ret->row);
	name_row(&ret->row[0], row, row);
	return 0;
}
