// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Any bytes may be a trace file: reading and replaying them ends with an answer. */
#include "trace/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A trace may ask for the largest scheduler there is, 100 MB; a fuzzer that
 * makes one per input finds nothing else.
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
