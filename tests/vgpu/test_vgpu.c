/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device: packets, dispatch, time. test_vgpu_cwsr.c tests preemption. */
#include "vgpu_world.h"

static int up(void **state)
{
	*state = w_new("mi308x");
	return 0;
}

static int up_early(void **state)
{
	struct vgpu_facts facts = *vgpu_profile("mi308x");

	facts.f[VGPU_RPTR_AT].value = VGPU_RPTR_AT_LAUNCH;
	*state = w_new_with(&facts);
	return 0;
}

static int down(void **state)
{
	w_free(*state);
	return 0;
}

/* Mapped at 3 us command + 1 us process + 1 us queue; first dispatch 2 us later. */
enum { MAPPED = 5000, FIRST = 7000, FIRST_OF_TWO = 9000 };

static void a_kernel_runs_in_rounds_and_its_sum_is_right(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);

	w_submit(w, q, w_kernel(640 * 3 + 1, US(200)), 0);
	EXPECT_EQ(w_map(w, &q, 1, 0), MAPPED);
	EXPECT_EQ(w_run_dry(w), FIRST + 4 * US(200));
	EXPECT_EQ(w->words[0], 1921);
	EXPECT_EQ(w->words[1], w_sum(1921, 3));
	EXPECT_EQ(w->q[q].rptr, 1);
	EXPECT_EQ(w->q[q].completed_at, FIRST + 4 * US(200));
	EXPECT_EQ(w->q[q].launched_at, FIRST);
	EXPECT_EQ(vgpu_work_ns(w->v, 1), 1921 * US(200));
}

static void a_thousand_rounds_cost_a_handful_of_events(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);

	w_submit(w, q, w_kernel(640 * 1000, US(200)), 0);
	w_map(w, &q, 1, 0);
	EXPECT_EQ(w_run_dry(w), FIRST + 1000 * US(200));
	EXPECT_EQ(w->words[1], w_sum(640000, 3));
	EXPECT(vgpu_counters(w->v)->events < 20);
	EXPECT_EQ(vgpu_counters(w->v)->workgroups_done, 640000);
}

static void a_cu_is_full_by_the_resource_that_runs_out(void **state)
{
	const struct vgpu_facts *f = vgpu_profile("mi308x");
	struct vgpu_packet p = w_kernel(1, 1);

	(void)state;
	EXPECT_EQ(vgpu_slots(f, &p), 80 * 8);		/* the limit of all resources */
	p.lds_bytes = 0;
	EXPECT_EQ(vgpu_slots(f, &p), 80 * 8);		/* waves and VGPR */
	p.vgpr_bytes = 1024;
	EXPECT_EQ(vgpu_slots(f, &p), 80 * 8);		/* waves */
	p.waves = 1;
	EXPECT_EQ(vgpu_slots(f, &p), 80 * 32);
	p.lds_bytes = 40000;
	EXPECT_EQ(vgpu_slots(f, &p), 80);		/* LDS */
	p.waves = 33;
	EXPECT_EQ(vgpu_slots(f, &p), 0);
	p = w_kernel(1, 1);
	p.vgpr_bytes = 100000;
	EXPECT_EQ(vgpu_slots(f, &p), 80);		/* VGPR */
}

static void busy_tells_waves_cus_and_the_scarcest_resource(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);
	struct vgpu_packet p = w_kernel(40, US(100));
	struct vgpu_busy b;

	p.lds_bytes = 32768;	/* half of a CU's */
	w_submit(w, q, p, 0);
	w_map(w, &q, 1, 0);
	vgpu_advance(w->v, FIRST);
	vgpu_busy(w->v, 1, &b);
	EXPECT_EQ(b.waves, 160);
	EXPECT_EQ(b.cus, 40);
	EXPECT_EQ(b.permille, 250);
	vgpu_busy(w->v, 2, &b);
	EXPECT_EQ(b.waves + b.cus + b.permille, 0);
	w_run_dry(w);
	vgpu_busy(w->v, 1, &b);
	EXPECT_EQ(b.waves + b.cus + b.permille, 0);
}

