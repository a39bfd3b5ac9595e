/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device with faults during other operations. */
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

enum { FIRST = 7000, SAVE_FULL = 2000 + 15354 };

/* Makes a queue whose kernel of @rounds full rounds of 200 us runs since FIRST. */
static u32 running(struct world *w, u32 process, u64 rounds)
{
	u32 q = w_queue(w, process);

	w_submit(w, q, w_kernel(640 * rounds, US(200)), 0);
	w_map(w, &q, 1, 0);
	return q;
}

static void a_hang_never_ends_until_the_gpu_is_reset(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 2);

	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_HANG, 0), 0);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, VGPU_SAVE, 0 },
			     US(50), NULL), 0);
	w_run_dry(w);
	vgpu_advance(w->v, MS(9000));
	EXPECT_EQ(w->nr_unmapped, 0);
	EXPECT_EQ(vgpu_queue_state(w->v, q), VGPU_UNMAPPING);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, VGPU_SAVE, 0 },
			     MS(9000), NULL), -EBUSY);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ &q, 1, 0 }, MS(9000), NULL), -EBUSY);
	EXPECT_EQ(w->words[0], 640);		/* the waves ended and no others started */

	vgpu_gpu_reset(w->v, MS(9001));
	EXPECT_EQ(w->nr_unmapped, 0);
	EXPECT_EQ(vgpu_queue_state(w->v, q), VGPU_UNMAPPED);
	w_map(w, &q, 1, MS(9002));
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 640 + 1280);
	EXPECT_EQ(w->q[q].completed, 1);
	w_unmap(w, VGPU_SAVE, 0, MS(9900));
	EXPECT_EQ(w->nr_unmapped, 1);
}

static void a_gpu_reset_spares_what_is_in_a_save_area(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 2);

	w_unmap(w, VGPU_SAVE, 0, US(50));
	vgpu_gpu_reset(w->v, US(200));
	w_map(w, &q, 1, US(300));
	w_run_dry(w);
	EXPECT_EQ(w->words[1], w_sum(1280, 3));
}

static void a_failed_preemption_leaves_one_queue_on(void **state)
{
	static const enum vgpu_how hows[] = { VGPU_SAVE, VGPU_DRAIN, VGPU_RESET };

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct world *w = w_new("mi308x");
		u32 q[] = { w_queue(w, 1), w_queue(w, 1) };

		w_submit(w, q[0], w_kernel(10, US(500)), 0);
		w_submit(w, q[1], w_kernel(10, US(200)), 0);
		w_map(w, q, 2, 0);
		EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_PREEMPT, q[0]), 0);
		w_unmap(w, hows[i], 0, US(50));
		EXPECT_EQ(w->unmapped.failed, 1);
		EXPECT_EQ(w->unmapped.queues, 1);
		EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPED);
		EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_UNMAPPED);
		EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_NONE, 0), 0);
		w_unmap(w, VGPU_SAVE, 0, US(400));
		EXPECT_EQ(w->unmapped.failed, 0);
		w_map(w, q, 2, MS(1));
		w_run_dry(w);
		EXPECT_EQ(w->words[0], 20);
		EXPECT_EQ(w->words[1], 2 * w_sum(10, 3));
		w_free(w);
	}
}

static void a_fault_of_a_queue_ends_with_it(void **state)
{
	struct world *w = *state;
	u32 q = running(w, 1, 2), next;

	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_PREEMPT, q), 0);
	EXPECT_EQ(vgpu_queue_destroy(w->v, q, US(50)), 0);
	next = w_queue(w, 1);
	EXPECT_EQ(next, q);
	w_submit(w, next, w_kernel(640, US(200)), US(60));
	w_map(w, &next, 1, US(60));
	w_unmap(w, VGPU_SAVE, 0, US(150));
	EXPECT_EQ(w->unmapped.failed, 0);
}

