// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Queues that are on: their slots and VMIDs, and what is left in the MQD of one
 * that is taken off.
 */
#include "chip_private.h"

enum { STACK_WORDS = 64, STACK_WORD = 8 };

void vgpu_vmid_take(struct vgpu_chip *c, struct vgpu_process *p)
{
	if (p->on++)
		return;
	for (u32 vmid = 1; vmid < 16; vmid++) {
		if (!(c->vmid_mask & ~c->vmids & 1u << vmid))
			continue;
		c->vmids |= 1u << vmid;
		p->vmid = (u8)vmid;
		return;
	}
	vgpu_say_number(c, "there is no VMID left for PASID", p->pasid);
}

void vgpu_vmid_drop(struct vgpu_chip *c, struct vgpu_process *p)
{
	if (GP_WARN_ON(!p->on) || --p->on)
		return;
	c->vmids &= ~(1u << p->vmid);
	p->vmid = 0;
}

static void slot_take(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	for (u32 slot = 0; slot < VGPU_CHIP_SLOTS; slot++) {
		if (!(c->slot_mask & ~c->slots & 1u << slot))
			continue;
		c->slots |= 1u << slot;
		q->slot = (u8)slot;
		return;
	}
	vgpu_say_queue(c, q, "there is no slot left for it");
}

/* Nothing is written: for queues that vanish. */
void vgpu_slot_free(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	if (!q->on)
		return;
	q->on = false;
	q->reset_xccs = 0;
	if (q->slot != VGPU_NO_SLOT)
		c->slots &= ~(1u << q->slot);
	q->slot = VGPU_NO_SLOT;
	c->nr_sdma -= q->kind == VGPU_QUEUE_SDMA;
	vgpu_vmid_drop(c, vgpu_process_of(c, q));
}

static u64 mqd_at(const struct vgpu_user_queue *q, u32 xcc, u32 dw)
{
	return q->mqd + xcc * q->stride + 4 * dw;
}

static void go_on(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	u32 control;

	q->on = true;
	vgpu_vmid_take(c, vgpu_process_of(c, q));
	slot_take(c, q);
	for (u32 xcc = 0; xcc < c->xccs; xcc++) {
		u64 doorbell = mqd_at(q, xcc, VGPU_MQD_DOORBELL_CONTROL);

		if (vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_ACTIVE), 1) ||
		    vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_VMID),
				    vgpu_process_of(c, q)->vmid) ||
		    vgpu_driver_read(c, doorbell, &control, sizeof(control)) ||
		    vgpu_driver_put(c, doorbell, control | VGPU_DOORBELL_EN))
			return;
	}
	vgpu_driver_read(c, mqd_at(q, 0, VGPU_MQD_REGISTERS), q->image, sizeof(q->image));
	vgpu_stream_look(c, q);
}

/* On each XCC, the position of the next word of the control stack and the end of wave state. */
struct saved {
	u32 stack_offset;
	u32 state_offset;
};

/* The stack grows down from its end, the state up from there; nothing saved: both there. */
static struct saved what_is_saved(const struct vgpu_chip *c, const struct vgpu_user_queue *q,
				  u32 xcc)
{
	const struct vgpu_queue *d = &c->v->queues[vgpu_user_id(c, q)];
	u64 share = (d->saved_bytes + c->xccs - 1) / c->xccs;
	u64 room = q->save_size > q->stack_size ? q->save_size - q->stack_size : 0;
	u32 words = d->saved - d->restored;
	struct saved ret;

	if (vgpu_user_on_one_xcc(c, q)) {
		share = xcc == q->xcc ? d->saved_bytes : 0;
		words = xcc == q->xcc ? words : 0;
	}
	if (words > STACK_WORDS)
		words = STACK_WORDS;
	if (words > q->stack_size / STACK_WORD)
		words = q->stack_size / STACK_WORD;
	ret.stack_offset = q->stack_size - words * STACK_WORD;
	ret.state_offset = q->stack_size + (u32)vgpu_min(share, room);
	return ret;
}

/* One word per group of waves: an opcode-like tag and how many words follow it. */
static int write_stack(struct vgpu_chip *c, const struct vgpu_user_queue *q, u32 xcc, u32 offset)
{
	for (u32 left = (q->stack_size - offset) / STACK_WORD; left; left--, offset += STACK_WORD) {
		u64 word = vgpu_wide(0x80000000u | left, xcc);

		if (vgpu_driver_write(c, q->mqd + xcc * q->stride + VGPU_MQD_PAGE + offset,
				      &word, sizeof(word)))
			return -EFAULT;
	}
	return 0;
}

static int write_back(struct vgpu_chip *c, struct vgpu_user_queue *q, u32 xcc)
{
	struct saved saved = what_is_saved(c, q, xcc);
	u64 unit = q->kind == VGPU_QUEUE_AQL ? 16 : 1;
	u64 wptr = q->kind == VGPU_QUEUE_AQL ? q->published * unit : q->wptr;

	if (vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_ACTIVE), 0) ||
	    vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_VMID), 0) ||
	    vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_PQ_RPTR), (u32)(q->rptr * unit)) ||
	    vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_PQ_WPTR_LO), (u32)wptr) ||
	    vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_PQ_WPTR_HI), (u32)(wptr >> 32)))
		return -EFAULT;
	if (!q->save_base)
		return 0;
	if (vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_CNTL_STACK_OFFSET), saved.stack_offset) ||
	    vgpu_driver_put(c, mqd_at(q, xcc, VGPU_MQD_WG_STATE_OFFSET), saved.state_offset))
		return -EFAULT;
	return write_stack(c, q, xcc, saved.stack_offset);
}

static void go_off(struct vgpu_chip *c, struct vgpu_user_queue *q)
{
	for (u32 xcc = 0; xcc < c->xccs; xcc++)
		if (write_back(c, q, xcc))
			break;
	vgpu_slot_free(c, q);
}

/* Slots and MQDs follow what the device below has on. */
void vgpu_slots_sync(struct vgpu_chip *c)
{
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (q->used && q->kind != VGPU_QUEUE_SDMA && q->on && !c->v->queues[i].on)
			go_off(c, q);
	}
	for (u32 i = 0; i < c->top; i++) {
		struct vgpu_user_queue *q = &c->queues[i];

		if (q->used && q->kind != VGPU_QUEUE_SDMA && !q->on && c->v->queues[i].on)
			go_on(c, q);
	}
}
