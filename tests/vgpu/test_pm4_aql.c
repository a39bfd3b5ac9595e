// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* PM4 streams: vendor packets of AQL, invalid bytes, and parts shared by executors. */
#include "pm4_world.h"

/* The layout of ROCr: header, format, jump, remaining dwords, completion signal. */
#define PM4_IB(at, n)	{ 1 << 16 | 1 << 8, JUMP(at, n), 0xa }

/* Makes a stream without a ring, like that of an AQL queue. */
static int up_aql(void **state)
{
	struct vgpu_pm4_args args = { .unknown_ns = UNKNOWN_NS };

	up(state);
	return vgpu_pm4_init(&((struct fixture *)*state)->s, &args);
}

static void a_vendor_packet_runs_its_buffer_to_the_end(void **state)
{
	struct fixture *f = *state;
	const u32 packet[16] = PM4_IB(IB, 17);

	/* ROCr 6.1 sends only the first packet. */
	BUFFER(f, IB, PM4(0x58, 7), 0x28840000, ~0u, 0xff, 0, 0, 0,
	       PM4(0x3c, 7), 3 | 1 << 4, LO(FLAG), HI(FLAG), 1, ~0u, 4, PM4(0x10, 3), 0, 0);
	for (u32 i = 0; i < 3; i++) {
		mem_set_u32(&f->m, FLAG, 0);
		EXPECT_EQ(vgpu_pm4_aql(&f->s, packet, true), 0);
		EXPECT_EQ(run(f), VGPU_PM4_POLLING);
		EXPECT_EQ(vgpu_pm4_aql(&f->s, packet, true), -EBUSY);
		mem_set_u32(&f->m, FLAG, 1);
		EXPECT_EQ(run(f), VGPU_PM4_IDLE);
		EXPECT_EQ(f->s.packets, 3 * (i + 1));
		EXPECT_EQ(f->s.rptr, 0);
	}
}

static void a_vendor_packet_waits_for_dispatches_before_it(void **state)
{
	struct fixture *f = *state;
	const u32 packet[16] = PM4_IB(IB, 8);

	BUFFER(f, IB, RELEASE(0, 1, FLAG, 5, 0));
	EXPECT_EQ(vgpu_pm4_aql(&f->s, packet, false), 0);
	EXPECT_EQ(run(f), VGPU_PM4_DRAIN);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
	vgpu_pm4_drained(&f->s);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 5);
	mem_set_u32(&f->m, FLAG, 0);
	EXPECT_EQ(vgpu_pm4_aql(&f->s, packet, true), 0);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(mem_u32(&f->m, FLAG), 5);
}

static void a_vendor_packet_without_a_jump_is_refused(void **state)
{
	struct fixture *f = *state;
	const u32 other[16] = { 2 << 16, JUMP(IB, 4) }, nop[16] = { 1 << 16, PM4(0x10, 4) };
	const u32 empty[16] = PM4_IB(IB, 0);

	EXPECT_EQ(vgpu_pm4_aql(&f->s, other, true), -EINVAL);
	EXPECT_EQ(vgpu_pm4_aql(&f->s, nop, true), -EINVAL);
	EXPECT_EQ(vgpu_pm4_aql(&f->s, empty, true), 0);
	EXPECT_EQ(run(f), VGPU_PM4_IDLE);
	EXPECT_EQ(f->s.packets, 0);
}

