// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Queries of the chip that do not change it: registers, counters, views. */
#include "chip_private.h"

enum { HIQ_PIPE = 4 };

static const struct vgpu_user_queue *in_slot(const struct vgpu_chip *c, u32 pipe, u32 queue)
{
	if (pipe >= VGPU_CHIP_PIPES || queue >= VGPU_CHIP_SLOTS / VGPU_CHIP_PIPES)
		return NULL;
	for (u32 i = 0; i < c->top; i++)
		if (c->queues[i].on &&
		    c->queues[i].slot == pipe * (VGPU_CHIP_SLOTS / VGPU_CHIP_PIPES) + queue)
			return &c->queues[i];
	return NULL;
}

static u32 hiq_register(const struct vgpu_chip *c, u32 xcc, u32 reg)
{
	u64 address = c->hiq.mqd[xcc] + 4 * (VGPU_MQD_REGISTERS + reg);
	u32 value;

	if (!(c->hiq.loaded & 1u << xcc))
		return 0;
	if (reg == VGPU_MQD_ACTIVE - VGPU_MQD_REGISTERS)
		return 1;
	if (reg == VGPU_MQD_PQ_RPTR - VGPU_MQD_REGISTERS)
		return c->hiq.running ? (u32)(c->hiq.rptr & (c->hiq.ring_dwords - 1)) : 0;
	if (reg == VGPU_MQD_PQ_WPTR_LO - VGPU_MQD_REGISTERS)
		return (u32)c->hiq.wptr;
	return c->bus.read(c->ctx, VGPU_SPACE_DRIVER, address, &value, sizeof(value)) ? 0 : value;
}

/* The image is the first XCC's; the others differ in where their copies lie. */
static u32 queue_register(const struct vgpu_user_queue *q, u32 xcc, u32 reg)
{
	u64 unit = q->kind == VGPU_QUEUE_AQL ? 16 : 1;
	u64 wptr = q->kind == VGPU_QUEUE_AQL ? q->published * unit : q->wptr;
	u64 mqd = q->mqd + xcc * q->stride, save = q->save_base + (u64)xcc * q->save_size;

	switch (reg + VGPU_MQD_REGISTERS) {
	case VGPU_MQD_BASE_LO:
		return (u32)mqd;
	case VGPU_MQD_BASE_LO + 1:
		return (u32)(mqd >> 32);
	case VGPU_MQD_CTX_SAVE_LO:
		return (u32)save;
	case VGPU_MQD_CTX_SAVE_HI:
		return (u32)(save >> 32);
	case VGPU_MQD_PQ_RPTR:
		return (u32)(q->rptr * unit);
	case VGPU_MQD_PQ_WPTR_LO:
		return (u32)wptr;
	case VGPU_MQD_PQ_WPTR_HI:
		return (u32)(wptr >> 32);
	case VGPU_MQD_PQ_CONTROL:
		return q->image[reg] | (xcc && unit > 1 ? VGPU_PQ_NO_UPDATE_RPTR : 0);
	default:
		return q->image[reg];
	}
}

u32 vgpu_chip_hqd(const struct vgpu_chip *c, u32 xcc, u32 pipe, u32 queue, u32 reg)
{
	const struct vgpu_user_queue *q;

	if (xcc >= c->xccs || reg >= VGPU_HQD_REGISTERS)
		return 0;
	if (pipe == HIQ_PIPE && !queue)
		return hiq_register(c, xcc, reg);
	q = in_slot(c, pipe, queue);
	return q && !(q->reset_xccs & 1u << xcc) ? queue_register(q, xcc, reg) : 0;
}

u32 vgpu_chip_waves(const struct vgpu_chip *c, u32 xcc, u32 pipe, u32 queue)
{
	const struct vgpu_user_queue *q = in_slot(c, pipe, queue);
	u32 waves = 0;

	if (!q || xcc >= c->xccs || q->reset_xccs & 1u << xcc)
		return 0;
	if (!vgpu_user_on_one_xcc(c, q))
		return vgpu_queue_waves(c->v, vgpu_user_id(c, q), xcc);
	/* The device below spreads its CUs, which stand for the CUs of one XCC. */
	for (u32 i = 0; xcc == q->xcc && i < c->xccs; i++)
		waves += vgpu_queue_waves(c->v, vgpu_user_id(c, q), i);
	return waves;
}

