// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* AQL packets: decoding them, and reporting their completion. */
#include "aql_private.h"
#include "kernel.h"

static u16 get16(const u8 *at)
{
	return (u16)(at[0] | at[1] << 8);
}

static u32 get32(const u8 *at)
{
	return get16(at) | (u32)get16(at + 2) << 16;
}

static u64 get64(const u8 *at)
{
	return vgpu_wide(get32(at), get32(at + 4));
}

static int wrong(struct vgpu_chip *c, struct vgpu_user_queue *q, const char *what)
{
	c->counters.packets[VGPU_BAD_PACKET]++;
	vgpu_say_queue(c, q, what);
	vgpu_user_interrupt(c, q, VGPU_IRQ_BAD_PACKET, 0);
	return -EINVAL;
}

/* Grid and workgroup into workgroups and waves. -EINVAL: no hardware takes that. */
static int geometry(const u8 *packet, struct vgpu_packet *ret)
{
	u32 dims = packet[VGPU_AQL_SETUP] & 3;
	u64 lanes = 1, workgroups = 1;

	for (u32 d = 0; d < 3; d++) {
		u32 size = get16(packet + VGPU_AQL_WORKGROUP + 2 * d);
		u32 grid = get32(packet + VGPU_AQL_GRID + 4 * d);

		/* Dimensions beyond those of the packet count as 1. */
		if (d >= (dims ? dims : 3))
			break;
		if (!size || !grid)
			return -EINVAL;
		lanes *= size;
		workgroups *= ((u64)grid + size - 1) / size;
		/* Sums over workgroups must fit in 64 bits. */
		if (lanes > VGPU_WORKGROUP_LANES || workgroups > BIT_ULL(31))
			return -EINVAL;
	}
	ret->waves = (u16)((lanes + VGPU_WAVE_LANES - 1) / VGPU_WAVE_LANES);
	ret->workgroups = workgroups;
	return 0;
}

/* Reads the kernel object: a synthetic one has its run time, a real one gives only registers. */
static int kernel_object(struct vgpu_chip *c, struct vgpu_user_queue *q, const u8 *packet,
			 struct vgpu_packet *ret)
{
	u64 object = get64(packet + VGPU_AQL_KERNEL_OBJECT);
	struct vgpu_kernarg arg = { 0 };
	struct vgpu_kernel k;
	u32 rsrc1;

	if (vgpu_user_read(c, q, object, &k, sizeof(k)))
		return -EFAULT;
	if (k.magic != VGPU_KERNEL_MAGIC) {
		memcpy(&rsrc1, (const u8 *)&k + VGPU_DESCRIPTOR_RSRC1, sizeof(rsrc1));
		ret->vgpr_bytes = (vgpu_bits(rsrc1, 5, 0) + 1) * VGPU_VGPR_GRANULE;
		ret->workgroup_ns = c->unknown_ns;
		if (!c->counters.time_only++)
			vgpu_say_queue(c, q, "a kernel that cannot be executed takes time only "
				       "(said once, all are counted)");
		return 0;
	}
	if (vgpu_user_read(c, q, get64(packet + VGPU_AQL_KERNARG), &arg, sizeof(arg)))
		return -EFAULT;
	ret->vgpr_bytes = k.vgpr_bytes ? k.vgpr_bytes : VGPU_VGPR_GRANULE;
	ret->workgroup_ns = k.workgroup_ns;
	ret->gap_ns = k.gap_ns;
	ret->result = arg.result;
	ret->key = arg.key;
	return 0;
}

static int decode_kernel(struct vgpu_chip *c, struct vgpu_user_queue *q, const u8 *packet,
			 struct vgpu_aql_flight *f)
{
	c->counters.packets[VGPU_AQL_DISPATCH]++;
	f->p.kind = VGPU_KERNEL;
	f->p.lds_bytes = get32(packet + VGPU_AQL_GROUP_SEGMENT);
	if (geometry(packet, &f->p))
		return wrong(c, q, "a dispatch has no workgroups or more than can run");
	return kernel_object(c, q, packet, &f->p);
}

static void decode_barrier(const u8 *packet, struct vgpu_aql_flight *f)
{
	for (u32 i = 0; i < VGPU_AQL_DEPS; i++)
		f->dep[i] = get64(packet + VGPU_AQL_DEP + 8 * i);
}

/* 0; -EFAULT or -EINVAL after a report: the queue stops. */
int vgpu_aql_decode(struct vgpu_chip *c, struct vgpu_user_queue *q, const u8 *packet,
		    struct vgpu_aql_flight *f)
{
	u16 header = get16(packet + VGPU_AQL_HEADER);

