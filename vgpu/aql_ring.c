// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The ring of an AQL queue, as the device below sees it.
 *
 * The device below is told of packets only when they are published: the write
 * pointer in memory may be ahead of packets that are still being written, whose
 * headers are invalid. It may not be called from here, so what follows from a
 * packet being complete (the signal, the event) is noted and told afterwards,
 * but always after the read pointer has passed the packet.
 */
#include "aql_private.h"

static struct vgpu_user_queue *queue_at(struct vgpu_chip *c, u32 queue)
{
	return &c->queues[queue];
}

static u64 slot_address(const struct vgpu_user_queue *q, u64 index)
{
	return q->ring + (index & (q->ring_packets - 1)) * VGPU_AQL_BYTES;
}

static struct vgpu_aql_flight *flight_of(struct vgpu_user_queue *q, u64 index)
{
	for (u32 i = 0; i < VGPU_AQL_IN_FLIGHT; i++)
		if (q->flight[i].used && q->flight[i].index == index)
			return &q->flight[i];
	return NULL;
}

struct vgpu_aql_flight *vgpu_flight_new(struct vgpu_user_queue *q, u64 index)
{
	for (u32 i = 0; i < VGPU_AQL_IN_FLIGHT; i++) {
		struct vgpu_aql_flight *f = &q->flight[i];

		if (f->used)
			continue;
		memset(f, 0, sizeof(*f));
		f->used = true;
		f->index = index;
		return f;
	}
	return NULL;
}

/* Each packet is read once, because its slot may be reused when its queue is mapped again. */
static int world_fetch(void *ctx, u32 queue, u64 index, struct vgpu_packet *ret)
{
	struct vgpu_chip *c = ctx;
	struct vgpu_user_queue *q = queue_at(c, queue);
	struct vgpu_aql_flight *f = flight_of(q, q->base + index);
	u8 packet[VGPU_AQL_BYTES];

	if (!f && q->kind != VGPU_QUEUE_AQL)
		return -EINVAL;
	if (!f) {
		f = vgpu_flight_new(q, q->base + index);
		GP_WARN_ON(!f);
		if (!f)
			return -EINVAL;
		if (vgpu_user_read(c, q, slot_address(q, f->index), packet, sizeof(packet)) ||
		    vgpu_aql_decode(c, q, packet, f)) {
			f->used = false;
			return -EINVAL;
		}
	}
	*ret = f->p;
	return 0;
}

/* The write pointer in memory; it never goes back and never exceeds the ring. */
static u64 written(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u64 w;

	if (vgpu_user_read(c, q, q->wptr_address, &w, sizeof(w)))
		return q->published;
	/* The doorbell holds the index of the last packet, which may be ahead of the pointer. */
	if (!q->fresh && q->rung + 1 > w && q->rung - q->rptr < q->ring_packets)
		w = q->rung + 1;
	q->wptr = w;
	if (w < q->published)
		return q->published;
	return w - q->rptr > q->ring_packets ? q->rptr + q->ring_packets : w;
}

/* Finds the packets published by now. Returns the index after the last one. */
u64 vgpu_aql_look(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u64 end = written(c, q);
	u16 header;

	while (q->published < end) {
		if (vgpu_user_read(c, q, slot_address(q, q->published), &header, sizeof(header)))
			break;
		if ((header & 0xff) == VGPU_AQL_TYPE_INVALID)
			break;
		q->published++;
	}
	q->unpublished = q->published < q->wptr;
	return q->published;
}

static u64 world_wptr(void *ctx, u32 queue)
{
	struct vgpu_user_queue *q = queue_at(ctx, queue);

	if (q->kind == VGPU_QUEUE_AQL)
		return vgpu_aql_look(ctx, q) - q->base;
	return q->published;
}

static void tell(struct vgpu_chip *c, struct vgpu_user_queue *q, struct vgpu_aql_flight *f)
{
	struct vgpu_aql_flight told = *f;

	f->used = false;
	c->untold--;
	c->signalled = true;
	vgpu_aql_signal(c, q, &told);
}

/* Frees slots of the ring: marks them invalid first, then moves the pointer. */
static void world_rptr(void *ctx, u32 queue, u64 value, u64 now_ns)
{
	struct vgpu_chip *c = ctx;
	struct vgpu_user_queue *q = queue_at(c, queue);
	u16 invalid = VGPU_AQL_TYPE_INVALID;

	(void)now_ns;
	if (q->kind != VGPU_QUEUE_AQL)
		return;		/* streams report their own read pointers */
	for (; q->rptr < q->base + value; q->rptr++)
		vgpu_user_write(c, q, slot_address(q, q->rptr), &invalid, sizeof(invalid));
	vgpu_user_write(c, q, q->rptr_address, &q->rptr, sizeof(q->rptr));

	for (u32 i = 0; i < VGPU_AQL_IN_FLIGHT; i++)
		if (q->flight[i].used && q->flight[i].done && q->flight[i].index < q->rptr)
			tell(c, q, &q->flight[i]);
}

