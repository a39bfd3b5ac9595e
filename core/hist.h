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
	u64 max;		/* exact */
	u32 bucket[GP_HIST_BUCKETS];
};

void gp_hist_add(struct gp_hist *h, u64 ns);
/* The value that @permyriad of 10000 values do not exceed (9990: p99.9). 0 if empty. */
u64 gp_hist_quantile(const struct gp_hist *h, u32 permyriad);
u64 gp_hist_mean(const struct gp_hist *h);

#endif /* GP_HIST_H */
