/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The expected results of a scenario: "TASK METRIC OP VALUE".
 *
 * `expect` lines make a workload a test.
 */
#ifndef GP_EXPECT_H
#define GP_EXPECT_H

#include "figures.h"
#include "scenario.h"

/* Parses an expectation. 0, or -EINVAL with the sentence. Does not set @ret->where. */
int gp_expect_parse(const char *text, struct gp_expect *ret, const struct gp_why *why);

/*
 * Returns true if an expectation of @sc needs a baseline, that is runs of only a part of the tasks.
 */
bool gp_expect_needs_baseline(const struct gp_scenario *sc);

/*
 * Checks @e. 0: met. 1: not met, with "where: expected ..., is ..." in @text. @figures may be NULL
 * if no expectation needs a baseline.
 */
int gp_expect_check(const struct gp_expect *e, const struct gp_result *r,
		    const struct gp_figures *figures, char *text, size_t size);

#endif /* GP_EXPECT_H */
