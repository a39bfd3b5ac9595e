// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Dispatch: gives free slots to queues.
 *
 * Running waves are never touched. A higher pipe priority gets every free slot first; equals
 * take turns workgroup by workgroup. If all contenders have the same shape and the same CUs,
 * the result of these turns is computed at once: each gets an equal share, and slots that one
 * cannot use go to the others. Otherwise the turns are simulated one by one.
 */
#include "device.h"

/*
 * If the slots cannot be shared evenly, one of them has the odd one for all rounds
 * that are promised. So that is for some rounds only, and not at all where one
 * slot is a large part of what there is.
 */
enum { UNEVEN_ROUNDS = 256, UNEVEN_SLOTS = 16 };

static struct vgpu_flight *unplaced(struct vgpu_queue *q)
{
	for (u32 i = 0; i < q->nr_flights; i++) {
		struct vgpu_flight *f = &q->flight[(q->first_flight + i) % VGPU_IN_FLIGHT];

		if (!f->complete && f->placed < f->p.workgroups)
			return f;
	}
	return NULL;
}

/*
 * Once all workgroups that are left are promised, slots that free would find
 * none while others have rounds to go: the promises are broken.
 */
static void keep_or_break(struct vgpu *v, struct vgpu_queue *q)
{
	const struct vgpu_flight *f;

	if (q->cohorts == VGPU_NONE)
		return;
	f = unplaced(q);
	if (f && f->promised && f->promised == f->p.workgroups - f->placed)
		vgpu_queue_cut(v, q);
}

/* Finds the workgroup that @q would place next; saved waves come before new workgroups. */
static bool wants(struct vgpu *v, struct vgpu_queue *q, struct vgpu_want *w)
{
	u64 left;

	if (q->state != VGPU_MAPPED || q->error)
		return false;

	w->restore = vgpu_restore_next(v, q);
	if (w->restore) {
		w->f = vgpu_restore_flight(q);
		left = q->record.count;
	} else {
		if (v->now < q->ready_ns)
			return false;
		w->f = unplaced(q);
		if (!w->f)
			return false;
		left = w->f->p.workgroups - w->f->placed - w->f->promised;
		if (!left)
			return false;
	}
	w->q = q;
	w->left = (u32)vgpu_min(left, v->max_cohorts);
	w->give = 0;
	w->most = 0;
	w->shared = w->satisfied = w->stuck = false;
	w->cohort = VGPU_NONE;
	return true;
}

/* Collects the contenders of one priority; the one with the next turn is first. */
static void collect(struct vgpu *v, u8 pipe)
{
	bool newcomer = false;

	v->nr_wants = 0;
	for (u32 i = 0; i < v->nr_on; i++) {
		u32 at = v->next_on + i < v->nr_on ? v->next_on + i : v->next_on + i - v->nr_on;
		struct vgpu_queue *q = &v->queues[v->on[at]];

		if (q->pipe != pipe)
			continue;
		keep_or_break(v, q);
		vgpu_queue_launch(v, q);
		if (!wants(v, q, &v->want[v->nr_wants]))
			continue;
		v->nr_wants++;
		newcomer |= !q->joined;
		q->joined = true;
	}
	for (u32 i = 0; newcomer && i < v->nr_on; i++)
		vgpu_queue_cut(v, &v->queues[v->on[i]]);
}

/* Makes a cohort for the next workgroups of @w; it is not on any CU yet. */
static struct vgpu_cohort *cohort_for(struct vgpu *v, struct vgpu_want *w)
{
	struct vgpu_queue *q = w->q;
	struct vgpu_cohort *c;

	w->cohort = vgpu_cohort_new(v, q);
	c = vgpu_cohort_at(v, w->cohort);
	c->flight = (u32)(w->f - q->flight);
	c->start_ns = w->restore ? vgpu_max(v->now, q->resume_ns) : v->now;
	c->round_ns = w->restore ? q->record.left_ns : w->f->p.workgroup_ns;
	c->rounds = 1;
	return c;
}

