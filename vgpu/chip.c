// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The chip: its life, its time, its doorbells.
 *
 * The device below runs from event to event. After each event the chip does everything that
 * follows at the same instant: it reports completions, writes MQDs and continues with the
 * driver's ring. So a fence is never later than the events it waits for, however far a caller
 * advances at once.
 */
#include "chip_private.h"

static u64 chip_bytes(void)
{
	return (sizeof(struct vgpu_chip) + 7) / 8 * 8;
}

u64 vgpu_chip_size(const struct vgpu_facts *facts)
{
	return chip_bytes() + vgpu_size(facts);
}

int vgpu_chip_init(void *mem, const struct vgpu_chip_args *args, struct vgpu_chip **ret)
{
	struct vgpu_chip *c = mem;
	u64 xccs = vgpu_value(args->facts, VGPU_XCCS);

	if (xccs > VGPU_CHIP_XCCS || !args->unknown_ns || args->unknown_ns > BIT_ULL(45) ||
	    args->sdma_engines > VGPU_CHIP_SDMA_ENGINES)
		return -EINVAL;
	memset(c, 0, sizeof(*c));
	c->bus = *args->bus;
	c->ctx = args->ctx;
	c->facts = *args->facts;
	c->unknown_ns = args->unknown_ns;
	c->xccs = (u32)xccs;
	c->sdma_engines = args->sdma_engines;
	c->wait2 = c->wait2_reset = args->iq_wait_time2;
	c->wait2_register = args->iq_wait_time2_register;
	*ret = c;
	return vgpu_init((char *)mem + chip_bytes(), args->facts, &vgpu_chip_world, c, &c->v);
}

/* Stops queues that touched unmapped memory. Not allowed inside the callback. */
static void apply_failures(struct vgpu_chip *c)
{
	c->failing = false;
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (!q->used || !q->failed)
			continue;
		q->error = q->failed;
		q->failed = NULL;
		vgpu_queue_fail(c->v, i, q->error, c->v->now);
	}
}

/* Checks the signals of barriers again. */
static void look_at_signals(struct vgpu_chip *c)
{
	c->signalled = false;
	for (u32 i = 0; i < c->top; i++)
		c->queues[i].blocked = false;
	vgpu_stream_poll(c);
	vgpu_signal(c->v, c->v->now);
}

static bool slots_moved(struct vgpu_chip *c)
{
	const struct vgpu_counters *n = vgpu_counters(c->v);
	u64 moves = n->queues_mapped + n->queues_unmapped;

	if (moves == c->seen_moves)
		return false;
	c->seen_moves = moves;
	return true;
}

/* Processes everything due at this instant, within the share of this call. */
void vgpu_chip_settle(struct vgpu_chip *c)
{
	for (;;) {
		if (c->untold) {
			vgpu_aql_tell(c);
		} else if (c->failing) {
			apply_failures(c);
		} else if (c->signalled) {
			look_at_signals(c);
		} else if (slots_moved(c)) {
			vgpu_slots_sync(c);
		} else if (c->ended) {
			c->ended = false;
			vgpu_hiq_ended(c);
		} else if (!vgpu_hiq_run(c)) {
			/* Streams come last, because they can be long; the driver must not wait. */
			if (!c->awake || !c->share)
				return;
			vgpu_stream_run(c);
		}
	}
}

/* Polls memory that other writers may have changed. */
static void poll(struct vgpu_chip *c)
{
	bool blocked = false;

	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (!q->used || q->error || !vgpu_user_listed(c, q))
			continue;
		if (q->unpublished && q->kind == VGPU_QUEUE_AQL)
			vgpu_doorbell(c->v, i, c->v->now);
		blocked |= q->blocked;
	}
	if (blocked)
		look_at_signals(c);
	else
		vgpu_stream_poll(c);
}

/* While the share is used up, queues that are behind have no events. */
static u64 next_event(const struct vgpu_chip *c)
{
	return c->share ? vgpu_chip_next_ns(c) : vgpu_next_ns(c->v);
}

void vgpu_chip_advance(struct vgpu_chip *c, u64 now_ns)
{
	u64 now = vgpu_max(now_ns, c->v->now), next;

	c->share = VGPU_CHIP_SHARE;
	while ((next = next_event(c)) <= now) {
		vgpu_advance(c->v, vgpu_max(next, c->v->now));
		vgpu_sdma_due(c);
		vgpu_chip_settle(c);
	}
	vgpu_advance(c->v, now);
	poll(c);
	vgpu_chip_settle(c);
}

u64 vgpu_chip_next_ns(const struct vgpu_chip *c)
{
	return c->awake ? c->v->now : vgpu_min(vgpu_next_ns(c->v), vgpu_sdma_next_ns(c));
}

