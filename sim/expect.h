/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a scenario says must come out: "TASK METRIC OP VALUE".
 *
 * A scenario that asserts nothing proves nothing: `expect` lines are what makes
 * a workload a test.
 */
#ifndef GP_EXPECT_H
#define GP_EXPECT_H

#include "figures.h"
#include "scenario.h"

/* 0, or -EINVAL with the sentence. @ret->where is left alone. */
int gp_expect_parse(const char *text, struct gp_expect *ret, const struct gp_why *why);

/* Does some expectation of @sc compare with runs alone? Then they must be made. */
bool gp_expect_needs_baseline(const struct gp_scenario *sc);

/*
 * Is @e met? 0: yes. 1: no, with "where: expected ..., is ..." in @text.
 * @figures may be NULL if no expectation needs a baseline.
 */
int gp_expect_check(const struct gp_expect *e, const struct gp_result *r,
		    const struct gp_figures *figures, char *text, size_t size);

#endif /* GP_EXPECT_H */