/*
 * Returns how many more rounds the slots of @w can be given in advance. Until these rounds end,
 * the other slots of the packet take workgroups too, and enough must remain for all of them.
 */
static u32 more_rounds(const struct vgpu *v, const struct vgpu_want *w)
{
	const struct vgpu_flight *f = w->f;
	u64 all = (f->p.workgroups - f->placed - f->promised) / f->live;

	if (!v->steady || all < 2)
		return 0;
	all = vgpu_min(all - 1, BIT_ULL(62) / f->p.workgroup_ns / v->max_cohorts);
	return (u32)vgpu_min(all, w->most);
}

/* Starts @n workgroups of @w that have slots. */
static void started(struct vgpu *v, struct vgpu_want *w, u32 n)
{
	struct vgpu_cohort *c = vgpu_cohort_at(v, w->cohort);
	struct vgpu_flight *f = w->f;

	c->count = n;
	f->live += n;
	if (w->restore) {
		c->value = vgpu_restore_take(v, w->q, n);
	} else {
		c->value = vgpu_flight_take(f, n);
		c->rounds += more_rounds(v, w);
		f->promised += (u64)(c->rounds - 1) * n;
	}
	c->end_ns = vgpu_after(c->start_ns, c->rounds * c->round_ns);
	vgpu_cohort_start(v, w->cohort);

	if (!f->launched) {
		f->launched = true;
		v->world.launch(v->ctx, vgpu_queue_id(v, w->q), f->index, v->now);
	}
}

static bool same_cus(const struct vgpu_queue *a, const struct vgpu_queue *b)
{
	return a->cu_first == b->cu_first && a->cu_end == b->cu_end;
}

static bool equal_or_disjoint(const struct vgpu_queue *a, const struct vgpu_queue *b)
{
	return same_cus(a, b) || a->cu_first >= b->cu_end || b->cu_first >= a->cu_end;
}

/* True if the turns can be computed: one shape, and CU masks that are equal or disjoint. */
static bool uniform(const struct vgpu *v)
{
	const struct vgpu_want *w = v->want;
	bool masks = false;

	for (u32 i = 1; i < v->nr_wants; i++) {
		if (!vgpu_shape_same(&w[0].f->shape, &w[i].f->shape))
			return false;
		masks |= !same_cus(w[0].q, w[i].q);
	}
	for (u32 i = 1; masks && i < v->nr_wants; i++)
		for (u32 j = 0; j < i; j++)
			if (!equal_or_disjoint(w[i].q, w[j].q))
				return false;
	return true;
}

/* Remembers that @q had the last turn, unless it is NULL. */
static void turn_after(struct vgpu *v, const struct vgpu_queue *q)
{
	for (u32 i = 0; q && i < v->nr_on; i++)
		if (v->on[i] == vgpu_queue_id(v, q))
			v->next_on = i + 1 < v->nr_on ? i + 1 : 0;
}

/* The slots of @mine's CUs are shared out: for how long, if one got an @odd one? */
static void share_rounds(struct vgpu *v, const struct vgpu_queue *mine, bool odd)
{
	u32 slots = vgpu_cu_fit_empty(v, mine->cu_end - mine->cu_first);
	u32 most = 1u << 30;

	if (odd)
		most = slots >= UNEVEN_SLOTS * v->nr_wants ? UNEVEN_ROUNDS : 0;
	for (u32 i = 0; i < v->nr_wants; i++) {
		if (!same_cus(v->want[i].q, mine))
			continue;
		v->want[i].shared = true;
		v->want[i].most = most;
	}
}

/*
 * Shares @slots among the contenders on the same CUs as @mine so that none
 * has more than another that still wants some; the odd ones go in turn.
 */
