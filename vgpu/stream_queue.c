// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Queues whose packets are a stream: SDMA on its engine, PM4 on the compute units.
 *
 * An SDMA queue has no part in the device below. It stops at once when it is
 * unmapped, between two pieces of what it moves.
 *
 * A PM4 queue is to the device below a queue of kernels: each dispatch of the
 * stream is a packet. The stream goes on while few are under way, and waits where
 * the packets say so until all are complete. It is read only while the queue has a
 * slot; until then the device below is told that there is something to read.
 */
#include "chip_private.h"

enum { AHEAD = 8 };	/* dispatches given and not complete */

static void stopped(struct vgpu_chip *c, struct vgpu_user_queue *q, const struct vgpu_stop *why)
{
	struct vgpu_interrupt irq = {
		.kind		= why->fault ? VGPU_IRQ_FAULT : VGPU_IRQ_BAD_PACKET,
		.vmid		= vgpu_process_of(c, q)->vmid,
		.pasid		= (u16)vgpu_process_of(c, q)->pasid,
		.doorbell	= q->doorbell,
		.engine		= q->engine,
		.address	= why->address,
		.write		= why->write,
	};

	if (why->fault)
		c->counters.faults++;
	else
		c->counters.packets[VGPU_BAD_PACKET]++;
	vgpu_interrupt(c, &irq);
	vgpu_user_fail(c, q, why->what);
}

/* SDMA */

/* Fills @q from the MQD that was read. NULL or what is wrong with it. */
const char *vgpu_sdma_from_mqd(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u32 log = vgpu_bits(c->mqd[VGPU_SDMA_MQD_RB_CNTL], 6, 1);

	if (log > 28)
		return "an SDMA MQD has a ring larger than 1 GiB";
	q->ring = vgpu_wide(c->mqd[VGPU_SDMA_MQD_BASE_LO], c->mqd[VGPU_SDMA_MQD_BASE_HI]) << 8;
	q->ring_packets = 4ull << log;
	q->rptr_address = vgpu_wide(c->mqd[VGPU_SDMA_MQD_RPTR_ADDR_LO],
				    c->mqd[VGPU_SDMA_MQD_RPTR_ADDR_HI]);
	return NULL;
}

int vgpu_sdma_begin(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_sdma_args args = {
		.facts	= &c->facts,
		.space	= vgpu_process_of(c, q)->space,
		.base	= q->ring,
		.size	= (u32)q->ring_packets,
		.rptr	= vgpu_wide(c->mqd[VGPU_SDMA_MQD_RPTR_LO], c->mqd[VGPU_SDMA_MQD_RPTR_HI]),
		.page	= c->page,
	};

	return vgpu_sdma_init(&q->stream.sdma, &args);
}

/* The write pointer in memory, or the doorbell if that is ahead of it. */
static void sdma_look(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_sdma *s = &q->stream.sdma;
	u64 w;

	if (vgpu_user_read(c, q, q->wptr_address, &w, sizeof(w)))
		return;
	if (!q->fresh && q->rung > w && q->rung - s->rptr <= q->ring_packets)
		w = q->rung;
	q->wptr = w;
	vgpu_sdma_wptr(s, w, c->v->now);
}

void vgpu_sdma_on(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_process *p = vgpu_process_of(c, q);
	struct vgpu_sdma *s = &q->stream.sdma;

	if (q->on)
		return;
	q->on = true;
	c->nr_sdma++;
	vgpu_vmid_take(c, p);
	s->space = p->space;
	s->engine = q->engine;
	s->vmid = p->vmid;
	s->pasid = (u16)p->pasid;
	vgpu_sdma_start(s, c->v->now);
	sdma_look(c, q);
}

/* It leaves its engine; how far it is goes to the MQD. */
void vgpu_sdma_off(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_sdma *s = &q->stream.sdma;
	u32 pointers[4] = { (u32)s->rptr, (u32)(s->rptr >> 32),
			    (u32)s->wptr, (u32)(s->wptr >> 32) };

	if (!q->on)
		return;
	vgpu_sdma_stop(s);
	vgpu_driver_write(c, q->mqd + 4 * VGPU_SDMA_MQD_RPTR_LO, pointers, sizeof(pointers));
	vgpu_slot_free(c, q);
}

static void sdma_run(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_sdma *s = &q->stream.sdma;
	u64 copies = s->copies, others = s->others, bytes = s->bytes, rptr = s->rptr;
	u64 work = s->work;

	if (s->state == VGPU_SDMA_ERROR)
		return;
	if (vgpu_sdma_run(s, &vgpu_counted_bus, c, c->v->now) == VGPU_SDMA_ERROR) {
		stopped(c, q, &s->stop);
		s->next_ns = VGPU_NEVER;
	}
	c->counters.packets[VGPU_SDMA_COPY] += s->copies - copies;
	c->counters.packets[VGPU_SDMA_OTHER] += s->others - others;
	c->counters.sdma_bytes += s->bytes - bytes;
	vgpu_chip_spend(c, s->work - work + 1);
	q->rptr = s->rptr;
	if (s->rptr != rptr) {
		vgpu_user_write(c, q, q->rptr_address, &s->rptr, sizeof(s->rptr));
		c->signalled = true;
	}
}

/* The queue whose engine has something to do first; VGPU_NONE: none by itself. */
static u32 first_engine(const struct vgpu_chip *c)
{
	u32 first = VGPU_NONE;
	u64 next = VGPU_NEVER;

	for (u32 i = 0; c->nr_sdma && i < c->top; i++) {
		const struct vgpu_user_queue *q = &c->queues[i];

		if (!q->on || q->kind != VGPU_QUEUE_SDMA || q->stream.sdma.next_ns >= next)
			continue;
		next = q->stream.sdma.next_ns;
		first = i;
	}
	return first;
}

