// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Streams of PM4 packets on user queues: each packet, the ring, buffers, waits. */
#include "pm4_world.h"

static void data_is_written_in_order_or_to_one_place(void **state)
{
	struct fixture *f = *state;
	u32 dw[4 + 100] = { PM4(0x37, 104), 2 << 8, LO(FLAG), HI(FLAG) };

	for (u32 i = 0; i < 100; i++)
		dw[4 + i] = i + 1;
	give(f, dw, 104);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	for (u32 i = 0; i < 100; i++)
		EXPECT_EQ(mem_u32(&f->m, FLAG + 4 * i), i + 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 400), 0);
	dw[1] |= 1 << 16;
	dw[2] = LO(FLAG + 0x1000);
	give(f, dw, 104);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 0x1000), 100);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 0x1004), 0);
	EXPECT_EQ(f->s.packets, 2);
	EXPECT_EQ(f->s.rptr, 208);
}

static void registers_are_ignored_and_said_once(void **state)
{
	struct fixture *f = *state;

	GIVE(f, PM4(0x37, 5), 1 << 16, 0x30b0, 0, 1, PM4(0x37, 5), 0, 0x30b1, 0, 2);
	GIVE(f, PM4(0x79, 3), 0x100, 1, FENCE(FLAG, 3));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(f->m.reports, 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 3);
}

static void nops_of_every_kind_are_skipped(void **state)
{
	struct fixture *f = *state;

	GIVE(f, 0xffff1000, 0xffff1002, 0x80000000, PM4(0x10, 2), 0xdead, PM4(0x10, 5), 1, 2, 3, 4,
	     FENCE(FLAG, 1));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 1);
	EXPECT_EQ(f->s.packets, 6);
}

static void packets_wrap_at_every_dword_of_the_ring(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < 3000; i++) {
		GIVE(f, FENCE(FLAG, i), FENCE(FLAG + 4, i), 0xffff1000);
		EXPECT_EQ(run(f), VGPU_PM4_IDLE);
		EXPECT_EQ(mem_u32(&f->m, FLAG), i);
		EXPECT_EQ(mem_u32(&f->m, FLAG + 4), i);
		EXPECT_EQ(f->s.rptr, 11ull * (i + 1));
	}
}

static void a_packet_that_is_not_all_there_waits_for_the_rest(void **state)
{
	struct fixture *f = *state;
	const u32 dw[] = { FENCE(FLAG, 9) };

	for (u32 i = 0; i < FENCE_DWORDS; i++) {
		EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
		give(f, dw + i, 1);
		EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	}
	EXPECT_EQ(mem_u32(&f->m, FLAG), 9);
}

static void release_mem_writes_what_it_selects(void **state)
{
	struct fixture *f = *state;
	const u64 data = 0x1122334455667788ull;

	GIVE(f, RELEASE(0, 0, FLAG, data, 0), RELEASE(0, 1, FLAG + 8, data, 0));
	GIVE(f, RELEASE(3, 2, FLAG + 16, data, 0), RELEASE(0, 3, FLAG + 24, data, 0));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u64(&f->m, FLAG), 0);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 8), 0x55667788);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 16), data);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 24), 12345678 / 10);
	EXPECT_EQ(f->m.irqs, 0);
	GIVE(f, RELEASE(2, 1, FLAG + 32, 5, 0x234));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 32), 5);
	EXPECT_EQ(f->m.irqs, 1);
	EXPECT_EQ(f->m.irq.kind, VGPU_IRQ_END_OF_PIPE);
	EXPECT_EQ(f->m.irq.context, 0x234);
	EXPECT_EQ(f->m.irq.vmid, 8);
	EXPECT_EQ(f->m.irq.xcc, 2);
	EXPECT_EQ(f->m.irq.pasid, 0x8002);
	GIVE(f, RELEASE(1, 0, 0ull, 5, 0x235));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(f->m.irqs, 2);
}

static void a_dispatch_is_given_with_what_the_registers_say(void **state)
{
	struct fixture *f = *state;
	struct vgpu_packet *p = &f->s.packet;

	synthetic(f);
	set_up_dispatch(f, 130);
	GIVE(f, DISPATCH(6, 2, 3), FENCE(FLAG + 64, 1));
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(p->kind, VGPU_KERNEL);
	EXPECT(!f->s.time_only);
	EXPECT_EQ(p->workgroups, 36);
	EXPECT_EQ(p->waves, 3);
	EXPECT_EQ(p->workgroup_ns, 777);
	EXPECT_EQ(p->gap_ns, 55);
	EXPECT_EQ(p->vgpr_bytes, 4096);
	EXPECT_EQ(p->lds_bytes, 5 * 512);
	EXPECT_EQ(p->result, FLAG);
	EXPECT_EQ(p->key, 99);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 64), 0);
	/* The stream continues without waiting for the dispatch. */
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 64), 1);
}

