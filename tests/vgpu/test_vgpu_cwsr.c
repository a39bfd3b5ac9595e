/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device: preempting and restoring queues. */
#include "vgpu_world.h"

static int up(void **state)
{
	*state = w_new("mi308x");
	return 0;
}

static int down(void **state)
{
	w_free(*state);
	return 0;
}

enum { FIRST = 7000, FULL = 48824320, SAVE_FULL = 2000 + 15354 };

/* Makes a queue whose kernel of @rounds full rounds of 200 us runs since FIRST. */
static u32 running(struct world *w, u32 process, u64 rounds)
{
	u32 q = w_queue(w, process);

	w_submit(w, q, w_kernel(640 * rounds, US(200)), 0);
	w_map(w, &q, 1, 0);
	return q;
}

static void a_full_save_is_as_large_as_the_driver_says(void **state)
{
	const struct vgpu_facts *f = vgpu_profile("mi308x");
	struct vgpu_packet p = w_kernel(1, 1);

	(void)state;
	EXPECT_EQ(vgpu_save_bytes(f, &p, 640), 80 * 0x95000);
	EXPECT_EQ(vgpu_save_bytes(f, &p, 640), FULL);
	EXPECT_EQ(vgpu_save_ns(f, FULL), SAVE_FULL);
	EXPECT_EQ(vgpu_save_ns(f, 0), 0);
}

static void a_save_to_the_host_is_a_millisecond_and_more(void **state)
{
	struct vgpu_facts f = *vgpu_profile("mi308x");

	(void)state;
	f.f[VGPU_SAVE_AREA].value = VGPU_SAVE_HOST;
	f.f[VGPU_SAVE_EFFICIENCY].value = 1000;
	EXPECT_EQ(vgpu_save_ns(&f, FULL) / 1000, 889);	/* 48.8 MB at 55 GB/s */
	f.f[VGPU_SAVE_EFFICIENCY].value = 600;
	EXPECT_EQ(vgpu_save_ns(&f, FULL) / 1000, 1481);
}

static void an_a100_context_takes_forty_microseconds(void **state)
{
	const struct vgpu_facts *f = vgpu_profile("a100");
	struct vgpu_packet p = w_kernel(1, 1);

	(void)state;
	p.waves = 8;
	p.vgpr_bytes = 4096;
	p.lds_bytes = 20992;
	EXPECT_EQ(vgpu_slots(f, &p), 108 * 8);
	EXPECT_EQ(vgpu_save_bytes(f, &p, 108 * 8), 46448640);	/* 44.3 MiB */
	EXPECT_EQ(vgpu_save_ns(f, 46448640) / 1000, 42);
}

/* Times of 3 us command, 0.5 us grace and save, and of the restore. */
static void the_parts_of_a_save_and_a_restore_are_exact(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 1);
	const struct vgpu_unmapped *u = &w->unmapped;
	u64 resumed;

	w_unmap(w, VGPU_SAVE, 500, US(100));
	EXPECT_EQ(u->command_at, US(103));
	EXPECT_EQ(u->save_at, US(103) + 500);
	EXPECT_EQ(u->done_at, US(103) + 500 + SAVE_FULL);
	EXPECT_EQ(u->bytes, FULL);
	EXPECT_EQ(u->waves, 2560);
	EXPECT_EQ(u->queues, 1);
	EXPECT_EQ(u->failed, 0);
	EXPECT_EQ(vgpu_queue_state(w->v, q), VGPU_UNMAPPED);
	EXPECT_EQ(vgpu_next_ns(w->v), VGPU_NEVER);
	EXPECT_EQ(vgpu_work_ns(w->v, 1), 640 * (US(103) + 500 - FIRST));

	/* The waves ran 96.5 us of 200 us, so 103.5 us remain after the restore. */
	resumed = w_map(w, &q, 1, MS(1));
	EXPECT_EQ(resumed, MS(1) + US(3 + 1 + 1) + SAVE_FULL);
	EXPECT_EQ(w_run_dry(w), resumed + US(200) - (US(103) + 500 - FIRST));
	EXPECT_EQ(w->words[0], 640);
	EXPECT_EQ(w->words[1], w_sum(640, 3));
	EXPECT_EQ(w->q[q].launched, 1);
	EXPECT_EQ(vgpu_work_ns(w->v, 1), 640 * US(200));
	EXPECT_EQ(vgpu_counters(w->v)->waves_saved, 2560);
	EXPECT_EQ(vgpu_counters(w->v)->waves_restored, 2560);
	EXPECT_EQ(vgpu_counters(w->v)->bytes_saved, FULL);
	EXPECT_EQ(vgpu_counters(w->v)->bytes_restored, FULL);
}

