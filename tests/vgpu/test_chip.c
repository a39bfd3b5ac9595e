// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The chip: the effect of a driver's packets. No work is lost or repeated. */
#include "chip_world.h"

static const struct cw_dispatch KERNEL = { .workgroups = 100, .ns = US(10) };

static void a_dispatch_runs_and_signals(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);
	struct cw_dispatch d = KERNEL;
	u64 start, end;

	d.signal = cw_signal(w, 1, 1);
	cw_run_list_one(w, q);
	cw_dispatch(w, q, &d);
	cw_ring(w, q);
	cw_run(w, US(100));
	EXPECT(cw_sums_right(w, q));
	EXPECT_EQ(cw_signal_value(w, 1, d.signal), 0);
	start = cw_get64(w, 1, d.signal + VGPU_SIGNAL_START);
	end = cw_get64(w, 1, d.signal + VGPU_SIGNAL_END);
	EXPECT(start);
	EXPECT_EQ(end - start, US(10) / VGPU_TICK_NS);
	EXPECT_EQ(cw_rptr(w, q), 1);
	EXPECT_EQ(*(u16 *)cw_slot(w, q, 0), VGPU_AQL_TYPE_INVALID);
	EXPECT_EQ(w->nr_reports, 0);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->packets[VGPU_AQL_DISPATCH], 1);
}

/* A doorbell that was never written holds index 0. */
static void the_first_doorbell_is_seen_though_it_writes_zero(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	EXPECT_EQ(w->doorbells[w->q[q].doorbell], 0);
	cw_run(w, US(100));
	EXPECT(cw_sums_right(w, q));
}

static void packets_written_while_unmapped_run_when_mapped(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	for (u32 i = 0; i < 5; i++)
		cw_dispatch(w, q, &KERNEL);
	cw_ring(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q), 0);
	cw_run_list_one(w, q);
	cw_run(w, MS(1));
	EXPECT_EQ(cw_rptr(w, q), 5);
	EXPECT(cw_sums_right(w, q));
}

static void a_fence_comes_after_the_unmap_before_it(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 4000, .ns = MS(1) };
	u32 q = cw_queue(w, 1);
	u64 t0;

	cw_dispatch(w, q, &d);
	cw_run_list_one(w, q);
	cw_run(w, US(500));
	cw_unmap(w, VGPU_PM4_DYNAMIC, VGPU_PM4_PREEMPT, 0);
	t0 = w->now;
	EXPECT(!vgpu_chip_hiq_idle(w->chip, w->pending));	/* rung, not read yet */
	cw_run(w, US(10));
	EXPECT(!vgpu_chip_hiq_idle(w->chip, w->pending));	/* read, not complete */
	cw_query(w);
	cw_run(w, US(10));
	EXPECT(!cw_fenced(w));		/* the grace is 31 us */
	EXPECT(vgpu_chip_commanded(w->chip) && !vgpu_chip_hiq_idle(w->chip, w->pending));
	EXPECT(cw_wait(w, MS(1)));
	EXPECT(!vgpu_chip_commanded(w->chip) && vgpu_chip_hiq_idle(w->chip, w->pending));
	EXPECT(w->now - t0 > US(31));
	EXPECT(vgpu_chip_last_unmapped(w->chip)->bytes);
	EXPECT(vgpu_chip_last_unmapped(w->chip)->done_at <= w->now);
	EXPECT_EQ(cw_get32(w, 0, w->hiq_rptr), w->pending);
}

static void the_grace_is_what_the_driver_writes(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 4000, .ns = MS(1) };
	const struct vgpu_unmapped *u = vgpu_chip_last_unmapped(w->chip);
	u32 q = cw_queue(w, 1);

	cw_dispatch(w, q, &d);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_grace(w, 1);
	cw_unmap_all(w);
	EXPECT_EQ(u->save_at - u->command_at, vgpu_value(&w->facts, VGPU_GRACE_NS));
	EXPECT_EQ(vgpu_chip_iq_wait_time2(w->chip), 0x40400140);

	/* Without save, the waves run to their end. */
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_grace(w, 0);
	cw_unmap_all(w);
	EXPECT_EQ(u->bytes, 0);
	EXPECT(u->done_at - u->command_at > US(500));
}

