// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Executes the PM4 packets of a user queue. Caches are not modelled, so acquiring and releasing
 * them takes no time. Registers other than COMPUTE_* do not exist.
 */
#include "kernel.h"
#include "pm4_packet.h"

enum {
	DISPATCH_DIRECT = 0x15, ATOMIC_MEM = 0x1e, WRITE_DATA = 0x37, WAIT_REG_MEM = 0x3c,
	COPY_DATA = 0x40, EVENT_WRITE = 0x46, RELEASE_MEM = 0x49, ACQUIRE_MEM = 0x58,
	SET_SH_REG = 0x76, SET_UCONFIG_REG = 0x79, WAIT_REG_MEM64 = 0x93,
};

/* COMPUTE_* as indexes of sh[]. */
enum {
	START_X = 4, NUM_THREAD_X = 7, PGM_LO = 12, PGM_HI = 13, PGM_RSRC1 = 18, PGM_RSRC2 = 19,
	USER_DATA_0 = 64,
};

enum {
	DATA_DWORDS	= 32,	/* on the stack */
	WAVE_THREADS	= 64,
	WORKGROUP_WAVES	= 16,
	VGPR_GRANULE	= 8 * 4 * WAVE_THREADS,	/* bytes */
	LDS_GRANULE	= 512,			/* bytes */
	CS_PARTIAL_FLUSH = 7,			/* an event: wait for the waves */
};

static enum vgpu_pm4_state error(struct vgpu_pm4_port *p, const char *what)
{
	vgpu_pm4_bad(p, what);
	return VGPU_PM4_ERROR;
}

static enum vgpu_pm4_state put(struct vgpu_pm4_port *p, u64 address, const void *from, u32 n)
{
	if (!p->bus->write(p->ctx, p->s->space, address, from, n))
		return VGPU_PM4_IDLE;
	error(p, "a PM4 stream wrote an address that is not mapped");
	p->s->stop.fault = true;
	p->s->stop.write = true;
	p->s->stop.address = address;
	return VGPU_PM4_ERROR;
}

/* Registers do not exist. Reported once, because a program that writes one writes many. */
static enum vgpu_pm4_state registers(struct vgpu_pm4_port *p)
{
	if (!p->s->said_register)
		p->bus->report(p->ctx, "a PM4 stream writes registers: ignored, not said again");
	p->s->said_register = true;
	return VGPU_PM4_IDLE;
}

static bool is_memory(u32 select)
{
	return select == 1 || select == 2 || select == 5;
}

static enum vgpu_pm4_state write_data(struct vgpu_pm4_port *p)
{
	u32 select = p->dw[1] >> 8 & 0xf, data[DATA_DWORDS];
	bool same_place = p->dw[1] >> 16 & 1;
	u64 to = pm4_u64(p->dw + 2) & ~3ull;
	enum vgpu_pm4_state state = VGPU_PM4_IDLE;

	if (!select)
		return registers(p);
	if (!is_memory(select))
		return error(p, "a PM4 stream writes data to what is no memory");
	for (u32 at = 4; at < p->length && state == VGPU_PM4_IDLE; at += DATA_DWORDS) {
		u32 n = p->length - at < DATA_DWORDS ? p->length - at : DATA_DWORDS;

		if (vgpu_pm4_stream(p, at, data, n))
			return VGPU_PM4_ERROR;
		if (same_place)
			state = put(p, to, data + n - 1, 4);
		else
			state = put(p, to + 4ull * (at - 4), data, n * 4);
	}
	return state;
}

/* RELEASE_MEM acts after everything before it is complete. */
static enum vgpu_pm4_state release_mem(struct vgpu_pm4_port *p)
{
	u32 interrupt = p->dw[2] >> 24 & 7, select = p->dw[2] >> 29;
	u64 to = pm4_u64(p->dw + 3), data = pm4_u64(p->dw + 5);
	enum vgpu_pm4_state state = VGPU_PM4_IDLE;

	if (interrupt > 3 || select > 4)
		return error(p, "a PM4 stream has a RELEASE_MEM that is not modelled");
	if (p->s->undrained)
		return VGPU_PM4_DRAIN;
	if (select > 2)		/* clocks of the GPU and the system: one here */
		data = p->now_ns / VGPU_NS_PER_TICK;
	if (select == 1)
		state = put(p, to & ~3ull, &data, 4);
	else if (select)
		state = put(p, to & ~7ull, &data, 8);
	if (state == VGPU_PM4_IDLE && (interrupt == 1 || interrupt == 2))
		p->bus->interrupt(p->ctx, &(struct vgpu_interrupt){ .kind = VGPU_IRQ_END_OF_PIPE,
				  .vmid = p->s->vmid, .xcc = p->s->xcc, .pasid = p->s->pasid,
				  .context = p->dw[7] });
	return state;
}

