// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Weighted shares of GPU time, one task at a time.
 *
 * Each task has a virtual time that advances while it has the GPU, more slowly for a larger
 * weight. The task furthest behind gets the GPU for a slice. The time of a switch is
 * charged to the task that starts, so a task pays for its switches. A task that was idle
 * starts level with the others, so idling earns nothing.
 *
 * It is bad at latency: a task waits for the slices of all others. And it never
 * lets two small tasks share the GPU at once, although both would fit.
 */
#include "../core/sched.h"

enum { VTIME, CLAIMED, LET_GO };	/* scratch words of a seat */
enum { CURRENT, CHARGED, BEGAN };	/* scratch words of a device; CURRENT is seat + 1 */

#define SCALE	10000ull		/* the largest weight: a virtual ns is never lost whole */
#define FAR	BIT_ULL(62)

static bool fair_watch(const struct gp_sched *s, const struct gp_device *d)
{
	u32 at;

	if (d->nr_seats < 2)
		return false;
	for (at = d->seats; at != GP_NONE; at = s->seats[at].next_of_device)
		if (gp_class_of(s, &s->seats[at])->flags & GP_PREEMPTIBLE)
			return true;
	return false;
}

static bool is_current(const struct gp_verdict *v, const struct gp_seat *seat)
{
	return v->device->scratch[CURRENT] == (u64)(seat - v->sched->seats) + 1;
}

static void charge(struct gp_verdict *v, struct gp_seat *seat)
{
	u64 *charged = &v->device->scratch[CHARGED];

	seat->scratch[VTIME] += (v->now_ns - *charged) * SCALE /
				gp_class_of(v->sched, seat)->weight;
	*charged = v->now_ns;
}

/* Short enough that every task's turn comes well within the lease. */
static u64 slice_ns(const struct gp_verdict *v, u64 claimants)
{
	u64 slice = v->sched->param[GP_SLICE];
	u64 dear = 20 * (v->device->stop_cost_ns + v->device->start_cost_ns);
	u64 most = v->sched->param[GP_LEASE] / (2 * claimants + 2);

	if (slice < dear)
		slice = dear;
	return slice < most ? slice : most;
}

/* True if @seat claims the GPU; the current one keeps its claim for a short gap between kernels. */
static bool claims(struct gp_verdict *v, const struct gp_seat *seat)
{
	if (gp_seat_claims(seat))
		return true;
	return is_current(v, seat) && seat->cause &&
	       gp_lingers(v, seat, v->device->stop_cost_ns + v->device->start_cost_ns);
}

/*
 * With a weight of 1 the virtual time would wrap after three weeks on the GPU. Long before that,
 * all virtual times are reduced by the same amount.
 */
static u64 rewind(struct gp_verdict *v, u64 floor)
{
	u32 at;

	if (floor == GP_NEVER || floor <= FAR)
		return floor;
	for (at = v->device->seats; at != GP_NONE; at = v->sched->seats[at].next_of_device) {
		u64 *vtime = &v->sched->seats[at].scratch[VTIME];

		*vtime = *vtime > floor ? *vtime - floor : 0;
	}
	return 0;
}

struct field {
	struct gp_seat *current;	/* has the GPU now, still claims */
	struct gp_seat *behind;		/* furthest behind */
	u64 claimants;
	bool unknown;			/* a seat whose work is not known */
};

static struct field survey(struct gp_verdict *v)
{
	struct field f = { 0 };
	struct gp_seat *seat;
	u64 floor = GP_NEVER;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		if (is_current(v, seat))
			charge(v, seat);
		if (claims(v, seat) && seat->scratch[CLAIMED] && seat->scratch[VTIME] < floor)
			floor = seat->scratch[VTIME];
	}
	floor = rewind(v, floor);
	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		f.unknown |= seat->unknown;
		if (!claims(v, seat)) {
			seat->scratch[CLAIMED] = 0;
			continue;
		}
		if (!seat->scratch[CLAIMED] && floor != GP_NEVER &&
		    seat->scratch[VTIME] < floor)
			seat->scratch[VTIME] = floor;
		seat->scratch[CLAIMED] = 1;
		f.claimants++;
		if (is_current(v, seat))
			f.current = seat;
		if (!f.behind || seat->scratch[VTIME] < f.behind->scratch[VTIME])
			f.behind = seat;
	}
	return f;
}

/*
 * True if @seat has been off for most of its lease, for reasons other than the turns of others: a
 * refused start, a hold by hand, a home that was late. It then runs for a slice.
 */
static bool off_too_long(struct gp_verdict *v, struct gp_seat *seat, u64 slice)
{
	u64 since = gp_off_since(v->sched, seat), until, *let_go = &seat->scratch[LET_GO];

	if (since == GP_NEVER && !*let_go)
		return false;
	until = since == GP_NEVER ? seat->since_ns + slice :
				    since + v->sched->param[GP_LEASE] / 4 * 3;
	if (since != GP_NEVER && v->now_ns >= until)
		*let_go = 1;
	else if (v->now_ns < until)
		gp_wake_at(v, until);
	else
		*let_go = 0;
	return *let_go;
}

static void fair_decide(struct gp_verdict *v)
{
	u64 *scratch = v->device->scratch, slice;
	struct field f = survey(v);
	struct gp_seat *seat;

	if (!f.behind) {
		scratch[CURRENT] = 0;
		return;
	}
	slice = slice_ns(v, f.claimants);
	if (!f.current || v->now_ns - scratch[BEGAN] >= slice) {
		if (f.current != f.behind || !scratch[CURRENT])
			scratch[CURRENT] = (u64)(f.behind - v->sched->seats) + 1;
		scratch[BEGAN] = v->now_ns;
		scratch[CHARGED] = v->now_ns;
		f.current = f.behind;
	}
	if (f.claimants < 2 && !f.unknown)
		return;

	gp_wake_at(v, scratch[BEGAN] + slice);
	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat)) {
		if (seat == f.current || !(gp_class_of(v->sched, seat)->flags & GP_PREEMPTIBLE))
			continue;
		/*
		 * A seat that became idle while it was stopped need not be held. A seat whose work
		 * is unknown gets no turn, because the turn would keep others off.
		 */
		if ((gp_seat_claims(seat) || seat->unknown) && !off_too_long(v, seat, slice))
			gp_hold(v, seat, f.current);
	}
}

const struct gp_policy gp_policy_fair = {
	.name	= "fair",
	.watch	= fair_watch,
	.decide	= fair_decide,
};
