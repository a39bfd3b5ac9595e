// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "account.h"

#include "seat.h"

const char *const gp_part_names[GP_NR_PARTS] = {
	[GP_PART_DETECT]	= "detect",
	[GP_PART_DECIDE]	= "decide",
	[GP_PART_COMMAND]	= "command",
	[GP_PART_SAVE]		= "save",
	[GP_PART_SWITCH]	= "switch",
	[GP_PART_TOTAL]		= "total",
};

void gp_account_move(struct gp_account *a, u32 from, u32 to)
{
	if (to == GP_STOPPING) {
		a->stops_asked++;
		a->stopping++;
	} else if (to == GP_STARTING) {
		a->starts_asked++;
		a->starting++;
	} else if (from == GP_STOPPING) {
		a->stopping--;
		a->stopped += to == GP_OFF;
		a->stops_failed += to == GP_ON;
		a->stops_lost += to == GP_LOST;
	} else if (from == GP_STARTING) {
		a->starting--;
		a->started += to == GP_ON;
		a->starts_failed += to == GP_OFF;
		a->starts_lost += to == GP_LOST;
	} else if (from == GP_LOST) {
		a->late += to != GP_LOST;
	}
}
