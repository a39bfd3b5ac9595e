/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device: packets, dispatch, time. Preemption: test_vgpu_cwsr.c. */
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

/* Mapped at 3 us command + 1 us process + 1 us queue; first dispatch 2 us later. */
enum { MAPPED = 5000, FIRST = 7000 };

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
	/* rounds, not workgroups, are events */
	EXPECT(vgpu_counters(w->v)->events < 12);
}

PROVE(
	CLAIM_WITH(a_kernel_runs_in_rounds_and_its_sum_is_right, up, down),
)
