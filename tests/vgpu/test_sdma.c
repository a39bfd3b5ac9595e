// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* SDMA queues: each packet, the ring, time, polls, stops at any point. */
#include "sdma_world.h"

static void a_linear_copy_moves_every_byte_and_no_more(void **state)
{
	struct fixture *f = *state;

	mem_pattern(&f->m, SRC, 1000, 1);
	GIVE(f, COPY(DST + 3, SRC + 1, 999));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT(!memcmp(mem_at(&f->m, DST + 3, 999), mem_at(&f->m, SRC + 1, 999), 999));
	EXPECT_EQ(*mem_at(&f->m, DST + 2, 1), 0);
	EXPECT_EQ(*mem_at(&f->m, DST + 1002, 1), 0);
	EXPECT_EQ(f->now, PACKET_NS + 999);
	EXPECT_EQ(f->s.rptr, 28);
	EXPECT_EQ(f->s.copies, 1);
	EXPECT_EQ(f->s.bytes, 999);
	EXPECT(f->m.largest <= VGPU_SDMA_PAGE);
}

static void a_broadcast_copy_goes_to_both_places(void **state)
{
	struct fixture *f = *state;

	mem_pattern(&f->m, SRC, 600, 1);
	GIVE(f, 1 | 1 << 27, 599, 0, LO(SRC), HI(SRC), LO(DST), HI(DST),
	     LO(DST + 0x1000), HI(DST), FENCE(FLAG, 7));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT(!memcmp(mem_at(&f->m, DST, 600), mem_at(&f->m, SRC, 600), 600));
	EXPECT(!memcmp(mem_at(&f->m, DST + 0x1000, 600), mem_at(&f->m, SRC, 600), 600));
	EXPECT_EQ(mem_u32(&f->m, FLAG), 7);
}

/* Copies 3 x 4 x 2 elements of 4 bytes from planes with pitches of 10 and 8 elements. */
static void a_rectangle_is_copied_row_by_row(void **state)
{
	struct fixture *f = *state;
	const u32 planes[2] = { 10 * 6, 8 * 5 };

	mem_pattern(&f->m, SRC, 4096, 1);
	GIVE(f, 1 | 4 << 8 | 2u << 29,
	     LO(SRC), HI(SRC), 2 | 1 << 16, 0 | 9 << 13, planes[0] - 1,
	     LO(DST), HI(DST), 1 | 1 << 16, 1 | 7 << 13, planes[1] - 1,
	     2 | 3 << 16, 1, FENCE(FLAG, 1));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 1);
	EXPECT_EQ(f->s.bytes, 3 * 4 * 2 * 4);
	for (u32 z = 0; z < 4; z++)
		for (u32 y = 0; y < 5; y++)
			for (u32 x = 0; x < 8; x++) {
				bool in = x >= 1 && x < 4 && y >= 1 && y < 5 && z >= 1 && z < 3;
				u64 from = SRC + 4 * ((x + 1) + y * 10 + (z - 1) * planes[0]);
				u64 to = DST + 4 * (x + y * 8 + z * planes[1]);

				EXPECT_EQ(mem_u32(&f->m, to), in ? mem_u32(&f->m, from) : 0);
			}
}

static void fills_count_as_rocr_and_as_the_driver_say(void **state)
{
	struct fixture *f = *state;

	/* ROCr: dwords, bytes less an element; kfdtest: bytes less one; 16 bits; the driver. */
	GIVE(f, 11 | 2u << 30, LO(DST), HI(DST), 0x11223344, (5 - 1) * 4);
	GIVE(f, 11 | 2u << 30, LO(DST + 64), HI(DST), 0x55667788, 20 - 1);
	GIVE(f, 11 | 1u << 30, LO(DST + 128), HI(DST), 0xbeef, 6 - 1);
	GIVE(f, 11, LO(DST + 192), HI(DST), 0xd0bed0be, 8 - 1);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	for (u32 i = 0; i < 5; i++) {
		EXPECT_EQ(mem_u32(&f->m, DST + 4 * i), 0x11223344);
		EXPECT_EQ(mem_u32(&f->m, DST + 64 + 4 * i), 0x55667788);
	}
	EXPECT_EQ(mem_u32(&f->m, DST + 20), 0);
	EXPECT_EQ(mem_u32(&f->m, DST + 84), 0);
	EXPECT_EQ(mem_u64(&f->m, DST + 128), 0xbeefbeefbeefull);
	EXPECT_EQ(mem_u64(&f->m, DST + 192), 0xd0bed0bed0bed0beull);
	EXPECT_EQ(mem_u32(&f->m, DST + 200), 0);
}

