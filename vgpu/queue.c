// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Queues: how packets are fetched, launched and completed.
 *
 * A launched packet sits in the queue's ring of flights until it and all before
 * it are complete. The next packet is launched once every workgroup of the last
 * one has a slot; with a barrier bit or a gap only when all are complete.
 */
#include "device.h"

static struct vgpu_flight *flight_at(struct vgpu_queue *q, u32 i)
{
	return &q->flight[(q->first_flight + i) % VGPU_IN_FLIGHT];
}

void vgpu_queue_error(struct vgpu *v, struct vgpu_queue *q, const char *what)
{
	q->error = true;
	vgpu_report(v, q, what);
}

/*
 * True if the hardware scheduler counts @q as having work. It cannot see through a barrier, and
 * unread packets may be of any kind.
 */
bool vgpu_queue_has_work(const struct vgpu_queue *q)
{
	return !q->error && (q->nr_flights || q->next < q->wptr || q->unread ||
			     vgpu_queue_has_saved(q));
}

static void move_rptr(struct vgpu *v, struct vgpu_queue *q, u64 value)
{
	/* A read pointer never goes back, even if the fault is cleared. */
	if (value <= q->rptr)
		return;
	q->rptr = value;
	v->world.rptr(v->ctx, vgpu_queue_id(v, q), value, v->now);
}

static bool rptr_early(const struct vgpu *v)
{
	return v->faults.rptr_early || vgpu_fact(v, VGPU_RPTR_AT) == VGPU_RPTR_AT_LAUNCH;
}

/* Takes finished packets off the ring, oldest first. */
static void retire(struct vgpu *v, struct vgpu_queue *q)
{
	while (q->nr_flights && flight_at(q, 0)->complete) {
		q->first_flight = (q->first_flight + 1) % VGPU_IN_FLIGHT;
		q->nr_flights--;
	}
	move_rptr(v, q, q->nr_flights ? flight_at(q, 0)->index : q->next);
}

static void complete(struct vgpu *v, struct vgpu_queue *q, struct vgpu_flight *f)
{
	f->complete = true;
	q->last_done_ns = v->now;
	v->counters.packets_done++;
	v->world.complete(v->ctx, vgpu_queue_id(v, q), f->index, v->now);
	retire(v, q);
}

/* A packet is complete when no workgroup is left to start or to end. */
static void check_complete(struct vgpu *v, struct vgpu_queue *q, struct vgpu_flight *f)
{
	if (f->complete || f->live || f->placed < f->p.workgroups)
		return;
	/* Its other workgroups may still wait in the save area. */
	if (vgpu_queue_has_saved(q))
		return;
	complete(v, q, f);
}

/* The save area is empty now, so packets may be complete. */
void vgpu_queue_check(struct vgpu *v, struct vgpu_queue *q)
{
	for (u32 i = 0; i < VGPU_IN_FLIGHT; i++) {
		u32 from_first = (i + VGPU_IN_FLIGHT - q->first_flight) % VGPU_IN_FLIGHT;

		if (from_first < q->nr_flights)
			check_complete(v, q, &q->flight[i]);
	}
}

/* Takes the next @n workgroups of the packet. Returns what they will add. */
u64 vgpu_flight_take(struct vgpu_flight *f, u64 n)
{
	u64 sum = n * f->placed + n * (n + 1) / 2;	/* of i + 1 */

	f->placed += n;
	return sum * f->p.key;
}

static void effect(struct vgpu *v, const struct vgpu_cohort *c, u64 n, u64 value)
{
	const struct vgpu_packet *p = &v->queues[c->queue].flight[c->flight].p;

	v->world.add(v->ctx, c->queue, p->result, n);
	v->world.add(v->ctx, c->queue, p->result + 8, value);
	v->counters.workgroups_done += n;
}

/*
 * Brings @c up to now: rounds that are over have their effect on memory, the
 * one that runs is the only one left, and the work so far is counted.
 */
void vgpu_queue_sync(struct vgpu *v, struct vgpu_cohort *c)
{
	struct vgpu_queue *q = &v->queues[c->queue];
	struct vgpu_flight *f = &q->flight[c->flight];
	u64 ran = v->now > c->start_ns ? v->now - c->start_ns : 0;
	u64 over = vgpu_min(ran / c->round_ns, c->rounds);

	f->promised -= (u64)(c->rounds - 1) * c->count;
	if (over) {
		u64 more = (over - 1) * c->count;

		effect(v, c, c->count + more, c->value + vgpu_flight_take(f, more));
	}
	if (over && over < c->rounds) {
		c->value = vgpu_flight_take(f, c->count);
		f->live += c->count;
	}
	f->live -= over ? c->count : 0;

	f->work_ns += ran * c->count;
	v->work_ns[q->process] += ran * c->count;
	c->start_ns = vgpu_max(c->start_ns, v->now);
	c->round_ns -= ran - over * c->round_ns;
	c->end_ns = c->start_ns + c->round_ns;
	c->rounds = 1;
}

/* Ends the promised rounds of @q, so that its slots can go to other queues. */
void vgpu_queue_cut(struct vgpu *v, struct vgpu_queue *q)
{
	for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next)
		vgpu_cohort_cut(v, vgpu_cohort_at(v, id));
}

/* Stops the waves of @q. Their progress so far counts. */
void vgpu_queue_stop(struct vgpu *v, struct vgpu_queue *q)
{
	for (u32 id = q->cohorts; id != VGPU_NONE; id = vgpu_cohort_at(v, id)->next) {
		struct vgpu_cohort *c = vgpu_cohort_at(v, id);

		if (c->heap == VGPU_NONE)
			continue;
		vgpu_queue_sync(v, c);
		vgpu_cohort_freeze(v, c);
	}
}

