// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A stream of PM4 packets: the ring, the buffers it jumps to, and the vendor
 * packets of AQL. A packet that has to wait is not passed and read again later.
 */
#include "pm4_packet.h"

static int stop(struct vgpu_pm4_port *p, const struct vgpu_stop *why)
{
	p->s->stop = *why;
	p->bus->report(p->ctx, why->what);
	return -EINVAL;
}

int vgpu_pm4_bad(struct vgpu_pm4_port *p, const char *what)
{
	return stop(p, &(struct vgpu_stop){ .what = what });
}

int vgpu_pm4_get(struct vgpu_pm4_port *p, u64 address, void *to, u32 n)
{
	if (!p->bus->read(p->ctx, p->s->space, address, to, n))
		return 0;
	return stop(p, &(struct vgpu_stop){
		    .what = "a PM4 stream read an address that is not mapped",
		    .fault = true, .address = address });
}

int vgpu_pm4_stream(struct vgpu_pm4_port *p, u32 from, u32 *to, u32 n)
{
	struct vgpu_pm4 *s = p->s;
	u32 at, first;

	if (s->depth)
		return vgpu_pm4_get(p, s->ib[s->depth - 1].at + 4ull * from, to, n * 4);
	at = (u32)(s->rptr + from) & (s->size - 1);
	first = s->size - at < n ? s->size - at : n;
	if (vgpu_pm4_get(p, s->base + 4ull * at, to, first * 4))
		return -EFAULT;
	return first < n ? vgpu_pm4_get(p, s->base, to + first, (n - first) * 4) : 0;
}

static u64 available(const struct vgpu_pm4 *s)
{
	return s->depth ? s->ib[s->depth - 1].left : s->wptr - s->rptr;
}

/* Moves behind the packet, or at the end of a buffer behind the packet that jumped to it. */
static void pass(struct vgpu_pm4 *s, u32 dwords)
{
	if (!s->depth) {
		s->rptr += dwords;
		return;
	}
	s->ib[s->depth - 1].at += 4ull * dwords;
	s->ib[s->depth - 1].left -= dwords;
	while (s->depth && !s->ib[s->depth - 1].left)
		s->depth--;
	if (!s->depth) {
		s->rptr += s->held;
		s->held = 0;
	}
}

/* 1: a packet is in @p; 0: no complete packet; or an error. */
static int load(struct vgpu_pm4_port *p)
{
	struct vgpu_pm4 *s = p->s;
	u64 there = available(s);
	u32 n;

	/* A write pointer behind the read pointer gives a huge difference. */
	if (!s->depth && there > s->size)
		return vgpu_pm4_bad(p, "a PM4 write pointer is not within its ring");
	if (!there)
		return 0;
	memset(p->dw, 0, sizeof(p->dw));
	if (vgpu_pm4_stream(p, 0, p->dw, 1))
		return -EFAULT;

	/* Fillers of one dword: type 2, and NOP with the largest count. */
	p->length = 1;
	if (p->dw[0] >> 30 == 2 || (p->dw[0] >> 16 == 0xffff && (p->dw[0] >> 8 & 0xff) == PM4_NOP))
		return 1;
	if (p->dw[0] >> 30 != 3)
		return vgpu_pm4_bad(p, "a PM4 stream has a dword that begins no packet");
	p->length = (p->dw[0] >> 16 & 0x3fff) + 2;
	if (p->length > there && s->depth)
		return vgpu_pm4_bad(p, "a packet reaches over the end of a PM4 indirect buffer");
	if (p->length > s->size && !s->depth)
		return vgpu_pm4_bad(p, "a PM4 queue has a packet longer than its ring");
	if (p->length > there)
		return 0;
	n = p->length < VGPU_PM4_DWORDS ? p->length : VGPU_PM4_DWORDS;
	return vgpu_pm4_stream(p, 0, p->dw, n) ? -EFAULT : 1;
}

/* Bits of the last dword of INDIRECT_BUFFER. */
#define IB_SIZE		0xfffff
#define IB_CHAIN	BIT_ULL(20)

static struct vgpu_pm4_buffer buffer_of(const u32 *jump)
{
	return (struct vgpu_pm4_buffer){
		.at = (pm4_u64(jump + 1) & 0xffffffffffffull) & ~3ull,
		.left = jump[3] & IB_SIZE,
	};
}