u64 vgpu_sdma_next_ns(const struct vgpu_chip *c)
{
	u32 first = first_engine(c);

	return first == VGPU_NONE ? VGPU_NEVER : c->queues[first].stream.sdma.next_ns;
}

/* One engine does what is due: the one that is furthest behind. */
void vgpu_sdma_due(struct vgpu_chip *c)
{
	if (c->share && vgpu_sdma_next_ns(c) <= c->v->now)
		sdma_run(c, &c->queues[first_engine(c)]);
}

/* PM4 */

int vgpu_pm4_begin(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_pm4_args args = {
		.space		= vgpu_process_of(c, q)->space,
		.base		= q->ring,
		.size		= q->kind == VGPU_QUEUE_PM4 ? (u32)q->ring_packets : 0,
		.rptr		= q->base,
		.unknown_ns	= c->unknown_ns,
	};

	return vgpu_pm4_init(&q->stream.pm4, &args);
}

/* The device below gives a queue without a slot its turn for packets that were not read. */
static void tell_unread(struct vgpu_chip *c, const struct vgpu_user_queue *q)
{
	const struct vgpu_pm4 *s = &q->stream.pm4;
	u32 id = vgpu_user_id(c, q);
	bool unread = s->rptr != s->wptr;

	if (c->v->queues[id].unread != unread)
		vgpu_queue_unread(c->v, id, unread, c->v->now);
}

static void pm4_look(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_pm4 *s = &q->stream.pm4;
	u64 w;

	if (vgpu_user_read(c, q, q->wptr_address, &w, sizeof(w)))
		return;
	if (!q->fresh && q->rung > w && q->rung - s->rptr <= q->ring_packets)
		w = q->rung;
	q->wptr = w;
	vgpu_pm4_wptr(s, w);
	tell_unread(c, q);
	vgpu_stream_wake(c, q);
}

/* A dispatch is the next packet of the queue in the device below. */
static void pm4_dispatch(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_aql_flight *f = vgpu_flight_new(q, q->published);

	GP_WARN_ON(!f);
	if (!f)
		return;
	f->p = q->stream.pm4.packet;
	f->type = VGPU_FLIGHT_PM4;
	q->published++;
	c->counters.time_only += q->stream.pm4.time_only;
	vgpu_doorbell(c->v, vgpu_user_id(c, q), c->v->now);
}

/* One share of the stream. True: it can go on. */
static bool pm4_share(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_pm4 *s = &q->stream.pm4;

	if (q->published - q->finished >= AHEAD)
		return false;
	s->space = vgpu_process_of(c, q)->space;
	s->vmid = vgpu_process_of(c, q)->vmid;
	s->pasid = (u16)vgpu_process_of(c, q)->pasid;
	s->xcc = q->xcc;
	if (q->published == q->finished)
		vgpu_pm4_drained(s);

	switch (vgpu_pm4_run(s, &vgpu_counted_bus, c, c->v->now)) {
	case VGPU_PM4_DISPATCH:
		pm4_dispatch(c, q);
		return true;
	case VGPU_PM4_MORE:
		vgpu_stream_wake(c, q);
		return false;
	case VGPU_PM4_ERROR:
		stopped(c, q, &s->stop);
		return false;
	case VGPU_PM4_POLLING:
		q->unpublished = true;
		return false;
	default:
		return false;
	}
}

static void pm4_run(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	struct vgpu_pm4 *s = &q->stream.pm4;
	u64 rptr = s->rptr, packets = s->packets;
	u32 index;

	q->awake = q->unpublished = false;
	if (c->v->queues[vgpu_user_id(c, q)].state != VGPU_MAPPED || q->failed || q->error)
		return;
	while (!q->failed && pm4_share(c, q))
		;
	c->counters.packets[VGPU_PM4_USER] += s->packets - packets;
	vgpu_chip_spend(c, s->packets - packets + 1);
	q->rptr = s->rptr;
	if (s->rptr == rptr && s->packets == packets)
		return;
	/* As hardware does, an index of the ring. */
	index = (u32)(s->rptr & (q->ring_packets - 1));
	vgpu_user_write(c, q, q->rptr_address, &index, sizeof(index));
	c->signalled = true;
	tell_unread(c, q);
}

void vgpu_stream_wake(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	q->awake = true;
	c->awake = true;
}

/* The doorbell moved, or the queue was mapped. */
void vgpu_stream_look(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	if (q->kind == VGPU_QUEUE_SDMA)
		sdma_look(c, q);
	else if (q->kind == VGPU_QUEUE_PM4)
		pm4_look(c, q);
}

/* Those that wait for a word of memory look again. */
void vgpu_stream_poll(struct vgpu_chip *c)
{
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (!q->used || q->error)
			continue;
		if (q->kind == VGPU_QUEUE_PM4 && q->unpublished)
			vgpu_stream_wake(c, q);
		else if (q->kind == VGPU_QUEUE_SDMA && q->on &&
			 q->stream.sdma.state == VGPU_SDMA_POLLING)
			sdma_run(c, q);
	}
}

/* PM4 streams that can go on do. */
void vgpu_stream_run(struct vgpu_chip *c)
{
	c->awake = false;
	for (u32 i = 0; i < c->top; i++)
		if (c->queues[i].used && c->queues[i].awake)
			pm4_run(c, &c->queues[i]);
}
