// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* SDMA and PM4 queues on the chip: mapped, stopped in the middle and continued. */
#include "chip_stream.h"

static void a_pm4_queue_runs_its_dispatches_and_then_tells(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_pm4_queue(w, 1);
	u64 flag = cw_alloc(w, 1, 8, 8);

	cw_run_list_one(w, q);
	cw_run(w, US(20));
	cw_pm4_dispatch(w, q, 500, US(50));
	cw_pm4_dispatch(w, q, 500, US(50));
	cw_pm4_release(w, q, flag, 42, 9);
	cw_run(w, US(30));
	EXPECT_EQ(cw_get32(w, 1, flag), 0);	/* they still run */
	cw_run(w, US(200));
	EXPECT_EQ(cw_get32(w, 1, flag), 42);
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(cw_get32(w, 1, w->q[q].rptr), w->q[q].written);
	EXPECT_EQ(w->nr_irqs, 1);
	EXPECT_EQ(w->irq[0].kind, VGPU_IRQ_END_OF_PIPE);
	EXPECT_EQ(w->irq[0].context, 9);
	EXPECT_EQ(w->irq[0].pasid, 1);
	EXPECT_EQ(w->nr_reports, 0);
	EXPECT(vgpu_chip_counters(w->chip)->packets[VGPU_PM4_USER] >= 9);
}

static void a_pm4_queue_saved_often_does_everything_once(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_pm4_queue(w, 1);
	u64 flag = cw_alloc(w, 1, 8, 8);

	cw_grace(w, 1);
	for (u32 i = 0; i < 100; i++) {
		cw_run_list_one(w, q);
		if (i % 4 == 0) {
			cw_pm4_dispatch(w, q, 1500, US(77));
			cw_pm4_release(w, q, flag, i, 0);
		}
		cw_run(w, US(60));
		cw_unmap_all(w);
	}
	cw_run_list_one(w, q);
	cw_run(w, MS(50));
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(cw_get32(w, 1, flag), 96);
	EXPECT_EQ(w->nr_reports, 0);
}

/* An AQL queue runs on all XCCs, a PM4 queue on the XCC in its MQD. */
static void a_pm4_queue_has_its_waves_on_one_xcc(void **state)
{
	struct chip_world *w = *state;
	u32 q[2] = { cw_pm4_queue(w, 1), cw_pm4_queue(w, 1) };
	u64 flag = cw_alloc(w, 1, 8, 8);
	struct vgpu_chip_queue_view v;

	for (u32 i = 0; i < 2; i++) {
		cw_mqd_put(w, q[i], VGPU_MQD_TARGET_XCC, 2 + i);
		cw_pm4_dispatch(w, q[i], 5000, MS(1));
	}
	cw_pm4_release(w, q[1], flag, 1, 9);
	cw_run_list(w, q, 2);
	cw_run(w, US(100));
	for (u32 i = 0; i < 2; i++) {
		EXPECT_EQ(cw_view(w, q[i], &v), 0);
		EXPECT_EQ(v.waves, 20 * 32);
		for (u32 xcc = 0; xcc < w->xccs; xcc++)
			EXPECT_EQ(vgpu_chip_waves(w->chip, xcc, v.pipe, v.queue),
				  xcc == 2 + i ? 20u * 32 : 0);
	}
	cw_unmap_all(w);
	for (u32 xcc = 0; xcc < w->xccs; xcc++) {
		u32 stack = cw_mqd_get(w, q[0], xcc, VGPU_MQD_CNTL_STACK_OFFSET);
		u32 state_end = cw_mqd_get(w, q[0], xcc, VGPU_MQD_WG_STATE_OFFSET);

		EXPECT_EQ(stack < CW_STACK, xcc == 2);
		EXPECT_EQ(state_end > CW_STACK, xcc == 2);
	}
	cw_run_list(w, q, 2);
	cw_run(w, MS(20));
	EXPECT(cw_sums_right(w, q[0]) && cw_sums_right(w, q[1]));
	EXPECT_EQ(w->nr_irqs, 1);
	EXPECT_EQ(w->irq[0].xcc, 3);
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_pm4_queue_of_an_xcc_that_is_not_there_is_reported(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_pm4_queue(w, 1);

	cw_mqd_put(w, q, VGPU_MQD_TARGET_XCC, 4);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	EXPECT(strstr(w->report, "an XCC that is not there"));
}

static void a_bad_pm4_packet_stops_its_queue_only(void **state)
{
	struct chip_world *w = *state;
	u32 q[2] = { cw_pm4_queue(w, 1), cw_queue(w, 2) };
	struct vgpu_chip_queue_view v;

	cw_run_list(w, q, 2);
	GIVE(w, q[0], CW_PM4_UNIT, 0x12345678, 0, 0);
	cw_dispatch(w, q[1], &(struct cw_dispatch){ .workgroups = 10, .ns = US(10) });
	cw_ring(w, q[1]);
	cw_run(w, MS(1));
	EXPECT(w->nr_reports);
	cw_view(w, q[0], &v);
	EXPECT_EQ(v.state, VGPU_ERROR);
	EXPECT(v.error);
	EXPECT(cw_sums_right(w, q[1]));
	cw_unmap_all(w);
}

static void map_sdma(struct chip_world *w, u32 queue, u32 dw1)
{
	w->q[queue].map = dw1;
	cw_run_list_one(w, queue);
}

static void an_sdma_queue_copies_and_traps(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_sdma_queue(w, 1);
	u64 from = cw_alloc(w, 1, 4096, 4096), to = cw_alloc(w, 1, 4096, 4096);

	memset(cw_at(w, 1, from), 0xab, 4096);
	map_sdma(w, q, 0x28000010);	/* engine_sel 2: SDMA 0 */
	GIVE(w, q, CW_SDMA_UNIT, 1, 4095, 0, LO(from), HI(from), LO(to), HI(to), 6, 33);
	cw_run(w, MS(1));
	EXPECT(!memcmp(cw_at(w, 1, from), cw_at(w, 1, to), 4096));
	EXPECT_EQ(cw_get64(w, 1, w->q[q].rptr), 36);
	EXPECT_EQ(w->nr_irqs, 1);
	EXPECT_EQ(w->irq[0].kind, VGPU_IRQ_SDMA_TRAP);
	EXPECT_EQ(w->irq[0].context, 33);
	EXPECT_EQ(w->irq[0].vmid, 3);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->packets[VGPU_SDMA_COPY], 1);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->sdma_bytes, 4096);
	cw_unmap_all(w);
	EXPECT_EQ(cw_get32(w, 0, w->q[q].mqd + 4 * VGPU_SDMA_MQD_RPTR_LO), 36);
	EXPECT_EQ(w->nr_reports, 0);
}