static void a_slow_save_takes_that_many_times_as_long(void **state)
{
	struct world *w = *state;

	running(w, 1, 1);
	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_SLOW_SAVE, 0), -EINVAL);
	EXPECT_EQ(vgpu_fault(w->v, (enum vgpu_fault)99, 0), -EINVAL);
	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_SLOW_SAVE, 10), 0);
	w_unmap(w, VGPU_SAVE, 0, US(50));
	EXPECT_EQ(w->unmapped.done_at - w->unmapped.save_at, 10 * SAVE_FULL);
}

/* Kills the queue at every microsecond of an unmap and of a map. */
static void a_queue_can_die_in_the_middle_of_anything(void **state)
{
	static const enum vgpu_how hows[] = { VGPU_SAVE, VGPU_DRAIN, VGPU_RESET };

	(void)state;
	for (u32 how = 0; how < 3; how++) {
		for (u64 at = US(50); at < US(130); at += US(1)) {
			struct world *w = w_new("mi308x");
			u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

			w_submit(w, q[0], w_kernel(640, US(100)), 0);
			w_submit(w, q[1], w_kernel(640, US(100)), 0);
			w_map(w, q, 2, 0);
			EXPECT_EQ(vgpu_unmap(w->v,
				&(struct vgpu_unmap_args){ VGPU_ALL, 0, hows[how], 500 },
				US(50), NULL), 0);
			EXPECT_EQ(vgpu_queue_destroy(w->v, q[0], at), 0);
			w_run_dry(w);
			EXPECT_EQ(w->nr_unmapped, 1);
			EXPECT_EQ(vgpu_queue_state(w->v, q[0]), -ENOENT);
			EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ &q[1], 1, 0 },
					   MS(1), NULL), 0);
			EXPECT_EQ(vgpu_queue_destroy(w->v, q[1], MS(1) + at - US(50)), 0);
			w_run_dry(w);
			EXPECT_EQ(w->nr_mapped, 2);
			q[0] = w_queue(w, 3);
			memset(w->words, 0, sizeof(w->words));
			w_submit(w, q[0], w_kernel(6400, US(10)), MS(2));
			w_map(w, q, 1, MS(2));
			EXPECT_EQ(w_run_dry(w), MS(2) + FIRST + US(100));
			EXPECT_EQ(w->words[1], w_sum(6400, 3));
			w_free(w);
		}
	}
}

static void one_thing_at_a_time(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) }, twice[] = { q[0], q[0] };
	u64 ticket = 0;

	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 1, 0 }, 0, &ticket), 0);
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPING);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 1, 0 }, 0, &ticket), -EBUSY);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, VGPU_SAVE, 0 },
			     0, &ticket), -EBUSY);
	w_run_dry(w);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, VGPU_SAVE, 0 },
			     US(10), &ticket), 0);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, VGPU_SAVE, 0 },
			     US(10), &ticket), -EBUSY);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 1, 0 }, US(10), &ticket), -EBUSY);
	w_run_dry(w);

	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ 9, 0, VGPU_SAVE, 0 },
			     US(20), &ticket), -EINVAL);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, 9, 0 },
			     US(20), &ticket), -EINVAL);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_PROCESS, 999, VGPU_SAVE, 0 },
			     US(20), &ticket), -EINVAL);
	/* not modelled, and reported: */
	EXPECT_EQ(w->nr_reports, 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ twice, 2, 0 },
			US(20), &ticket), -EINVAL);
	w_map(w, q, 1, US(20));
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ &q[1], 1, 0 },
			US(40), &ticket), -EINVAL);
	EXPECT_EQ(w->nr_reports, 2);
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_UNMAPPED);
}

PROVE(
	CLAIM_WITH(a_hang_never_ends_until_the_gpu_is_reset, up, down),
	CLAIM_WITH(a_gpu_reset_spares_what_is_in_a_save_area, up, down),
	CLAIM(a_failed_preemption_leaves_one_queue_on),
	CLAIM_WITH(a_fault_of_a_queue_ends_with_it, up, down),
	CLAIM_WITH(a_slow_save_takes_that_many_times_as_long, up, down),
	CLAIM(a_queue_can_die_in_the_middle_of_anything),
	CLAIM_WITH(one_thing_at_a_time, up, down),
)