static void a_barrier_value_compares_as_signals_do(void **state)
{
	static const struct { u8 condition, holds[3]; } table[] = {
		/* signal:    -1, 5, 6 against 5 */
		{ 0, { 0, 1, 0 } }, { 1, { 1, 0, 1 } }, { 2, { 1, 0, 0 } }, { 3, { 0, 1, 1 } },
	};
	static const s64 values[] = { -1, 5, 6 };
	struct fixture *f = *state;
	u32 packet[16] = { 2 << 16, 0, LO(FLAG), HI(FLAG), 5, 0, ~0u, ~0u };

	for (u32 i = 0; i < 4; i++)
		for (u32 j = 0; j < 3; j++) {
			packet[8] = table[i].condition;
			mem_set_u64(&f->m, FLAG + 8, (u64)values[j]);
			EXPECT_EQ(vgpu_aql_barrier_value(packet, &mem_bus, &f->m, 0),
				  table[i].holds[j]);
		}
	packet[8] = 0;
	packet[6] = 0xf;	/* the mask */
	packet[7] = 0;
	mem_set_u64(&f->m, FLAG + 8, 0xabcd5);
	EXPECT_EQ(vgpu_aql_barrier_value(packet, &mem_bus, &f->m, 0), 1);
	packet[8] = 4;
	EXPECT_EQ(vgpu_aql_barrier_value(packet, &mem_bus, &f->m, 0), -EINVAL);
	packet[8] = 0;
	packet[3] = 0;
	EXPECT_EQ(vgpu_aql_barrier_value(packet, &mem_bus, &f->m, 0), -EFAULT);
	packet[2] = 0;		/* no signal, nothing to wait for */
	EXPECT_EQ(vgpu_aql_barrier_value(packet, &mem_bus, &f->m, 0), 1);
	packet[0] = 1 << 16;
	EXPECT_EQ(vgpu_aql_barrier_value(packet, &mem_bus, &f->m, 0), -EINVAL);
}

static void wrong_bytes_stop_the_stream_with_a_sentence(void **state)
{
	static const struct { const char *why; u32 dw[9]; u32 n; bool fault; } table[] = {
		{ "type 0",		{ 0x12345 }, 1, false },
		{ "no such packet",	{ PM4(0xee, 2) }, 2, false },
		{ "a driver's packet",	{ PM4(0xa2, 7) }, 7, false },
		{ "too short",		{ PM4(0x49, 4), 0x514 }, 4, false },
		{ "a long jump",	{ PM4(0x3f, 5), LO(IB), HI(IB), 4 }, 5, false },
		{ "GDS",		{ PM4(0x37, 5), 3 << 8, LO(FLAG), HI(FLAG) }, 5, false },
		{ "no such data",	{ PM4(0x49, 8), 0x514, 5u << 29 }, 8, false },
		{ "no such interrupt",	{ PM4(0x49, 8), 0x514, 4u << 24 }, 8, false },
		{ "no such atomic",	{ PM4(0x1e, 9), 1, LO(FLAG), HI(FLAG) }, 9, false },
		{ "no such source",	{ PM4(0x40, 6), 4 | 5 << 8 }, 6, false },
		{ "longer than a ring",	{ PM4(0x10, 257) }, 1, false },
		{ "a write nowhere",	{ PM4(0x37, 5), 5 << 8, 0x1000, 0 }, 5, true },
		{ "a wait nowhere",	{ PM4(0x3c, 7), 3 | 1 << 4, 0x1000, 0 }, 7, true },
		{ "a release nowhere",	{ PM4(0x49, 8), 0x514, 1u << 29, 0x1000, 0 }, 8, true },
		{ "an atomic nowhere",	{ PM4(0x1e, 9), 47, 0x1000, 0 }, 9, true },
		{ "a copy from nowhere", { PM4(0x40, 6), 1 | 5 << 8, 0x1000, 0 }, 6, true },
		{ "a buffer nowhere",	{ PM4(0x3f, 4), 0x1000, 0, 4 }, 4, true },
		{ "code nowhere",	{ PM4(0x76, 3), 0x20c, 0x10, DISPATCH(1, 1, 1) }, 8, true },
	};

	for (u32 i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct fixture *f;

		down(state);
		up(state);
		f = *state;
		give(f, table[i].dw, table[i].n);
		GIVE(f, FENCE(FLAG, 1));
		if (run(f) != VGPU_PM4_ERROR)
			fail_msg("%s: no error", table[i].why);
		EXPECT_EQ(f->m.reports, 1);
		EXPECT(f->s.stop.what && strlen(f->s.stop.what) > 20);
		EXPECT_EQ(f->s.stop.fault, table[i].fault);
		EXPECT_EQ(f->s.stop.address, table[i].fault ? 0x1000 : 0);
		EXPECT_EQ(run(f), VGPU_PM4_ERROR);
		EXPECT_EQ(f->m.reports, 1);
		EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
	}
}