static void data_written_comes_from_the_ring_also_around_its_end(void **state)
{
	struct fixture *f = *state;
	u32 dw[4 + 900] = { 2, LO(DST), HI(DST), 899 };

	for (u32 i = 0; i < 900; i++)
		dw[4 + i] = i * 3 + 1;
	for (u32 round = 0; round < 9; round++) {
		memset(mem_at(&f->m, DST, 4000), 0, 4000);
		give(f, dw, 904);
		EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
		EXPECT(!memcmp(mem_at(&f->m, DST, 3600), dw + 4, 3600));
		EXPECT_EQ(mem_u32(&f->m, DST + 3600), 0);
	}
	EXPECT_EQ(f->s.rptr, 9 * 904 * 4);
	EXPECT(f->s.rptr > 7 * RING_BYTES);
}

static void packets_wrap_at_every_dword_of_the_ring(void **state)
{
	struct fixture *f = *state;

	/* 5 dwords do not divide the ring, so every packet begins at another offset. */
	for (u32 i = 0; i < 2000; i++) {
		GIVE(f, 0, FENCE(FLAG, i));
		EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
		EXPECT_EQ(mem_u32(&f->m, FLAG), i);
		EXPECT_EQ(f->s.rptr, f->s.wptr);
	}
	EXPECT_EQ(f->s.others, 4000);
}

static void a_nop_skips_what_it_counts(void **state)
{
	struct fixture *f = *state;

	GIVE(f, 3 << 16, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0, 0, FENCE(FLAG, 4));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 4);
	EXPECT_EQ(f->now, 4 * PACKET_NS);
}

static void a_trap_raises_its_context(void **state)
{
	struct fixture *f = *state;

	GIVE(f, 6, 0xf0000123);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(f->m.irqs, 1);
	EXPECT_EQ(f->m.irq.kind, VGPU_IRQ_SDMA_TRAP);
	EXPECT_EQ(f->m.irq.context, 0x123);
	EXPECT_EQ(f->m.irq.engine, 3);
	EXPECT_EQ(f->m.irq.vmid, 9);
	EXPECT_EQ(f->m.irq.pasid, 0x8001);
}

static void a_poll_holds_the_queue_until_memory_says_so(void **state)
{
	struct fixture *f = *state;

	mem_set_u32(&f->m, FLAG, 1);
	GIVE(f, POLL(FLAG, 3, 0), FENCE(FLAG + 8, 5), 13 | 2 << 8, LO(FLAG + 16), HI(FLAG));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_POLLING);
	EXPECT_EQ(f->s.next_ns, VGPU_NEVER);
	EXPECT_EQ(run(f, 5000), VGPU_SDMA_POLLING);
	EXPECT_EQ(f->s.rptr, 0);
	mem_set_u32(&f->m, FLAG, 0);
	EXPECT_EQ(run(f, 100000), VGPU_SDMA_BUSY);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 0);
	EXPECT_EQ(f->s.next_ns, 100000 + PACKET_NS);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 5);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 16), (100000 + 2 * PACKET_NS) / 10);
}

static void every_function_of_a_poll_compares_under_the_mask(void **state)
{
	static const struct { u8 func, holds[3]; } table[] = {
		/* memory:    4, 5, 6 against 5 */
		{ 0, { 1, 1, 1 } }, { 1, { 1, 0, 0 } }, { 2, { 1, 1, 0 } }, { 3, { 0, 1, 0 } },
		{ 4, { 1, 0, 1 } }, { 5, { 0, 1, 1 } }, { 6, { 0, 0, 1 } }, { 7, { 0, 0, 0 } },
	};

	for (u32 i = 0; i < 8; i++)
		for (u32 j = 0; j < 3; j++) {
			struct fixture *f;

			down(state);
			up(state);
			f = *state;
			mem_set_u32(&f->m, FLAG, 0xab00 | (4 + j));
			GIVE(f, 8 | 1u << 31 | (u32)table[i].func << 28, LO(FLAG), HI(FLAG), 5,
			     0xff, 0);
			EXPECT_EQ(run_dry(f) == VGPU_SDMA_IDLE, table[i].holds[j]);
			EXPECT_EQ(f->s.state == VGPU_SDMA_POLLING, !table[i].holds[j]);
		}
}

