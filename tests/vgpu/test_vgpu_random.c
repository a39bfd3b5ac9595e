/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device under random load: invariants. */
#include "vgpu_world.h"

static u64 below(u64 *seed, u64 n)
{
	return gp_test_random(seed) % n;
}

static struct vgpu_packet random_kernel(u64 *seed, u32 queue)
{
	struct vgpu_packet p = w_kernel(1 + below(seed, 3000), 1 + below(seed, US(300)));

	p.barrier_bit = below(seed, 3);
	if (!below(seed, 3)) {
		p.waves = (u16)(1 + below(seed, 16));
		p.vgpr_bytes = (u32)below(seed, 16384);
		p.lds_bytes = (u32)below(seed, 65536);
	}
	if (!below(seed, 4))
		p.gap_ns = below(seed, US(50));
	p.result = 16 * queue;
	p.key = 1 + queue;
	return p;
}

/* The expected results of every queue and work of every process. */
struct expected {
	u64 count[W_QUEUES], sum[W_QUEUES], packets[W_QUEUES];
	u64 work[4];
};

static void submit_random(struct world *w, struct expected *e, u32 q, u64 *seed, u64 now)
{
	u32 n = 1 + (u32)below(seed, 4);

	for (u32 i = 0; i < n && w->q[q].wptr - w->q[q].rptr < W_RING - 8 &&
	     e->packets[q] - w->q[q].completed < 8; i++) {
		struct vgpu_packet p = random_kernel(seed, q);

		w_put(w, q, &p);
		e->packets[q]++;
		e->count[q] += p.workgroups;
		e->sum[q] += w_sum(p.workgroups, p.key);
		e->work[q % 3] += p.workgroups * p.workgroup_ns;
	}
	EXPECT_EQ(vgpu_doorbell(w->v, q, now), 0);
}

/* Takes some or all queues off by save or drain at a random time, then maps them again. */
static u64 random_cycle(struct world *w, const u32 *q, u32 nr, u64 *seed, u64 now)
{
	/* processes that take turns must be unmapped together before the next list */
	bool all = w->facts.f[VGPU_HQD_SLOTS].value < 24;
	enum vgpu_whom whom = all ? VGPU_ALL : (enum vgpu_whom)below(seed, 3);
	u32 id = whom == VGPU_QUEUE ? q[below(seed, nr)] : (u32)below(seed, 3);
	enum vgpu_how how = below(seed, 4) ? VGPU_SAVE : VGPU_DRAIN;
	u64 before = w->nr_unmapped;

	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ whom, id, how, below(seed, US(40)) },
			     now, NULL), 0);
	while (w->nr_unmapped == before)
		vgpu_advance(w->v, vgpu_next_ns(w->v));
	now = w->unmapped.done_at + below(seed, US(300));
	EXPECT_EQ(w->unmapped.failed, 0);
	vgpu_advance(w->v, now);
	return w_map(w, q, nr, now);
}

static void finish(struct world *w, const struct expected *e, const u32 *q, u32 nr)
{
	w_run_dry(w);
	for (u32 i = 0; i < nr; i++) {
		EXPECT_EQ(w->q[q[i]].completed, e->packets[q[i]]);
		EXPECT_EQ(w->q[q[i]].rptr, w->q[q[i]].wptr);
		EXPECT_EQ(w->words[2 * q[i]], e->count[q[i]]);
		EXPECT_EQ(w->words[2 * q[i] + 1], e->sum[q[i]]);
	}
	for (u32 p = 0; p < 3; p++)
		EXPECT_EQ(vgpu_work_ns(w->v, p), e->work[p]);
	EXPECT_EQ(vgpu_counters(w->v)->waves_saved, vgpu_counters(w->v)->waves_restored);
	EXPECT_EQ(vgpu_counters(w->v)->bytes_saved, vgpu_counters(w->v)->bytes_restored);
	EXPECT_EQ(w->nr_reports, 0);
}

static void cycles(u64 seed, u32 nr_cycles, const struct vgpu_facts *facts)
{
	struct expected *e = calloc(1, sizeof(*e));
	struct world *w;
	u32 q[6], nr = 1 + (u32)below(&seed, 6);
	u64 now = 0;

	w = w_new_with(facts);
	EXPECT(e);
	for (u32 i = 0; i < nr; i++) {
		struct vgpu_queue_args args = { .process = i % 3, .area_bytes = 2 * AREA,
			.priority = (u8)below(&seed, 16) };

		if (!below(&seed, 4)) {
			args.cu_first = (u32)below(&seed, 40);
			args.cu_count = 1 + (u32)below(&seed, 40);
		}
		q[i] = w_queue_with(w, &args);
	}
	w_map(w, q, nr, 0);
	now = US(20);
	for (u32 i = 0; i < nr_cycles; i++) {
		submit_random(w, e, q[below(&seed, nr)], &seed, now);
		now += below(&seed, MS(1));
		if (below(&seed, 3))
			now = random_cycle(w, q, nr, &seed, now);
	}
	finish(w, e, q, nr);
	w_free(w);
	free(e);
}

