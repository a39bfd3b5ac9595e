// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * An MQD and the queue it is.
 *
 * A queue is known again by two things together: where its MQD lies and the
 * handle the chip left in it. A driver that makes a new queue in the same memory
 * clears the handle; one that copies an MQD elsewhere has another address.
 */
#include "chip_private.h"

struct vgpu_process *vgpu_process_find(struct vgpu_chip *c, u32 pasid)
{
	for (u32 i = 0; i < VGPU_CHIP_PROCESSES; i++)
		if (c->processes[i].used && c->processes[i].pasid == pasid)
			return &c->processes[i];
	return NULL;
}

static struct vgpu_process *room_for_one(struct vgpu_chip *c)
{
	for (u32 i = 0; i < VGPU_CHIP_PROCESSES; i++)
		if (!c->processes[i].used || !c->processes[i].queues)
			return &c->processes[i];
	return NULL;
}

/* The process with that PASID, new if need be. NULL: there are too many with queues. */
struct vgpu_process *vgpu_process_get(struct vgpu_chip *c, u32 pasid, vgpu_space space)
{
	struct vgpu_process *p = vgpu_process_find(c, pasid);

	if (!p) {
		p = room_for_one(c);
		if (!p)
			return NULL;
		memset(p, 0, sizeof(*p));
		p->used = true;
		p->pasid = pasid;
	}
	p->space = space;
	return p;
}

struct vgpu_user_queue *vgpu_user_by_doorbell(struct vgpu_chip *c, u32 doorbell)
{
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (q->used && q->doorbell == doorbell && vgpu_user_listed(c, q))
			return q;
	}
	return NULL;
}

/* The queue is no more; nothing is written for it. */
void vgpu_user_gone(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	vgpu_slot_free(c, q);
	for (u32 i = 0; i < VGPU_AQL_IN_FLIGHT; i++)
		c->untold -= q->flight[i].used && q->flight[i].done;
	/* While it ends the device below may still ask about it. */
	vgpu_queue_destroy(c->v, vgpu_user_id(c, q), c->v->now);
	vgpu_process_of(c, q)->queues--;
	memset(q, 0, sizeof(*q));
	while (c->top && !c->queues[c->top - 1].used)
		c->top--;
}

static u64 handle_address(const struct vgpu_user_queue *q)
{
	return q->mqd + 4 * (q->kind == VGPU_QUEUE_SDMA ? VGPU_SDMA_MQD_HANDLE : VGPU_MQD_HANDLE);
}

static bool handle_there(struct vgpu_chip *c, const struct vgpu_user_queue *q)
{
	u32 handle;

	return !c->bus.read(c->ctx, VGPU_SPACE_DRIVER, handle_address(q), &handle,
			    sizeof(handle)) && handle == q->handle;
}

/* Queues whose MQDs are theirs no more: the driver never says that it is done with one. */
static void reclaim(struct vgpu_chip *c)
{
	for (u32 i = c->top; i-- > 0;) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (q->used && !vgpu_user_listed(c, q) && !handle_there(c, q))
			vgpu_user_gone(c, q);
	}
}

/* The queue with its MQD there, if it is still the same one. Another one there is gone. */
static struct vgpu_user_queue *known(struct vgpu_chip *c, u64 mqd, u32 process, u32 kind)
{
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (!q->used || q->mqd != mqd)
			continue;
		if (handle_there(c, q) && q->process == process && q->kind == kind)
			return q;
		vgpu_user_gone(c, q);
	}
	return NULL;
}

/* The lowest CU of an XCC's mask in the order of logical CUs; VGPU_NONE if there is none. */
static u32 lowest_cu(const u32 mask[4])
{
	for (u32 bit = 0; bit < 32; bit++)
		for (u32 se = 0; se < 4; se++)
			if (mask[se] >> bit & 1)
				return bit * 4 + se;
	return VGPU_NONE;
}

