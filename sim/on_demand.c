// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "core/sched.h"
#include "on_demand.h"

static u32 priority_of(const struct gp_verdict *v, const struct gp_seat *seat)
{
	return gp_class_of(v->sched, seat)->priority;
}

static bool on_demand_watch(const struct gp_sched *s, const struct gp_device *d)
{
	return gp_policy_priority.watch(s, d);
}

/* Returns true if the seat has work, or its work ended just now. */
static bool takes_the_gpu(struct gp_verdict *v, struct gp_seat *seat)
{
	if (gp_seat_claims(seat))
		return true;
	return seat->cause && gp_lingers(v, seat, gp_linger_ns(v->sched, seat));
}

/* Returns true if the lease is over. A longer hold would get the policy ejected. */
static bool lease_is_over(const struct gp_verdict *v, const struct gp_seat *seat)
{
	u64 since = gp_off_since(v->sched, seat);

	return since != GP_NEVER && v->now_ns - since >= v->sched->param[GP_LEASE];
}

static void on_demand_decide(struct gp_verdict *v)
{
	struct gp_seat *seat, *top = NULL;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		if ((!top || priority_of(v, seat) > priority_of(v, top)) && takes_the_gpu(v, seat))
			top = seat;
	}
	for (seat = gp_active_first(v); top && seat; seat = gp_active_next(v, seat)) {
		if (priority_of(v, seat) >= priority_of(v, top) || lease_is_over(v, seat) ||
		    !(gp_class_of(v->sched, seat)->flags & GP_PREEMPTIBLE) ||
		    (seat->state == GP_ON && seat->work == GP_IDLE))
			continue;
		gp_hold(v, seat, top);
	}
}

const struct gp_policy gp_policy_on_demand = {
	.name	= "on-demand",
	.watch	= on_demand_watch,
	.decide	= on_demand_decide,
};