/* The last round of @c is over. */
void vgpu_queue_ended(struct vgpu *v, struct vgpu_cohort *c)
{
	struct vgpu_queue *q = &v->queues[c->queue];

	vgpu_queue_sync(v, c);
	check_complete(v, q, &q->flight[c->flight]);
}

/* Fetches the next packet into @q->head once. False if the queue has stopped. */
static bool fetch_head(struct vgpu *v, struct vgpu_queue *q)
{
	if (q->has_head)
		return true;
	if (v->world.fetch(v->ctx, vgpu_queue_id(v, q), q->next, &q->head)) {
		vgpu_queue_error(v, q, "a packet cannot be fetched");
		return false;
	}
	q->has_head = true;
	return true;
}

static bool all_placed(struct vgpu_queue *q)
{
	if (vgpu_queue_has_saved(q))
		return false;
	for (u32 i = 0; i < q->nr_flights; i++) {
		struct vgpu_flight *f = flight_at(q, i);

		if (!f->complete && f->placed < f->p.workgroups)
			return false;
	}
	return true;
}

/* True if the head may be launched now. Otherwise notes what it waits for. */
static bool head_may_go(struct vgpu *v, struct vgpu_queue *q)
{
	const struct vgpu_packet *p = &q->head;

	if ((p->barrier_bit || p->gap_ns) && q->nr_flights)
		return false;

	if (p->gap_ns && q->last_done_ns != VGPU_NEVER &&
	    v->now < vgpu_after(q->last_done_ns, p->gap_ns)) {
		q->wake_ns = vgpu_after(q->last_done_ns, p->gap_ns);
		return false;
	}

	if (p->kind == VGPU_BARRIER &&
	    !v->world.signalled(v->ctx, vgpu_queue_id(v, q), p->signal)) {
		q->blocked = true;
		return false;
	}
	return true;
}

/* Fills the fields that follow from the packet. -EINVAL: the kernel cannot run here. */
static int flight_set(struct vgpu *v, struct vgpu_flight *f, const struct vgpu_packet *p)
{
	f->p = *p;
	if (p->kind == VGPU_BARRIER) {
		f->p.workgroups = 0;
		return 0;
	}
	/* At most half a day, so that the summed time of all workgroups fits in 64 bits. */
	if (p->kind != VGPU_KERNEL || !p->workgroups || !p->workgroup_ns ||
	    p->workgroup_ns > BIT_ULL(45))
		return -EINVAL;
	return vgpu_shape_of(&v->facts, p, &f->shape);
}

static void launch_head(struct vgpu *v, struct vgpu_queue *q)
{
	struct vgpu_flight *f = flight_at(q, q->nr_flights);

	memset(f, 0, sizeof(*f));
	if (flight_set(v, f, &q->head)) {
		vgpu_queue_error(v, q, "a packet is no kernel that can run on this device");
		return;
	}
	f->index = q->next++;
	q->has_head = false;
	q->joined = false;
	q->nr_flights++;

	if (rptr_early(v))
		move_rptr(v, q, q->next);
	if (f->p.kind == VGPU_BARRIER)
		complete(v, q, f);
}

static bool may_launch(const struct vgpu *v, const struct vgpu_queue *q)
{
	return q->state == VGPU_MAPPED && !q->error && !q->blocked &&
	       q->next < q->wptr && q->nr_flights < VGPU_IN_FLIGHT &&
	       v->now >= q->wake_ns;
}

/* Launches packets that may be launched. @q->wake_ns says when to try again. */
void vgpu_queue_launch(struct vgpu *v, struct vgpu_queue *q)
{
	if (v->now < q->ready_ns) {
		q->wake_ns = q->ready_ns;
		return;
	}
	if (v->now >= q->wake_ns)
		q->wake_ns = 0;

	while (may_launch(v, q) && all_placed(q)) {
		if (!fetch_head(v, q) || !head_may_go(v, q))
			return;
		launch_head(v, q);
	}
}

/* Drops all waves of @q and their slots. */
void vgpu_queue_drop(struct vgpu *v, struct vgpu_queue *q)
{
	while (q->cohorts != VGPU_NONE)
		vgpu_cohort_free(v, q->cohorts);
	for (u32 i = 0; i < q->nr_flights; i++)
		flight_at(q, i)->live = flight_at(q, i)->promised = 0;
}

/* After a reset, packets that are not complete start again from their first workgroup. */
void vgpu_queue_restart(struct vgpu *v, struct vgpu_queue *q)
{
	vgpu_queue_stop(v, q);
	vgpu_queue_drop(v, q);
	q->saved = 0;
	q->restored = 0;
	q->saved_bytes = 0;
	q->has_record = false;
	for (u32 i = 0; i < q->nr_flights; i++) {
		struct vgpu_flight *f = flight_at(q, i);

		if (f->complete)
			continue;
		/* The work is repeated and counted then. */
		v->work_ns[q->process] -= f->work_ns;
		f->work_ns = 0;
		f->placed = 0;
		f->launched = false;
	}
}

/* The queue is mapped again, so its packets are read from the ring again. */
void vgpu_queue_refetch(struct vgpu *v, struct vgpu_queue *q)
{
	u32 id = vgpu_queue_id(v, q);
	struct vgpu_packet p;

	q->wptr = v->world.wptr(v->ctx, id);
	q->has_head = false;
	q->blocked = false;
	q->joined = false;
	q->wake_ns = 0;
	for (u32 i = 0; i < q->nr_flights; i++) {
		struct vgpu_flight *f = flight_at(q, i);

		if (f->complete)
			continue;
		if (v->world.fetch(v->ctx, id, f->index, &p) || flight_set(v, f, &p)) {
			vgpu_queue_error(v, q, "a packet that was running is gone from the ring");
			return;
		}
	}
}
