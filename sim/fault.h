/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Faults on demand: their kind, time and frequency. */
#ifndef GP_FAULT_H
#define GP_FAULT_H

#include "sim.h"

/* Plans every fault of the scenario. */
void gp_faults_begin(struct gp_sim *sim);

#endif /* GP_FAULT_H */
