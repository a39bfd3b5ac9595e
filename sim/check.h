/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What must be true after every event of a run, whatever the scenario and the
 * faults. Slow; the first thing that is not ends the run with a sentence.
 */
#ifndef GP_CHECK_H
#define GP_CHECK_H

#include "sim.h"

void gp_check(struct gp_sim *sim);

#endif /* GP_CHECK_H */