static u32 ones(u32 mask)
{
	u32 n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

struct cus {
	u32 first;		/* VGPU_NONE: none is enabled */
	u32 count;
};

/* Finds the CUs that the mask of @xcc enables. 0 or -EFAULT. */
static int cus_of(struct vgpu_chip *c, const struct vgpu_user_queue *q, u32 xcc, struct cus *ret)
{
	static const u32 at[4] = { VGPU_MQD_THREAD_MGMT_SE0, VGPU_MQD_THREAD_MGMT_SE1,
				   VGPU_MQD_THREAD_MGMT_SE2, VGPU_MQD_THREAD_MGMT_SE3 };
	u32 per_xcc = (u32)vgpu_value(&c->facts, VGPU_CUS_PER_XCC);
	u32 mask[4], enabled = 0;

	for (u32 se = 0; se < 4; se++) {
		u64 address = q->mqd + xcc * q->stride + 4 * at[se];

		if (vgpu_driver_read(c, address, &mask[se], sizeof(mask[se])))
			return -EFAULT;
		enabled += ones(mask[se]);
	}
	ret->first = lowest_cu(mask);
	ret->count = enabled < per_xcc ? enabled : per_xcc;
	return 0;
}

/*
 * CU masks of all XCCs into a range of logical CUs: as many as are enabled, from
 * the lowest of them. Holes are not modelled. A PM4 queue runs on one XCC: it gets
 * as many CUs as that has, and queues of different XCCs get different ones.
 */
static void cu_range(struct vgpu_chip *c, const struct vgpu_user_queue *q,
		     struct vgpu_queue_args *args)
{
	u32 per_xcc = (u32)vgpu_value(&c->facts, VGPU_CUS_PER_XCC);
	u32 first = VGPU_NONE, count = 0, begin = 0, end = per_xcc * c->xccs;
	bool one = vgpu_user_on_one_xcc(c, q);

	for (u32 xcc = one ? q->xcc : 0; xcc < (one ? q->xcc + 1u : c->xccs); xcc++) {
		struct cus cus;
		u32 low;

		if (cus_of(c, q, xcc, &cus))
			return;
		count += cus.count;
		if (cus.first == VGPU_NONE)
			continue;
		low = one ? q->xcc * per_xcc + cus.first : cus.first * c->xccs + xcc;
		if (low < first)
			first = low;
	}
	if (one) {
		begin = q->xcc * per_xcc;
		end = begin + per_xcc;
	}
	if (!count) {
		vgpu_say_queue(c, q, "its CU mask is empty: it gets all of them");
		first = begin;
		count = end - begin;
	}
	if (count == per_xcc * c->xccs)
		return;
	args->cu_count = count;
	args->cu_first = first + count > end ? end - count : first;
}

/* Fills the description of the queue for the device below. */
static void device_args(struct vgpu_chip *c, const struct vgpu_user_queue *q,
			struct vgpu_queue_args *args)
{
	static const u8 priority[3] = { 0, 7, 11 };	/* the lowest of each pipe priority */
	u32 pipe = c->mqd[VGPU_MQD_PIPE_PRIORITY];

	memset(args, 0, sizeof(*args));
	args->process = q->process;
	args->priority = priority[pipe < 2 ? pipe : 2];
	if (q->kind == VGPU_QUEUE_SDMA)
		return;
	if (q->save_base && q->save_size > q->stack_size)
		args->area_bytes = (u64)(q->save_size - q->stack_size) *
				   (vgpu_user_on_one_xcc(c, q) ? 1 : c->xccs);
	cu_range(c, q, args);
}

static u64 mqd_wide(const struct vgpu_chip *c, u32 lo)
{
	return vgpu_wide(c->mqd[lo], c->mqd[lo + 1]);
}

/* Fills @q from the MQD that was read. NULL or what is wrong with it. */
static const char *from_mqd(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u32 control = c->mqd[VGPU_MQD_PQ_CONTROL];

	if ((control & 0x3f) > 28)
		return "an MQD has a ring larger than 2 GiB";
	q->kind = vgpu_pq_is_aql(control) ? VGPU_QUEUE_AQL : VGPU_QUEUE_PM4;
	q->ring = mqd_wide(c, VGPU_MQD_PQ_BASE_LO) << 8;
	q->ring_packets = vgpu_pq_dwords(control);
	if (q->kind == VGPU_QUEUE_AQL)
		q->ring_packets /= 16;
	if (!q->ring || !q->ring_packets)
		return "an MQD has no ring";

	q->rptr_address = mqd_wide(c, VGPU_MQD_RPTR_REPORT_LO);
	q->wptr_address = mqd_wide(c, VGPU_MQD_WPTR_POLL_LO);
	q->save_base = mqd_wide(c, VGPU_MQD_CTX_SAVE_LO);
	q->save_size = c->mqd[VGPU_MQD_CTX_SAVE_SIZE];
	q->stack_size = c->mqd[VGPU_MQD_CNTL_STACK_SIZE];
	q->stride = c->mqd[VGPU_MQD_STRIDE];
	if (c->xccs > 1 && q->stride < VGPU_MQD_PAGE)
		return "an MQD says that the copies for the XCCs overlap";
	if (vgpu_user_on_one_xcc(c, q) && c->mqd[VGPU_MQD_TARGET_XCC] >= c->xccs)
		return "an MQD names an XCC that is not there";
	q->xcc = vgpu_user_on_one_xcc(c, q) ? (u8)c->mqd[VGPU_MQD_TARGET_XCC] : 0;
	return NULL;
}

/* A queue seen for the first time begins where its MQD says. */
static void begin(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u64 rptr = c->mqd[VGPU_MQD_PQ_RPTR];

	q->used = true;
	q->slot = VGPU_NO_SLOT;
	q->fresh = true;
	q->rung = c->bus.doorbell(c->ctx, q->doorbell);
	q->handle = ++c->handles ? c->handles : ++c->handles;
	q->base = q->kind == VGPU_QUEUE_AQL ? rptr / 16 : rptr;
	q->rptr = q->published = q->wptr = q->base;
	if (q->kind != VGPU_QUEUE_AQL)
		q->published = 0;
	vgpu_process_of(c, q)->queues++;
	if (vgpu_user_id(c, q) >= c->top)
		c->top = vgpu_user_id(c, q) + 1;
}

/* A new queue as @like describes it. NULL: reported. */
static struct vgpu_user_queue *make(struct vgpu_chip *c, const struct vgpu_user_queue *like)
{
	struct vgpu_queue_args args;
	struct vgpu_user_queue *q;
	u32 id;
	int err;

	device_args(c, like, &args);
	err = vgpu_queue_create(c->v, &args, &id);
	if (err == -ENOSPC) {
		reclaim(c);
		err = vgpu_queue_create(c->v, &args, &id);
	}
	if (err) {
		vgpu_say_queue(c, like, "there are more queues than the chip can hold");
		return NULL;
	}
	q = &c->queues[id];
	*q = *like;
	begin(c, q);
	if (q->kind == VGPU_QUEUE_SDMA ? vgpu_sdma_begin(c, q) : vgpu_pm4_begin(c, q)) {
		vgpu_say_queue(c, q, "its MQD has no ring that can be");
		vgpu_user_gone(c, q);
		return NULL;
	}
	if (q->kind == VGPU_QUEUE_PM4)
		q->base = 0;	/* the device below counts dispatches */
	vgpu_driver_put(c, handle_address(q), q->handle);
	return q;
}

/* The same queue again: what the driver changed in its MQD takes effect. */
static void renew(struct vgpu_chip *c, struct vgpu_user_queue *q, const struct vgpu_user_queue *now)
{
	struct vgpu_queue_args args;

	if (vgpu_user_listed(c, q))
		return;	/* it would not leave: it is as it was */
	q->doorbell = now->doorbell;
	q->xcc = now->xcc;
	q->stride = now->stride;
	q->ring = now->ring;
	q->ring_packets = now->ring_packets;
	q->rptr_address = now->rptr_address;
	q->wptr_address = now->wptr_address;
	q->save_base = now->save_base;
	q->save_size = now->save_size;
	q->stack_size = now->stack_size;
	if (q->kind == VGPU_QUEUE_SDMA) {
		q->stream.sdma.base = now->ring;
		q->stream.sdma.size = (u32)now->ring_packets;
	} else if (q->kind == VGPU_QUEUE_PM4) {
		q->stream.pm4.base = now->ring;
		q->stream.pm4.size = (u32)now->ring_packets;
	}
	device_args(c, q, &args);
	vgpu_queue_update(c->v, vgpu_user_id(c, q), &args);
}

/* The engine MAP_QUEUES means; VGPU_NONE: compute. */
static u32 engine_of(u32 dw1)
{
	u32 extended = vgpu_bits(dw1, 3, 2), engine = vgpu_bits(dw1, 28, 26);

	if (extended)
		return (extended - 1) * 8 + engine;
	return engine >= VGPU_PM4_SDMA0 ? engine - VGPU_PM4_SDMA0 : VGPU_NONE;
}

/* Reads the MQD and fills @now. NULL or what is wrong with it; */
static const char *describe(struct vgpu_chip *c, struct vgpu_user_queue *now, u32 engine)
{
	bool sdma = engine != VGPU_NONE;

	if (sdma && engine >= c->sdma_engines)
		return "MAP_QUEUES names an SDMA engine that is not there";
	memset(c->mqd, 0, sizeof(c->mqd));
	if (vgpu_driver_read(c, now->mqd, c->mqd, 4 * (sdma ? VGPU_SDMA_MQD_DW : VGPU_MQD_DW)))
		return "its MQD is not mapped";
	if (!sdma)
		return from_mqd(c, now);
	now->kind = VGPU_QUEUE_SDMA;
	now->engine = (u8)engine;
	return vgpu_sdma_from_mqd(c, now);
}

/* MAP_QUEUES: the queue it names, ready to be mapped. NULL: reported. */
struct vgpu_user_queue *vgpu_user_map(struct vgpu_chip *c, u32 process, const u32 *map_queues)
{
	struct vgpu_user_queue *now = &c->described, *q;
	const char *wrong;

	memset(now, 0, sizeof(*now));
	now->process = process;
	now->mqd = vgpu_wide(map_queues[3], map_queues[4]);
	now->doorbell = vgpu_pm4_doorbell(map_queues[2]);
	/* Compute MQDs say it themselves, others do not. */
	now->wptr_address = vgpu_wide(map_queues[5], map_queues[6]);
	wrong = describe(c, now, engine_of(map_queues[1]));
	if (wrong) {
		vgpu_say_queue(c, now, wrong);
		return NULL;
	}
	q = known(c, now->mqd, process, now->kind);
	if (!q)
		return make(c, now);
	renew(c, q, now);
	return q;
}
