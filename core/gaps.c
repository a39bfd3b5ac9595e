// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "gaps.h"

#define UNIT	1000ull		/* bucket 0 ends here, in ns */

/* Four buckets per octave above UNIT. */
static u32 bucket_of(u64 ns)
{
	u32 octave, bucket;
	u64 base;

	if (ns < UNIT)
		return 0;

	octave = 63 - (u32)__builtin_clzll(ns / UNIT);
	base = UNIT << octave;
	bucket = 1 + octave * 4 + (u32)((ns - base) / (base / 4));
	return bucket < GP_GAPS_BUCKETS ? bucket : GP_GAPS_BUCKETS - 1;
}

/* Every gap of @bucket and below is shorter than this. */
static u64 end_of(u32 bucket)
{
	u32 octave = bucket / 4, quarter = bucket % 4;

	return (UNIT << octave) + ((UNIT << octave) / 4) * quarter;
}

void gp_gaps_add(struct gp_gaps *g, u64 ns)
{
	u64 old = g->kept[g->next];
	u32 b;

	if (g->count == GP_GAPS_KEPT) {
		b = bucket_of(old);
		g->bucket[b]--;
		g->bucket_sum[b] -= old;
		g->sum -= old;
	} else {
		g->count++;
	}

	b = bucket_of(ns);
	g->kept[g->next] = ns;
	g->next = (g->next + 1) % GP_GAPS_KEPT;
	g->bucket[b]++;
	g->bucket_sum[b] += ns;
	g->sum += ns;
}

u64 gp_gaps_best(const struct gp_gaps *g, u64 price)
{
	u64 best_cost, best = 0, inside = 0;
	u32 longer = g->count, b;

	if (g->count < GP_GAPS_ENOUGH)
		return price;

	/*
	 * Costs are sums over all gaps kept, not averages. Without a linger every gap costs
	 * the price. The other candidates for L are the ends of buckets: gaps up to L cost
	 * their length, longer ones cost L and the price.
	 */
	best_cost = price * longer;
	for (b = 0; b < GP_GAPS_BUCKETS - 1; b++) {
		u64 end = end_of(b), cost;

		if (!g->bucket[b])
			continue;
		inside += g->bucket_sum[b];
		longer -= g->bucket[b];
		cost = inside + longer * (end + price);
		if (cost < best_cost) {
			best_cost = cost;
			best = end;
		}
	}
	return best;
}