u32 vgpu_chip_iq_wait_time2(const struct vgpu_chip *c)
{
	return c->wait2;
}

bool vgpu_chip_hiq_idle(const struct vgpu_chip *c, u64 rung)
{
	const struct vgpu_hiq *h = &c->hiq;

	return !h->running || h->hung || (h->waits == VGPU_HIQ_READY && h->rptr == rung);
}

const char *vgpu_chip_packet_name(enum vgpu_chip_packet kind)
{
	static const char *const names[VGPU_NR_PACKETS] = {
		[VGPU_SET_RESOURCES]	= "SET_RESOURCES",
		[VGPU_MAP_PROCESS]	= "MAP_PROCESS",
		[VGPU_MAP_QUEUES]	= "MAP_QUEUES",
		[VGPU_UNMAP_QUEUES]	= "UNMAP_QUEUES",
		[VGPU_QUERY_STATUS]	= "QUERY_STATUS",
		[VGPU_RUN_LIST]		= "RUN_LIST",
		[VGPU_WRITE_DATA]	= "WRITE_DATA",
		[VGPU_NOP]		= "NOP",
		[VGPU_BAD_PACKET]	= "bad packet",
		[VGPU_AQL_DISPATCH]	= "AQL dispatch",
		[VGPU_AQL_BARRIER_AND]	= "AQL barrier-AND",
		[VGPU_AQL_BARRIER_OR]	= "AQL barrier-OR",
		[VGPU_AQL_VENDOR]	= "AQL vendor",
		[VGPU_PM4_USER]		= "PM4",
		[VGPU_SDMA_COPY]	= "SDMA copy",
		[VGPU_SDMA_OTHER]	= "SDMA other",
	};

	return (u32)kind < VGPU_NR_PACKETS ? names[kind] : NULL;
}

const struct vgpu_chip_counters *vgpu_chip_counters(const struct vgpu_chip *c)
{
	return &c->counters;
}

struct vgpu *vgpu_chip_device(struct vgpu_chip *c)
{
	return c->v;
}

const struct vgpu_unmapped *vgpu_chip_last_unmapped(const struct vgpu_chip *c)
{
	return &c->last_unmapped;
}

int vgpu_chip_view(const struct vgpu_chip *c, u32 nr, struct vgpu_chip_queue_view *ret)
{
	const struct vgpu_user_queue *q;

	if (nr >= c->top)
		return -ENOENT;
	q = &c->queues[nr];
	if (!q->used)
		return -EAGAIN;

	memset(ret, 0, sizeof(*ret));
	ret->mqd = q->mqd;
	ret->ring = q->ring;
	ret->rptr = q->rptr;
	ret->wptr = q->wptr;
	ret->doorbell = q->doorbell;
	ret->pasid = c->processes[q->process].pasid;
	ret->vmid = q->on ? c->processes[q->process].vmid : 0;
	ret->kind = q->kind;
	ret->state = (u8)vgpu_queue_state(c->v, nr);
	if (q->kind == VGPU_QUEUE_SDMA && ret->state != VGPU_ERROR)
		ret->state = q->on ? VGPU_MAPPED : VGPU_UNMAPPED;
	ret->slotted = q->on && q->slot != VGPU_NO_SLOT;
	if (ret->slotted) {
		ret->pipe = q->slot / 8;
		ret->queue = q->slot % 8;
	}
	ret->engine = q->engine;
	for (u32 xcc = 0; xcc < c->xccs; xcc++)
		ret->waves += vgpu_queue_waves(c->v, nr, xcc);
	ret->saved_bytes = c->v->queues[nr].saved_bytes;
	ret->error = q->error;
	return 0;
}

u32 vgpu_chip_last_packets(const struct vgpu_chip *c, struct vgpu_chip_past ret[VGPU_LAST_PACKETS])
{
	u64 first = c->nr_past > VGPU_LAST_PACKETS ? c->nr_past - VGPU_LAST_PACKETS : 0;
	u32 n = 0;

	for (u64 i = first; i < c->nr_past; i++)
		ret[n++] = c->past[i % VGPU_LAST_PACKETS];
	return n;
}
