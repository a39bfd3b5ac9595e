/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Runs all orders of events on the real scheduler. explore.h lists the checks of each state. */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "tests/shared/gp_test.h"

#define ONLINE	{ .priority = 9, .weight = 1, .flags = GP_LATENCY_CRITICAL }
#define OFFLINE	{ .priority = 1, .weight = 1, .flags = GP_PREEMPTIBLE }
#define MIDDLE	{ .priority = 5, .weight = 1, .flags = GP_PREEMPTIBLE }

/* Times in units of the search. */
#define PROMISE(every, budget) { .weight = 1, .flags = GP_PREEMPTIBLE, \
				 .period_ns = (every) * EX_UNIT, .budget_ns = (budget) * EX_UNIT }

/* More states than any search has. run() searches @states of them, @full in the long tier. */
enum { ALL = 1500000 };

static void run(struct explore *config, u64 states, u64 full)
{
	static char text[16384];
	struct ex_result r;

	config->max_states = gp_test_full() ? full : states;
#ifdef __SANITIZE_ADDRESS__
	config->max_states = states / 10;	/* the same code, ten times slower */
#endif
	EXPECT_EQ(explore(config, &r), 0);
	print_message("# %s: %llu states%s, depth %u, %llu transitions\n", config->name,
		      (unsigned long long)r.states, r.complete && !r.wrong ? ", all there are" : "",
		      r.depth, (unsigned long long)r.transitions);
	if (config->max_states == ALL)
		EXPECT(r.complete);
	if (!r.wrong)
		return;
	explore_tell(config, &r, text, sizeof(text));
	fputs(text, stderr);
	fail_msg("%s: %s", config->name, r.wrong);
}

static void one_victim_and_every_fault(void **state)
{
	struct explore config = {
		.name = "one victim", .policy = &gp_policy_priority, .devices = 1,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "infer", ONLINE, 1 }, { "train", OFFLINE, 1 } },
		.may = EX_FAULTS | EX_DEATH | EX_RESETS | EX_EARLY,
	};

	(void)state;
	run(&config, ALL, ALL);
}

static void drained_work_that_settles_and_barriers(void **state)
{
	struct explore config = {
		.name = "settling", .policy = &gp_policy_priority, .devices = 1,
		.task = { { "infer", ONLINE, 1 }, { "train", OFFLINE, 1 } },
		.may = EX_FAULTS | EX_BARRIERS | EX_EARLY,
	};

	(void)state;
	run(&config, ALL, ALL);
}

static void probes_that_say_yes_no_and_perhaps(void **state)
{
	struct explore config = {
		.name = "probes", .policy = &gp_policy_priority, .devices = 1,
		.flags = GP_CAN_PROBE,
		.task = { { "infer", ONLINE, 1 }, { "train", OFFLINE, 1 } },
		.may = EX_FAULTS,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

static void holds_and_switches_at_any_time(void **state)
{
	struct explore config = {
		.name = "people", .policy = &gp_policy_priority, .devices = 1,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "infer", ONLINE, 1 }, { "train", OFFLINE, 1 } },
		.may = EX_HINTS | EX_HANDS | EX_SWITCH | EX_POLICIES,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

static void three_tasks_one_above_the_other(void **state)
{
	struct explore config = {
		.name = "three tasks", .policy = &gp_policy_priority, .devices = 1,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "infer", ONLINE, 1 }, { "batch", MIDDLE, 1 }, { "train", OFFLINE, 1 } },
		.may = EX_FAULTS,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

static void a_gang_on_two_devices(void **state)
{
	struct explore config = {
		.name = "gang", .policy = &gp_policy_priority, .devices = 2,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "infer", ONLINE, 1 }, { "gang", MIDDLE, 3 }, { "low", OFFLINE, 2 } },
		.may = EX_FAULTS | EX_DEATH | EX_RESETS | EX_HANDS,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

static void fair_shares(void **state)
{
	struct explore config = {
		.name = "fair", .policy = &gp_policy_fair, .devices = 1,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "one", OFFLINE, 1 }, { "two", OFFLINE, 1 }, { "firm", ONLINE, 1 } },
		.may = EX_FAULTS | EX_EARLY | EX_HANDS | EX_POLICIES,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

static void fair_gangs(void **state)
{
	struct explore config = {
		.name = "fair gangs", .policy = &gp_policy_fair, .devices = 2,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "one", OFFLINE, 3 }, { "two", OFFLINE, 3 } },
		.may = EX_FAULTS | EX_RESETS,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

static void promises_with_deadlines(void **state)
{
	struct explore config = {
		.name = "deadline", .policy = &gp_policy_deadline, .devices = 1,
		.flags = GP_RPTR_IS_COMPLETION,
		.task = { { "one", PROMISE(6, 2), 1 }, { "two", PROMISE(4, 1), 1 },
			  { "train", OFFLINE, 1 } },
		.may = EX_FAULTS | EX_POLICIES,
	};

	(void)state;
	run(&config, 150000, 2000000);
}

/* Holds all tasks for a task that may not be stopped and ignores what they are owed. */
static void greedy_decide(struct gp_verdict *v)
{
	struct gp_seat *seat, *top = NULL;

	for (seat = gp_active_first(v); seat; seat = gp_active_next(v, seat))
		if (!(gp_class_of(v->sched, seat)->flags & GP_PREEMPTIBLE) && gp_seat_claims(seat))
			top = seat;
	for (seat = gp_active_first(v); seat && top; seat = gp_active_next(v, seat))
		if (seat != top && (gp_class_of(v->sched, seat)->flags & GP_PREEMPTIBLE))
			gp_hold(v, seat, top);
}

static void a_policy_that_starves_others_is_found_by_the_shortest_way(void **state)
{
	static const struct gp_policy greedy = { .name = "greedy", .decide = greedy_decide };
	struct explore config = {
		.name = "greedy", .policy = &greedy, .devices = 1, .flags = GP_RPTR_IS_COMPLETION,
		.task = { { "infer", ONLINE, 1 }, { "train", OFFLINE, 1 } },
		.max_states = 300000,
	};
	static char text[4096];
	struct ex_result r;

	(void)state;
	EXPECT_EQ(explore(&config, &r), 0);
	EXPECT(r.wrong);
	explore_tell(&config, &r, text, sizeof(text));
	fputs(text, stderr);
	assert_string_equal(r.wrong, "held past the maximum hold");
	/* both have work; the rest follows without events */
	EXPECT_EQ(r.length, 2);
	EXPECT(r.later && r.busy);
	EXPECT(strstr(text, "stop train"));
}

PROVE(
	CLAIM(one_victim_and_every_fault),
	CLAIM(drained_work_that_settles_and_barriers),
	CLAIM(probes_that_say_yes_no_and_perhaps),
	CLAIM(holds_and_switches_at_any_time),
	CLAIM(three_tasks_one_above_the_other),
	CLAIM(a_gang_on_two_devices),
	CLAIM(fair_shares),
	CLAIM(fair_gangs),
	CLAIM(promises_with_deadlines),
	CLAIM(a_policy_that_starves_others_is_found_by_the_shortest_way),
)
