/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Weighted shares, measured each second, with switches that take time. */
#include "tests/core/core_home.h"
#include "tests/core/core_world.h"

static const struct gp_class one = { .weight = 1, .flags = GP_PREEMPTIBLE };
static const struct gp_class three = { .weight = 3, .flags = GP_PREEMPTIBLE };

/* The permitted deviation of a share from its weight, relative to the share or to the GPU. */
enum within { ONE_PERCENT_OF_IT, ONE_PERCENT_OF_ALL };

/* Compares each task's share of the work in the last second with its weight. */
static void check_shares(struct home *h, const u64 *weights, const u64 *before,
			 enum within within)
{
	u64 sum = 0, weight = 0, done[GP_NULL_TASKS];
	u32 i;

	for (i = 0; i < h->nr; i++) {
		done[i] = home_done(h, i) - before[i];
		sum += done[i];
		weight += weights[i];
	}
	for (i = 0; i < h->nr; i++) {
		u64 got = done[i] * 100000 / sum, want = weights[i] * 100000 / weight;
		u64 most = within == ONE_PERCENT_OF_IT ? want / 100 : 1000;

		if (got > want + most || got < want - most)
			fail_msg("%llu s: task %u has %llu of 100000, its weight gives %llu",
				 (unsigned long long)(h->now_ns / GP_SEC), i,
				 (unsigned long long)got, (unsigned long long)want);
	}
}

static void seconds(struct home *h, const u64 *weights, u32 nr, enum within within)
{
	u64 before[GP_NULL_TASKS];
	u32 i;

	while (nr--) {
		for (i = 0; i < h->nr; i++) {
			before[i] = home_done(h, i);
			home_give(h, i, 10 * GP_SEC);
		}
		home_run(h, h->now_ns + GP_SEC);
		check_shares(h, weights, before, within);
	}
	EXPECT(!h->s->ejected);
}

static void three_to_one_within_1_percent_in_every_second(void **state)
{
	static const u64 weights[] = { 3, 1 };
	u64 takes;
	struct home h;

	(void)state;
	for (takes = US(1); takes <= US(300); takes = takes * 5 + US(3)) {
		home_init(&h, &gp_policy_fair, 1);
		h.m.takes_ns = takes;
		home_task(&h, 0, &three);
		home_task(&h, 0, &one);
		/* if a switch is expensive, a slice is longer than a percent of a second */
		seconds(&h, weights, 10, takes < US(100) ? ONE_PERCENT_OF_IT : ONE_PERCENT_OF_ALL);
		EXPECT(h.actions > 100);
		home_fini(&h);
	}
}

static void so_with_many_tasks_of_many_weights(void **state)
{
	static const u64 weights[] = { 1, 2, 3, 4, 5 };
	struct gp_class class = one;
	struct home h;
	u32 i;

	(void)state;
	home_init(&h, &gp_policy_fair, 1);
	for (i = 0; i < 5; i++) {
		class.weight = (u32)weights[i];
		home_task(&h, 0, &class);
	}
	seconds(&h, weights, 10, ONE_PERCENT_OF_ALL);
	home_fini(&h);
}

static void devices_are_shared_independently(void **state)
{
	struct home h;

	(void)state;
	home_init(&h, &gp_policy_fair, 2);
	home_task(&h, 0, &three);
	home_task(&h, 1, &one);
	home_give(&h, 0, 10 * GP_SEC);
	home_give(&h, 1, 10 * GP_SEC);
	home_run(&h, GP_SEC);
	/* each task is alone on its device, so none is stopped */
	EXPECT_EQ(h.actions, 0);
	EXPECT_EQ(home_done(&h, 0), GP_SEC);
	EXPECT_EQ(home_done(&h, 1), GP_SEC);
	home_fini(&h);
}

static void idling_earns_nothing(void **state)
{
	static const u64 equal[] = { 1, 1 };
	struct home h;

	(void)state;
	home_init(&h, &gp_policy_fair, 1);
	home_task(&h, 0, &one);
	home_task(&h, 0, &one);
	home_give(&h, 0, 100 * GP_SEC);
	/* five seconds alone do not count against the first task */
	home_run(&h, 5 * GP_SEC);
	EXPECT_EQ(h.actions, 0);
	seconds(&h, equal, 5, ONE_PERCENT_OF_IT);
	home_fini(&h);
}