static void equals_take_turns_workgroup_by_workgroup(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2), w_queue(w, 3) };

	for (u32 i = 0; i < 3; i++)
		w_submit(w, q[i], w_kernel(640 * 100, US(200)), 0);
	w_map(w, q, 3, 0);
	vgpu_advance(w->v, MS(10));
	for (u32 i = 1; i <= 3; i++) {
		struct vgpu_busy b;

		vgpu_busy(w->v, i, &b);
		EXPECT(b.waves >= 4 * 213 && b.waves <= 4 * 214);
	}
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 3 * 64000);
	EXPECT_EQ(w->words[1], 3 * w_sum(64000, 3));
}

/* Running waves keep their slots, so a new kernel waits for the end of the round. */
static void a_newcomer_waits_for_slots_that_free(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	w_submit(w, q[0], w_kernel(640 * 100, US(200)), 0);
	w_map(w, q, 2, 0);
	vgpu_advance(w->v, MS(1));	/* many rounds in one event, which is cut short */
	w_submit(w, q[1], w_kernel(320, US(50)), MS(1));
	EXPECT_EQ(w->q[q[1]].launched, 0);
	vgpu_advance(w->v, MS(2));
	EXPECT_EQ(w->q[q[1]].launched_at, FIRST_OF_TWO + US(1000));
	EXPECT_EQ(w->q[q[1]].completed_at, FIRST_OF_TWO + US(1050));
	/* the same for each of its packets */
	w_submit(w, q[1], w_kernel(320, US(50)), MS(8));
	vgpu_advance(w->v, MS(9));
	EXPECT(w->q[q[1]].launched_at > MS(8) && w->q[q[1]].launched_at <= MS(8) + US(200));
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 64640);
	EXPECT_EQ(w->words[1], w_sum(64000, 3) + 2 * w_sum(320, 3));
}

/*
 * Turns are counted in workgroups. A process with longer ones holds more slots but gets no more
 * turns.
 */
static void turns_are_workgroups_not_time(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	for (u32 i = 0; i < 2; i++) {
		struct vgpu_packet p = w_kernel(640000, US(i ? 30 : 100));

		p.result = 16 * i;
		w_submit(w, q[i], p, 0);
	}
	w_map(w, q, 2, 0);
	vgpu_advance(w->v, MS(20));
	EXPECT(w->words[0] > 60000);
	EXPECT(w->words[0] * 100 > w->words[2] * 97 && w->words[0] * 100 < w->words[2] * 103);
}

/* With one slot for two processes they alternate. With three slots they alternate in the third. */
static void an_odd_slot_goes_to_each_in_turn(void **state)
{
	(void)state;
	for (u32 cus = 1; cus <= 3; cus += 2) {
		struct world *w = w_new("mi308x");
		struct vgpu_queue_args a = { .process = 1, .priority = 7, .cu_count = cus };
		struct vgpu_queue_args b = { .process = 2, .priority = 7, .cu_count = cus };
		u32 q[] = { w_queue_with(w, &a), w_queue_with(w, &b) };

		for (u32 i = 0; i < 2; i++) {
			struct vgpu_packet p = w_kernel(1000, US(10));

			p.waves = 32;
			p.result = 16 * i;
			w_submit(w, q[i], p, 0);
		}
		w_map(w, q, 2, 0);
		for (u64 t = 1; t < 20; t++) {
			vgpu_advance(w->v, FIRST_OF_TWO + US(20 * t));
			EXPECT_EQ(w->words[0], cus * t);
			EXPECT_EQ(w->words[2], cus * t);
		}
		w_free(w);
	}
}