static void saved_200_times_nothing_is_lost_or_done_twice(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 3000, .ns = US(300) };
	u32 q = cw_queue(w, 1), other = cw_queue(w, 2);
	u32 both[2] = { q, other };

	for (u32 i = 0; i < 8; i++) {
		cw_dispatch(w, q, &d);
		cw_dispatch(w, other, &d);
	}
	cw_grace(w, 1);
	for (u32 i = 0; i < 200; i++) {
		cw_run_list(w, both, 2);
		cw_run(w, US(20) + i * 7);
		cw_unmap_all(w);
	}
	EXPECT(vgpu_counters(vgpu_chip_device(w->chip))->waves_saved > 1000);
	EXPECT(!cw_sums_right(w, q));	/* the kernel was running */
	cw_run_list(w, both, 2);
	cw_run(w, MS(200));
	EXPECT_EQ(cw_rptr(w, q), 8);
	EXPECT(cw_sums_right(w, q));
	EXPECT(cw_sums_right(w, other));
	EXPECT_EQ(w->nr_reports, 0);
	EXPECT(!w->no_room);
}

static void a_corrupted_save_area_gives_wrong_sums(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 3000, .ns = MS(1) };
	u32 q = cw_queue(w, 1);

	cw_dispatch(w, q, &d);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_unmap_all(w);
	memset(cw_at(w, 1, w->q[q].save + CW_STACK + 16), 0x5a, 4096);
	cw_run_list_one(w, q);
	cw_run(w, MS(50));
	EXPECT(!cw_sums_right(w, q));
	EXPECT(w->nr_reports);
}

static void what_is_saved_stands_in_the_mqd(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 3000, .ns = MS(1) };
	u32 q = cw_queue(w, 1);

	cw_run_list_one(w, q);
	cw_run(w, US(100));
	for (u32 xcc = 0; xcc < w->xccs; xcc++) {
		EXPECT_EQ(cw_mqd_get(w, q, xcc, VGPU_MQD_ACTIVE), 1);
		EXPECT_EQ(cw_mqd_get(w, q, xcc, VGPU_MQD_VMID), 3);
		EXPECT(cw_mqd_get(w, q, xcc, VGPU_MQD_DOORBELL_CONTROL) & VGPU_DOORBELL_EN);
	}
	cw_unmap_all(w);
	EXPECT_EQ(cw_mqd_get(w, q, 3, VGPU_MQD_ACTIVE), 0);
	EXPECT_EQ(cw_mqd_get(w, q, 3, VGPU_MQD_CNTL_STACK_OFFSET), CW_STACK);
	EXPECT_EQ(cw_mqd_get(w, q, 3, VGPU_MQD_WG_STATE_OFFSET), CW_STACK);

	cw_dispatch(w, q, &d);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	cw_unmap_all(w);
	for (u32 xcc = 0; xcc < w->xccs; xcc++) {
		u32 stack = cw_mqd_get(w, q, xcc, VGPU_MQD_CNTL_STACK_OFFSET);
		u32 state_end = cw_mqd_get(w, q, xcc, VGPU_MQD_WG_STATE_OFFSET);

		EXPECT(stack < CW_STACK);
		EXPECT_EQ((state_end - CW_STACK) * (u64)w->xccs,
			  vgpu_chip_last_unmapped(w->chip)->bytes);
		EXPECT_EQ(cw_mqd_get(w, q, xcc, VGPU_MQD_PQ_RPTR), 0);
		EXPECT_EQ(cw_mqd_get(w, q, xcc, VGPU_MQD_PQ_WPTR_LO), 16);
		EXPECT(cw_get32(w, 0, w->q[q].mqd + xcc * (CW_STACK + 4096ull) + 4096 + stack));
	}
}

static void the_ring_of_the_driver_wraps(void **state)
{
	struct chip_world *w = *state;
	u32 q = cw_queue(w, 1);

	for (u32 i = 0; i < 500; i++) {
		cw_run_list_one(w, q);
		cw_unmap_all(w);
		if (i % 3 == 0)
			cw_grace(w, 1 + i % 200);
		EXPECT(!w->no_room);
	}
	EXPECT(w->pending64 > 10 * CW_HIQ_RING);
	EXPECT(vgpu_chip_counters(w->chip)->packets[VGPU_NOP]);
	EXPECT_EQ(vgpu_chip_counters(w->chip)->packets[VGPU_BAD_PACKET], 0);
	EXPECT_EQ(w->nr_reports, 0);
}

static void thirty_queues_on_24_slots_all_run(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 200, .ns = US(50) };
	u32 q[30];

	for (u32 i = 0; i < 30; i++) {
		q[i] = cw_queue(w, 1 + i / 10);
		for (u32 j = 0; j < 20; j++)
			cw_dispatch(w, q[i], &d);
	}
	cw_run_list(w, q, 30);
	for (u32 i = 0; i < 40; i++)
		cw_run(w, MS(5));
	for (u32 i = 0; i < 30; i++) {
		EXPECT_EQ(cw_rptr(w, q[i]), 20);
		EXPECT(cw_sums_right(w, q[i]));
	}
	EXPECT_EQ(w->nr_reports, 0);
	cw_unmap_all(w);
}

