/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The virtual device's own scheduler: more queues than slots, more processes than VMIDs. */
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

static u32 in_state(struct world *w, const u32 *q, u32 nr, int queue_state)
{
	u32 n = 0;

	for (u32 i = 0; i < nr; i++)
		n += vgpu_queue_state(w->v, q[i]) == queue_state;
	return n;
}

static void eighty_and_twenty_queues_all_finish(void **state)
{
	struct world *w = *state;
	u32 q[100];

	for (u32 i = 0; i < 100; i++) {
		q[i] = w_queue(w, i < 80 ? 1 : 2);
		w_submit(w, q[i], w_kernel(640 * 10, US(200)), 0);
	}
	w_map(w, q, 100, 0);
	EXPECT_EQ(in_state(w, q, 100, VGPU_MAPPED), 24);
	EXPECT_EQ(in_state(w, q, 100, VGPU_WAITING), 76);
	w_run_dry(w);
	for (u32 i = 0; i < 100; i++)
		EXPECT_EQ(w->q[q[i]].completed, 1);
	EXPECT_EQ(w->words[0], 640000);
	EXPECT_EQ(w->words[1], 100 * w_sum(6400, 3));
	EXPECT_EQ(vgpu_counters(w->v)->waves_saved, vgpu_counters(w->v)->waves_restored);
}

static void never_more_processes_than_vmids(void **state)
{
	struct world *w = *state;
	u32 q[20];
	u64 next;

	for (u32 i = 0; i < 20; i++) {
		q[i] = w_queue(w, i);
		w_submit(w, q[i], w_kernel(6400, US(200)), 0);
	}
	w_map(w, q, 20, 0);
	while ((next = vgpu_next_ns(w->v)) != VGPU_NEVER) {
		vgpu_advance(w->v, next);
		EXPECT(in_state(w, q, 20, VGPU_MAPPED) + in_state(w, q, 20, VGPU_UNMAPPING) <= 13);
	}
	EXPECT_EQ(w->words[1], 20 * w_sum(6400, 3));
}

/* Parts of each turn: 10 ms, grace, save, map, restore. */
static void exclusive_gives_one_process_the_device_by_quantum(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2), w_queue(w, 1) };
	struct vgpu_busy b;

	for (u32 i = 0; i < 3; i++)
		w_submit(w, q[i], w_kernel(640 * 200, US(190)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 3, 1 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(1));
	EXPECT_EQ(vgpu_queue_state(w->v, q[2]), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_WAITING);
	vgpu_advance(w->v, MS(10));
	vgpu_busy(w->v, 2, &b);
	EXPECT_EQ(b.waves, 0);
	/* mapped at 6 us, so the quantum ends at 10.006 ms; grace to 10.037 */
	vgpu_advance(w->v, MS(10) + US(37));
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_UNMAPPING);
	vgpu_advance(w->v, MS(10) + US(37 + 18 + 1 + 1));
	EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_MAPPED);
	vgpu_advance(w->v, MS(15));
	vgpu_busy(w->v, 1, &b);
	EXPECT_EQ(b.waves, 0);
	vgpu_busy(w->v, 2, &b);
	EXPECT_EQ(b.waves, 2560);
	w_run_dry(w);
	EXPECT_EQ(w->words[1], 3 * w_sum(128000, 3));
}

static void a_list_says_how_many_processes_have_the_device_at_a_time(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2), w_queue(w, 3), w_queue(w, 2) };
	u64 next;

	for (u32 i = 0; i < 4; i++)
		w_submit(w, q[i], w_kernel(6400, US(500)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 4, 2 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(1));
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_state(w->v, q[2]), VGPU_WAITING);
	EXPECT_EQ(vgpu_queue_state(w->v, q[3]), VGPU_MAPPED);
	while ((next = vgpu_next_ns(w->v)) != VGPU_NEVER) {
		vgpu_advance(w->v, next);
		EXPECT(vgpu_queue_state(w->v, q[0]) != VGPU_MAPPED ||
		       vgpu_queue_state(w->v, q[2]) != VGPU_MAPPED);
	}
	EXPECT_EQ(w->words[1], 4 * w_sum(6400, 3));
}