static void a_higher_pipe_priority_gets_every_slot_that_frees(void **state)
{
	struct world *w = *state;
	struct vgpu_queue_args high = { .process = 2, .priority = 15, .area_bytes = AREA };
	u32 q[] = { w_queue(w, 1), w_queue_with(w, &high) };
	struct vgpu_busy b;

	w_submit(w, q[0], w_kernel(640 * 100, US(200)), 0);
	w_map(w, q, 2, 0);
	vgpu_advance(w->v, US(300));
	for (int i = 0; i < 3; i++)
		w_put(w, q[1], &(struct vgpu_packet){ .kind = VGPU_KERNEL, .waves = 4,
			.vgpr_bytes = 16384, .workgroups = 640, .workgroup_ns = US(10) });
	EXPECT_EQ(vgpu_doorbell(w->v, q[1], US(300)), 0);
	vgpu_advance(w->v, US(300));
	EXPECT_EQ(w->q[q[1]].launched, 0);		/* nothing is preempted */
	vgpu_advance(w->v, FIRST_OF_TWO + US(400));
	vgpu_busy(w->v, 2, &b);
	EXPECT_EQ(b.waves, 2560);
	vgpu_advance(w->v, FIRST_OF_TWO + US(430));
	EXPECT_EQ(w->q[q[1]].completed, 3);
	vgpu_busy(w->v, 1, &b);
	EXPECT_EQ(b.waves, 2560);
}

static void kfd_priorities_are_three_pipe_priorities(void **state)
{
	static const struct { u8 low, high; bool equal; } pairs[] = {
		{ 0, 6, true }, { 6, 7, false }, { 7, 10, true },
		{ 10, 11, false }, { 11, 15, true },
	};

	(void)state;
	for (u32 i = 0; i < 5; i++) {
		struct world *w = w_new("mi308x");
		struct vgpu_queue_args low = { .process = 1, .priority = pairs[i].low };
		struct vgpu_queue_args high = { .process = 2, .priority = pairs[i].high };
		u32 q[] = { w_queue_with(w, &low), w_queue_with(w, &high) };
		struct vgpu_busy b;

		w_submit(w, q[0], w_kernel(6400, US(10)), 0);
		w_submit(w, q[1], w_kernel(6400, US(10)), 0);
		w_map(w, q, 2, 0);
		vgpu_advance(w->v, US(15));
		vgpu_busy(w->v, 1, &b);
		EXPECT_EQ(b.waves, pairs[i].equal ? 1280 : 0);
		w_free(w);
	}
}

static void different_shapes_share_and_nothing_is_lost(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2), w_queue(w, 3) };
	struct vgpu_packet p = w_kernel(5000, US(30));

	w_submit(w, q[0], p, 0);
	p.waves = 3;
	p.vgpr_bytes = 20000;
	p.lds_bytes = 1000;
	w_submit(w, q[1], p, 0);
	p.waves = 16;
	p.vgpr_bytes = 512;
	p.lds_bytes = 60000;
	w_submit(w, q[2], p, 0);
	w_map(w, q, 3, 0);
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 15000);
	EXPECT_EQ(w->words[1], 3 * w_sum(5000, 3));
}

static void a_cu_mask_keeps_a_queue_on_its_cus(void **state)
{
	struct world *w = *state;
	struct vgpu_queue_args some = { .process = 1, .priority = 7,
					.cu_first = 60, .cu_count = 20 };
	struct vgpu_queue_args rest = { .process = 2, .priority = 7, .cu_count = 60 };
	u32 q[] = { w_queue_with(w, &some), w_queue_with(w, &rest) };
	struct vgpu_busy b;

	w_submit(w, q[0], w_kernel(1600, US(100)), 0);
	w_submit(w, q[1], w_kernel(4800, US(100)), 0);
	w_map(w, q, 2, 0);
	vgpu_advance(w->v, US(50));
	vgpu_busy(w->v, 1, &b);
	EXPECT_EQ(b.cus, 20);
	EXPECT_EQ(b.waves, 640);
	vgpu_busy(w->v, 2, &b);
	EXPECT_EQ(b.cus, 60);
	EXPECT_EQ(w_run_dry(w), FIRST_OF_TWO + US(1000));
	EXPECT_EQ(w->words[0], 6400);
}