static void an_sdma_queue_stopped_in_a_copy_goes_on_where_it_was(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_sdma_queue(w, 1), n = 1 << 20;
	u64 from = cw_alloc(w, 1, n, 4096), to = cw_alloc(w, 1, n, 4096);
	struct vgpu_chip_queue_view v;

	for (u32 i = 0; i < n; i += 8)
		cw_put64(w, 1, from + i, i * 0x9e3779b97f4a7c15ull);
	GIVE(w, q, CW_SDMA_UNIT, 1, n - 1, 0, LO(from), HI(from), LO(to), HI(to));
	for (u32 i = 0; i < 5; i++) {
		map_sdma(w, q, 0x20000014);	/* extended engine 0 */
		cw_run(w, US(2));
		EXPECT_EQ(cw_view(w, q, &v), 0);
		EXPECT_EQ(v.kind, VGPU_QUEUE_SDMA);
		EXPECT_EQ(v.state, VGPU_MAPPED);
		cw_run(w, US(2));
		cw_unmap_all(w);
		cw_run(w, US(50));
		cw_view(w, q, &v);
		EXPECT_EQ(v.state, VGPU_UNMAPPED);
	}
	EXPECT(memcmp(cw_at(w, 1, from), cw_at(w, 1, to), n));	/* not ready yet */
	map_sdma(w, q, 0x20000014);
	cw_run(w, MS(5));
	EXPECT(!memcmp(cw_at(w, 1, from), cw_at(w, 1, to), n));
	EXPECT_EQ(cw_get64(w, 1, w->q[q].rptr), 28);
	EXPECT_EQ(w->nr_reports, 0);
}

static void an_unmap_by_pasid_stops_engines_of_that_process(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_sdma_queue(w, 1);
	struct vgpu_chip_queue_view v;

	map_sdma(w, q, 0x28000010);
	cw_run(w, US(50));
	cw_unmap(w, VGPU_PM4_BY_PASID, VGPU_PM4_PREEMPT, 1);
	cw_query(w);
	EXPECT(cw_wait(w, MS(1)));
	EXPECT_EQ(cw_view(w, q, &v), 0);
	EXPECT_EQ(v.state, VGPU_UNMAPPED);
	EXPECT_EQ(v.vmid, 0);
	map_sdma(w, q, 0x28000010);
	cw_run(w, US(50));
	cw_unmap(w, VGPU_PM4_BY_DOORBELL, VGPU_PM4_PREEMPT, w->q[q].doorbell << 2);
	cw_query(w);
	EXPECT(cw_wait(w, MS(1)));
	cw_view(w, q, &v);
	EXPECT_EQ(v.state, VGPU_UNMAPPED);
	EXPECT_EQ(w->nr_reports, 0);
}

