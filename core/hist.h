/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A log-linear histogram of nanoseconds: 64 buckets per octave, so that a
 * quantile is off by less than 1 %. Integers only, no allocation.
 */
#ifndef GP_HIST_H
#define GP_HIST_H

#include "gp_env.h"

enum {
	GP_HIST_SUB	= 64,		/* buckets per octave */
	GP_HIST_OCTAVES	= 31,		/* 64 ns .. 2^37 ns (137 s); above: the last bucket */
	GP_HIST_BUCKETS	= GP_HIST_SUB * (GP_HIST_OCTAVES + 1),
};

struct gp_hist {
	u64 count;
	u64 sum;
	u64 min, max;		/* exact */
	u32 bucket[GP_HIST_BUCKETS];
};

/*
 * Which of @count sorted values, from 1 on, is the quantile: the smallest that at least
 * @permyriad of 10000 do not exceed. 0 if there are none.
 */
static inline u64 gp_rank(u64 count, u32 permyriad)
{
	u64 rank = (count * permyriad + 9999) / 10000;

	return rank || !count ? rank : 1;
}

void gp_hist_add(struct gp_hist *h, u64 ns);
/*
 * The value of that rank (9990: p99.9), taking the values of a bucket that holds many
 * to be spread evenly over it. 0 if empty.
 */
u64 gp_hist_quantile(const struct gp_hist *h, u32 permyriad);
u64 gp_hist_mean(const struct gp_hist *h);

#endif /* GP_HIST_H */
