/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A random duration: its form in a scenario, and one draw of it. */
#ifndef GP_DIST_H
#define GP_DIST_H

#include "rng.h"

enum gp_dist_kind { GP_DIST_FIXED, GP_DIST_UNIFORM, GP_DIST_LOGNORMAL };

struct gp_dist {
	u8 kind;	/* enum gp_dist_kind */
	u64 a_ns;	/* the value; the least; the median */
	u64 b_ns;	/* uniform: the most */
	u64 sigma;	/* lognormal: of the natural logarithm, in millionths */
};

/*
 * Parses "T", "uniform A..B", "lognormal MEDIAN SIGMA", "lognormal MEDIAN p95 T" or "lognormal
 * A..B" (5 % are below A and 5 % above B). -EINVAL: none of these.
 */
int gp_dist_parse(const char *text, struct gp_dist *ret);
u64 gp_dist_draw(const struct gp_dist *d, struct gp_rng *rng);

#endif /* GP_DIST_H */
