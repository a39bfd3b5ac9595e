// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The input is a scenario. Reading it must give a scenario or a message. */
#include <stdlib.h>
#include <string.h>

#include "sim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gp_scenario scenario;
	char err[512];
	int r = gp_scenario_parse((const char *)data, size, &scenario, err, sizeof(err));

	/* An error without a message is a bug too. */
	if (r && (r != -EINVAL || !err[0] || !memchr(err, '\0', sizeof(err))))
		abort();
	return 0;
}
