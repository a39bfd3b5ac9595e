// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "turn.h"

/* A start takes time too: begin so early that the hold ends within its bound. */
static u64 longest_hold(const struct gp_verdict *v)
{
	const u64 *param = v->sched->param;
	u64 most = param[GP_MAX_HOLD] < param[GP_LEASE] ? param[GP_MAX_HOLD] : param[GP_LEASE];
	u64 early = 2 * v->device->start_cost_ns + v->device->stop_cost_ns;

	return most > 2 * early ? most - early : most / 2;
}

/* The turn that makes @off ns of waiting a share of GP_MIN_SHARE. */
static u64 turn_after(const struct gp_verdict *v, u64 off)
{
	u64 share = v->sched->param[GP_MIN_SHARE];

	if (share > 900)
		share = 900;
	return share ? off * share / (1000 - share) + 1 : 1;
}

bool gp_turn_owed(struct gp_verdict *v, struct gp_seat *seat)
{
	u64 *turn = &seat->scratch[GP_TURN_SCRATCH], until;
	u64 off_since = gp_off_since(v->sched, seat);

	if (*turn && off_since == GP_NEVER) {
		until = seat->since_ns + *turn;
		if (v->now_ns < until) {
			gp_wake_at(v, until);
			return true;
		}
		*turn = 0;
	}
	if (*turn)
		return true;
	if (off_since == GP_NEVER)
		return false;

	until = off_since + longest_hold(v);
	if (v->now_ns < until) {
		gp_wake_at(v, until);
		return false;
	}
	*turn = turn_after(v, v->now_ns - off_since);
	return true;
}