static void share(struct vgpu *v, const struct vgpu_queue *mine, u32 slots)
{
	const struct vgpu_queue *odd = NULL;
	u32 open;

	do {
		u32 each;

		open = 0;
		for (u32 i = 0; i < v->nr_wants; i++)
			if (same_cus(v->want[i].q, mine) && v->want[i].give < v->want[i].left)
				open++;
		each = open ? slots / open : 0;

		for (u32 i = 0; i < v->nr_wants && slots; i++) {
			struct vgpu_want *w = &v->want[i];
			u32 n = w->left - w->give;

			if (!same_cus(w->q, mine) || !n)
				continue;
			if (n > each)
				n = each ? each : 1;
			w->give += n;
			slots -= n;
			if (!each)
				odd = w->q;
		}
	} while (open && slots);
	turn_after(v, odd);
	share_rounds(v, mine, odd);
}

static void place_uniform(struct vgpu *v)
{
	vgpu_cu_shape(v, &v->want[0].f->shape);
	for (u32 i = 0; i < v->nr_wants; i++) {
		struct vgpu_want *w = &v->want[i];
		u32 slots;

		if (w->shared)
			continue;
		slots = vgpu_cu_fits(v, w->q->cu_first, w->q->cu_end);
		share(v, w->q, slots);
	}

	for (u32 i = 0; i < v->nr_wants; i++) {
		struct vgpu_want *w = &v->want[i];

		if (!w->give)
			continue;
		vgpu_cu_take(v, w->q, cohort_for(v, w)->per_cu, w->give);
		started(v, w, w->give);
		w->satisfied = w->give == w->left;
	}
}

/* Places workgroup by workgroup. A contender whose workgroup fits nowhere drops out. */
static void place_in_turns(struct vgpu *v)
{
	const struct vgpu_queue *last = NULL;
	bool more;

	vgpu_cu_flush(v);
	do {
		more = false;
		for (u32 i = 0; i < v->nr_wants; i++) {
			struct vgpu_want *w = &v->want[i];
			u32 cu;

			w->satisfied = w->give == w->left;
			if (w->satisfied || w->stuck)
				continue;
			cu = vgpu_cu_take_one(v, w->q, &w->f->shape);
			if (cu == VGPU_NONE) {
				w->stuck = true;
				continue;
			}
			if (w->cohort == VGPU_NONE)
				cohort_for(v, w);
			vgpu_cohort_at(v, w->cohort)->per_cu[cu]++;
			w->give++;
			last = w->q;
			more = true;
		}
	} while (more);
	turn_after(v, last);

	for (u32 i = 0; i < v->nr_wants; i++)
		if (v->want[i].give)
			started(v, &v->want[i], v->want[i].give);
}

/*
 * Will the same contenders get the same slots again when they free? Only if
 * there is none above them and all take the same time: then each one's
 * turns come round as they did now.
 */
static bool steady(const struct vgpu *v)
{
	for (u32 i = 0; i < v->nr_wants; i++)
		if (v->want[i].restore ||
		    v->want[i].f->p.workgroup_ns != v->want[0].f->p.workgroup_ns)
			return false;
	return true;
}

/* Returns true if a contender got all it asked for, so it may ask for more. */
static bool place(struct vgpu *v)
{
	bool one = uniform(v);

	if (!one)
		v->steady = false;
	if (one)
		place_uniform(v);
	else
		place_in_turns(v);

	for (u32 i = 0; i < v->nr_wants; i++)
		if (v->want[i].give && v->want[i].satisfied)
			return true;
	return false;
}

/*
 * Fills the free slots. A higher priority takes all slots it can use, for later packets as
 * well, before a lower one gets any.
 */
void vgpu_dispatch(struct vgpu *v)
{
	bool above = false;

	for (int pipe = 2; pipe >= 0; pipe--) {
		if (!v->on_pipe[pipe])
			continue;
		do {
			collect(v, (u8)pipe);
			v->steady = !above && steady(v);
		} while (v->nr_wants && place(v));
		above |= v->nr_wants > 0;
	}
}