static enum vgpu_pm4_state wait_reg_mem(struct vgpu_pm4_port *p, u32 size)
{
	u64 value = 0, reference = p->dw[4], mask = p->dw[5];

	/* A wait for a register; registers are not modelled, so the condition counts as true. */
	if ((p->dw[1] >> 4 & 3) == 0)
		return VGPU_PM4_IDLE;
	if (size == 8) {
		reference = pm4_u64(p->dw + 4);
		mask = pm4_u64(p->dw + 6);
	}
	if (vgpu_pm4_get(p, pm4_u64(p->dw + 2) & ~(u64)(size - 1), &value, size))
		return VGPU_PM4_ERROR;
	if (vgpu_compare(p->dw[1] & 7, value & mask, reference))
		return VGPU_PM4_IDLE;
	return VGPU_PM4_POLLING;
}

static enum vgpu_pm4_state set_sh_reg(struct vgpu_pm4_port *p)
{
	struct vgpu_pm4 *s = p->s;
	u32 reg = p->dw[1] & 0xffff, word;

	for (u32 at = 2; at < p->length; at++, reg++) {
		if (reg < VGPU_PM4_SH_FIRST || reg >= VGPU_PM4_SH_FIRST + VGPU_PM4_SH_NR)
			continue;
		if (vgpu_pm4_stream(p, at, &word, 1))
			return VGPU_PM4_ERROR;
		s->sh[reg - VGPU_PM4_SH_FIRST] = word;
	}
	return VGPU_PM4_IDLE;
}

static enum vgpu_pm4_state copy_data(struct vgpu_pm4_port *p)
{
	enum { MEMORY = 1, MEMORY_L2 = 2, IMMEDIATE = 5, ATOMIC_RETURN = 6, CLOCK = 9 };
	u32 n = p->dw[1] >> 16 & 1 ? 8 : 4, to = p->dw[1] >> 8 & 0xf;
	u64 data = pm4_u64(p->dw + 2);

	switch (p->dw[1] & 0xf) {
	case MEMORY:
	case MEMORY_L2:
		if (vgpu_pm4_get(p, data & ~(u64)(n - 1), &data, n))
			return VGPU_PM4_ERROR;
		break;
	case IMMEDIATE:
		break;
	case ATOMIC_RETURN:
		data = p->s->atomic_return;
		break;
	case CLOCK:
		data = p->now_ns / VGPU_NS_PER_TICK;
		break;
	case 0:
		registers(p);
		data = 0;
		break;
	default:
		return error(p, "a PM4 stream copies data from what is not modelled");
	}
	if (!to)
		return registers(p);
	if (!is_memory(to))
		return error(p, "a PM4 stream copies data to what is no memory");
	return put(p, pm4_u64(p->dw + 4) & ~(u64)(n - 1), &data, n);
}

/* Command 1 tries a compare-and-swap until it swaps. */
static enum vgpu_pm4_state atomic_mem(struct vgpu_pm4_port *p)
{
	struct vgpu_atomic what = { .op = p->dw[1] & 0x7f, .address = pm4_u64(p->dw + 2),
				    .value = pm4_u64(p->dw + 4), .compare = pm4_u64(p->dw + 6) };
	bool until = (p->dw[1] >> 8 & 0xf) == 1, swaps = (what.op & 0x1f) == 8;
	int err;

	if (!(what.op & 0x20))
		what.compare = (u32)what.compare;
	err = vgpu_atomic(p->bus, p->ctx, p->s->space, &what, &p->s->atomic_return);
	if (err == -EINVAL)
		return error(p, "a PM4 stream has an atomic that is not modelled or not aligned");
	if (err) {
		error(p, "a PM4 stream has an atomic on an address that is not mapped");
		p->s->stop.fault = true;
		p->s->stop.write = true;
		p->s->stop.address = what.address;
		return VGPU_PM4_ERROR;
	}
	return until && swaps && p->s->atomic_return != what.compare ?
	       VGPU_PM4_POLLING : VGPU_PM4_IDLE;
}

/* Workgroups along one axis; bits of the initiator say how the dispatch counts. */
static u64 groups_of(const struct vgpu_pm4_port *p, u32 axis)
{
	bool from_zero = p->dw[4] >> 2 & 1, counts_threads = p->dw[4] >> 5 & 1;
	u64 end = p->dw[1 + axis], start = from_zero ? 0 : p->s->sh[START_X + axis];
	u64 threads = p->s->sh[NUM_THREAD_X + axis] & 0xffff;

	if (counts_threads && threads)
		end = (end + threads - 1) / threads;
	return start < end ? end - start : 0;
}

