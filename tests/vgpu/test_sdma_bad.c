// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* SDMA queues that read invalid bytes stop with a message. */
#include "sdma_world.h"

static void wrong_bytes_stop_the_queue_with_a_sentence(void **state)
{
	static const struct { const char *why; u32 dw[8]; u32 n; bool fault; } table[] = {
		{ "no such op",		{ 0x77 }, 1, false },
		{ "no such copy",	{ 1 | 3 << 8 }, 1, false },
		{ "a copy backwards",	{ 1 | 1 << 25 }, 1, false },
		{ "a tiled write",	{ 2 | 1 << 8 }, 1, false },
		{ "page tables",	{ 12 }, 1, false },
		{ "GCR: another chip",	{ 17 | 1 << 8 }, 1, false },
		{ "no such timestamp",	{ 13 | 3 << 8 }, 1, false },
		{ "no such atomic",	{ 10 | 1u << 25, LO(FLAG), HI(FLAG) }, 8, false },
		{ "an odd atomic",	{ 10 | 47u << 25, LO(FLAG + 4), HI(FLAG) }, 8, false },
		{ "longer than the ring",	{ 2000 << 16 }, 1, false },
		{ "a fence nowhere",	{ 5, 0x1000, 0, 1 }, 4, true },
		{ "a poll nowhere",	{ 8 | 3u << 30, 0x1000 }, 6, true },
		{ "an atomic nowhere",	{ 10 | 47u << 25, 0x1000 }, 8, true },
		{ "a copy of nowhere",	{ 1, 99, 0, 0x1000, 0, LO(DST), HI(DST) }, 7, true },
		{ "a buffer nowhere",	{ 4, 0x1000, 0, 9, 0, 0 }, 6, true },
	};

	for (u32 i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct fixture *f;

		down(state);
		up(state);
		f = *state;
		give(f, table[i].dw, table[i].n);
		GIVE(f, FENCE(FLAG, 1));
		if (run_dry(f) != VGPU_SDMA_ERROR)
			fail_msg("%s: no error", table[i].why);
		EXPECT_EQ(f->m.reports, 1);
		EXPECT(f->s.stop.what && strlen(f->s.stop.what) > 20);
		EXPECT_EQ(f->s.stop.fault, table[i].fault);
		EXPECT_EQ(f->s.stop.address, table[i].fault ? 0x1000 : 0);
		EXPECT_EQ(run(f, f->now + 1000000), VGPU_SDMA_ERROR);
		EXPECT_EQ(f->m.reports, 1);
		EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
		EXPECT_EQ(f->s.next_ns, VGPU_NEVER);
		vgpu_sdma_stop(&f->s);
		vgpu_sdma_start(&f->s, f->now);
		EXPECT_EQ(f->s.state, VGPU_SDMA_ERROR);
	}
}

static void wrong_indirect_buffers_stop_the_queue(void **state)
{
	static const u32 nested[] = { 4, LO(MEM), HI(MEM), 1, 0, 0 };
	static const u32 cut[] = { 5, LO(FLAG), HI(FLAG) };

	for (u32 i = 0; i < 2; i++) {
		struct fixture *f;
		u32 n = i ? 3 : 6;

		down(state);
		up(state);
		f = *state;
		memcpy(mem_at(&f->m, MEM + 0x2000, 24), i ? cut : nested, n * 4);
		GIVE(f, 4, LO(MEM + 0x2000), HI(MEM), n, 0, 0);
		EXPECT_EQ(run_dry(f), VGPU_SDMA_ERROR);
		EXPECT_EQ(f->m.reports, 1);
	}
}

static void a_write_pointer_outside_the_ring_stops_the_queue(void **state)
{
	struct fixture *f = *state;

	vgpu_sdma_wptr(&f->s, RING_BYTES + 4, 0);
	EXPECT_EQ(run(f, 0), VGPU_SDMA_ERROR);
	EXPECT_EQ(f->m.reports, 1);
	down(state);
	up(state);
	f = *state;
	GIVE(f, 0, 0, 0, 0);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	vgpu_sdma_wptr(&f->s, 4, f->now);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_ERROR);
}

static void a_ring_that_cannot_be_is_refused(void **state)
{
	u64 page[VGPU_SDMA_PAGE / 8];
	struct vgpu_sdma s;
	struct vgpu_sdma_args args = {
		.facts = vgpu_profile("mi308x"), .size = 4096, .page = page };

	(void)state;
	EXPECT_EQ(vgpu_sdma_init(&s, &args), 0);
	args.size = 3000;
	EXPECT_EQ(vgpu_sdma_init(&s, &args), -EINVAL);
	args.size = 0;
	EXPECT_EQ(vgpu_sdma_init(&s, &args), -EINVAL);
	args.size = 256;
	args.rptr = 2;
	EXPECT_EQ(vgpu_sdma_init(&s, &args), -EINVAL);
	args.rptr = 0;
	args.page = NULL;
	EXPECT_EQ(vgpu_sdma_init(&s, &args), -EINVAL);
}

PROVE(
	CLAIM_WITH(wrong_bytes_stop_the_queue_with_a_sentence, up, down),
	CLAIM_WITH(wrong_indirect_buffers_stop_the_queue, up, down),
	CLAIM_WITH(a_write_pointer_outside_the_ring_stops_the_queue, up, down),
	CLAIM(a_ring_that_cannot_be_is_refused),
)