static void code_that_cannot_be_executed_takes_time_only(void **state)
{
	struct fixture *f = *state;

	mem_pattern(&f->m, CODE, 256, 3);
	set_up_dispatch(f, 64);
	GIVE(f, DISPATCH(4, 1, 1));
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT(f->s.time_only);
	EXPECT_EQ(f->s.packet.workgroup_ns, UNKNOWN_NS);
	EXPECT_EQ(f->s.packet.workgroups, 4);
	EXPECT_EQ(f->s.packet.waves, 1);
	EXPECT_EQ(f->s.packet.vgpr_bytes, (4 | 3) * 2048 + 2048);
	EXPECT_EQ(f->s.packet.result, 0);
}

static void a_dispatch_counts_from_its_start_and_maybe_threads(void **state)
{
	struct fixture *f = *state;

	synthetic(f);
	set_up_dispatch(f, 64);
	GIVE(f, PM4(0x76, 3), 0x204, 2, DISPATCH(6, 1, 1));
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(f->s.packet.workgroups, 4);
	GIVE(f, PM4(0x15, 5), 6, 1, 1, 1 | 1 << 2);
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(f->s.packet.workgroups, 6);
	GIVE(f, PM4(0x15, 5), 65 * 4, 1, 1, 1 | 1 << 2 | 1 << 5);
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(f->s.packet.workgroups, 5);
	GIVE(f, DISPATCH(2, 1, 1), DISPATCH(0, 4, 4));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);	/* no workgroups, so no dispatch */
}

static void the_end_of_pipe_waits_for_dispatches_and_not_without(void **state)
{
	struct fixture *f = *state;

	synthetic(f);
	set_up_dispatch(f, 64);
	GIVE(f, DISPATCH(1, 1, 1), DISPATCH(2, 1, 1), RELEASE(2, 1, FLAG + 64, 5, 7));
	GIVE(f, PM4(0x46, 2), 7 | 4 << 8, DISPATCH(3, 1, 1), PM4(0x46, 2), 7 | 4 << 8);
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(run(f), VGPU_PM4_DRAIN);
	EXPECT_EQ(run(f), VGPU_PM4_DRAIN);
	EXPECT_EQ(f->m.irqs, 0);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 64), 0);
	vgpu_pm4_drained(&f->s);
	/* The flush after it has nothing to wait for. */
	EXPECT_EQ(run(f), VGPU_PM4_DISPATCH);
	EXPECT_EQ(f->m.irqs, 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 64), 5);
	EXPECT_EQ(run(f), VGPU_PM4_DRAIN);
	vgpu_pm4_drained(&f->s);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(f->m.irqs, 1);
}

static void a_wait_holds_the_stream_until_memory_says_so(void **state)
{
	struct fixture *f = *state;

	GIVE(f, PM4(0x3c, 7), 3 | 1 << 4, LO(FLAG), HI(FLAG), 5, 0xff, 4, FENCE(FLAG + 8, 1));
	GIVE(f, PM4(0x93, 9), 5 | 1 << 4, LO(FLAG + 16), HI(FLAG), 0, 1, ~0u, ~0u, 4);
	GIVE(f, PM4(0x3c, 7), 3, 0x1234, 0, 5, ~0u, 4);		/* a register */
	EXPECT_EQ(run(f), VGPU_PM4_POLLING);
	EXPECT_EQ(f->s.rptr, 0);
	mem_set_u32(&f->m, FLAG, 0xab06);
	EXPECT_EQ(run(f), VGPU_PM4_POLLING);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 0);
	mem_set_u32(&f->m, FLAG, 0xab05);
	EXPECT_EQ(run(f), VGPU_PM4_POLLING);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 8), 1);
	mem_set_u64(&f->m, FLAG + 16, 0xffffffff);
	EXPECT_EQ(run(f), VGPU_PM4_POLLING);
	mem_set_u64(&f->m, FLAG + 16, 0x100000000ull);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
}

static void buffers_come_back_and_the_read_pointer_waits_for_them(void **state)
{
	struct fixture *f = *state;

	/* The inner buffer ends with a poll, the outer one with the jump to it. */
	BUFFER(f, IB2, FENCE(FLAG + 4, 2),
	       PM4(0x3c, 7), 3 | 1 << 4, LO(FLAG + 8), HI(FLAG), 1, ~0u, 4);
	BUFFER(f, IB, FENCE(FLAG, 1), JUMP(IB2, 12));
	GIVE(f, JUMP(IB, 9), JUMP(IB, 0), FENCE(FLAG + 12, 3));
	EXPECT_EQ(run(f), VGPU_PM4_POLLING);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 1);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 4), 2);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 12), 0);
	EXPECT_EQ(f->s.rptr, 0);
	mem_set_u32(&f->m, FLAG + 8, 1);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 12), 3);
	EXPECT_EQ(f->s.rptr, 13);
}