/* A blit waits for a kernel, and a kernel waits for the blit. */
static void engines_and_kernels_wait_for_each_other(void **state)
{
	struct chip_world *w = *state;
	u32 copy = cw_sdma_queue(w, 1), q = cw_queue(w, 1), both[2] = { copy, q };
	u64 first = cw_signal(w, 1, 1), second = cw_signal(w, 1, 1);
	u64 value = first + VGPU_SIGNAL_VALUE, other = second + VGPU_SIGNAL_VALUE;
	struct cw_dispatch d = { .workgroups = 10, .ns = US(100), .signal = first };
	u8 barrier[VGPU_AQL_BYTES] = { VGPU_AQL_TYPE_AND };

	w->q[copy].map = 0x2c000010;	/* SDMA 1 */
	cw_run_list(w, both, 2);
	cw_dispatch(w, q, &d);
	memcpy(barrier + VGPU_AQL_DEP, &second, 8);
	cw_packet(w, q, barrier);
	d.signal = 0;
	cw_dispatch(w, q, &d);
	cw_ring(w, q);
	/* POLL_REGMEM until equal 0, then a fence of 0 */
	GIVE(w, copy, CW_SDMA_UNIT,
	     8 | 3u << 28 | 1u << 31, LO(value), HI(value), 0, ~0u, 0x0fff0004,
	     5, LO(other), HI(other), 0);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_signal_value(w, 1, second), 0);
	EXPECT_EQ(cw_rptr(w, q), 3);
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(w->nr_reports, 0);
}

static void a_vendor_packet_jumps_into_pm4_in_its_place(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	u64 ib = cw_alloc(w, 1, 64, 64), flag = cw_alloc(w, 1, 8, 8), done = cw_signal(w, 1, 1);
	const u32 code[5] = { PM4(0x37, 5), 5 << 8 | 1 << 20, LO(flag), HI(flag), 7 };
	u32 packet[16] = { 1 << 16 | 1 << 8, PM4(0x3f, 4), LO(ib), HI(ib), 5 | 1 << 23, 10 };
	struct cw_dispatch d = { .workgroups = 10, .ns = US(100) };

	memcpy(cw_at(w, 1, ib), code, sizeof(code));
	packet[14] = LO(done);
	packet[15] = HI(done);
	cw_run_list_one(w, q);
	cw_dispatch(w, q, &d);
	cw_packet(w, q, packet);	/* has its barrier bit set, so it runs after the kernel */
	cw_dispatch(w, q, &d);
	cw_ring(w, q);
	cw_run(w, US(50));
	EXPECT_EQ(cw_get32(w, 1, flag), 0);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_get32(w, 1, flag), 7);
	EXPECT_EQ(cw_signal_value(w, 1, done), 0);
	EXPECT_EQ(cw_rptr(w, q), 3);
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(w->nr_reports, 0);
}

static void an_engine_that_is_not_there_is_reported(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_sdma_queue(w, 1);
	struct vgpu_chip_queue_view v;

	map_sdma(w, q, 0x2000001c);	/* extended_engine_sel 3 */
	cw_run(w, MS(1));
	EXPECT(w->nr_reports);
	EXPECT_EQ(cw_view(w, q, &v), -ENOENT);
	cw_unmap_all(w);
}

PROVE(
	CLAIM_WITH(a_pm4_queue_runs_its_dispatches_and_then_tells, cw_up, cw_down),
	CLAIM_WITH(a_pm4_queue_saved_often_does_everything_once, cw_up, cw_down),
	CLAIM_WITH(a_pm4_queue_has_its_waves_on_one_xcc, cw_up, cw_down),
	CLAIM_WITH(a_pm4_queue_of_an_xcc_that_is_not_there_is_reported, cw_up, cw_down),
	CLAIM_WITH(a_bad_pm4_packet_stops_its_queue_only, cw_up, cw_down),
	CLAIM_WITH(an_sdma_queue_copies_and_traps, cw_up, cw_down),
	CLAIM_WITH(an_sdma_queue_stopped_in_a_copy_goes_on_where_it_was, cw_up, cw_down),
	CLAIM_WITH(an_unmap_by_pasid_stops_engines_of_that_process, cw_up, cw_down),
	CLAIM_WITH(engines_and_kernels_wait_for_each_other, cw_up, cw_down),
	CLAIM_WITH(a_vendor_packet_jumps_into_pm4_in_its_place, cw_up, cw_down),
	CLAIM_WITH(an_engine_that_is_not_there_is_reported, cw_up, cw_down),
)
