// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "account.h"

const char *const gp_part_names[GP_NR_PARTS] = {
	[GP_PART_DETECT]	= "detect",
	[GP_PART_DECIDE]	= "decide",
	[GP_PART_COMMAND]	= "command",
	[GP_PART_SAVE]		= "save",
	[GP_PART_SWITCH]	= "switch",
	[GP_PART_TOTAL]		= "total",
};