static void without_waves_there_is_no_grace_and_no_save(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1);

	w_map(w, &q, 1, 0);
	EXPECT_EQ(w_unmap(w, VGPU_SAVE, US(31), US(10)), US(13));
	EXPECT_EQ(w->unmapped.save_at, US(13));
	EXPECT_EQ(w->unmapped.queues, 1);
	EXPECT_EQ(w_map(w, &q, 1, US(20)), US(25));
	/* the fence comes although nothing is mapped */
	w_unmap(w, VGPU_SAVE, 0, US(30));
	w_unmap(w, VGPU_SAVE, 0, US(40));
	EXPECT_EQ(w->unmapped.done_at, US(43));
	EXPECT_EQ(w->unmapped.queues, 0);
}

static void grace_ends_with_the_last_wave(void **state)
{
	struct world *w = *state;

	running(w, 1, 2);
	/* the first round ends at 207 us, during the grace; no second one starts */
	EXPECT_EQ(w_unmap(w, VGPU_SAVE, US(31), US(200)), FIRST + US(200));
	EXPECT_EQ(w->unmapped.waves, 0);
	EXPECT_EQ(w->words[0], 640);
}

static void a_wave_that_ends_when_it_would_be_saved_has_ended(void **state)
{
	struct world *w = *state;

	running(w, 1, 2);
	w_unmap(w, VGPU_SAVE, US(4), US(200));		/* command at 203, grace to 207 */
	EXPECT_EQ(w->unmapped.waves, 0);
	EXPECT_EQ(w->words[0], 640);
}

static void the_waves_hold_their_slots_until_the_save_is_done(void **state)
{
	struct world *w = *state;
	u32 victim = w_queue(w, 1), other = w_queue(w, 2), both[] = { victim, other };

	w_submit(w, victim, w_kernel(640, MS(10)), 0);
	w_map(w, both, 2, 0);
	vgpu_advance(w->v, US(90));
	w_submit(w, other, w_kernel(640, US(50)), US(90));
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_PROCESS, 1, VGPU_SAVE, 500 },
			     US(90), NULL), 0);
	vgpu_advance(w->v, US(200));
	EXPECT_EQ(w->unmapped.done_at, US(93) + 500 + SAVE_FULL);
	EXPECT_EQ(w->q[other].launched_at, w->unmapped.done_at);
	EXPECT_EQ(vgpu_queue_state(w->v, other), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_state(w->v, victim), VGPU_UNMAPPED);
}

static void a_single_queue_can_leave(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 1) };

	w_submit(w, q[0], w_kernel(10, MS(1)), 0);
	w_submit(w, q[1], w_kernel(10, MS(1)), 0);
	w_map(w, q, 2, 0);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_QUEUE, q[1], VGPU_SAVE, 0 },
			     US(50), NULL), 0);
	w_run_dry(w);
	EXPECT_EQ(w->unmapped.waves, 40);
	EXPECT_EQ(w->q[q[0]].completed, 1);
	EXPECT_EQ(w->q[q[1]].completed, 0);
	w_map(w, q, 2, MS(5));		/* the other queue does not change */
	w_run_dry(w);
	EXPECT_EQ(w->q[q[1]].completed, 1);
	EXPECT_EQ(w->words[1], 2 * w_sum(10, 3));
}

static void a_doorbell_while_unmapped_is_not_lost(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 1);

	w_unmap(w, VGPU_SAVE, 0, US(50));
	w_submit(w, q, w_kernel(5, US(10)), US(200));
	EXPECT_EQ(vgpu_next_ns(w->v), VGPU_NEVER);
	/* the pointer is read when a queue is mapped, even if its doorbell was not rung */
	w_put(w, q, &(struct vgpu_packet){ .kind = VGPU_KERNEL, .waves = 1, .workgroups = 1,
					   .workgroup_ns = 1, .barrier_bit = true, .key = 3 });
	w_map(w, &q, 1, MS(1));
	w_run_dry(w);
	EXPECT_EQ(w->q[q].completed, 3);
	EXPECT_EQ(w->q[q].rptr, 3);
	EXPECT_EQ(w->words[0], 646);
}