static void a_turn_without_work_is_passed_over(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2), w_queue(w, 3) };

	w_submit(w, q[0], w_kernel(640 * 100, US(200)), 0);
	w_submit(w, q[2], w_kernel(640 * 100, US(200)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 3, 1 }, 0, NULL), 0);
	for (u64 t = 0; t < MS(41); t += US(10)) {
		vgpu_advance(w->v, t);
		EXPECT(vgpu_queue_state(w->v, q[1]) != VGPU_MAPPED || !t);
	}
	EXPECT_EQ(w->q[q[0]].completed, 1);
	EXPECT_EQ(w->q[q[2]].completed, 1);
}

static void an_idle_device_has_no_events(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };
	u64 events;

	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
	w_run_dry(w);
	EXPECT_EQ(vgpu_next_ns(w->v), VGPU_NEVER);
	/* only one process has work, so there are no turns */
	w_submit(w, q[0], w_kernel(640 * 10000, US(200)), MS(1));
	events = vgpu_counters(w->v)->events;
	EXPECT_EQ(w_run_dry(w), MS(1) + 10000 * US(200));
	EXPECT(vgpu_counters(w->v)->events - events < 50);
	EXPECT_EQ(vgpu_counters(w->v)->waves_saved, 0);
}

static void a_doorbell_of_a_waiting_queue_brings_its_turn(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	w_submit(w, q[0], w_kernel(640 * 10000, US(200)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(50));
	w_submit(w, q[1], w_kernel(640, US(200)), MS(50));
	/* the quantum is over, so the switch starts at once; it switches back when work ends */
	vgpu_advance(w->v, MS(50) + US(31 + 18 + 2 + 2 + 200));
	EXPECT_EQ(w->q[q[1]].completed, 1);
	vgpu_advance(w->v, MS(51));
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPED);
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 640 * 10001);
}

static void packets_that_were_not_read_look_like_work(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	w_submit(w, q[0], w_kernel(640 * 1000, US(200)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(50));
	EXPECT_EQ(vgpu_queue_unread(w->v, q[1], true, MS(50)), 0);
	vgpu_advance(w->v, MS(51));
	EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_MAPPED);
	vgpu_advance(w->v, MS(55));		/* it keeps its quantum */
	EXPECT_EQ(vgpu_queue_state(w->v, q[1]), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_unread(w->v, q[1], false, MS(55)), 0);
	vgpu_advance(w->v, MS(56));
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_MAPPED);
	EXPECT_EQ(vgpu_queue_unread(w->v, VGPU_MAX_QUEUES - 1, true, MS(56)), -ENOENT);
	w_run_dry(w);
	EXPECT_EQ(w->words[0], 640 * 1000);
}

static void a_barrier_that_waits_looks_like_work(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };
	struct vgpu_packet barrier = { .kind = VGPU_BARRIER, .signal = 1 };

	w_submit(w, q[0], barrier, 0);
	w_submit(w, q[1], w_kernel(640 * 100, US(200)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(9));
	EXPECT_EQ(w->q[q[1]].launched, 0);
	vgpu_advance(w->v, MS(11));
	EXPECT_EQ(w->q[q[1]].launched, 1);
	w->signals[1] = true;
	vgpu_signal(w->v, MS(12));		/* it is off; the signal is read when mapped */
	EXPECT_EQ(w->q[q[0]].completed, 0);
	w_run_dry(w);
	EXPECT_EQ(w->q[q[0]].completed, 1);
	EXPECT_EQ(w->q[q[1]].completed, 1);
}