static void world_complete(void *ctx, u32 queue, u64 index, u64 now_ns)
{
	struct vgpu_chip *c = ctx;
	struct vgpu_user_queue *q = queue_at(c, queue);
	struct vgpu_aql_flight *f = flight_of(q, q->base + index);

	if (!f)
		return;
	if (q->kind != VGPU_QUEUE_AQL) {
		f->used = false;
		q->finished++;
		vgpu_stream_wake(c, q);
		return;
	}
	f->end_ns = now_ns;
	if (!f->start_ns)
		f->start_ns = now_ns;
	f->done = true;
	c->untold++;
	if (f->index < q->rptr)
		tell(c, q, f);
}

/* Reports completed packets. The read pointer waits for the oldest one that is not complete. */
void vgpu_aql_tell(struct vgpu_chip *c)
{
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		for (u32 j = 0; q->used && j < VGPU_AQL_IN_FLIGHT; j++)
			if (q->flight[j].used && q->flight[j].done)
				tell(c, q, &q->flight[j]);
	}
}

static void world_launch(void *ctx, u32 queue, u64 index, u64 now_ns)
{
	struct vgpu_user_queue *q = queue_at(ctx, queue);
	struct vgpu_aql_flight *f = flight_of(q, q->base + index);

	if (f && !f->start_ns)
		f->start_ns = now_ns;
}

static void world_add(void *ctx, u32 queue, u64 address, u64 value)
{
	/* A kernel without a result adds 1 at 0 and the rest at 8. */
	if (address > 8)
		vgpu_user_add(ctx, queue_at(ctx, queue), address, value);
}

static bool world_signalled(void *ctx, u32 queue, u64 signal)
{
	struct vgpu_user_queue *q = queue_at(ctx, queue);
	const struct vgpu_aql_flight *f = flight_of(q, signal);

	if (f && f->type == VGPU_AQL_TYPE_VENDOR) {
		u8 packet[VGPU_AQL_BYTES];

		/* The packet stays in the ring until the read pointer passes it. */
		if (!vgpu_user_read(ctx, q, slot_address(q, f->index), packet, sizeof(packet)) &&
		    vgpu_aql_vendor(ctx, q, packet))
			return true;
	} else if (f && vgpu_aql_ready(ctx, q, f)) {
		return true;
	}
	q->blocked = true;
	return false;
}

/* Progress of waves lies in the save area of the first XCC, after the control stack. */
static bool in_area(const struct vgpu_user_queue *q, u64 offset, u32 n)
{
	u64 size = q->save_size > q->stack_size ? q->save_size - q->stack_size : 0;

	return q->save_base && n <= size && offset <= size - n;
}

static int world_area_write(void *ctx, u32 queue, u64 offset, const void *from, u32 n)
{
	struct vgpu_chip *c = ctx;
	struct vgpu_user_queue *q = queue_at(c, queue);

	if (!in_area(q, offset, n))
		return -EFAULT;
	return c->bus.write(c->ctx, vgpu_process_of(c, q)->space,
			    q->save_base + q->stack_size + offset, from, n);
}

static int world_area_read(void *ctx, u32 queue, u64 offset, void *to, u32 n)
{
	struct vgpu_chip *c = ctx;
	struct vgpu_user_queue *q = queue_at(c, queue);

	if (!in_area(q, offset, n))
		return -EFAULT;
	return c->bus.read(c->ctx, vgpu_process_of(c, q)->space,
			   q->save_base + q->stack_size + offset, to, n);
}

static void world_unmapped(void *ctx, const struct vgpu_unmapped *what)
{
	struct vgpu_chip *c = ctx;

	c->last_unmapped = *what;
	c->ended = true;
}

static void world_mapped(void *ctx, u64 ticket, u64 now_ns)
{
	struct vgpu_chip *c = ctx;

	(void)ticket;
	(void)now_ns;
	c->ended = true;
}

static void world_report(void *ctx, u32 queue, const char *what)
{
	struct vgpu_chip *c = ctx;

	if (queue >= VGPU_MAX_QUEUES) {
		vgpu_say(c, what);
		return;
	}
	vgpu_say_queue(c, queue_at(c, queue), what);
	if (c->v->queues[queue].error && !c->queues[queue].error)
		c->queues[queue].error = what;
}

const struct vgpu_world vgpu_chip_world = {
	.fetch		= world_fetch,
	.wptr		= world_wptr,
	.rptr		= world_rptr,
	.complete	= world_complete,
	.launch		= world_launch,
	.add		= world_add,
	.signalled	= world_signalled,
	.area_write	= world_area_write,
	.area_read	= world_area_read,
	.unmapped	= world_unmapped,
	.mapped		= world_mapped,
	.report		= world_report,
};