static void a_queue_without_saved_waves_does_not_wait_for_those_with(void **state)
{
	struct world *w = *state;
	u32 full = w_queue(w, 1), fresh = w_queue(w, 2), both[] = { full, fresh };

	w_submit(w, full, w_kernel(320, MS(1)), 0);
	w_map(w, both, 2, 0);
	w_unmap(w, VGPU_SAVE, 0, US(100));
	w_submit(w, fresh, w_kernel(10, US(1)), US(200));
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ both, 2, 0 }, US(200), NULL), 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[fresh].launched_at, US(200 + 3 + 4 + 2));
	EXPECT(w->mapped_at > w->q[fresh].launched_at);
}

/* Half of the device is taken, so restored waves come back as slots become free. */
static void waves_that_find_no_slot_wait_in_the_area(void **state)
{
	struct world *w = *state;
	u32 victim = running(w, 1, 1), other = w_queue(w, 2), both[] = { victim, other };
	struct vgpu_busy b;

	w_unmap(w, VGPU_SAVE, 0, US(100));
	w_submit(w, other, w_kernel(480, MS(1)), US(200));
	w_map(w, &other, 1, US(200));
	vgpu_advance(w->v, US(300));
	w_map(w, both, 2, US(300));
	vgpu_busy(w->v, 1, &b);
	EXPECT_EQ(b.waves, 640);		/* 160 of 640 workgroups */
	/* a second save in that state keeps the waiting waves */
	w_unmap(w, VGPU_SAVE, 0, US(400));
	EXPECT_EQ(w->unmapped.waves, 2560);
	w_map(w, both, 2, US(500));
	w_run_dry(w);
	EXPECT_EQ(w->q[victim].completed, 1);
	EXPECT_EQ(w->words[0], 1120);
	EXPECT_EQ(w->words[1], w_sum(640, 3) + w_sum(480, 3));
	EXPECT_EQ(vgpu_counters(w->v)->waves_saved, vgpu_counters(w->v)->waves_restored);
}

static void a_corrupted_area_gives_a_wrong_sum(void **state)
{
	/* changes every byte of header and record, one at a time */
	(void)state;
	for (u32 at = 0; at < 16 + 32; at++) {
		struct world *w = w_new("mi308x");
		u32 q = running(w, 1, 3);

		w_unmap(w, VGPU_SAVE, 0, US(300));
		w->q[q].area[at] ^= 0x11;
		w_map(w, &q, 1, MS(1));
		EXPECT(w_run_dry(w) < MS(2));
		/* bytes 32..39 are the remaining time; only that change can go unnoticed */
		if (at < 32 || at >= 40)
			EXPECT(w->words[0] != 1920 || w->words[1] != w_sum(1920, 3));
		EXPECT_EQ(w->q[q].completed, 1);
		w_free(w);
	}
}

static void garbage_in_the_area_ends_and_is_reported(void **state)
{
	u64 seed = gp_test_seed(1);

	(void)state;
	for (u32 i = 0; i < 200; i++) {
		struct world *w = w_new("mi308x");
		u32 q = running(w, 1, 3);

		w_unmap(w, VGPU_SAVE, 0, US(300));
		/* changes always the records and sometimes the header */
		for (u32 at = i % 2 ? 0 : 16; at < 200; at++)
			w->q[q].area[at] = (u8)gp_test_random(&seed);
		w_map(w, &q, 1, MS(1));
		w_run_dry(w);
		EXPECT(w->nr_reports >= 1);
		EXPECT(w->words[0] < 1920);
		EXPECT_EQ(w->q[q].completed, 1);
		w_free(w);
	}
}

static void an_area_that_cannot_be_read_loses_the_waves(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 1);

	w_unmap(w, VGPU_SAVE, 0, US(50));
	w->q[q].area_broken = true;
	w_map(w, &q, 1, MS(1));
	w_run_dry(w);
	EXPECT_EQ(w->nr_reports, 1);
	EXPECT_EQ(w->words[0], 0);
}

