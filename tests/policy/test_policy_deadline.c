/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reservations of GPU time: impossible ones are refused, accepted ones are met. */
#include <string.h>

#include "tests/core/core_home.h"
#include "tests/core/core_world.h"

static struct gp_class promise(u64 period_ms, u64 budget_ms)
{
	return (struct gp_class){ .weight = 1, .flags = GP_PREEMPTIBLE,
				  .period_ns = MS(period_ms), .budget_ns = MS(budget_ms) };
}

enum { FIRST, SECOND, BATCH1 };

static const struct actor actors[] = {
	{ "first", RESERVED(100, 40) }, { "second", RESERVED(50, 10) }, { "batch", BATCH(1) },
	{ .name = NULL },
};
static const struct cast cast = {
	.policy = &gp_policy_deadline, .actors = actors, .flags = GP_RPTR_IS_COMPLETION,
};

static void what_cannot_be_kept_is_not_promised(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_class class = promise(100, 36);
	void *before = malloc(w->size);
	const char *why = NULL;
	u32 task = 77;

	(void)state;
	/* 40 + 20 % are reserved and 5 % are never promised, so 36 % are too much */
	memcpy(before, w->mem, w->size);
	EXPECT_EQ(gp_task_add(w->s, 1, &class, MS(1), &task, &why), -ENOSPC);
	assert_string_equal(why,
			    "its budget does not fit beside what others were promised "
			    "on that device");
	EXPECT_EQ(task, 77);
	EXPECT_EQ(memcmp(before, w->mem, w->size), 0);

	/* a deadline before the end of the period raises its density */
	class = promise(100, 20);
	class.deadline_ns = MS(50);
	EXPECT_EQ(gp_task_add(w->s, 1, &class, MS(1), &task, &why), -ENOSPC);
	/* a change of class cannot exceed the limit either */
	class = promise(50, 30);
	EXPECT_EQ(gp_task_set_class(w->s, w->task[SECOND], &class, MS(1), &why), -ENOSPC);
	EXPECT_EQ(memcmp(before, w->mem, w->size), 0);

	class = promise(100, 35);
	EXPECT_EQ(gp_task_add(w->s, 1, &class, MS(1), &task, &why), 0);
	free(before);
	cw_free(w);
}

static void taking_over_it_refuses_what_it_could_not_keep(void **state)
{
	static const struct actor greedy[] = {
		{ "a", RESERVED(100, 60) }, { "b", RESERVED(100, 60) }, { .name = NULL },
	};
	static const struct cast priority = { .actors = greedy };
	struct core_world *w = cw_new(&priority);
	void *before = malloc(w->size);
	const char *why = NULL;

	(void)state;
	memcpy(before, w->mem, w->size);
	EXPECT_EQ(gp_sched_set_policy(w->s, &gp_policy_deadline, MS(1), &why), -ENOSPC);
	EXPECT(why);
	EXPECT_EQ(memcmp(before, w->mem, w->size), 0);
	free(before);
	cw_free(w);
}

static void the_earliest_deadline_goes_first(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   BATCH1, 1,    "",              "ooo" },
		/* due at 100 ms, with 40 ms to run */
		{    0, ARRIVE,   FIRST,  9,    "-batch",        "oos" },
		{   10, DONE,     BATCH1, 0,    "",              "oo." },
		/* due at 70 ms */
		{20000, ARRIVE,   SECOND, 9,    "-first",        "so." },
		{20010, DONE,     FIRST,  0,    "",              ".o." },
		{25000, DRAIN,    SECOND, 0,    "+first",        "ro." },
		{25010, DONE,     FIRST,  0,    "",              "oo." },
		/* still the same period of second, due at 70 ms */
		{30000, ARRIVE,   SECOND, 9,    "-first",        "so." },
		{30010, DONE,     FIRST,  0,    "",              ".o." },
		{31000, DRAIN,    SECOND, 0,    "+first",        "ro." },
		{31010, DONE,     FIRST,  0,    "",              "oo." },
	};
	struct core_world *w = cw_new(&cast);

	(void)state;
	EXPECT_EQ(gp_sched_set(w->s, GP_STALL_AFTER, 10 * GP_SEC), 0);
	cw_play(w, story, sizeof(story) / sizeof(story[0]));
	cw_free(w);
	/* due at 1 + 100 ms; second is due at 110 ms from 60 ms on, so it waits */
	w = cw_new(&cast);
	EXPECT_EQ(gp_sched_set(w->s, GP_STALL_AFTER, 10 * GP_SEC), 0);
	SCENE(w,
	      { 1000, ARRIVE,   FIRST,  9,    "",              "ooo" },
	      {20000, DRAIN,    FIRST,  0,    "",              "ooo" },
	      {59000, ARRIVE,   FIRST,  9,    "",              "ooo" },
	      {60000, ARRIVE,   SECOND, 9,    "-second",       "oso" });
	cw_free(w);
}

