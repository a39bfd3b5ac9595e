// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "mirror.h"

#include "core/internal.h"

/* ---- states ---- */

/* The arrow's share of the account: core/account.h has its equations. */
static void count(struct gp_account *a, u32 from, u32 to)
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
		a->late++;
	}
}

static void go(struct gp_sched *s, struct gp_seat *seat, u32 to)
{
	count(&s->tasks[seat->task].account, seat->state, to);
	gp_seat_go(s, seat, (enum gp_state)to);
}

/* The state behind @from on the way round to @to: ON, STOPPING, OFF, STARTING, ON. */
static u32 next(u32 from, u32 to)
{
	/* From and to nobody there are arrows enough; what is refused goes straight back. */
	if (to == GP_LOST || (from == GP_STOPPING && to == GP_ON) ||
	    (from == GP_STARTING && to == GP_OFF))
		return to;
	if (from == GP_LOST)
		return to == GP_ON || to == GP_STOPPING ? GP_ON : GP_OFF;
	return from == GP_STARTING ? GP_ON : from + 1;
}

void gp_mirror_state(struct gp_sched *s, u32 task, u32 device, u32 to)
{
	struct gp_seat *seat = (struct gp_seat *)gp_sched_seat(s, task, device);

	if (!seat || to >= GP_NR_STATES)
		return;
	while (seat->state != to)
		go(s, seat, next(seat->state, to));
}

/* ---- numbers ---- */

void gp_mirror_preemption(struct gp_sched *s, u32 task, u32 device, const __u64 *is)
{
	struct gp_account *a = &s->tasks[task].account;
	u64 total = 0;
	u32 i;

	for (i = 0; i < GP_PART_TOTAL; i++) {
		if (is[i] == GP_PART_WITHIN)
			continue;
		gp_hist_add(&a->part[i], is[i]);
		total += is[i];
	}
	gp_hist_add(&a->part[GP_PART_TOTAL], total);
	/* Whoever records this scheduler sees what the other one did. */
	if (device < s->limits.devices)
		gp_trace(s, GP_REC_PARTS, .device = device, .task = task,
			 .arg = { is[GP_PART_DETECT], is[GP_PART_DECIDE], is[GP_PART_COMMAND],
				  is[GP_PART_SAVE], is[GP_PART_SWITCH], total,
				  is[GP_PART_TOTAL], is[GP_NR_PARTS + 1] });
}

void gp_mirror_seat(struct gp_sched *s, u32 task, u32 device, const struct gp_uapi_seat *is)
{
	struct gp_seat *seat = (struct gp_seat *)gp_sched_seat(s, task, device);
	struct gp_account *a = &s->tasks[task].account;

	if (!seat)
		return;
	if (is->work <= GP_BLOCKED)
		seat->work = (u8)is->work;
	a->arrivals = is->arrivals;
	a->preempted_others = is->preempted_others;
	a->waiting_ns = is->waiting_ns;
}

void gp_mirror_ejected(struct gp_sched *s)
{
	gp_eject(s, "the policy broke its contract in the kernel");
}