/* The command waits for the switch. A queue without a slot leaves the list, too. */
static void an_unmap_in_the_middle_of_a_switch_waits_for_it(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

	w_submit(w, q[0], w_kernel(640 * 100, US(190)), 0);
	w_submit(w, q[1], w_kernel(640 * 100, US(190)), 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(10) + US(40));
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_UNMAPPING);
	w_unmap(w, VGPU_SAVE, 500, MS(10) + US(40));
	EXPECT(w->unmapped.command_at > MS(10) + US(43));
	EXPECT_EQ(w->unmapped.queues, 2);
	EXPECT_EQ(in_state(w, q, 2, VGPU_UNMAPPED), 2);
	EXPECT_EQ(vgpu_next_ns(w->v), VGPU_NEVER);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 0 }, MS(11), NULL), 0);
	w_run_dry(w);
	EXPECT_EQ(w->words[1], 2 * w_sum(64000, 3));
}

static void a_reset_or_a_death_in_a_switch_leaves_nothing_behind(void **state)
{
	(void)state;
	for (u64 at = MS(10); at < MS(10) + US(100); at += US(3)) {
		struct world *w = w_new("mi308x");
		u32 q[] = { w_queue(w, 1), w_queue(w, 2) };

		w_submit(w, q[0], w_kernel(640 * 100, US(190)), 0);
		w_submit(w, q[1], w_kernel(640 * 100, US(190)), 0);
		EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
		EXPECT_EQ(vgpu_queue_destroy(w->v, q[at / 3 % 2], at), 0);
		if (at % 2)
			vgpu_gpu_reset(w->v, at + US(5));
		w_run_dry(w);
		q[0] = w_queue(w, 3);
		memset(w->words, 0, sizeof(w->words));
		w_unmap(w, VGPU_SAVE, 0, MS(100));
		w_submit(w, q[0], w_kernel(6400, US(10)), MS(200));
		w_map(w, q, 1, MS(200));
		EXPECT_EQ(w_run_dry(w), MS(200) + US(7) + US(100));
		EXPECT_EQ(w->words[1], w_sum(6400, 3));
		w_free(w);
	}
}

static void a_gpu_reset_spares_the_waves_of_waiting_queues(void **state)
{
	struct world *w = *state;
	u32 q[] = { w_queue(w, 1), w_queue(w, 2) };
	struct vgpu_packet p = w_kernel(640 * 100, US(190));

	w_submit(w, q[0], p, 0);
	p.result = 16;
	w_submit(w, q[1], p, 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 2, 1 }, 0, NULL), 0);
	vgpu_advance(w->v, MS(15));
	EXPECT_EQ(vgpu_queue_state(w->v, q[0]), VGPU_WAITING);
	vgpu_gpu_reset(w->v, MS(15));
	EXPECT_EQ(in_state(w, q, 2, VGPU_UNMAPPED), 2);
	w_map(w, q, 2, MS(16));
	w_run_dry(w);
	EXPECT_EQ(w->words[1], w_sum(64000, 3));
	EXPECT(w->words[2] > 64000);	/* it was running, and ran again */
}

/* Mapping while queues are on, with a list that does not fit, is not modelled. */
static void a_list_that_does_not_fit_needs_an_unmap_first(void **state)
{
	struct world *w = *state;
	u32 q[25];

	for (u32 i = 0; i < 25; i++)
		q[i] = w_queue(w, 1);
	w_map(w, q, 1, 0);
	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ q, 25, 0 }, US(20), NULL), -EINVAL);
	EXPECT_EQ(w->nr_reports, 1);
	w_unmap(w, VGPU_SAVE, 0, US(20));
	w_map(w, q, 25, US(30));
	EXPECT_EQ(in_state(w, q, 25, VGPU_MAPPED), 24);
}

