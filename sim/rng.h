/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Random numbers, the same on every machine: integers only, no libm, whose
 * last digit differs between versions.
 *
 * Every task draws from its own stream, named by the seed and the task, so that
 * one task's arrivals are the same whatever else a row of a comparison changes.
 */
#ifndef GP_RNG_H
#define GP_RNG_H

#include "gp_env.h"

struct gp_rng {
	u64 state;
};

void gp_rng_init(struct gp_rng *rng, u64 seed, const char *stream);
u64 gp_rng_next(struct gp_rng *rng);
/* Returns 0..@below-1; 0 if @below is 0. */
u64 gp_rng_below(struct gp_rng *rng, u64 below);
/* Exponential with this mean. */
u64 gp_rng_exponential(struct gp_rng *rng, u64 mean);
/* Normal, in 32.32 fixed point; at most 6 in size. */
s64 gp_rng_normal(struct gp_rng *rng);

/* ---- fixed point, 32 bits behind the point ---- */

/* Logarithm to base 2 of @x > 0. */
s64 gp_log2(u64 x);
/* @value * 2^(@exponent), saturating. */
u64 gp_scale2(u64 value, s64 exponent);

#define GP_FIXED_ONE	(1ll << 32)
#define GP_FIXED_LN2	2977044472ll	/* ln 2 */
#define GP_FIXED_LOG2E	6196328019ll	/* 1 / ln 2 */

#endif /* GP_RNG_H */
