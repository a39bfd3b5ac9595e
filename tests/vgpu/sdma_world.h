/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One SDMA queue on a memory. It copies one byte per nanosecond. */
#ifndef SDMA_WORLD_H
#define SDMA_WORLD_H

#include "stream_memory.h"
#include "vgpu/sdma.h"

#define RING	MEM
#define SRC	(MEM + 0x40000)
#define DST	(MEM + 0x80000)
#define FLAG	(MEM + 0x8000)
enum { RING_BYTES = 4096, PACKET_NS = 300 };

struct fixture {
	struct memory m;
	struct vgpu_sdma s;
	u64 page[VGPU_SDMA_PAGE / 8];
	u64 now;
};

static inline int up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct vgpu_facts facts = *vgpu_profile("mi308x");
	struct vgpu_sdma_args args = {
		.facts = &facts, .base = RING, .size = RING_BYTES, .page = f->page };

	facts.f[VGPU_SDMA_PACKET_NS].value = PACKET_NS;
	facts.f[VGPU_SDMA_BANDWIDTH].value = 1000;	/* bytes per us: a ns per byte */
	EXPECT_EQ(vgpu_sdma_init(&f->s, &args), 0);
	f->s.engine = 3;
	f->s.vmid = 9;
	f->s.pasid = 0x8001;
	vgpu_sdma_start(&f->s, 0);
	*state = f;
	return 0;
}

static inline int down(void **state)
{
	free(*state);
	return 0;
}

/* Writes dwords at the write pointer, which wraps, without the doorbell. */
static inline u64 append(struct fixture *f, u64 wptr, const u32 *dw, u32 n)
{
	for (u32 i = 0; i < n; i++, wptr += 4)
		mem_set_u32(&f->m, RING + wptr % RING_BYTES, dw[i]);
	return wptr;
}

static inline void give(struct fixture *f, const u32 *dw, u32 n)
{
	vgpu_sdma_wptr(&f->s, append(f, f->s.wptr, dw, n), f->now);
}

#define GIVE(f, ...)							\
do {									\
	const u32 dw_[] = { __VA_ARGS__ };				\
	give(f, dw_, sizeof(dw_) / 4);					\
} while (0)

static inline int run(struct fixture *f, u64 now)
{
	f->now = now;
	return vgpu_sdma_run(&f->s, &mem_bus, &f->m, now);
}

/* Runs until the queue waits and returns its state. Fails if it never waits. */
static inline int run_dry(struct fixture *f)
{
	for (u32 i = 0; i < 10000; i++) {
		int state = run(f, f->s.next_ns > f->now && f->s.next_ns != VGPU_NEVER ?
				f->s.next_ns : f->now);

		if (state != VGPU_SDMA_BUSY)
			return state;
	}
	fail_msg("the queue goes on for ever");
	return -1;
}

#define FENCE(to, value)	5, LO(to), HI(to), value
#define COPY(to, from, bytes)	1, (bytes) - 1, 0, LO(from), HI(from), LO(to), HI(to)
#define POLL(at, func, ref)						\
	8 | 1u << 31 | (u32)(func) << 28, LO(at), HI(at), ref, ~0u, 0xfff0004

#endif /* SDMA_WORLD_H */
