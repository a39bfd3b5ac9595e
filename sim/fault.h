/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Faults on demand: what goes wrong, when, how often. */
#ifndef GP_FAULT_H
#define GP_FAULT_H

#include "sim.h"

/* Plan every fault of the scenario. */
void gp_faults_begin(struct gp_sim *sim);

#endif /* GP_FAULT_H */