static void wrong_buffers_and_dispatches_stop_the_stream(void **state)
{
	for (u32 i = 0; i < 6; i++) {
		struct fixture *f;

		down(state);
		up(state);
		f = *state;
		synthetic(f);
		if (i == 0) {
			BUFFER(f, IB, JUMP(IB2, 4));
			BUFFER(f, IB2, JUMP(IB2, 4));
			GIVE(f, JUMP(IB, 4));		/* too deep */
		} else if (i == 1) {
			BUFFER(f, IB, FENCE(FLAG, 1));
			GIVE(f, JUMP(IB, 4));		/* cut short */
		} else if (i == 2) {
			set_up_dispatch(f, 1025);
			GIVE(f, DISPATCH(1, 1, 1));
		} else if (i == 3) {
			set_up_dispatch(f, 64);
			GIVE(f, DISPATCH(65536, 65536, 1));
		} else {
			GIVE(f, 0xffff1000, 0xffff1000);
			EXPECT_EQ(run(f), VGPU_PM4_IDLE);
			vgpu_pm4_wptr(&f->s, i == 4 ? 1 : RING_DWORDS + 3);
		}
		EXPECT_EQ(run(f), VGPU_PM4_ERROR);
		EXPECT_EQ(f->m.reports, 1);
		EXPECT_EQ(mem_u32(&f->m, FLAG), 0);
	}
}

static void a_ring_that_cannot_be_is_refused(void **state)
{
	struct vgpu_pm4 s;
	struct vgpu_pm4_args args = { .size = 100 };

	(void)state;
	EXPECT_EQ(vgpu_pm4_init(&s, &args), -EINVAL);
	args.size = 128;
	args.base = 2;
	EXPECT_EQ(vgpu_pm4_init(&s, &args), -EINVAL);
}

static void every_atomic_of_both_widths_is_right(void **state)
{
	static const struct { u32 op; u64 old, value, compare, want; } table[] = {
		{ 7, 1, 2, 0, 2 }, { 8, 1, 2, 1, 2 }, { 8, 1, 2, 3, 1 }, { 15, ~0ull, 3, 0, 2 },
		{ 16, 2, 3, 0, ~0ull }, { 17, ~0ull, 3, 0, ~0ull }, { 18, ~0ull, 3, 0, 3 },
		{ 19, ~0ull, 3, 0, 3 }, { 20, ~0ull, 3, 0, ~0ull }, { 21, 6, 3, 0, 2 },
		{ 22, 6, 3, 0, 7 }, { 23, 6, 3, 0, 5 }, { 24, 3, 3, 0, 0 }, { 24, 2, 3, 0, 3 },
		{ 25, 0, 3, 0, 3 }, { 25, 4, 3, 0, 3 }, { 25, 2, 3, 0, 1 },
	};
	struct fixture *f = *state;
	u64 before;

	for (u32 i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (u32 variant = 0; variant < 4; variant++) {
			bool wide = variant & 1;
			struct vgpu_atomic what = { table[i].op | variant << 5, FLAG,
						    table[i].value, table[i].compare };
			u64 beside = 0x12345678ull << 32;

			mem_set_u64(&f->m, FLAG, wide ? table[i].old : beside | LO(table[i].old));
			EXPECT_EQ(vgpu_atomic(&mem_bus, &f->m, 0, &what, &before), 0);
			EXPECT_EQ(before, wide ? table[i].old : LO(table[i].old));
			EXPECT_EQ(mem_u64(&f->m, FLAG),
				  wide ? table[i].want : beside | LO(table[i].want));
		}
}

PROVE(
	CLAIM_WITH(a_vendor_packet_runs_its_buffer_to_the_end, up_aql, down),
	CLAIM_WITH(a_vendor_packet_waits_for_dispatches_before_it, up_aql, down),
	CLAIM_WITH(a_vendor_packet_without_a_jump_is_refused, up_aql, down),
	CLAIM_WITH(a_barrier_value_compares_as_signals_do, up, down),
	CLAIM_WITH(wrong_bytes_stop_the_stream_with_a_sentence, up, down),
	CLAIM_WITH(wrong_buffers_and_dispatches_stop_the_stream, up, down),
	CLAIM(a_ring_that_cannot_be_is_refused),
	CLAIM_WITH(every_atomic_of_both_widths_is_right, up, down),
)