static void an_area_too_small_keeps_that_queue_on(void **state)
{
	struct world *w = *state;
	struct vgpu_queue_args small = { .process = 1, .priority = 7, .area_bytes = 1000000 };
	u32 q[] = { w_queue_with(w, &small), w_queue(w, 2) };

	w_submit(w, q[0], w_kernel(640, US(200)), 0);
	w_submit(w, q[1], w_kernel(640, US(200)), 0);
	w_map(w, q, 2, 0);
	w_unmap(w, VGPU_SAVE, 0, US(100));
	EXPECT_EQ(w->unmapped.failed, 1);
	EXPECT_EQ(w->unmapped.queues, 1);
	EXPECT_EQ(w->unmapped.bytes, FULL / 2);
	EXPECT_EQ(w->nr_reports, 1);
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPED);
	w_run_dry(w);
	EXPECT_EQ(w->q[q[0]].completed, 1);		/* it continued, and on time: */
	EXPECT_EQ(w->q[q[0]].completed_at, w->unmapped.done_at + US(200));
	w_map(w, &q[1], 1, MS(1));			/* and needs no place in the list */
	w_run_dry(w);
	EXPECT_EQ(w->words[1], 2 * w_sum(640, 3));
}

static void an_area_that_cannot_be_written_keeps_that_queue_on(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 1);

	w->q[q].area_broken = true;
	w_unmap(w, VGPU_SAVE, 0, US(100));
	EXPECT_EQ(w->unmapped.failed, 1);
	EXPECT_EQ(w_run_dry(w), FIRST + US(200));
	EXPECT_EQ(w->words[1], w_sum(640, 3));
}

static void a_drain_lets_the_round_end_and_starts_no_other(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 3);

	vgpu_advance(w->v, US(50));
	EXPECT_EQ(w_unmap(w, VGPU_DRAIN, 0, US(50)), FIRST + US(200));
	EXPECT_EQ(w->unmapped.save_at, US(53));
	EXPECT_EQ(w->unmapped.bytes, 0);
	EXPECT_EQ(w->words[0], 640);
	w_map(w, &q, 1, MS(1));
	EXPECT_EQ(w_run_dry(w), MS(1) + FIRST + US(400));
	EXPECT_EQ(w->words[1], w_sum(1920, 3));
}

static void a_reset_kills_and_the_kernel_starts_again(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 2);

	EXPECT_EQ(w_unmap(w, VGPU_RESET, 0, US(300)), US(303 + 38));
	EXPECT_EQ(w->words[0], 640);		/* the round that had ended */
	EXPECT_EQ(vgpu_work_ns(w->v, 1), 0);	/* none of it counts as useful */
	w_map(w, &q, 1, MS(1));
	EXPECT_EQ(w_run_dry(w), MS(1) + FIRST + US(400));
	EXPECT_EQ(w->words[0], 640 + 1280);	/* repeated work is visible */
	EXPECT_EQ(w->q[q].launched, 2);
	EXPECT_EQ(w->q[q].completed, 1);
	EXPECT_EQ(vgpu_work_ns(w->v, 1), 1280 * US(200));
}

PROVE(
	CLAIM(a_full_save_is_as_large_as_the_driver_says),
	CLAIM(a_save_to_the_host_is_a_millisecond_and_more),
	CLAIM(an_a100_context_takes_forty_microseconds),
	CLAIM_WITH(the_parts_of_a_save_and_a_restore_are_exact, up, down),
	CLAIM_WITH(without_waves_there_is_no_grace_and_no_save, up, down),
	CLAIM_WITH(grace_ends_with_the_last_wave, up, down),
	CLAIM_WITH(a_wave_that_ends_when_it_would_be_saved_has_ended, up, down),
	CLAIM_WITH(the_waves_hold_their_slots_until_the_save_is_done, up, down),
	CLAIM_WITH(a_single_queue_can_leave, up, down),
	CLAIM_WITH(a_doorbell_while_unmapped_is_not_lost, up, down),
	CLAIM_WITH(a_queue_without_saved_waves_does_not_wait_for_those_with, up, down),
	CLAIM_WITH(waves_that_find_no_slot_wait_in_the_area, up, down),
	CLAIM(a_corrupted_area_gives_a_wrong_sum),
	CLAIM(garbage_in_the_area_ends_and_is_reported),
	CLAIM_WITH(an_area_that_cannot_be_read_loses_the_waves, up, down),
	CLAIM_WITH(an_area_too_small_keeps_that_queue_on, up, down),
	CLAIM_WITH(an_area_that_cannot_be_written_keeps_that_queue_on, up, down),
	CLAIM_WITH(a_drain_lets_the_round_end_and_starts_no_other, up, down),
	CLAIM_WITH(a_reset_kills_and_the_kernel_starts_again, up, down),
)
