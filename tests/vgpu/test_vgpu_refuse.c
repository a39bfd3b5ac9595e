/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device refuses unsupported requests with an error and changes nothing. */
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

static void a_packet_that_cannot_run_stops_its_queue_loudly(void **state)
{
	struct world *w = *state;
	struct vgpu_packet bad[6];
	u32 q[7];

	for (u32 i = 0; i < 6; i++)
		bad[i] = w_kernel(10, US(1));
	bad[0].kind = 9;
	bad[1].workgroups = 0;
	bad[2].workgroup_ns = 0;
	bad[3].waves = 0;
	bad[4].lds_bytes = 70000;
	bad[5].workgroup_ns = ~0ull;
	for (u32 i = 0; i < 6; i++) {
		q[i] = w_queue(w, i);
		w_submit(w, q[i], w_kernel(1, US(1)), 0);
		w_submit(w, q[i], bad[i], 0);
		w_submit(w, q[i], w_kernel(1, US(1)), 0);
	}
	q[6] = w_queue(w, 6);
	w_submit(w, q[6], w_kernel(1, US(1)), 0);
	w_map(w, q, 7, 0);
	w_run_dry(w);
	EXPECT_EQ(w->nr_reports, 6);
	for (u32 i = 0; i < 6; i++) {
		EXPECT_EQ(vgpu_queue_state(w->v, q[i]), VGPU_ERROR);
		EXPECT_EQ(w->q[q[i]].completed, 1);
	}
	EXPECT_EQ(vgpu_queue_state(w->v, q[6]), VGPU_MAPPED);
	EXPECT_EQ(w->q[q[6]].completed, 1);
}

static int fetch_nothing(void *ctx, u32 queue, u64 index, struct vgpu_packet *ret)
{
	(void)ctx, (void)queue, (void)index, (void)ret;
	return -EINVAL;
}

static void a_packet_that_cannot_be_fetched_stops_its_queue(void **state)
{
	struct world *w = *state;
	struct vgpu_world calls = w_calls;
	u32 q;

	calls.fetch = fetch_nothing;
	EXPECT_EQ(vgpu_init(w->mem, &w->facts, &calls, w, &w->v), 0);
	q = w_queue(w, 1);
	w_submit(w, q, w_kernel(1, 1), 0);
	w_map(w, &q, 1, 0);
	w_run_dry(w);
	EXPECT_EQ(vgpu_queue_state(w->v, q), VGPU_ERROR);
	EXPECT_EQ(w->nr_reports, 1);
	EXPECT_EQ(w->report_queue, q);
}

static void queues_run_out_and_wrong_arguments_are_refused(void **state)
{
	struct world *w = *state;
	struct vgpu_queue_args args = { .process = VGPU_MAX_PROCESSES };
	u32 q = 77;

	EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), -EINVAL);
	args = (struct vgpu_queue_args){ .priority = 16 };
	EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), -EINVAL);
	args = (struct vgpu_queue_args){ .cu_first = 70, .cu_count = 11 };
	EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), -EINVAL);
	args = (struct vgpu_queue_args){ .cu_first = 1, .cu_count = ~0u };
	EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), -EINVAL);
	EXPECT_EQ(q, 77);

	args = (struct vgpu_queue_args){ .priority = 7 };
	for (u32 i = 0; i < VGPU_MAX_QUEUES; i++)
		EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), 0);
	q = 77;
	EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), -ENOSPC);
	EXPECT_EQ(q, 77);
	EXPECT_EQ(vgpu_queue_destroy(w->v, 500, 0), 0);
	EXPECT_EQ(vgpu_queue_create(w->v, &args, &q), 0);
	EXPECT_EQ(q, 500);
}

static void an_unknown_queue_is_enoent_everywhere(void **state)
{
	struct world *w = *state;
	u32 q = w_queue(w, 1), none[] = { q, 17 };
	u64 ticket = 99;

	EXPECT_EQ(vgpu_doorbell(w->v, 17, 0), -ENOENT);
	EXPECT_EQ(vgpu_doorbell(w->v, ~0u, 0), -ENOENT);
	EXPECT_EQ(vgpu_queue_destroy(w->v, 17, 0), -ENOENT);
	EXPECT_EQ(vgpu_queue_state(w->v, 17), -ENOENT);
	EXPECT_EQ(vgpu_queue_state(w->v, ~0u), -ENOENT);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ none, 2, 0 }, 0, &ticket), -ENOENT);
	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_QUEUE, 17, VGPU_SAVE, 0 },
			     0, &ticket), -ENOENT);
	EXPECT_EQ(vgpu_fault(w->v, VGPU_FAULT_PREEMPT, 17), -ENOENT);
	EXPECT_EQ(ticket, 99);
	EXPECT_EQ(vgpu_queue_state(w->v, q), VGPU_UNMAPPED);
	EXPECT_EQ(vgpu_next_ns(w->v), VGPU_NEVER);
}

static void facts_beyond_the_limits_are_refused(void **state)
{
	static const struct { enum vgpu_fact_id id; u64 value; } wrong[] = {
		{ VGPU_XCCS, 0 }, { VGPU_XCCS, 16 }, { VGPU_CUS_PER_XCC, 0 },
		{ VGPU_CUS_PER_XCC, 77 }, { VGPU_CUS_PER_XCC, BIT_ULL(62) },
		{ VGPU_WAVES_PER_CU, 256 }, { VGPU_WAVES_PER_CU, 0 }, { VGPU_VGPR_PER_CU, 0 },
		{ VGPU_HQD_SLOTS, 0 }, { VGPU_HQD_SLOTS, 1025 }, { VGPU_VMIDS, 0 },
		{ VGPU_SAVE_EFFICIENCY, 0 }, { VGPU_SAVE_EFFICIENCY, 1001 },
		{ VGPU_BANDWIDTH_VRAM, 0 }, { VGPU_BANDWIDTH_HOST, 0 }, { VGPU_QUANTUM_NS, 0 },
		{ VGPU_RPTR_AT, 2 }, { VGPU_SAVE_AREA, 2 },
	};
	struct world *w = *state;
	struct vgpu *ret = NULL;

	for (u32 i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct vgpu_facts f = w->facts;

		f.f[wrong[i].id].value = wrong[i].value;
		EXPECT_EQ(vgpu_init(w->mem, &f, &w_calls, w, &ret), -EINVAL);
	}
	EXPECT(!ret);
	w->facts.f[VGPU_LOOK_NS].from = VGPU_UNSET;
	EXPECT_EQ(vgpu_init(w->mem, &w->facts, &w_calls, w, &ret), -EINVAL);
}

PROVE(
	CLAIM_WITH(a_packet_that_cannot_run_stops_its_queue_loudly, up, down),
	CLAIM_WITH(a_packet_that_cannot_be_fetched_stops_its_queue, up, down),
	CLAIM_WITH(queues_run_out_and_wrong_arguments_are_refused, up, down),
	CLAIM_WITH(an_unknown_queue_is_enoent_everywhere, up, down),
	CLAIM_WITH(facts_beyond_the_limits_are_refused, up, down),
)
