// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The input is a recording. It must give a history and a scenario, or a message. */
#include <stdlib.h>

#include "sim/recorded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gp_scenario scenario;
	struct gp_arrival *arrivals = NULL;
	struct gp_tracefile_error err;
	struct gp_tracefile trace;
	struct gp_history *h;

	if (gp_tracefile_over(data, size, &trace, &err) || gp_history_read(&trace, &h, &err))
		return 0;
	gp_history_scenario(h, &scenario, &arrivals, &err);
	free(arrivals);
	gp_history_free(h);
	return 0;
}