static void flushes_are_over_at_once(void **state)
{
	struct fixture *f = *state;

	GIVE(f, 8, 0, 0x80000000, 0, 0, 0);		/* as ROCr writes it */
	GIVE(f, 8 | 1 << 26, 1, 2, 3, 4, 5);
	GIVE(f, 14 | 0xfu << 28, 0x1234, 1, 15, 1, FENCE(FLAG, 1));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 1);
}

static void atomics_are_done_once(void **state)
{
	struct fixture *f = *state;

	mem_set_u64(&f->m, FLAG, 0x100000000ull);
	mem_set_u32(&f->m, FLAG + 8, 10);
	mem_set_u64(&f->m, FLAG + 16, 77);
	GIVE(f, 10 | 47u << 25, LO(FLAG), HI(FLAG), ~0u, ~0u, 0, 0, 0);
	GIVE(f, 10 | 15u << 25, LO(FLAG + 8), HI(FLAG), 5, 0, 0, 0, 0);
	GIVE(f, 10 | 40u << 25, LO(FLAG + 16), HI(FLAG), 1, 0, 77, 0, 0);
	GIVE(f, 10 | 40u << 25, LO(FLAG + 16), HI(FLAG), 2, 0, 77, 0, 0);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u64(&f->m, FLAG), 0xffffffff);
	EXPECT_EQ(f->m.adds, 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 15);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 16), 1);
}

static void an_indirect_buffer_is_run_and_then_passed(void **state)
{
	struct fixture *f = *state;
	const u32 ib[] = { FENCE(FLAG, 1), COPY(DST, SRC, 100), FENCE(FLAG + 4, 2) };

	mem_pattern(&f->m, SRC, 100, 3);
	memcpy(mem_at(&f->m, MEM + 0x2000, sizeof(ib)), ib, sizeof(ib));
	GIVE(f, 4, LO(MEM + 0x2000), HI(MEM), sizeof(ib) / 4, 0, 0, FENCE(FLAG + 8, 3));
	while (!mem_u32(&f->m, FLAG + 4))
		EXPECT_EQ(run(f, f->s.next_ns), VGPU_SDMA_BUSY);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 0);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 3);
	EXPECT_EQ(*mem_at(&f->m, DST + 99, 1), *mem_at(&f->m, SRC + 99, 1));
	EXPECT_EQ(f->s.rptr, 40);
}

static void a_condition_that_fails_skips_its_dwords(void **state)
{
	struct fixture *f = *state;

	mem_set_u32(&f->m, FLAG, 1);
	GIVE(f, 9, LO(FLAG), HI(FLAG), 1, 4, FENCE(FLAG + 4, 1));	/* condition holds */
	GIVE(f, 9, LO(FLAG), HI(FLAG), 2, 4);				/* does not hold */
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	/* The skipped dwords arrive later, in two parts. */
	GIVE(f, 5, LO(FLAG + 8));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	GIVE(f, HI(FLAG), 1, FENCE(FLAG + 12, 1));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 4), 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 0);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 12), 1);
}

static void a_condition_in_a_buffer_skips_nothing_behind_it(void **state)
{
	struct fixture *f = *state;
	const u32 ib[] = { 9, LO(FLAG), HI(FLAG), 2, 100, FENCE(FLAG, 1) };

	memcpy(mem_at(&f->m, MEM + 0x2000, sizeof(ib)), ib, sizeof(ib));
	GIVE(f, 4, LO(MEM + 0x2000), HI(MEM), sizeof(ib) / 4, 0, 0, FENCE(FLAG + 8, 3));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 3);
}