/* 0: a synthetic kernel; 1: another kernel, which only takes time; or an error. */
static int kernel_of(struct vgpu_pm4_port *p, struct vgpu_packet *ret)
{
	struct vgpu_pm4 *s = p->s;
	u64 at = ((u64)(s->sh[PGM_HI] & 0xff) << 32 | s->sh[PGM_LO]) << 8;
	struct vgpu_kernarg arg;
	struct vgpu_kernel k;

	if (vgpu_pm4_get(p, at, &k.magic, sizeof(k.magic)))
		return -EFAULT;
	if (k.magic != VGPU_KERNEL_MAGIC) {
		ret->workgroup_ns = s->unknown_ns;
		ret->vgpr_bytes = ((s->sh[PGM_RSRC1] & 0x3f) + 1) * VGPR_GRANULE;
		return 1;
	}
	if (vgpu_pm4_get(p, at, &k, sizeof(k)) ||
	    vgpu_pm4_get(p, pm4_u64(&s->sh[USER_DATA_0]), &arg, sizeof(arg)))
		return -EFAULT;
	ret->workgroup_ns = k.workgroup_ns;
	ret->gap_ns = k.gap_ns;
	ret->vgpr_bytes = k.vgpr_bytes ? k.vgpr_bytes : VGPR_GRANULE;
	ret->result = arg.result;
	ret->key = arg.key;
	return 0;
}

static enum vgpu_pm4_state dispatch(struct vgpu_pm4_port *p)
{
	struct vgpu_pm4 *s = p->s;
	struct vgpu_packet k = { .kind = VGPU_KERNEL, .workgroups = 1 };
	u64 threads = 1;
	int other;

	for (u32 axis = 0; axis < 3; axis++) {
		u64 n = s->sh[NUM_THREAD_X + axis] & 0xffff;

		threads *= n ? n : 1;
		k.workgroups *= groups_of(p, axis);
		if (k.workgroups > 0xffffffff)
			return error(p, "a PM4 dispatch has more workgroups than 32 bits count");
	}
	if (threads > WORKGROUP_WAVES * WAVE_THREADS)
		return error(p, "a PM4 dispatch has workgroups of more than 1024 threads");
	if (!k.workgroups)
		return VGPU_PM4_IDLE;
	k.waves = (u16)((threads + WAVE_THREADS - 1) / WAVE_THREADS);
	k.lds_bytes = (s->sh[PGM_RSRC2] >> 15 & 0x1ff) * LDS_GRANULE;
	other = kernel_of(p, &k);
	if (other < 0)
		return VGPU_PM4_ERROR;
	s->packet = k;
	s->time_only = other;
	s->undrained = true;
	return VGPU_PM4_DISPATCH;
}

/* The minimal length of each known packet in dwords; 0: unknown. */
static u32 fewest(u32 op)
{
	switch (op) {
	case DISPATCH_DIRECT:	return 5;
	case ATOMIC_MEM:	return 8;
	case WRITE_DATA:	return 4;
	case WAIT_REG_MEM:	return 7;
	case WAIT_REG_MEM64:	return 9;
	case COPY_DATA:		return 6;
	case EVENT_WRITE:	return 2;
	case RELEASE_MEM:	return 7;
	case ACQUIRE_MEM:	return 2;
	case SET_SH_REG:	return 2;
	case SET_UCONFIG_REG:	return 2;
	}
	return 0;
}

enum vgpu_pm4_state vgpu_pm4_execute(struct vgpu_pm4_port *p)
{
	u32 op = p->dw[0] >> 8 & 0xff;

	if (!fewest(op))
		return error(p, "a PM4 stream has a packet that is not modelled or no packet");
	if (p->length < fewest(op))
		return error(p, "a PM4 stream has a packet that is too short");
	switch (op) {
	case DISPATCH_DIRECT:	return dispatch(p);
	case ATOMIC_MEM:	return atomic_mem(p);
	case WRITE_DATA:	return write_data(p);
	case WAIT_REG_MEM:	return wait_reg_mem(p, 4);
	case WAIT_REG_MEM64:	return wait_reg_mem(p, 8);
	case COPY_DATA:		return copy_data(p);
	case RELEASE_MEM:	return release_mem(p);
	case SET_SH_REG:	return set_sh_reg(p);
	case SET_UCONFIG_REG:	return registers(p);
	case EVENT_WRITE:
		if ((p->dw[1] & 0x3f) == CS_PARTIAL_FLUSH && p->s->undrained)
			return VGPU_PM4_DRAIN;
	}
	return VGPU_PM4_IDLE;
}