static void overlapping_cu_masks_share_what_they_share(void **state)
{
	struct world *w = *state;
	struct vgpu_queue_args a = { .process = 1, .priority = 7, .cu_count = 50 };
	struct vgpu_queue_args b = { .process = 2, .priority = 7, .cu_first = 30, .cu_count = 50 };
	u32 q[] = { w_queue_with(w, &a), w_queue_with(w, &b) };
	struct vgpu_busy busy;

	w_submit(w, q[0], w_kernel(10000, US(100)), 0);
	w_submit(w, q[1], w_kernel(10000, US(100)), 0);
	w_map(w, q, 2, 0);
	vgpu_advance(w->v, US(50));
	vgpu_busy(w->v, 1, &busy);
	EXPECT_EQ(busy.waves, 1280);
	vgpu_busy(w->v, 2, &busy);
	EXPECT_EQ(busy.waves, 1280);
	w_run_dry(w);
	EXPECT_EQ(w->words[1], 2 * w_sum(10000, 3));
}

static void a_barrier_bit_waits_and_without_it_packets_overlap(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);
	struct vgpu_packet p = w_kernel(320, US(100));

	p.barrier_bit = false;
	for (int i = 0; i < 3; i++)
		w_put(w, q, &p);		/* 0 and 1 run together; 2 when they end */
	p.barrier_bit = true;
	p.workgroups = 1;
	w_put(w, q, &p);			/* 3 runs after all others */
	vgpu_doorbell(w->v, q, 0);
	w_map(w, &q, 1, 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[q].completed_at_of[0], FIRST + US(100));
	EXPECT_EQ(w->q[q].completed_at_of[1], FIRST + US(100));
	EXPECT_EQ(w->q[q].completed_at_of[2], FIRST + US(200));
	EXPECT_EQ(w->q[q].completed_at_of[3], FIRST + US(300));
}

static void packets_complete_out_of_order_but_the_pointer_moves_in_order(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);
	struct vgpu_packet p = w_kernel(1, US(100));

	w_put(w, q, &p);
	p.barrier_bit = false;
	p.workgroup_ns = US(10);
	w_put(w, q, &p);
	vgpu_doorbell(w->v, q, 0);
	w_map(w, &q, 1, 0);
	vgpu_advance(w->v, FIRST + US(50));
	EXPECT_EQ(w->q[q].completed, 1);
	EXPECT_EQ(w->q[q].completed_at, FIRST + US(10));
	EXPECT_EQ(w->q[q].rptr, 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[q].rptr, 2);
	EXPECT_EQ(w->q[q].rptr_at, FIRST + US(100));
}

static void a_gap_is_counted_from_the_completion_before_it(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);
	struct vgpu_packet p = w_kernel(640, US(100));

	p.gap_ns = US(5);
	w_put(w, q, &p);	/* no packet before it, so no gap */
	w_put(w, q, &p);
	vgpu_doorbell(w->v, q, 0);
	w_map(w, &q, 1, 0);
	EXPECT_EQ(w_run_dry(w), FIRST + US(205));
	EXPECT_EQ(w->q[q].launched_at, FIRST + US(105));
	/* the last packet ended long ago, so no gap either */
	w_submit(w, q, p, MS(1));
	EXPECT_EQ(w->q[q].launched_at, MS(1));
	w_run_dry(w);
}

