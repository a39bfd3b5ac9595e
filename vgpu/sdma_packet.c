// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Executes the packets of an SDMA queue. */
#include "sdma_packet.h"

enum { COPY_LINEAR = 0, COPY_RECT = 4, TIMESTAMP_SET = 0, TIMESTAMP_GLOBAL = 2 };
#define COPY_BROADCAST	BIT_ULL(27)
#define COPY_BACKWARDS	BIT_ULL(25)
#define POLL_MEMORY	BIT_ULL(31)

enum {
	PIECE_ROWS	= 256,	/* narrow rows take one access each */
	WRITE_HEADER	= 16,	/* bytes of a WRITE before its data */
};

static int stop(struct vgpu_sdma_port *p, const struct vgpu_stop *why)
{
	struct vgpu_sdma *s = p->s;

	s->stop = *why;
	s->state = VGPU_SDMA_ERROR;
	s->next_ns = VGPU_NEVER;
	p->bus->report(p->ctx, why->what);
	return -EINVAL;
}

int vgpu_sdma_bad(struct vgpu_sdma_port *p, const char *what)
{
	return stop(p, &(struct vgpu_stop){ .what = what });
}

int vgpu_sdma_get(struct vgpu_sdma_port *p, u64 address, void *to, u32 n)
{
	if (!p->bus->read(p->ctx, p->s->space, address, to, n))
		return 0;
	return stop(p, &(struct vgpu_stop){
		    .what = "an SDMA queue read an address that is not mapped",
		    .fault = true, .address = address });
}

static int put(struct vgpu_sdma_port *p, u64 address, const void *from, u32 n)
{
	if (!p->bus->write(p->ctx, p->s->space, address, from, n))
		return 0;
	return stop(p, &(struct vgpu_stop){
		    .what = "an SDMA queue wrote an address that is not mapped",
		    .fault = true, .write = true, .address = address });
}

/* Address of a byte of the stream. */
static u64 stream_address(const struct vgpu_sdma *s, u64 from)
{
	return s->in_ib ? s->ib + from : s->base + ((s->rptr + from) & (s->size - 1));
}

int vgpu_sdma_stream(struct vgpu_sdma_port *p, u64 from, void *to, u32 n)
{
	struct vgpu_sdma *s = p->s;
	u64 at = stream_address(s, from);
	u32 first = n;

	if (!s->in_ib && s->base + s->size - at < n)
		first = (u32)(s->base + s->size - at);
	if (vgpu_sdma_get(p, at, to, first))
		return -EFAULT;
	return first < n ? vgpu_sdma_get(p, s->base, (u8 *)to + first, n - first) : 0;
}

u32 vgpu_sdma_fixed(const struct vgpu_sdma *s)
{
	u32 sub = sub_op_of(s);

	switch (op_of(s)) {
	case OP_NOP:		return 1;
	case OP_COPY:
		if (s->dw[0] & COPY_BACKWARDS)
			return 0;
		if (sub == COPY_LINEAR)
			return s->dw[0] & COPY_BROADCAST ? 9 : 7;
		return sub == COPY_RECT ? 13 : 0;
	case OP_WRITE:		return sub ? 0 : 4;
	case OP_INDIRECT:	return INDIRECT_DWORDS;
	case OP_FENCE:		return sub ? 0 : 4;
	case OP_TRAP:		return 2;
	case OP_POLL:		return sub ? 0 : 6;
	case OP_COND_EXE:	return 5;
	case OP_ATOMIC:		return 8;
	case OP_FILL:		return sub ? 0 : 5;
	case OP_TIMESTAMP:	return sub > TIMESTAMP_GLOBAL ? 0 : 3;
	case OP_SRBM_WRITE:	return 3;
	case OP_PRE_EXE:	return 2;
	}
	return 0;
}

static bool is_rect(const struct vgpu_sdma *s)
{
	return op_of(s) == OP_COPY && sub_op_of(s) == COPY_RECT;
}

static bool is_broadcast(const struct vgpu_sdma *s)
{
	return op_of(s) == OP_COPY && sub_op_of(s) == COPY_LINEAR && s->dw[0] & COPY_BROADCAST;
}

