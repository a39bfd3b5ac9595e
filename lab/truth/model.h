/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The operations of operations.h in the simulator, in virtual time. */
#ifndef LAB_MODEL_H
#define LAB_MODEL_H

#include "operations.h"

/*
 * Performs all operations and returns the cost of each. 0, or -errno with a message in @why.
 * @profile: of the facts, as in the lab.
 */
int lab_model_run(const char *profile, struct lab_cost cost[LAB_NR_OPERATIONS], char *why,
		  size_t why_size);

#endif /* LAB_MODEL_H */