static void a_barrier_packet_waits_for_its_signal(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);
	struct vgpu_packet barrier = { .kind = VGPU_BARRIER, .signal = 5 };

	w_put(w, q, &barrier);
	w_submit(w, q, w_kernel(1, US(10)), 0);
	w_map(w, &q, 1, 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[q].rptr, 0);
	EXPECT_EQ(w->q[q].launched, 0);
	EXPECT_EQ(w->nr_asked, 1);
	vgpu_doorbell(w->v, q, US(900));
	EXPECT_EQ(w->nr_asked, 1);		/* no read without a reason */
	vgpu_signal(w->v, MS(1));
	w_run_dry(w);
	EXPECT_EQ(w->q[q].completed, 0);	/* another signal */
	EXPECT_EQ(w->nr_asked, 2);
	w->signals[5] = true;
	vgpu_signal(w->v, MS(2));
	w_run_dry(w);
	EXPECT_EQ(w->q[q].completed_at_of[0], MS(2));
	EXPECT_EQ(w->q[q].completed_at_of[1], MS(2) + US(10));
	EXPECT_EQ(w->q[q].rptr, 2);
}

static void the_read_pointer_can_pass_at_launch(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	w_submit(w, q[0], w_kernel(640, US(100)), 0);
	w_submit(w, q[1], w_kernel(640, US(100)), 0);
	w_map(w, q, 2, 0);
	vgpu_advance(w->v, MS(1) / 20);
	EXPECT_EQ(w->q[q[0]].rptr, 1);		/* launched, not complete */
	EXPECT_EQ(w->q[q[1]].rptr, 1);
	EXPECT_EQ(w->q[q[0]].completed, 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[q[0]].completed, 1);
	EXPECT_EQ(w->q[q[1]].completed, 1);
}

/* Launched means that the CP has read the packet. Its waves may have no slot yet. */
static void an_early_pointer_hides_a_kernel_that_waits_for_slots(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_RPTR_EARLY, 0), 0);
	w_submit(w, q[0], w_kernel(640, MS(10)), 0);
	w_map(w, q, 2, 0);
	w_submit(w, q[1], w_kernel(1, US(1)), MS(1));
	EXPECT_EQ(w->q[q[1]].rptr, 1);
	EXPECT_EQ(w->q[q[1]].launched, 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[q[1]].completed, 1);

	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_NONE, 0), 0);
	w_submit(w, q[1], w_kernel(1, US(10)), MS(20));
	EXPECT_EQ(w->q[q[1]].rptr, 1);
	w_run_dry(w);
	EXPECT_EQ(w->q[q[1]].rptr, 2);
}

PROVE(
	CLAIM_WITH(a_kernel_runs_in_rounds_and_its_sum_is_right, up, down),
	CLAIM_WITH(a_thousand_rounds_cost_a_handful_of_events, up, down),
	CLAIM(a_cu_is_full_by_the_resource_that_runs_out),
	CLAIM_WITH(busy_tells_waves_cus_and_the_scarcest_resource, up, down),
	CLAIM_WITH(equals_take_turns_workgroup_by_workgroup, up, down),
	CLAIM_WITH(a_newcomer_waits_for_slots_that_free, up, down),
	CLAIM_WITH(turns_are_workgroups_not_time, up, down),
	CLAIM(an_odd_slot_goes_to_each_in_turn),
	CLAIM_WITH(a_higher_pipe_priority_gets_every_slot_that_frees, up, down),
	CLAIM(kfd_priorities_are_three_pipe_priorities),
	CLAIM_WITH(different_shapes_share_and_nothing_is_lost, up, down),
	CLAIM_WITH(a_cu_mask_keeps_a_queue_on_its_cus, up, down),
	CLAIM_WITH(overlapping_cu_masks_share_what_they_share, up, down),
	CLAIM_WITH(a_barrier_bit_waits_and_without_it_packets_overlap, up, down),
	CLAIM_WITH(packets_complete_out_of_order_but_the_pointer_moves_in_order, up, down),
	CLAIM_WITH(a_gap_is_counted_from_the_completion_before_it, up, down),
	CLAIM_WITH(a_barrier_packet_waits_for_its_signal, up, down),
	CLAIM_WITH(the_read_pointer_can_pass_at_launch, up_early, down),
	CLAIM_WITH(an_early_pointer_hides_a_kernel_that_waits_for_slots, up, down),
)