static void so_after_weeks_on_the_gpu(void **state)
{
	static const u64 weights[] = { 3, 1 };
	u64 weeks;
	struct home h;
	u32 i;

	(void)state;
	home_init(&h, &gp_policy_fair, 1);
	home_task(&h, 0, &three);
	home_task(&h, 0, &one);
	seconds(&h, weights, 1, ONE_PERCENT_OF_ALL);
	/* The first word of a seat is its virtual time. Sets it half a second before it wraps. */
	weeks = ~0ull - h.s->seats[0].scratch[0] - GP_SEC / 2 * 10000;
	for (i = 0; i < 2; i++)
		h.s->seats[i].scratch[0] += weeks;
	seconds(&h, weights, 3, ONE_PERCENT_OF_ALL);
	home_fini(&h);
}

static void a_refused_start_or_a_hold_by_hand_does_not_eject_it(void **state)
{
	struct home h;

	(void)state;
	home_init(&h, &gp_policy_fair, 1);
	home_task(&h, 0, &one);
	home_task(&h, 0, &one);
	home_give(&h, 0, 100 * GP_SEC);
	home_give(&h, 1, 100 * GP_SEC);
	home_run(&h, MS(50));
	h.m.fault[1] = GP_NULL_REFUSES;
	home_run(&h, 3 * GP_SEC);
	EXPECT(!h.s->ejected);
	h.m.fault[1] = GP_NULL_WORKS;
	home_run(&h, 4 * GP_SEC);
	EXPECT_EQ(gp_sched_hold(h.s, h.task[0].task, MS(990), h.now_ns), 0);
	home_run(&h, h.now_ns + MS(900));
	EXPECT_EQ(gp_sched_hold(h.s, h.task[0].task, MS(990), h.now_ns), 0);
	home_run(&h, h.now_ns + 3 * GP_SEC);
	EXPECT(!h.s->ejected);
	home_fini(&h);
}

static void a_slice_is_short_of_the_lease_whatever_is_set(void **state)
{
	struct gp_account a;
	struct home h;

	(void)state;
	home_init(&h, &gp_policy_fair, 1);
	EXPECT_EQ(gp_sched_set(h.s, GP_SLICE, 10 * GP_SEC), 0);
	home_task(&h, 0, &one);
	home_task(&h, 0, &one);
	home_give(&h, 0, 100 * GP_SEC);
	home_give(&h, 1, 100 * GP_SEC);
	home_run(&h, 5 * GP_SEC);
	EXPECT_EQ(gp_sched_account(h.s, h.task[0].task, h.now_ns, &a), 0);
	EXPECT(a.started > 3);
	EXPECT(a.longest_hold_ns < MS(400));
	EXPECT(!h.s->ejected);
	home_fini(&h);
}

static void a_task_that_fell_idle_while_stopping_comes_back(void **state)
{
	static const struct actor actors[] = {
		{ "a", SHARE(1) }, { "b", SHARE(1) }, { "c", SHARE(1) }, { .name = NULL },
	};
	static const struct cast cast = {
		.policy = &gp_policy_fair, .actors = actors, .flags = GP_RPTR_IS_COMPLETION,
	};
	struct core_world *w = cw_new(&cast);

	(void)state;
	SCENE(w,
	      {  0, ARRIVE,   0,  9,   "",     "ooo" },
	      { 50, ARRIVE,   1,  9,   "-b",   "oso" },
	      { 60, ARRIVE,   2,  9,   "",     "oso" },
	      { 70, DRAIN,    1,  0,   "",     "oso" },
	      /* c is stopped as it should; b was done in time, so nothing is held */
	      { 80, DONE,     1,  0,   "-c +b", "ors" },
	      { 90, DONE,     1,  0,   "",     "oos" });
	cw_free(w);
}

static void a_task_that_cannot_be_stopped_is_not(void **state)
{
	static const struct gp_class firm = { .weight = 1 };
	struct home h;

	(void)state;
	home_init(&h, &gp_policy_fair, 1);
	home_task(&h, 0, &firm);
	home_task(&h, 0, &one);
	home_give(&h, 0, 100 * GP_SEC);
	home_give(&h, 1, 100 * GP_SEC);
	home_run(&h, GP_SEC);
	EXPECT_EQ(home_done(&h, 0), GP_SEC);
	EXPECT(home_done(&h, 1) > MS(400));
	home_fini(&h);
}

PROVE(
	CLAIM(three_to_one_within_1_percent_in_every_second),
	CLAIM(so_with_many_tasks_of_many_weights),
	CLAIM(so_after_weeks_on_the_gpu),
	CLAIM(devices_are_shared_independently),
	CLAIM(idling_earns_nothing),
	CLAIM(a_refused_start_or_a_hold_by_hand_does_not_eject_it),
	CLAIM(a_slice_is_short_of_the_lease_whatever_is_set),
	CLAIM(a_task_that_fell_idle_while_stopping_comes_back),
	CLAIM(a_task_that_cannot_be_stopped_is_not),
)
