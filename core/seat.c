// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "seat.h"

const char *const gp_state_name[GP_NR_STATES] = {
	[GP_ON] = "on", [GP_STOPPING] = "stopping", [GP_OFF] = "off",
	[GP_STARTING] = "starting", [GP_LOST] = "lost",
};

static const u32 arrows[GP_NR_STATES] = {
	[GP_ON]		= 1 << GP_STOPPING | 1 << GP_LOST,
	[GP_STOPPING]	= 1 << GP_OFF | 1 << GP_ON | 1 << GP_LOST,
	[GP_OFF]	= 1 << GP_STARTING | 1 << GP_LOST,
	[GP_STARTING]	= 1 << GP_ON | 1 << GP_OFF | 1 << GP_LOST,
	[GP_LOST]	= 1 << GP_ON | 1 << GP_OFF,
};

int gp_seat_move(struct gp_seat *seat, enum gp_state to, u64 now_ns)
{
	if (to >= GP_NR_STATES || !(arrows[seat->state] & 1u << to))
		return -EPROTO;

	seat->state = to;
	seat->since_ns = now_ns;
	return 0;
}