static void a_task_that_used_up_its_budget_waits_for_its_next_period(void **state)
{
	static const struct line story[] = {
		{  1000, ARRIVE,   BATCH1, 1,    "",              "ooo" },
		{  1000, ARRIVE,   FIRST,  9,    "-batch",        "oos" },
		{  1010, DONE,     BATCH1, 0,    "",              "oo." },
		{ 40999, WAIT,     NO_TASK, 0,   "",              "oo." },
		/* no task has a reservation now, so all share as the hardware does */
		{ 41000, WAIT,     NO_TASK, 0,   "+batch",        "oor" },
		{ 41010, DONE,     BATCH1, 0,    "",              "ooo" },
		{ 100999, WAIT,     NO_TASK, 0,   "",              "ooo" },
		{ 101000, WAIT,     NO_TASK, 0,   "-batch",        "oos" },
	};
	struct core_world *w = cw_new(&cast);

	(void)state;
	EXPECT_EQ(gp_sched_set(w->s, GP_STALL_AFTER, 10 * GP_SEC), 0);
	cw_play(w, story, 8);
	cw_free(w);
}

/* A late wake of the home does not shift periods. Continuous work is released on schedule. */
static void periods_keep_their_beat(void **state)
{
	static const struct line story[] = {
		{  1000, ARRIVE,   BATCH1, 1,    "",              "ooo" },
		{  1000, ARRIVE,   FIRST,  9,    "-batch",        "oos" },
		{  1010, DONE,     BATCH1, 0,    "",              "oo." },
		{ 41000, WAIT,     NO_TASK, 0,   "+batch",        "oor" },
		{ 41010, DONE,     BATCH1, 0,    "",              "ooo" },
		/* released at 101 ms, and seen 4 ms late */
		{105000, WAIT,     NO_TASK, 0,   "-batch",        "oos" },
		{105010, DONE,     BATCH1, 0,    "",              "oo." },
		{145000, WAIT,     NO_TASK, 0,   "+batch",        "oor" },
		{145010, DONE,     BATCH1, 0,    "",              "ooo" },
		{200999, WAIT,     NO_TASK, 0,   "",              "ooo" },
		{201000, WAIT,     NO_TASK, 0,   "-batch",        "oos" },
	};
	struct core_world *w = cw_new(&cast);

	(void)state;
	EXPECT_EQ(gp_sched_set(w->s, GP_STALL_AFTER, 10 * GP_SEC), 0);
	cw_play(w, story, sizeof(story) / sizeof(story[0]));
	cw_free(w);
}

/* Two tasks always have work. One task has no reservation. */
static void every_task_gets_at_least_what_it_was_promised(void **state)
{
	struct gp_class a = promise(20, 6), b = promise(50, 15);
	static const struct gp_class rest = { .weight = 1, .flags = GP_PREEMPTIBLE };
	u64 before_a, before_b, n;
	struct home h;

	(void)state;
	home_init(&h, &gp_policy_deadline, 1);
	home_task(&h, 0, &a);
	home_task(&h, 0, &b);
	home_task(&h, 0, &rest);
	for (n = 0; n < 3; n++)
		home_give(&h, (u32)n, 100 * GP_SEC);
	home_run(&h, MS(500));
	for (n = 0; n < 20; n++) {
		before_a = home_done(&h, 0);
		before_b = home_done(&h, 1);
		home_run(&h, h.now_ns + MS(100));
		/* five periods of 6 ms, two of 15; one more or less at the edges */
		EXPECT(home_done(&h, 0) - before_a >= MS(24));
		EXPECT(home_done(&h, 1) - before_b >= MS(15));
	}
	EXPECT(home_done(&h, 0) >= h.now_ns * 29 / 100);
	EXPECT(home_done(&h, 1) >= h.now_ns * 29 / 100);
	EXPECT(home_done(&h, 2) >= h.now_ns * 25 / 100);
	EXPECT(!h.s->ejected);
	home_fini(&h);
}

static void a_promise_is_watched_for_only_if_another_task_could_break_it(void **state)
{
	static const struct actor alone[] = { { "only", RESERVED(100, 40) }, { .name = NULL } };
	static const struct actor none[] = {
		{ "a", BATCH(1) }, { "b", BATCH(2) }, { .name = NULL }
	};
	static const struct cast one = { .policy = &gp_policy_deadline, .actors = alone };
	static const struct cast two = { .policy = &gp_policy_deadline, .actors = none };
	struct core_world *w = cw_new(&one);

	(void)state;
	SCENE(w, { 0, ARRIVE, 0, 1, "", "o" });
	EXPECT_EQ(gp_sched_look_at(w->s, 0), GP_NEVER);
	cw_free(w);
	w = cw_new(&two);
	SCENE(w, { 0, ARRIVE, 0, 1, "", "oo" });
	EXPECT_EQ(gp_sched_look_at(w->s, 0), GP_NEVER);
	cw_free(w);
	w = cw_new(&cast);
	SCENE(w, { 0, ARRIVE, BATCH1, 1, "", "ooo" });
	EXPECT(gp_sched_look_at(w->s, 0) != GP_NEVER);
	cw_free(w);
}

PROVE(
	CLAIM(what_cannot_be_kept_is_not_promised),
	CLAIM(taking_over_it_refuses_what_it_could_not_keep),
	CLAIM(the_earliest_deadline_goes_first),
	CLAIM(a_task_that_used_up_its_budget_waits_for_its_next_period),
	CLAIM(periods_keep_their_beat),
	CLAIM(every_task_gets_at_least_what_it_was_promised),
	CLAIM(a_promise_is_watched_for_only_if_another_task_could_break_it),
)