u32 vgpu_sdma_data(const struct vgpu_sdma *s)
{
	if (op_of(s) == OP_NOP)
		return s->dw[0] >> 16 & 0x3fff;
	return op_of(s) == OP_WRITE ? (s->dw[3] & 0xfffff) + 1 : 0;
}

/* A linear sub-window: its sides in elements less one, the same for both pitches. */
static u32 element_shift(const struct vgpu_sdma *s)
{
	return s->dw[0] >> 29;
}

static u64 rect_row(const struct vgpu_sdma *s)
{
	return (u64)((s->dw[11] & 0x3fff) + 1) << element_shift(s);
}

static u64 rect_rows(const struct vgpu_sdma *s)
{
	return (s->dw[11] >> 16 & 0x3fff) + 1;
}

u64 vgpu_sdma_total(const struct vgpu_sdma *s)
{
	switch (op_of(s)) {
	case OP_COPY:
		if (sub_op_of(s) == COPY_LINEAR)
			return (s->dw[1] & 0x3fffffff) + 1;
		return rect_row(s) * rect_rows(s) * ((s->dw[12] & 0x7ff) + 1);
	case OP_WRITE:
		return (u64)vgpu_sdma_data(s) * 4;
	case OP_FILL:
		/*
		 * Bytes less one, or less one element: ROCr says the latter of dwords,
		 * the driver the former, and both must come out.
		 */
		if (s->dw[0] >> 30 == 2)
			return (s->dw[4] & 0x3ffffc) + 4;
		return (s->dw[4] & 0x3fffff) + 1;
	}
	return 0;
}

u64 vgpu_sdma_piece(const struct vgpu_sdma *s)
{
	u64 most = VGPU_SDMA_PIECE, left = s->total - s->done;

	if (is_rect(s) && rect_row(s) * PIECE_ROWS < most)
		most = rect_row(s) * PIECE_ROWS;
	return left < most ? left : most;
}

/* One side of a rectangle: its dwords from @at on are address, x and y, z and pitch, slice. */
static u64 rect_address(const struct vgpu_sdma *s, u32 at, u64 row, u64 column)
{
	u64 x = s->dw[at + 2] & 0x3fff;
	u64 y = (s->dw[at + 2] >> 16 & 0x3fff) + row % rect_rows(s);
	u64 z = (s->dw[at + 3] & 0x7ff) + row / rect_rows(s);
	u64 pitch = (s->dw[at + 3] >> 13) + 1;
	u64 slice = (s->dw[at + 4] & 0xfffffff) + 1ull;

	return address_at(s, at) + ((x + y * pitch + z * slice) << element_shift(s)) + column;
}

/* The dword is repeated for fills of bytes too: the driver's fills say 0 and rely on it. */
static void fill_page(struct vgpu_sdma *s, u32 n)
{
	u32 pattern = s->dw[3], shift = (u32)(s->done % 4) * 8;

	if (s->dw[0] >> 30 == 1)
		pattern = (pattern & 0xffff) * 0x10001;
	if (shift)
		pattern = pattern >> shift | pattern << (32 - shift);
	for (u32 i = 0; i < n; i += 4)
		memcpy(s->page + i, &pattern, sizeof(pattern));
}

/* The next piece of the packet that is being executed. No part of it crosses a page. */
struct span {
	u64 from, to, also;	/* addresses; 0 if the packet has none */
	u32 n;
};

static void end_at_page(struct span *m, u64 address)
{
	u32 left = VGPU_SDMA_PAGE - (u32)(address % VGPU_SDMA_PAGE);

	if (m->n > left)
		m->n = left;
}

static struct span next_span(const struct vgpu_sdma *s, u64 left)
{
	struct span m = { .n = left < VGPU_SDMA_PAGE ? (u32)left : VGPU_SDMA_PAGE };

	if (is_rect(s)) {
		u64 row = s->done / rect_row(s), column = s->done % rect_row(s);

		if (m.n > rect_row(s) - column)
			m.n = (u32)(rect_row(s) - column);
		m.from = rect_address(s, 1, row, column);
		m.to = rect_address(s, 6, row, column);
	} else if (op_of(s) == OP_COPY) {
		m.from = address_at(s, 3) + s->done;
		m.to = address_at(s, 5) + s->done;
		if (is_broadcast(s))
			m.also = address_at(s, 7) + s->done;
	} else {
		m.to = address_at(s, 1) + s->done;
		if (op_of(s) == OP_WRITE)
			m.from = stream_address(s, WRITE_HEADER + s->done);
	}
	end_at_page(&m, m.from);
	end_at_page(&m, m.to);
	end_at_page(&m, m.also);
	return m;
}