static void a_packet_that_is_not_all_there_waits_for_the_rest(void **state)
{
	struct fixture *f = *state;
	const u32 dw[] = { FENCE(FLAG, 9) };

	for (u32 i = 0; i < 4; i++) {
		EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
		give(f, dw + i, 1);
		EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
		EXPECT_EQ(f->s.rptr, i < 3 ? 0 : 16);
	}
	EXPECT_EQ(mem_u32(&f->m, FLAG), 9);
}

static void a_copy_takes_its_bytes_and_nothing_is_early(void **state)
{
	struct fixture *f = *state;
	const u32 bytes = 3 * VGPU_SDMA_PIECE + 100;

	f->now = 1000000;
	mem_pattern(&f->m, SRC, bytes, 1);
	mem_set_u32(&f->m, FLAG, 0);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	GIVE(f, COPY(DST, SRC, bytes), FENCE(FLAG, 1));
	EXPECT_EQ(run(f, 1000000 + PACKET_NS + VGPU_SDMA_PIECE - 1), VGPU_SDMA_BUSY);
	EXPECT_EQ(f->s.bytes, 0);
	EXPECT_EQ(run(f, 1000000 + PACKET_NS + VGPU_SDMA_PIECE), VGPU_SDMA_BUSY);
	EXPECT_EQ(f->s.bytes, VGPU_SDMA_PIECE);
	EXPECT_EQ(run(f, 1000000 + 2 * PACKET_NS + bytes - 1), VGPU_SDMA_BUSY);
	EXPECT_EQ(f->s.bytes, bytes);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
	EXPECT_EQ(run(f, 1000000 + 2 * PACKET_NS + bytes), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 1);
}

static void a_stopped_copy_goes_on_where_it_was(void **state)
{
	struct fixture *f = *state;
	const u32 bytes = 3 * VGPU_SDMA_PIECE;
	u32 writes;

	mem_pattern(&f->m, SRC, bytes, 1);
	GIVE(f, COPY(DST, SRC, bytes), 10 | 47u << 25, LO(FLAG), HI(FLAG), 1, 0, 0, 0, 0);
	EXPECT_EQ(run(f, PACKET_NS + VGPU_SDMA_PIECE + 10), VGPU_SDMA_BUSY);
	vgpu_sdma_stop(&f->s);
	EXPECT_EQ(f->s.next_ns, VGPU_NEVER);
	/* Source and destination of the first piece change. They must not be accessed again. */
	memset(mem_at(&f->m, SRC, VGPU_SDMA_PIECE), 0xee, VGPU_SDMA_PIECE);
	memset(mem_at(&f->m, DST, VGPU_SDMA_PIECE), 0x55, VGPU_SDMA_PIECE);
	writes = f->m.writes;
	EXPECT_EQ(run(f, 50000000), VGPU_SDMA_STOPPED);
	EXPECT_EQ(f->m.writes, writes);
	EXPECT_EQ(f->s.rptr, 0);

	vgpu_sdma_start(&f->s, 50000000);
	EXPECT_EQ(f->s.next_ns, 50000000 + VGPU_SDMA_PIECE);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	for (u32 i = 0; i < VGPU_SDMA_PIECE; i += 1000)
		EXPECT_EQ(*mem_at(&f->m, DST + i, 1), 0x55);
	EXPECT(!memcmp(mem_at(&f->m, DST + VGPU_SDMA_PIECE, bytes - VGPU_SDMA_PIECE),
		       mem_at(&f->m, SRC + VGPU_SDMA_PIECE, bytes - VGPU_SDMA_PIECE),
		       bytes - VGPU_SDMA_PIECE));
	EXPECT_EQ(f->s.bytes, bytes);
	EXPECT_EQ(mem_u64(&f->m, FLAG), 1);
	EXPECT_EQ(f->m.adds, 1);
}