/* amdgpu.hws_max_conc_proc = 2, which RUN_LIST contains as process_cnt. */
static void no_more_processes_at_a_time_than_the_run_list_says(void **state)
{
	struct chip_world *w = *state;
	struct vgpu_chip_queue_view view;
	u32 q[3];

	w->at_a_time = 2;
	for (u32 i = 0; i < 3; i++) {
		q[i] = cw_queue(w, 1 + i);
		cw_dispatch(w, q[i], &(struct cw_dispatch){ .workgroups = 38400, .ns = US(500) });
		cw_ring(w, q[i]);
	}
	cw_run_list(w, q, 3);
	for (u32 ms = 0; ms < 120; ms++) {
		u32 on = 0;

		cw_run(w, MS(1));
		for (u32 i = 0; i < 3; i++) {
			EXPECT_EQ(cw_view(w, q[i], &view), 0);
			on += view.slotted;
		}
		EXPECT(on <= 2);
	}
	for (u32 i = 0; i < 3; i++)
		EXPECT(cw_sums_right(w, q[i]));
}

static void only_the_process_named_is_unmapped(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 3000, .ns = MS(1) };
	u32 q[2] = { cw_queue(w, 1), cw_queue(w, 2) };
	struct vgpu_chip_queue_view v;

	cw_dispatch(w, q[0], &d);
	cw_dispatch(w, q[1], &d);
	cw_run_list(w, q, 2);
	cw_run(w, US(100));
	cw_unmap(w, VGPU_PM4_BY_PASID, VGPU_PM4_RESET, 2);
	cw_query(w);
	EXPECT(cw_wait(w, MS(5)));
	EXPECT_EQ(vgpu_chip_last_unmapped(w->chip)->bytes, 0);	/* killed, not saved */
	EXPECT_EQ(cw_view(w, q[0], &v), 0);
	EXPECT_EQ(v.state, VGPU_MAPPED);
	EXPECT(v.waves);
	EXPECT_EQ(cw_view(w, q[1], &v), 0);
	EXPECT_EQ(v.state, VGPU_UNMAPPED);
	EXPECT_EQ(v.waves, 0);
	cw_unmap(w, VGPU_PM4_BY_DOORBELL, VGPU_PM4_PREEMPT, w->q[q[0]].doorbell << 2);
	cw_query(w);
	EXPECT(cw_wait(w, MS(5)));
	EXPECT_EQ(cw_view(w, q[0], &v), 0);
	EXPECT_EQ(v.state, VGPU_UNMAPPED);

	/* The reset kernel starts again and still completes exactly once. */
	cw_run_list(w, q, 2);
	cw_run(w, MS(50));
	EXPECT(cw_sums_right(w, q[0]));
	EXPECT(cw_sums_right(w, q[1]));
}

static void registers_show_which_queue_has_the_slot(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 30000, .ns = MS(1) };
	u32 q = cw_queue(w, 1), reg = VGPU_MQD_ACTIVE - VGPU_MQD_REGISTERS;
	u32 base = VGPU_MQD_PQ_BASE_LO - VGPU_MQD_REGISTERS, all = 0;

	EXPECT_EQ(vgpu_chip_hqd(w->chip, 0, 4, 0, reg), 1);	/* the HIQ */
	EXPECT_EQ(vgpu_chip_hqd(w->chip, 0, 0, 2, reg), 0);
	cw_dispatch(w, q, &d);
	cw_run_list_one(w, q);
	cw_run(w, US(100));
	EXPECT_EQ(vgpu_chip_hqd(w->chip, 3, 0, 2, reg), 1);	/* the first bit of the mask */
	EXPECT_EQ(vgpu_chip_hqd(w->chip, 0, 0, 2, base), (u32)(w->q[q].ring >> 8));
	for (u32 xcc = 0; xcc < w->xccs; xcc++)
		all += vgpu_chip_waves(w->chip, xcc, 0, 2);
	EXPECT_EQ(all, 80 * 32);
	for (u32 xcc = 0; xcc < w->xccs; xcc++)
		vgpu_chip_slot_reset(w->chip, xcc, 0, 2, w->now);
	EXPECT_EQ(vgpu_chip_hqd(w->chip, 0, 0, 2, reg), 0);
	EXPECT_EQ(vgpu_chip_waves(w->chip, 0, 0, 2), 0);
	cw_unmap_all(w);
}

