// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The input is a trace file. Reading and replaying it must end with a result. */
#include "trace/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A trace may ask for the largest scheduler, which has 100 MB. Making it for each input would
 * be too slow to find anything.
 */
static bool small(const struct gp_tracefile *trace)
{
	struct gp_rec init = gp_tracefile_get(trace, 0);

	return init.init.devices <= 4 && init.init.tasks <= 8 && init.init.seats <= 32 &&
	       init.init.queues <= 64;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_tracefile_error err;
	struct gp_tracefile trace;
	struct gp_replay replay;

	if (!gp_tracefile_over(data, size, &trace, &err) && small(&trace))
		gp_replay(&trace, &replay, &err);
	return 0;
}