static void every_number_of_every_profile_has_a_source(void **state)
{
	static const char *const names[] = { "mi308x", "mi300x", "mi210", "a100" };

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		const struct vgpu_facts *f = vgpu_profile(names[i]);

		EXPECT(f && !strcmp(f->profile, names[i]));
		EXPECT(!strcmp(vgpu_profile_names[i], names[i]));
		EXPECT(vgpu_facts_complete(f));
		EXPECT_EQ(vgpu_facts_weakest(f), VGPU_ASSUMED);
		for (u32 id = 0; id < VGPU_NR_FACTS; id++) {
			EXPECT(f->f[id].from >= VGPU_READ);
			EXPECT(strlen(f->f[id].note) > 9);
			EXPECT(strlen(vgpu_fact_name(id)) > 2);
		}
		w_free(w_new_with(f));
	}
	EXPECT(!vgpu_profile_names[4]);
	EXPECT(!vgpu_profile("mi999x"));
	EXPECT(!vgpu_profile("mi308"));
	EXPECT(!vgpu_fact_name(VGPU_NR_FACTS));
}

/* A figure of another chip, or with a clock that no source states, was not read from a source. */
static void what_is_inferred_is_called_assumed(void **state)
{
	static const u32 inferred[] = { VGPU_GRACE_NS, VGPU_GRACE_DEFAULT_NS, VGPU_RESET_NS };

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		EXPECT_EQ(vgpu_profile("mi308x")->f[inferred[i]].from, VGPU_ASSUMED);
		EXPECT_EQ(vgpu_profile("mi210")->f[inferred[i]].from, VGPU_ASSUMED);
	}
	EXPECT_EQ(vgpu_profile("mi308x")->f[VGPU_BANDWIDTH_VRAM].from, VGPU_ASSUMED);
	EXPECT_EQ(vgpu_profile("mi300x")->f[VGPU_BANDWIDTH_VRAM].from, VGPU_READ);
}

static void a_number_without_a_source_is_found(void **state)
{
	struct vgpu_facts f = *vgpu_profile("mi308x");

	(void)state;
	for (u32 id = 0; id < VGPU_NR_FACTS; id++) {
		f = *vgpu_profile("mi308x");
		f.f[id].from = VGPU_UNSET;
		EXPECT(!vgpu_facts_complete(&f));
		EXPECT_EQ(vgpu_facts_weakest(&f), VGPU_UNSET);
		f.f[id].from = VGPU_MEASURED;
		f.f[id].note = "";
		EXPECT(!vgpu_facts_complete(&f));
	}
	for (u32 id = 0; id < VGPU_NR_FACTS; id++)
		f.f[id] = (struct vgpu_fact){ .from = VGPU_MEASURED, .note = "on a bench" };
	EXPECT_EQ(vgpu_facts_weakest(&f), VGPU_MEASURED);
	f.f[3].from = VGPU_READ;
	EXPECT_EQ(vgpu_facts_weakest(&f), VGPU_READ);
}

PROVE(
	CLAIM_WITH(eighty_and_twenty_queues_all_finish, up, down),
	CLAIM_WITH(never_more_processes_than_vmids, up, down),
	CLAIM_WITH(exclusive_gives_one_process_the_device_by_quantum, up, down),
	CLAIM_WITH(a_list_says_how_many_processes_have_the_device_at_a_time, up, down),
	CLAIM_WITH(a_turn_without_work_is_passed_over, up, down),
	CLAIM_WITH(an_idle_device_has_no_events, up, down),
	CLAIM_WITH(a_doorbell_of_a_waiting_queue_brings_its_turn, up, down),
	CLAIM_WITH(packets_that_were_not_read_look_like_work, up, down),
	CLAIM_WITH(a_barrier_that_waits_looks_like_work, up, down),
	CLAIM_WITH(an_unmap_in_the_middle_of_a_switch_waits_for_it, up, down),
	CLAIM(a_reset_or_a_death_in_a_switch_leaves_nothing_behind),
	CLAIM_WITH(a_gpu_reset_spares_the_waves_of_waiting_queues, up, down),
	CLAIM_WITH(a_list_that_does_not_fit_needs_an_unmap_first, up, down),
	CLAIM(every_number_of_every_profile_has_a_source),
	CLAIM(what_is_inferred_is_called_assumed),
	CLAIM(a_number_without_a_source_is_found),
)
