/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The idle gaps of a task: how long it was idle between two pieces of work.
 *
 * Keeping victims off during a gap of length g costs g of GPU time. Starting them again
 * costs a start now, a stop at the next arrival and that arrival's latency: the price.
 * If victims stay off for a linger of L, the expected cost of a gap is
 *
 *	E[min(gap, L)] + P(gap > L) * price
 *
 * The cheapest L follows from the distribution of the last gaps.
 */
#ifndef GP_GAPS_H
#define GP_GAPS_H

#include "gp_env.h"

enum {
	GP_GAPS_KEPT	= 256,
	GP_GAPS_BUCKETS	= 96,	/* four per octave from 1 us */
	GP_GAPS_ENOUGH	= 8,	/* fewer are not used */
};

struct gp_gaps {
	u64 sum;			/* of those kept */
	u16 count;			/* kept, at most GP_GAPS_KEPT */
	u16 next;			/* ring position */
	u64 kept[GP_GAPS_KEPT];
	u16 bucket[GP_GAPS_BUCKETS];
	u64 bucket_sum[GP_GAPS_BUCKETS];
};

void gp_gaps_add(struct gp_gaps *g, u64 ns);
/*
 * The L that minimises the expected cost; @price in ns. With fewer than GP_GAPS_ENOUGH
 * gaps it returns @price, which costs at most twice the optimum (ski rental).
 */
u64 gp_gaps_best(const struct gp_gaps *g, u64 price);

#endif /* GP_GAPS_H */