static void a_priority_takes_effect_at_the_next_map(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 30000, .ns = US(100) };
	u32 q[2] = { cw_queue(w, 1), cw_queue(w, 2) };
	struct vgpu_chip_queue_view low, high;

	cw_run_list(w, q, 2);
	cw_run(w, US(50));
	cw_unmap_all(w);
	cw_mqd_put(w, q[1], VGPU_MQD_PIPE_PRIORITY, 2);
	cw_mqd_put(w, q[1], VGPU_MQD_QUEUE_PRIORITY, 15);
	cw_dispatch(w, q[0], &d);
	cw_dispatch(w, q[1], &d);
	cw_run_list(w, q, 2);
	cw_run(w, US(150));
	cw_view(w, q[0], &low);
	cw_view(w, q[1], &high);
	EXPECT_EQ(low.waves, 0);
	EXPECT_EQ(high.waves, 80 * 32);
}

static void a_cu_mask_takes_effect_at_the_next_map(void **state)
{
	struct chip_world *w = *state;
	struct cw_dispatch d = { .workgroups = 30000, .ns = US(100) };
	u32 q = cw_queue(w, 1);
	struct vgpu_chip_queue_view v;

	cw_dispatch(w, q, &d);
	cw_run_list_one(w, q);
	cw_run(w, US(150));
	cw_view(w, q, &v);
	EXPECT_EQ(v.waves, 80 * 32);
	cw_unmap_all(w);
	for (u32 se = 0; se < 5; se++)
		if (se != 2)
			cw_mqd_put(w, q, VGPU_MQD_THREAD_MGMT_SE0 + se, 1);
	cw_run_list_one(w, q);
	cw_run(w, MS(2));
	cw_view(w, q, &v);
	EXPECT_EQ(v.waves, 4 * 4 * 32);	/* one CU of each SE of each XCC */
}

/* Chips of one XCC and of eight have the same driver with other copies of MQDs. */
static void every_profile_under_amdkfd_saves_and_restores(void **state)
{
	static const char *const names[] = { "mi300x", "mi210" };
	struct cw_dispatch d = { .workgroups = 9000, .ns = US(300) };
	struct chip_world *w = calloc(1, sizeof(*w));

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		u32 q;

		cw_init(w, names[i]);
		cw_load_hiq(w);
		cw_set_resources(w);
		cw_run(w, 0);
		q = cw_queue(w, 1);
		cw_dispatch(w, q, &d);
		for (u32 j = 0; j < 10; j++) {
			cw_run_list_one(w, q);
			cw_run(w, US(70));
			cw_unmap_all(w);
			if (!j)
				EXPECT(cw_mqd_get(w, q, w->xccs - 1, VGPU_MQD_WG_STATE_OFFSET) >
				       CW_STACK);
		}
		cw_run_list_one(w, q);
		cw_run(w, MS(20));
		EXPECT(cw_sums_right(w, q));
		EXPECT_EQ(w->nr_reports, 0);
		cw_fini(w);
	}
	free(w);
}

PROVE(
	CLAIM_WITH(a_dispatch_runs_and_signals, cw_up, cw_down),
	CLAIM_WITH(the_first_doorbell_is_seen_though_it_writes_zero, cw_up, cw_down),
	CLAIM_WITH(packets_written_while_unmapped_run_when_mapped, cw_up, cw_down),
	CLAIM_WITH(a_fence_comes_after_the_unmap_before_it, cw_up, cw_down),
	CLAIM_WITH(the_grace_is_what_the_driver_writes, cw_up, cw_down),
	CLAIM_WITH(saved_200_times_nothing_is_lost_or_done_twice, cw_up, cw_down),
	CLAIM_WITH(a_corrupted_save_area_gives_wrong_sums, cw_up, cw_down),
	CLAIM_WITH(what_is_saved_stands_in_the_mqd, cw_up, cw_down),
	CLAIM_WITH(the_ring_of_the_driver_wraps, cw_up, cw_down),
	CLAIM_WITH(thirty_queues_on_24_slots_all_run, cw_up, cw_down),
	CLAIM_WITH(no_more_processes_at_a_time_than_the_run_list_says, cw_up, cw_down),
	CLAIM_WITH(only_the_process_named_is_unmapped, cw_up, cw_down),
	CLAIM_WITH(registers_show_which_queue_has_the_slot, cw_up, cw_down),
	CLAIM(every_profile_under_amdkfd_saves_and_restores),
	CLAIM_WITH(a_priority_takes_effect_at_the_next_map, cw_up, cw_down),
	CLAIM_WITH(a_cu_mask_takes_effect_at_the_next_map, cw_up, cw_down),
)