static void nothing_is_lost_over_a_thousand_saves(void **state)
{
	struct vgpu_facts facts = *vgpu_profile("mi308x");
	u64 seed = gp_test_seed(2026);
	u32 rounds = gp_test_full() ? 400 : 20;

	(void)state;
	for (u32 i = 0; i < rounds; i++) {
		print_message("# GP_SEED=%llu\n", (unsigned long long)(seed + i));
		facts.f[VGPU_RPTR_AT].value = VGPU_RPTR_AT_COMPLETION;
		cycles(seed + i, 100, &facts);
		facts.f[VGPU_RPTR_AT].value = VGPU_RPTR_AT_LAUNCH;
		cycles(seed + i, 100, &facts);
	}
}

/* Two slots or one VMID for up to six queues, with short quanta. */
static void nothing_is_lost_when_queues_take_turns(void **state)
{
	struct vgpu_facts facts = *vgpu_profile("mi308x");
	u64 seed = gp_test_seed(3001);
	u32 rounds = gp_test_full() ? 400 : 20;

	(void)state;
	facts.f[VGPU_QUANTUM_NS].value = US(130);
	for (u32 i = 0; i < rounds; i++) {
		print_message("# GP_SEED=%llu\n", (unsigned long long)(seed + i));
		facts.f[VGPU_HQD_SLOTS].value = 1 + i % 2;
		facts.f[VGPU_VMIDS].value = 1 + i % 3;
		cycles(seed + i, 50, &facts);
	}
}

/* One victim fills the device, so cohorts multiply and are merged. */
static void nothing_is_lost_when_cohorts_are_put_together(void **state)
{
	struct world *w = w_new("mi308x");
	u32 q[] = { w_queue(w, 0), w_queue(w, 0), w_queue(w, 1) };
	u64 seed = gp_test_seed(7), now = US(20), small = 0;

	(void)state;
	for (u32 i = 0; i < 2; i++)
		w_submit(w, q[i], w_kernel(640 * 3000, US(200)), 0);
	w_map(w, q, 3, 0);
	for (u32 i = 0; i < 1000; i++) {
		struct vgpu_packet p = w_kernel(1 + below(&seed, 200), 1 + below(&seed, US(100)));

		small += p.workgroups;
		p.result = 16;
		w_submit(w, q[2], p, now);
		now += below(&seed, US(300));
		w_unmap(w, VGPU_SAVE, 500, now);
		now = w_map(w, q, 3, w->unmapped.done_at + US(1)) + below(&seed, US(200));
	}
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 2 * 640 * 3000);
	EXPECT_EQ(w->words[1], 2 * w_sum(640 * 3000, 3));
	EXPECT_EQ(w->words[2], small);
	EXPECT_EQ(vgpu_work_ns(w->v, 0), 2 * 640 * 3000 * US(200));
	EXPECT_EQ(w->q[q[0]].completed + w->q[q[1]].completed + w->q[q[2]].completed, 1002);
	w_free(w);
}

/*
 * Models the same kernels on 640 slots one workgroup at a time, without cohorts. The packets of
 * one queue have barrier bits or not, so that rounds of one kernel begin at many different times.
 */
static void plain_model(const struct vgpu_packet *p, u32 nr, u64 start, u64 *done)
{
	static u64 busy_until[640];
	u64 placed_at = start, all_done = start;

	for (u32 i = 0; i < 640; i++)
		busy_until[i] = start;
	for (u32 k = 0; k < nr; k++) {
		u64 from = p[k].barrier_bit ? all_done : placed_at;

		done[k] = 0;
		for (u64 n = 0; n < p[k].workgroups; n++) {
			u32 s = 0;

			for (u32 i = 1; i < 640; i++)
				if (busy_until[i] < busy_until[s])
					s = i;
			placed_at = busy_until[s] > from ? busy_until[s] : from;
			busy_until[s] = placed_at + p[k].workgroup_ns;
			if (busy_until[s] > done[k])
				done[k] = busy_until[s];
		}
		if (done[k] > all_done)
			all_done = done[k];
	}
}

static void rounds_end_when_single_slots_would(void **state)
{
	u64 seed = gp_test_seed(11);

	(void)state;
	for (u32 t = 0; t < (gp_test_full() ? 300u : 30u); t++) {
		struct world *w = w_new("mi308x");
		struct vgpu_packet p[8];
		u64 done[8];
		u32 q = w_queue(w, 0);

		for (u32 i = 0; i < 8; i++) {
			p[i] = w_kernel(1 + below(&seed, i % 2 ? 500 : 9000),
					US(1 + below(&seed, 50)));
			p[i].barrier_bit = !below(&seed, 4);
			w_put(w, q, &p[i]);
		}
		w_map(w, &q, 1, 0);
		/* intermediate stops must not matter */
		for (u64 at = US(10); t % 2 && at < MS(1); at += below(&seed, US(9)))
			vgpu_advance(w->v, at);
		w_run_dry(w);
		plain_model(p, 8, US(7), done);
		for (u32 i = 0; i < 8; i++)
			EXPECT_EQ(w->q[q].completed_at_of[i], done[i]);
		w_free(w);
	}
}

PROVE(
	CLAIM(nothing_is_lost_over_a_thousand_saves),
	CLAIM(nothing_is_lost_when_queues_take_turns),
	CLAIM(nothing_is_lost_when_cohorts_are_put_together),
	CLAIM(rounds_end_when_single_slots_would),
)