/* Stops at any time give the same bytes and the same sum. */
static void stops_at_any_time_lose_and_repeat_nothing(void **state)
{
	u64 seed = gp_test_seed(7);
	u32 stops = 0;

	for (u32 round = 0; round < 40; round++) {
		struct fixture *f;

		down(state);
		up(state);
		f = *state;
		mem_pattern(&f->m, SRC, 260000, round);
		for (u32 i = 0; i < 2; i++)
			GIVE(f, COPY(DST + 130000 * i, SRC + 130000 * i, 130000),
			     10 | 47u << 25, LO(FLAG), HI(FLAG), 1, 0, 0, 0, 0);
		while (f->s.rptr < f->s.wptr) {
			u64 at = f->now + gp_test_random(&seed) % 60000;

			run(f, at);
			if (gp_test_random(&seed) % 2) {
				vgpu_sdma_stop(&f->s);
				vgpu_sdma_start(&f->s, at + 5);
				stops++;
			}
		}
		EXPECT_EQ(mem_u64(&f->m, FLAG), 2);
		EXPECT_EQ(f->s.bytes, 260000);
		EXPECT(!memcmp(mem_at(&f->m, DST, 260000), mem_at(&f->m, SRC, 260000), 260000));
	}
	EXPECT(stops > 40);
}

static void a_stopped_poll_is_looked_at_again(void **state)
{
	struct fixture *f = *state;

	mem_set_u32(&f->m, FLAG, 1);
	GIVE(f, POLL(FLAG, 3, 0));
	EXPECT_EQ(run_dry(f), VGPU_SDMA_POLLING);
	vgpu_sdma_stop(&f->s);
	mem_set_u32(&f->m, FLAG, 0);
	EXPECT_EQ(run(f, 9000), VGPU_SDMA_STOPPED);
	GIVE(f, FENCE(FLAG + 8, 1));		/* a doorbell while the queue is off */
	vgpu_sdma_start(&f->s, 9000);
	EXPECT_EQ(run_dry(f), VGPU_SDMA_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 1);
}

static void one_call_does_a_bounded_share(void **state)
{
	struct fixture *f = *state;
	u32 calls = 0;

	for (u32 i = 0; i < 900; i++)
		GIVE(f, 0);
	do {
		u64 before = f->s.rptr;

		run(f, 1000000000);
		EXPECT(f->s.rptr - before <= VGPU_SDMA_STEPS * 4);
		calls++;
	} while (f->s.state == VGPU_SDMA_BUSY && f->s.next_ns <= f->now);
	EXPECT_EQ(f->s.rptr, 3600);
	EXPECT_EQ(calls, 900 / VGPU_SDMA_STEPS + 1);
}

PROVE(
	CLAIM_WITH(a_linear_copy_moves_every_byte_and_no_more, up, down),
	CLAIM_WITH(a_broadcast_copy_goes_to_both_places, up, down),
	CLAIM_WITH(a_rectangle_is_copied_row_by_row, up, down),
	CLAIM_WITH(fills_count_as_rocr_and_as_the_driver_say, up, down),
	CLAIM_WITH(data_written_comes_from_the_ring_also_around_its_end, up, down),
	CLAIM_WITH(packets_wrap_at_every_dword_of_the_ring, up, down),
	CLAIM_WITH(a_nop_skips_what_it_counts, up, down),
	CLAIM_WITH(a_trap_raises_its_context, up, down),
	CLAIM_WITH(a_poll_holds_the_queue_until_memory_says_so, up, down),
	CLAIM_WITH(every_function_of_a_poll_compares_under_the_mask, up, down),
	CLAIM_WITH(flushes_are_over_at_once, up, down),
	CLAIM_WITH(atomics_are_done_once, up, down),
	CLAIM_WITH(an_indirect_buffer_is_run_and_then_passed, up, down),
	CLAIM_WITH(a_condition_that_fails_skips_its_dwords, up, down),
	CLAIM_WITH(a_condition_in_a_buffer_skips_nothing_behind_it, up, down),
	CLAIM_WITH(a_packet_that_is_not_all_there_waits_for_the_rest, up, down),
	CLAIM_WITH(a_copy_takes_its_bytes_and_nothing_is_early, up, down),
	CLAIM_WITH(a_stopped_copy_goes_on_where_it_was, up, down),
	CLAIM_WITH(stops_at_any_time_lose_and_repeat_nothing, up, down),
	CLAIM_WITH(a_stopped_poll_is_looked_at_again, up, down),
	CLAIM_WITH(one_call_does_a_bounded_share, up, down),
)
