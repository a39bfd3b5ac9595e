// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The input is a state file. It must be read or refused. A state that was read must be written
 * as a text that reads as the same state.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gp_saved_state once, twice;
	char why[GP_DECIDER_WHY], *text;

	if (gp_state_parse((const char *)data, size, NULL, &once, why))
		return 0;
	text = gp_state_print(&once, "boot");
	if (!text || gp_state_parse(text, strlen(text), "boot", &twice, why) ||
	    memcmp(&once, &twice, sizeof(once)))
		abort();
	free(text);
	return 0;
}
