// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One user SDMA queue. A packet is loaded when all of it is there, and is then
 * under way (length is not 0) until it is complete; a step is a packet without
 * data or one piece of a packet with data.
 */
#include "sdma_packet.h"

/* Dwords submitted and not yet passed. */
static u64 available(const struct vgpu_sdma *s)
{
	return s->in_ib ? s->ib_left : (s->wptr - s->rptr) / 4;
}

static void pass(struct vgpu_sdma *s, u64 dwords)
{
	if (!s->in_ib) {
		s->rptr += dwords * 4;
		return;
	}
	s->ib += dwords * 4;
	s->ib_left -= (u32)dwords;
}

/* Sets the end of the step that begins now. */
static void set_next(struct vgpu_sdma *s)
{
	u64 ns = s->done ? 0 : s->packet_ns;

	if (s->total && s->bandwidth)
		ns += vgpu_sdma_piece(s) * 1000 / s->bandwidth;
	s->next_ns = s->at_ns + ns;
	s->state = VGPU_SDMA_BUSY;
}

/* Leaves an indirect buffer at its end, and skips what a condition said to skip. */
static void pass_skipped(struct vgpu_sdma *s)
{
	u64 n = s->skip < available(s) ? s->skip : available(s);

	pass(s, n);
	s->skip -= (u32)n;
	if (s->in_ib && !s->ib_left) {
		s->in_ib = false;
		s->skip = 0;
		pass(s, INDIRECT_DWORDS);
		s->others++;
	}
}

/* 1: a packet is under way; 0: no complete packet yet; or an error. */
static int load(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;
	u64 there;
	u32 fixed, length;

	/* A write pointer behind the read pointer gives a huge difference. */
	if (s->wptr - s->rptr > s->size)
		return vgpu_sdma_bad(p, "an SDMA write pointer is not within its ring");
	pass_skipped(s);
	there = available(s);
	if (!there)
		return 0;
	if (vgpu_sdma_stream(p, 0, s->dw, 4))
		return -EFAULT;
	fixed = vgpu_sdma_fixed(s);
	if (!fixed)
		return vgpu_sdma_bad(p, "an SDMA queue has a packet that is not modelled");
	if (fixed <= there && vgpu_sdma_stream(p, 0, s->dw, fixed * 4))
		return -EFAULT;
	length = fixed <= there ? fixed + vgpu_sdma_data(s) : fixed;
	if (length > there && s->in_ib)
		return vgpu_sdma_bad(p, "a packet reaches over the end of an SDMA indirect buffer");
	if ((u64)length * 4 > s->size && !s->in_ib)
		return vgpu_sdma_bad(p, "an SDMA queue has a packet longer than its ring");
	if (length > there)
		return 0;
	s->length = length;
	s->total = vgpu_sdma_total(s);
	s->done = 0;
	return 1;
}

static void complete(struct vgpu_sdma *s)
{
	/* An indirect buffer is complete, and passed, at its end. */
	if (op_of(s) != OP_INDIRECT) {
		pass(s, s->length);
		if (op_of(s) == OP_COPY)
			s->copies++;
		else
			s->others++;
	}
	s->length = 0;
}

/* Executes the due step. 1: the condition of a poll does not hold yet. */
static int step(struct vgpu_sdma_port *p, u64 now_ns)
{
	struct vgpu_sdma *s = p->s;
	int err;

	s->work++;
	if (op_of(s) == OP_POLL) {
		err = vgpu_sdma_poll(p);
		if (!err)
			return 1;
		/* A poll that succeeds later than its first check took until now. */
		s->at_ns = s->state == VGPU_SDMA_POLLING ? now_ns : s->next_ns;
		err = err > 0 ? 0 : err;
	} else {
		s->at_ns = s->next_ns;
		err = s->total ? vgpu_sdma_move(p) : vgpu_sdma_execute(p);
	}
	if (err)
		return err;
	if (s->done == s->total)
		complete(s);
	else
		set_next(s);
	return 0;
}

enum vgpu_sdma_state vgpu_sdma_run(struct vgpu_sdma *s, const struct vgpu_bus *bus, void *ctx,
				   u64 now_ns)
{
	struct vgpu_sdma_port p = { s, bus, ctx };
	u64 most = s->work + VGPU_SDMA_SHARE;
	int err;

	if (s->state == VGPU_SDMA_STOPPED || s->state == VGPU_SDMA_ERROR)
		return (enum vgpu_sdma_state)s->state;
	for (u32 steps = 0; steps < VGPU_SDMA_STEPS && s->work < most; steps++) {
		if (!s->length) {
			err = load(&p);
			if (err < 0)
				break;
			if (!err) {
				s->state = VGPU_SDMA_IDLE;
				s->next_ns = VGPU_NEVER;
				break;
			}
			set_next(s);
		}
		if (s->state != VGPU_SDMA_POLLING && s->next_ns > now_ns)
			break;
		err = step(&p, now_ns);
		if (err > 0) {
			s->state = VGPU_SDMA_POLLING;
			s->next_ns = VGPU_NEVER;
		}
		if (err)
			break;
		s->state = VGPU_SDMA_BUSY;
	}
	return (enum vgpu_sdma_state)s->state;
}

int vgpu_sdma_init(struct vgpu_sdma *s, const struct vgpu_sdma_args *args)
{
	if (args->size < 256 || args->size & (args->size - 1) || args->rptr & 3 ||
	    args->base & 3 || !args->page)
		return -EINVAL;
	*s = (struct vgpu_sdma){
		.space = args->space,
		.base = args->base,
		.size = args->size,
		.page = (u8 *)args->page,
		.rptr = args->rptr,
		.wptr = args->rptr,
		.state = VGPU_SDMA_STOPPED,
		.next_ns = VGPU_NEVER,
		.packet_ns = vgpu_value(args->facts, VGPU_SDMA_PACKET_NS),
		.bandwidth = vgpu_value(args->facts, VGPU_SDMA_BANDWIDTH),
	};
	return 0;
}

void vgpu_sdma_start(struct vgpu_sdma *s, u64 now_ns)
{
	if (s->state != VGPU_SDMA_STOPPED)
		return;
	s->at_ns = now_ns;
	s->next_ns = now_ns;
	s->state = VGPU_SDMA_BUSY;
	if (s->length)
		set_next(s);
}

void vgpu_sdma_stop(struct vgpu_sdma *s)
{
	if (s->state == VGPU_SDMA_ERROR)
		return;
	s->state = VGPU_SDMA_STOPPED;
	s->next_ns = VGPU_NEVER;
}

void vgpu_sdma_wptr(struct vgpu_sdma *s, u64 wptr, u64 now_ns)
{
	if (wptr == s->wptr)
		return;
	s->wptr = wptr;
	if (s->state != VGPU_SDMA_IDLE)
		return;
	s->at_ns = now_ns;
	s->next_ns = now_ns;
	s->state = VGPU_SDMA_BUSY;
}
