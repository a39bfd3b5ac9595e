// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Strict priority between classes, with a bound on how long a task is off.
 *
 * A task whose work does not progress takes the GPU from all tasks of lower priority.
 * It keeps the GPU while it has work, and for a linger after that. The hardware shares
 * the GPU between tasks of one priority.
 *
 * It is bad at sharing: below a task that always has work, other tasks get only their
 * minimum share. Use `fair` for shares.
 */
#include "turn.h"

enum {
	LINGER,		/* chosen for the gap that began at LINGER_FROM */
	LINGER_FROM,
};

static bool priority_watch(const struct gp_sched *s, const struct gp_device *d)
{
	u32 lowest = GP_NONE, highest = 0, at;
	bool victim = false;

	for (at = d->seats; at != GP_NONE; at = s->seats[at].next_of_device) {
		const struct gp_class *c = gp_class_of(s, &s->seats[at]);

		if ((c->flags & GP_PREEMPTIBLE) && (!victim || c->priority < lowest)) {
			lowest = c->priority;
			victim = true;
		}
		if (c->priority > highest)
			highest = c->priority;
	}
	return victim && highest > lowest;
}

/* True if @seat became idle so recently that its victims should stay off for its next work. */
static bool lingers(struct gp_verdict *v, struct gp_seat *seat)
{
	/* Only a seat that others are held for can linger. */
	if (!seat->cause || gp_seat_claims(seat))
		return false;
	if (seat->scratch[LINGER_FROM] != seat->idle_ns) {
		seat->scratch[LINGER_FROM] = seat->idle_ns;
		seat->scratch[LINGER] = gp_linger_ns(v->sched, seat);
	}
	return gp_lingers(v, seat, seat->scratch[LINGER]);
}

/*
 * True if all victims below @top together leave so much of the GPU free that @top can run
 * beside them. Unknown counts as no. A small share may have been a gap between two
 * kernels, so it is read again for each piece of work of @top and after each probe of @top.
 */
static bool victims_small(struct gp_verdict *v, const struct gp_seat *top)
{
	u64 limit = v->sched->param[GP_SMALL_VICTIM], sum = 0;
	u64 since = top->probed_ns > top->arrived_ns ? top->probed_ns : top->arrived_ns;
	u32 priority = gp_class_of(v->sched, top)->priority;
	struct gp_seat *seat;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		if (gp_class_of(v->sched, seat)->priority >= priority ||
		    seat->work == GP_IDLE || seat->state == GP_OFF)
			continue;
		if (seat->occupancy == GP_OCCUPANCY_UNKNOWN || seat->state != GP_ON)
			return false;
		sum += seat->occupancy;
		if (seat->occupancy <= limit)
			gp_ask_since(v, seat, since);
	}
	return sum && sum <= limit;
}

/* True if others should be held for @seat now. */
static bool takes_the_gpu(struct gp_verdict *v, struct gp_seat *seat)
{
	if (lingers(v, seat))
		return true;
	if (!gp_seat_claims(seat))
		return false;
	if (seat->cause || seat->hinted)
		return true;
	if (!seat->starved)
		return false;
	if (!victims_small(v, seat))
		return true;
	/*
	 * Beside a small victim the seat may be running, and only its waves can tell. No waves
	 * at one moment may be a gap between two kernels, so a later look must have seen no
	 * progress either.
	 */
	gp_ask(v, seat);
	return seat->executing == GP_EXEC_NO && v->device->judged_ns > seat->probed_ns;
}

/* True if @seat was just started and @cause can wait until its minimum turn is over. */
static bool in_minimum_turn(struct gp_verdict *v, const struct gp_seat *seat,
			    const struct gp_seat *cause)
{
	u64 until = seat->since_ns + v->sched->param[GP_MIN_TURN];

	if (seat->state != GP_ON || v->now_ns >= until ||
	    (gp_class_of(v->sched, cause)->flags & GP_LATENCY_CRITICAL))
		return false;
	gp_wake_at(v, until);
	return true;
}

static void priority_decide(struct gp_verdict *v)
{
	struct gp_seat *seat, *top = NULL;
	const struct gp_class *c;
	u32 best = 0;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		c = gp_class_of(v->sched, seat);
		if ((!top || c->priority > best) && takes_the_gpu(v, seat)) {
			best = c->priority;
			top = seat;
		}
	}
	if (!top)
		return;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		c = gp_class_of(v->sched, seat);
		if (c->priority >= best || !(c->flags & GP_PREEMPTIBLE) ||
		    (seat->state == GP_ON && seat->work == GP_IDLE))
			continue;
		if (gp_turn_owed(v, seat) || in_minimum_turn(v, seat, top))
			continue;
		gp_hold(v, seat, top);
	}
}

const struct gp_policy gp_policy_priority = {
	.name	= "priority",
	.watch	= priority_watch,
	.decide	= priority_decide,
};
