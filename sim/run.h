/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Runs one scenario in virtual time: clients submit, the virtual GPU executes,
 * a home looks and acts. Deterministic from the scenario and the seed.
 */
#ifndef GP_RUN_H
#define GP_RUN_H

#include <stdio.h>

#include "core/trace.h"
#include "result.h"
#include "scenario.h"
#include "trace/drawing.h"

struct gp_run_args {
	u64 seed;
	struct gp_drawing *drawing;		/* gets events that have no record; NULL */
	struct gp_trace trace;			/* gets the records of the scheduler */
	bool invariants;			/* check them at every event (slow) */
};

/*
 * Runs @scenario. 0 and *@ret; -EINVAL with a sentence in @why if the scenario needs something that
 * is not modelled, -E2BIG if it has too many processes; -EPROTO with the sentence if an invariant
 * broke.
 */
int gp_run(const struct gp_scenario *scenario, const struct gp_run_args *args,
	   struct gp_result *ret, char *why, size_t why_size);

#endif /* GP_RUN_H */
