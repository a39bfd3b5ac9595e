/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Checks invariants after every event of a run, for all scenarios and faults. Slow. The first
 * violation ends the run with a sentence.
 */
#ifndef GP_CHECK_H
#define GP_CHECK_H

#include "sim.h"

void gp_check(struct gp_sim *sim);

#endif /* GP_CHECK_H */