	f->type = (u8)header;
	f->signal = get64(packet + VGPU_AQL_SIGNAL);
	f->p.kind = VGPU_BARRIER;
	f->p.barrier_bit = header >> 8 & 1;
	f->p.signal = f->index;
	switch (f->type) {
	case VGPU_AQL_TYPE_KERNEL:
		return decode_kernel(c, q, packet, f);
	case VGPU_AQL_TYPE_AND:
		c->counters.packets[VGPU_AQL_BARRIER_AND]++;
		decode_barrier(packet, f);
		return 0;
	case VGPU_AQL_TYPE_OR:
		c->counters.packets[VGPU_AQL_BARRIER_OR]++;
		decode_barrier(packet, f);
		return 0;
	case VGPU_AQL_TYPE_VENDOR:
		c->counters.packets[VGPU_AQL_VENDOR]++;
		return 0;
	default:
		return wrong(c, q, "an AQL packet is of no type a GPU knows");
	}
}

/*
 * True if the signals that a barrier waits for are zero. AND: all of them, OR: at least one, or
 * the packet names none. An unmapped signal stops the queue.
 */
bool vgpu_aql_ready(struct vgpu_chip *c, struct vgpu_user_queue *q,
		    const struct vgpu_aql_flight *f)
{
	u32 named = 0, zero = 0;

	for (u32 i = 0; i < VGPU_AQL_DEPS; i++) {
		u64 value;

		if (!f->dep[i])
			continue;
		if (vgpu_user_read(c, q, f->dep[i] + VGPU_SIGNAL_VALUE, &value, sizeof(value)))
			return false;
		named++;
		zero += !value;
	}
	return f->type == VGPU_AQL_TYPE_OR ? zero || !named : zero == named;
}

/*
 * A jump into PM4, from the head of the queue: true when all of it is done. Where
 * its packets wait for what was dispatched before them, they wait here too.
 */
static bool pm4_jump(struct vgpu_chip *c, struct vgpu_user_queue *q, const u32 *packet)
{
	bool drained = !c->v->queues[vgpu_user_id(c, q)].nr_flights;
	struct vgpu_pm4 *s = &q->stream.pm4;

	s->space = vgpu_process_of(c, q)->space;
	s->vmid = vgpu_process_of(c, q)->vmid;
	s->pasid = (u16)vgpu_process_of(c, q)->pasid;
	if (!q->vendor && vgpu_pm4_aql(s, packet, drained)) {
		wrong(c, q, "a vendor packet has no jump into PM4");
		vgpu_user_fail(c, q, "a vendor packet has no jump into PM4");
		return false;
	}
	q->vendor = true;
	if (drained)
		vgpu_pm4_drained(s);
	switch (vgpu_pm4_run(s, &vgpu_counted_bus, c, c->v->now)) {
	case VGPU_PM4_IDLE:
		q->vendor = false;
		return true;
	case VGPU_PM4_DISPATCH:
		vgpu_user_fail(c, q, "a dispatch inside a vendor packet is not modelled");
		return false;
	case VGPU_PM4_ERROR:
		vgpu_user_fail(c, q, s->stop.what);
		return false;
	case VGPU_PM4_MORE:
		c->signalled = true;	/* check the barriers again in this step */
		return false;
	default:
		return false;
	}
}

/* A vendor packet at the head of the queue: true when it is done. */
bool vgpu_aql_vendor(struct vgpu_chip *c, struct vgpu_user_queue *q, const u8 *packet)
{
	u32 dw[VGPU_AQL_BYTES / 4];
	int done;

	memcpy(dw, packet, sizeof(dw));
	if (vgpu_aql_format(dw) == VGPU_AQL_PM4_IB)
		return pm4_jump(c, q, dw);
	done = vgpu_aql_barrier_value(dw, &vgpu_counted_bus, c, vgpu_process_of(c, q)->space);
	if (done < 0) {
		wrong(c, q, "a vendor packet is of no format that is known");
		vgpu_user_fail(c, q, "a vendor packet is wrong");
	}
	return done > 0;
}

/* A thread may sleep on the signal: write the event's number, then interrupt. */
static void ring_event(struct vgpu_chip *c, struct vgpu_user_queue *q, u64 signal)
{
	u64 mailbox, id = 0;
	u32 event;

	if (vgpu_user_read(c, q, signal + VGPU_SIGNAL_MAILBOX, &mailbox, sizeof(mailbox)) ||
	    vgpu_user_read(c, q, signal + VGPU_SIGNAL_EVENT, &event, sizeof(event)) || !mailbox)
		return;
	id = event;
	if (!vgpu_user_write(c, q, mailbox, &id, sizeof(id)))
		vgpu_user_interrupt(c, q, VGPU_IRQ_END_OF_PIPE, event);
}

/* Completes the packet. Write times before the value, so that a reader of the value sees them. */
void vgpu_aql_signal(struct vgpu_chip *c, struct vgpu_user_queue *q,
		     const struct vgpu_aql_flight *f)
{
	u64 ticks[2] = { f->start_ns / VGPU_TICK_NS, f->end_ns / VGPU_TICK_NS };

	if (!f->signal)
		return;
	if (vgpu_user_write(c, q, f->signal + VGPU_SIGNAL_START, ticks, sizeof(ticks)) ||
	    vgpu_user_add(c, q, f->signal + VGPU_SIGNAL_VALUE, ~0ull))
		return;
	ring_event(c, q, f->signal);
}