/* A chain leaves its buffer for good, a call returns to it. */
static int enter_buffer(struct vgpu_pm4_port *p)
{
	struct vgpu_pm4 *s = p->s;
	struct vgpu_pm4_buffer to = buffer_of(p->dw);

	if (p->length != 4)
		return vgpu_pm4_bad(p, "a PM4 stream has a jump that is not 4 dwords long");
	if (!to.left) {
		pass(s, p->length);
		return 0;
	}
	if (s->depth && p->dw[3] & IB_CHAIN) {
		if (++s->chained > VGPU_PM4_CHAIN)
			return vgpu_pm4_bad(p, "a PM4 indirect buffer goes on and on into others");
		s->ib[s->depth - 1] = to;
		return 0;
	}
	if (s->depth == VGPU_PM4_NESTING)
		return vgpu_pm4_bad(p, "PM4 indirect buffers are nested too deep");
	if (s->depth) {
		/* Not pass(): an outer buffer that ends with this jump must stay on the stack. */
		s->ib[s->depth - 1].at += 16;
		s->ib[s->depth - 1].left -= 4;
	} else {
		s->held = p->length;
		s->chained = 0;
	}
	s->ib[s->depth++] = to;
	return 0;
}

static u8 one_packet(struct vgpu_pm4_port *p)
{
	struct vgpu_pm4 *s = p->s;
	u32 op = p->dw[0] >> 8 & 0xff;
	u8 state = VGPU_PM4_IDLE;

	if (p->length > 1 && op == PM4_INDIRECT_BUFFER) {
		if (enter_buffer(p))
			return VGPU_PM4_ERROR;
	} else {
		if (p->length > 1 && op != PM4_NOP)
			state = vgpu_pm4_execute(p);
		if (state != VGPU_PM4_IDLE && state != VGPU_PM4_DISPATCH)
			return state;
		pass(s, p->length);
	}
	s->packets++;
	return state;
}

enum vgpu_pm4_state vgpu_pm4_run(struct vgpu_pm4 *s, const struct vgpu_bus *bus, void *ctx,
				 u64 now_ns)
{
	struct vgpu_pm4_port p = { .s = s, .bus = bus, .ctx = ctx, .now_ns = now_ns };

	if (s->state == VGPU_PM4_ERROR)
		return VGPU_PM4_ERROR;
	s->state = VGPU_PM4_MORE;
	for (u32 i = 0; i < VGPU_PM4_STEPS && s->state == VGPU_PM4_MORE; i++) {
		int there = load(&p);

		if (there > 0) {
			u8 state = one_packet(&p);

			if (state != VGPU_PM4_IDLE)
				s->state = state;
		} else {
			s->state = there ? VGPU_PM4_ERROR : VGPU_PM4_IDLE;
		}
	}
	return (enum vgpu_pm4_state)s->state;
}

int vgpu_pm4_init(struct vgpu_pm4 *s, const struct vgpu_pm4_args *args)
{
	if (args->size & (args->size - 1) || args->base & 3)
		return -EINVAL;
	*s = (struct vgpu_pm4){
		.space = args->space,
		.base = args->base,
		.size = args->size,
		.rptr = args->rptr,
		.wptr = args->rptr,
		.unknown_ns = args->unknown_ns ? args->unknown_ns : 1,
		.state = VGPU_PM4_IDLE,
	};
	return 0;
}

void vgpu_pm4_wptr(struct vgpu_pm4 *s, u64 wptr)
{
	s->wptr = wptr;
}

void vgpu_pm4_drained(struct vgpu_pm4 *s)
{
	s->undrained = false;
}

int vgpu_pm4_aql(struct vgpu_pm4 *s, const u32 packet[16], bool drained)
{
	const u32 *jump = packet + 1;

	if (s->state != VGPU_PM4_IDLE || s->depth)
		return -EBUSY;
	if (vgpu_aql_format(packet) != VGPU_AQL_PM4_IB || jump[0] >> 30 != 3 ||
	    (jump[0] >> 8 & 0xff) != PM4_INDIRECT_BUFFER)
		return -EINVAL;
	s->undrained = !drained;
	s->chained = 0;
	s->held = 0;
	s->ib[0] = buffer_of(jump);
	s->depth = s->ib[0].left ? 1 : 0;
	return 0;
}

int vgpu_aql_barrier_value(const u32 packet[16], const struct vgpu_bus *bus, void *ctx,
			   vgpu_space space)
{
	u64 signal = pm4_u64(packet + 2);
	s64 value = (s64)pm4_u64(packet + 4), now;
	u64 word;

	if (vgpu_aql_format(packet) != VGPU_AQL_BARRIER_VALUE || packet[8] > 3)
		return -EINVAL;
	if (!signal)
		return 1;
	/* The value is the second word of a signal. */
	if (bus->read(ctx, space, signal + 8, &word, sizeof(word)))
		return -EFAULT;
	now = (s64)(word & pm4_u64(packet + 6));
	switch (packet[8]) {
	case 0: return now == value;
	case 1: return now != value;
	case 2: return now < value;
	}
	return now >= value;
}
