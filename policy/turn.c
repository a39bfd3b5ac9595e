// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "turn.h"

enum {
	UPTO = GP_TURN_SCRATCH,	/* the debt is computed up to this time, 0 is never */
	DEBT,			/* time off not yet compensated by time on, in ns */
	OWED,			/* must not be held until the debt is paid */
};

/* The longest hold minus the time of a start, so that the task is back within the bound. */
static u64 longest_hold(const struct gp_verdict *v)
{
	const u64 *param = v->sched->param;
	u64 most = param[GP_MAX_HOLD] < param[GP_LEASE] ? param[GP_MAX_HOLD] : param[GP_LEASE];
	u64 early = 2 * v->device->start_cost_ns + v->device->stop_cost_ns;

	return most > 2 * early ? most - early : most / 2;
}

static u64 share_of(const struct gp_verdict *v)
{
	u64 share = v->sched->param[GP_MIN_SHARE];

	return share < 900 ? share : 900;
}

/* The length of a turn that compensates for @off ns off the GPU, by GP_MIN_SHARE. */
static u64 turn_after(const struct gp_verdict *v, u64 off)
{
	return off * share_of(v) / (1000 - share_of(v)) + 1;
}

static void pay(const struct gp_verdict *v, u64 *debt, u64 on)
{
	u64 share = share_of(v), paid = share ? on * (1000 - share) / share : on ? *debt : 0;

	*debt -= paid < *debt ? paid : *debt;
}

/* Since when all seats of the task are on. */
static u64 on_since(const struct gp_sched *s, const struct gp_seat *seat)
{
	u64 since = 0;
	u32 at;

	for (at = s->tasks[seat->task].seats; at != GP_NONE; at = s->seats[at].next_of_task)
		if (s->seats[at].since_ns > since)
			since = s->seats[at].since_ns;
	return since;
}

/*
 * Brings the debt up to date. This runs before every hold, so at most one change of state happened
 * since the last time, and the seats know when.
 */
static void reckon(const struct gp_verdict *v, struct gp_seat *seat, u64 off_since)
{
	u64 *x = seat->scratch, at;

	at = off_since == GP_NEVER ? on_since(v->sched, seat) : off_since;
	if (!x[UPTO])
		x[UPTO] = at;
	if (at < x[UPTO])
		at = x[UPTO];
	if (off_since == GP_NEVER) {
		x[DEBT] += at - x[UPTO];
		pay(v, &x[DEBT], v->now_ns - at);
	} else {
		pay(v, &x[DEBT], at - x[UPTO]);
		x[DEBT] += v->now_ns - at;
	}
	x[UPTO] = v->now_ns;
}

bool gp_turn_owed(struct gp_verdict *v, struct gp_seat *seat)
{
	u64 *x = seat->scratch, most = longest_hold(v), off = 0;
	u64 off_since = gp_off_since(v->sched, seat);

	reckon(v, seat, off_since);
	if (!x[OWED]) {
		if (off_since != GP_NEVER)
			off = v->now_ns - off_since;
		if (off < x[DEBT])
			off = x[DEBT];
		x[OWED] = off >= most;
		if (!x[OWED] && off_since != GP_NEVER)
			gp_wake_at(v, v->now_ns + most - off);
	}
	if (x[OWED] && off_since == GP_NEVER) {
		x[OWED] = x[DEBT] != 0;
		if (x[OWED])
			gp_wake_at(v, v->now_ns + turn_after(v, x[DEBT]));
	}
	return x[OWED];
}