u64 vgpu_chip_command_ns(const struct vgpu_chip *c)
{
	return vgpu_next_ns(c->v);
}

bool vgpu_chip_commanded(const struct vgpu_chip *c)
{
	return c->hiq.waits != VGPU_HIQ_READY && !c->hiq.hung &&
	       c->v->cp.phase != VGPU_CP_HUNG && vgpu_next_ns(c->v) != VGPU_NEVER;
}

/* True if the doorbell of @q moved. */
static bool rung(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u64 now = c->bus.doorbell(c->ctx, q->doorbell), w;

	if (now != q->rung) {
		q->rung = now;
		q->fresh = false;
		return true;
	}
	/* The first value written may equal the old one, for instance index 0. */
	if (!q->fresh || c->bus.read(c->ctx, vgpu_process_of(c, q)->space, q->wptr_address,
				     &w, sizeof(w)))
		return false;
	return w != q->wptr;
}

bool vgpu_chip_doorbells(struct vgpu_chip *c, u64 now_ns)
{
	bool any;

	vgpu_chip_advance(c, now_ns);
	any = vgpu_hiq_look(c);
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (!q->used || q->error || !vgpu_user_listed(c, q) || !rung(c, q))
			continue;
		any = true;
		if (q->kind == VGPU_QUEUE_AQL)
			vgpu_doorbell(c->v, i, c->v->now);
		else
			vgpu_stream_look(c, q);
	}
	vgpu_chip_settle(c);
	return any;
}

/* True if @q waits for memory that a processor writes without a doorbell afterwards. */
static bool waits_for_memory(const struct vgpu_user_queue *q)
{
	return q->fresh || q->unpublished || q->blocked ||
	       (q->kind == VGPU_QUEUE_SDMA && q->stream.sdma.state == VGPU_SDMA_POLLING);
}

enum vgpu_rung vgpu_chip_rung(struct vgpu_chip *c)
{
	enum vgpu_rung rung = VGPU_RUNG_NO;

	if (c->hiq.running) {
		if (c->bus.doorbell(c->ctx, c->hiq.doorbell) != c->hiq.rung)
			return VGPU_RUNG_YES;
		/* The value may be older than the load of the ring. */
		if (c->hiq.rung != c->hiq.wptr)
			rung = VGPU_RUNG_MAYBE;
	}
	for (u32 i = 0; i < c->top; i++) {
		const struct vgpu_user_queue *q = &c->queues[i];

		if (!q->used || q->error || !vgpu_user_listed(c, q))
			continue;
		if (c->bus.doorbell(c->ctx, q->doorbell) != q->rung)
			return VGPU_RUNG_YES;
		if (waits_for_memory(q))
			rung = VGPU_RUNG_MAYBE;
	}
	return rung;
}

void vgpu_chip_reset(struct vgpu_chip *c, u64 now_ns)
{
	vgpu_chip_advance(c, now_ns);
	memset(&c->hiq, 0, sizeof(c->hiq));
	c->wait2 = c->wait2_reset;
	/* After a reset no firmware writes MQDs. */
	for (u32 i = 0; i < c->top; i++) {
		if (c->queues[i].kind == VGPU_QUEUE_SDMA && c->queues[i].on)
			vgpu_sdma_stop(&c->queues[i].stream.sdma);
		vgpu_slot_free(c, &c->queues[i]);
	}
	vgpu_gpu_reset(c->v, c->v->now);
	c->ended = false;
	vgpu_chip_settle(c);
}

static struct vgpu_user_queue *in_slot(struct vgpu_chip *c, u32 pipe, u32 queue)
{
	for (u32 i = 0; i < c->top; i++)
		if (c->queues[i].on && pipe < VGPU_CHIP_PIPES && queue < 8 &&
		    c->queues[i].slot == pipe * 8 + queue)
			return &c->queues[i];
	return NULL;
}

void vgpu_chip_slot_reset(struct vgpu_chip *c, u32 xcc, u32 pipe, u32 queue, u64 now_ns)
{
	struct vgpu_user_queue *q;

	vgpu_chip_advance(c, now_ns);
	q = in_slot(c, pipe, queue);
	if (!q || xcc >= c->xccs)
		return;
	q->reset_xccs |= (u8)(1u << xcc);
	if (q->reset_xccs == (1u << c->xccs) - 1)
		vgpu_user_gone(c, q);
	vgpu_chip_settle(c);
}

int vgpu_chip_fault(struct vgpu_chip *c, enum vgpu_fault fault, u64 arg)
{
	if (fault == VGPU_FAULT_PREEMPT) {
		struct vgpu_user_queue *q = arg >> 32 ? NULL : vgpu_user_by_doorbell(c, (u32)arg);

		if (!q)
			return -ENOENT;
		arg = vgpu_user_id(c, q);
	}
	return vgpu_fault(c->v, fault, arg);
}