static void a_chain_does_not_come_back_and_not_go_on_for_ever(void **state)
{
	struct fixture *f = *state;

	BUFFER(f, IB, CHAIN(IB2, 5), FENCE(FLAG, 1));
	BUFFER(f, IB2, FENCE(FLAG + 4, 1));
	GIVE(f, JUMP(IB, 9));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
	EXPECT_EQ(mem_u32(&f->m, FLAG + 4), 1);
	EXPECT_EQ(f->s.rptr, 4);
	BUFFER(f, IB, CHAIN(IB, 4));
	GIVE(f, JUMP(IB, 4));
	EXPECT_EQ(run(f), VGPU_PM4_ERROR);
}

static void clocks_and_words_are_copied(void **state)
{
	struct fixture *f = *state;

	mem_set_u64(&f->m, FLAG + 8, 0x1111111122222222ull);
	GIVE(f, PM4(0x40, 6), 9 | 5 << 8 | 1 << 16, 0, 0, LO(FLAG), HI(FLAG));
	GIVE(f, PM4(0x40, 6), 1 | 2 << 8 | 1 << 16, LO(FLAG + 8), HI(FLAG),
	     LO(FLAG + 16), HI(FLAG));
	GIVE(f, PM4(0x40, 6), 5 | 2 << 8, 7, 8, LO(FLAG + 24), HI(FLAG));
	GIVE(f, PM4(0x1e, 9), 39, LO(FLAG + 8), HI(FLAG), 1, 2, 0, 0, 0);
	GIVE(f, PM4(0x40, 6), 6 | 2 << 8 | 1 << 16, 0, 0, LO(FLAG + 32), HI(FLAG));
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u64(&f->m, FLAG), 1234567);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 16), 0x1111111122222222ull);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 24), 7);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 8), 0x200000001ull);
	EXPECT_EQ(mem_u64(&f->m, FLAG + 32), 0x1111111122222222ull);
}

static void a_compare_and_swap_may_wait_for_its_turn(void **state)
{
	struct fixture *f = *state;

	mem_set_u32(&f->m, FLAG, 3);
	GIVE(f, PM4(0x1e, 9), 8 | 1 << 8, LO(FLAG), HI(FLAG), 9, 0, 4, 0, 0);
	EXPECT_EQ(run(f), VGPU_PM4_POLLING);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 3);
	mem_set_u32(&f->m, FLAG, 4);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 9);
}

static void one_call_does_a_bounded_share(void **state)
{
	struct fixture *f = *state;
	u32 nops[300];

	for (u32 i = 0; i < 300; i++)
		nops[i] = 0xffff1000;
	memcpy(mem_at(&f->m, IB, sizeof(nops)), nops, sizeof(nops));
	GIVE(f, JUMP(IB, 300));
	EXPECT_EQ(run(f), VGPU_PM4_MORE);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(f->s.rptr, 4);
}

PROVE(
	CLAIM_WITH(data_is_written_in_order_or_to_one_place, up, down),
	CLAIM_WITH(registers_are_ignored_and_said_once, up, down),
	CLAIM_WITH(nops_of_every_kind_are_skipped, up, down),
	CLAIM_WITH(packets_wrap_at_every_dword_of_the_ring, up, down),
	CLAIM_WITH(a_packet_that_is_not_all_there_waits_for_the_rest, up, down),
	CLAIM_WITH(release_mem_writes_what_it_selects, up, down),
	CLAIM_WITH(a_dispatch_is_given_with_what_the_registers_say, up, down),
	CLAIM_WITH(code_that_cannot_be_executed_takes_time_only, up, down),
	CLAIM_WITH(a_dispatch_counts_from_its_start_and_maybe_threads, up, down),
	CLAIM_WITH(the_end_of_pipe_waits_for_dispatches_and_not_without, up, down),
	CLAIM_WITH(a_wait_holds_the_stream_until_memory_says_so, up, down),
	CLAIM_WITH(buffers_come_back_and_the_read_pointer_waits_for_them, up, down),
	CLAIM_WITH(a_chain_does_not_come_back_and_not_go_on_for_ever, up, down),
	CLAIM_WITH(clocks_and_words_are_copied, up, down),
	CLAIM_WITH(a_compare_and_swap_may_wait_for_its_turn, up, down),
	CLAIM_WITH(one_call_does_a_bounded_share, up, down),
)
