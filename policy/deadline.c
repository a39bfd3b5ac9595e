// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Earliest deadline first among tasks that were promised a budget per period.
 *
 * A task is admitted only if every promise can still be kept: the sum of
 * (budget + the cost of taking the GPU and giving it back) / min(deadline,
 * period) stays below 1 minus a reserve. A task that uses up its budget waits for its
 * next period like a task without a promise. Such tasks run when no promise is
 * due, and get a turn when they were kept off for too long (turn.h).
 *
 * It is bad at using the GPU: admission counts the worst case, and one task runs
 * at a time.
 */
#include "turn.h"

enum { RELEASED, DUE, BUDGET, CHARGED };	/* words of a seat; turn.h has the last */
enum { RUNNING };				/* word of a device: seat + 1 */

static u64 density_ppm(const struct gp_sched *s, u32 device, const struct gp_class *c)
{
	const struct gp_device *d = &s->devices[device];
	u64 within = c->deadline_ns && c->deadline_ns < c->period_ns ? c->deadline_ns :
								       c->period_ns;

	if (!within)
		return 0;
	return (c->budget_ns + d->stop_cost_ns + d->start_cost_ns) * 1000000 / within;
}

static int deadline_admit(const struct gp_sched *s, u32 device, u32 task,
			  const struct gp_class *class, const char **why)
{
	u64 sum = density_ppm(s, device, class), most = 1000 * (1000 - s->param[GP_RESERVE]);
	u32 at;

	if (!sum)
		return 0;
	for (at = s->devices[device].seats; at != GP_NONE; at = s->seats[at].next_of_device)
		if (s->seats[at].task != task)
			sum += density_ppm(s, device, gp_class_of(s, &s->seats[at]));
	if (sum <= most)
		return 0;
	*why = "its budget does not fit beside what others were promised on that device";
	return -ENOSPC;
}

static bool deadline_watch(const struct gp_sched *s, const struct gp_device *d)
{
	u32 at;

	for (at = d->seats; at != GP_NONE; at = s->seats[at].next_of_device)
		if (gp_class_of(s, &s->seats[at])->period_ns)
			return d->nr_seats > 1;
	return false;
}

static bool is_running(const struct gp_verdict *v, const struct gp_seat *seat)
{
	return v->device->scratch[RUNNING] == (u64)(seat - v->sched->seats) + 1;
}

/* Releases and budgets up to now. */
static void bring_up_to_date(struct gp_verdict *v, struct gp_seat *seat)
{
	const struct gp_class *c = gp_class_of(v->sched, seat);
	u64 *x = seat->scratch, used;

	if (is_running(v, seat)) {
		used = v->now_ns - x[CHARGED];
		x[BUDGET] = x[BUDGET] > used ? x[BUDGET] - used : 0;
	}
	x[CHARGED] = v->now_ns;
	if (!gp_seat_claims(seat))
		return;
	if (!x[RELEASED] || v->now_ns - x[RELEASED] >= c->period_ns) {
		/* Continued work is released at the period's start, new work when it arrives. */
		if (x[RELEASED] && seat->arrived_ns <= x[RELEASED] + c->period_ns)
			x[RELEASED] += (v->now_ns - x[RELEASED]) / c->period_ns * c->period_ns;
		else
			x[RELEASED] = v->now_ns;
		x[DUE] = x[RELEASED] + (c->deadline_ns ? c->deadline_ns : c->period_ns);
		x[BUDGET] = c->budget_ns;
	}
}

/* True if the seat has a promise, work and budget. Asks to be woken when that changes. */
static bool eligible(struct gp_verdict *v, struct gp_seat *seat)
{
	const struct gp_class *c = gp_class_of(v->sched, seat);

	if (!c->period_ns)
		return false;
	bring_up_to_date(v, seat);
	if (!gp_seat_claims(seat))
		return false;
	gp_wake_at(v, seat->scratch[RELEASED] + c->period_ns);
	return seat->scratch[BUDGET] != 0;
}

static void deadline_decide(struct gp_verdict *v)
{
	struct gp_seat *seat, *first = NULL;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat))
		if (eligible(v, seat) && (!first || seat->scratch[DUE] < first->scratch[DUE]))
			first = seat;
	v->device->scratch[RUNNING] = first ? (u64)(first - v->sched->seats) + 1 : 0;
	if (!first)
		return;

	gp_wake_at(v, v->now_ns + first->scratch[BUDGET]);
	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		if (seat == first || !(gp_class_of(v->sched, seat)->flags & GP_PREEMPTIBLE) ||
		    (seat->state == GP_ON && seat->work == GP_IDLE))
			continue;
		if (!gp_turn_owed(v, seat))
			gp_hold(v, seat, first);
	}
}

const struct gp_policy gp_policy_deadline = {
	.name	= "deadline",
	.admit	= deadline_admit,
	.watch	= deadline_watch,
	.decide	= deadline_decide,
};