static int move(struct vgpu_sdma_port *p, const struct span *m)
{
	struct vgpu_sdma *s = p->s;
	int err = 0;

	if (op_of(s) == OP_FILL)
		fill_page(s, m->n);
	else if (op_of(s) == OP_WRITE)
		err = vgpu_sdma_stream(p, WRITE_HEADER + s->done, s->page, m->n);
	else
		err = vgpu_sdma_get(p, m->from, s->page, m->n);
	if (!err)
		err = put(p, m->to, s->page, m->n);
	if (!err && is_broadcast(s))
		err = put(p, m->also, s->page, m->n);
	return err;
}

int vgpu_sdma_move(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;
	u64 end = s->done + vgpu_sdma_piece(s);

	while (s->done < end) {
		struct span m = next_span(s, end - s->done);
		int err = move(p, &m);

		if (err)
			return err;
		s->done += m.n;
		s->bytes += m.n;
		s->work++;
	}
	return 0;
}

int vgpu_sdma_poll(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;
	u32 word;

	/* Registers are those of the HDP flush, which has nothing to flush here. */
	if (!(s->dw[0] & POLL_MEMORY))
		return 1;
	if (vgpu_sdma_get(p, address_at(s, 1), &word, 4))
		return -EFAULT;
	return vgpu_compare(s->dw[0] >> 28 & 7, word & s->dw[4], s->dw[3]);
}

static int atomic(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;
	struct vgpu_atomic what = { .op = s->dw[0] >> 25, .address = address_at(s, 1),
				    .value = address_at(s, 3), .compare = address_at(s, 5) };
	u64 before;
	int err = vgpu_atomic(p->bus, p->ctx, s->space, &what, &before);

	if (err == -EINVAL)
		return vgpu_sdma_bad(p, "an SDMA queue has an atomic not modelled or not aligned");
	if (err)
		return stop(p, &(struct vgpu_stop){
			    .what = "an SDMA queue has an atomic on an address that is not mapped",
			    .fault = true, .write = true, .address = what.address });
	return 0;
}

static int timestamp(struct vgpu_sdma_port *p)
{
	u64 ticks = p->s->at_ns / VGPU_NS_PER_TICK;

	if (sub_op_of(p->s) == TIMESTAMP_SET)
		return 0;
	return put(p, address_at(p->s, 1) & ~7ull, &ticks, 8);
}

static int condition(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;
	u32 word;

	if (vgpu_sdma_get(p, address_at(s, 1), &word, 4))
		return -EFAULT;
	if (word != s->dw[3])
		s->skip = s->dw[4] & 0x3fff;
	return 0;
}

static int enter_ib(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;

	if (s->in_ib)
		return vgpu_sdma_bad(p, "an SDMA indirect buffer has an indirect buffer in it");
	s->ib = address_at(s, 1) & ~3ull;
	s->ib_left = s->dw[3] & 0xfffff;
	s->in_ib = true;
	return 0;
}

static int trap(struct vgpu_sdma_port *p)
{
	struct vgpu_sdma *s = p->s;

	p->bus->interrupt(p->ctx, &(struct vgpu_interrupt){ .kind = VGPU_IRQ_SDMA_TRAP,
			  .vmid = s->vmid, .engine = s->engine, .pasid = s->pasid,
			  .context = s->dw[1] & 0xfffffff });
	return 0;
}

int vgpu_sdma_execute(struct vgpu_sdma_port *p)
{
	switch (op_of(p->s)) {
	case OP_FENCE:		return put(p, address_at(p->s, 1), &p->s->dw[3], 4);
	case OP_TRAP:		return trap(p);
	case OP_ATOMIC:		return atomic(p);
	case OP_TIMESTAMP:	return timestamp(p);
	case OP_COND_EXE:	return condition(p);
	case OP_INDIRECT:	return enter_ib(p);
	}
	/* NOP, SRBM_WRITE (a flush that is not needed), PRE_EXE (for this engine too) */
	return 0;
}
