/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A policy is not trusted. If it breaks a rule, fifo replaces it and all tasks are released. */
#include <string.h>

#include "tests/core/core_world.h"

enum { TRAIN, INFER, FIRM, AWAY };

static const struct actor actors[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "firm", ORDINARY(1) },
	{ "away", BATCH(1), .devices = 2 }, { .name = NULL },
};

/* The misbehaviour of the policy under test, once enabled. */
static enum crime {
	NONE, FOR_NO_TASK, FOR_ITSELF, OTHER_DEVICE, FOR_OTHER_DEVICE, FIRM_TASK, FOR_HELD,
	FOR_IDLE, WAKE_PAST, FOR_EVER,
} crime;
static struct core_world *world;

static struct gp_seat *seat_of(u32 who)
{
	return (struct gp_seat *)cw_seat(world, who);
}

static void bad_decide(struct gp_verdict *v)
{
	struct gp_seat *train = seat_of(TRAIN), *infer = seat_of(INFER);

	if (v->device_id)
		return;
	if (crime == FOR_NO_TASK)
		gp_hold(v, train, NULL);
	if (crime == FOR_ITSELF)
		gp_hold(v, train, train);
	if (crime == OTHER_DEVICE)
		gp_hold(v, seat_of(AT(1, AWAY)), infer);
	if (crime == FOR_OTHER_DEVICE)
		gp_hold(v, train, seat_of(AT(1, AWAY)));
	if (crime == FIRM_TASK)
		gp_hold(v, seat_of(FIRM), infer);
	if (crime == WAKE_PAST)
		gp_wake_at(v, v->now_ns);
	if (gp_seat_claims(infer) || crime == FOR_EVER || crime == FOR_IDLE)
		gp_hold(v, train, infer);
	if (crime == FOR_HELD)
		gp_hold(v, infer, train);
}

static bool always(const struct gp_sched *s, const struct gp_device *d)
{
	(void)s;
	(void)d;
	return true;
}

static const struct gp_policy bad = { .name = "bad", .watch = always, .decide = bad_decide };

/* train is off for infer when the policy starts to misbehave. */
static void begin(void)
{
	const char *why;

	crime = NONE;
	world = cw_new(&(struct cast){ .actors = actors, .devices = 2,
				       .flags = GP_RPTR_IS_COMPLETION,
				       .policy = &gp_policy_fifo });
	EXPECT_EQ(gp_sched_set_policy(world->s, &bad, 0, &why), 0);
	SCENE(world,
	      {    0, ARRIVE,   TRAIN,  1,    "",         "oooo" },
	      {  100, ARRIVE,   INFER,  1,    "0:-train", "sooo" },
	      {  140, DONE,     TRAIN,  0,    "",         ".ooo" });
}

static void commit(enum crime what, const char *reason)
{
	begin();
	crime = what;
	SCENE(world, { 200, SET, GP_SETTLE, 1, "0:+train", "rooo" });
	EXPECT(world->s->policy == &gp_policy_fifo);
	assert_string_equal(world->s->ejected, reason);
	EXPECT_EQ(world->s->ejections, 1);
	SCENE(world,
	      {  240, DONE,     TRAIN,  0,    "",         "oooo" },
	      {  300, LOOK,     NO_TASK, 0,   "",         "oooo" });
	EXPECT_EQ(gp_sched_look_at(world->s, 0), GP_NEVER);
	cw_free(world);
}

static void a_policy_that_breaks_a_rule_is_ejected_and_its_holds_released(void **state)
{
	static const struct actor two[] = {
		{ "train", BATCH(1) }, { "infer", BATCH(9) }, { "firm", ORDINARY(1) },
		{ "away", BATCH(1), .devices = 2 }, { .name = NULL },
	};
	const char *why;

	(void)state;
	commit(FOR_NO_TASK, "held a task for no other task");
	commit(FOR_ITSELF, "held a task for no other task");
	commit(OTHER_DEVICE, "held a task of another device");
	commit(FOR_OTHER_DEVICE, "held a task of another device");
	commit(FIRM_TASK, "held a task that may not be preempted");
	commit(WAKE_PAST, "wanted to wake in the past");

	/* two tasks that hold each other */
	crime = NONE;
	world = cw_new(&(struct cast){ .actors = two, .devices = 2, .flags = 1,
				       .policy = &gp_policy_fifo });
	EXPECT_EQ(gp_sched_set_policy(world->s, &bad, 0, &why), 0);
	SCENE(world, { 0, ARRIVE, TRAIN, 1, "", NULL }, { 9, ARRIVE, INFER, 1, "0:-train", NULL });
	crime = FOR_HELD;
	SCENE(world, { 20, DONE, TRAIN, 0, "0:+train", "rooo" });
	assert_string_equal(world->s->ejected, "held a task for one that is held itself");
	cw_free(world);
}

static void held_past_the_lease_the_task_is_released_and_the_policy_ejected(void **state)
{
	(void)state;
	begin();
	crime = FOR_EVER;
	SCENE(world,
	      {  200, SET,      GP_STALL_AFTER, 10 * GP_SEC, "", ".ooo" },
	      { 1000099, WAIT,  NO_TASK, 0,   "",         ".ooo" },
	      { 1000100, WAIT,  NO_TASK, 0,   "0:+train", "rooo" });
	assert_string_equal(world->s->ejected, "kept a task off past the lease");
	cw_free(world);
}

static void no_task_is_held_for_one_that_is_idle_for_a_lease(void **state)
{
	(void)state;
	begin();
	crime = FOR_IDLE;
	SCENE(world,
	      {  150, SET,      GP_LEASE, MS(1), "", ".ooo" },
	      {  200, DRAIN,    INFER,  0,    "",         ".ooo" },
	      { 1100, WAIT,     NO_TASK, 0,   "0:+train", "rooo" });
	assert_string_equal(world->s->ejected, "kept a task off past the lease");
	cw_free(world);

	begin();
	SCENE(world,
	      {  200, DRAIN,    INFER,  0,    "0:+train", "rooo" },
	      {  240, DONE,     TRAIN,  0,    "",         "oooo" },
	      {  250, SET,      GP_LEASE, MS(1), "",      "oooo" });
	crime = FOR_IDLE;
	SCENE(world, { 1201, SET, GP_SETTLE, 1, "", "oooo" });
	assert_string_equal(world->s->ejected,
			    "held a task for one that has been idle for a whole lease");
	cw_free(world);
}

static void one_device_that_ejects_releases_all_devices(void **state)
{
	static const struct actor both[] = {
		{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "firm", ORDINARY(1) },
		{ "away", BATCH(1), .devices = 2 }, { "urgent", CRITICAL(9), .devices = 2 },
		{ .name = NULL },
	};
	const char *why;

	(void)state;
	crime = NONE;
	world = cw_new(&(struct cast){ .actors = both, .devices = 2, .flags = 1,
				       .set = { { GP_LINGER, 3 } } });
	SCENE(world,
	      {    0, ARRIVE,   AT(1, AWAY), 1, "", NULL },
	      {   10, ARRIVE,   AT(1, 4),    1, "1:-away", "oooso" },
	      {   20, DONE,     AT(1, AWAY), 0, "", "ooo.o" });
	crime = FOR_NO_TASK;
	EXPECT_EQ(gp_sched_set_policy(world->s, &bad, US(30), &why), 0);
	SCENE(world, { 30, WAIT, NO_TASK, 0, "1:+away", "oooro" });
	EXPECT(world->s->ejected);
	/* another policy may follow; the reason is kept as history */
	crime = NONE;
	EXPECT_EQ(gp_sched_set_policy(world->s, &gp_policy_priority, US(40), &why), 0);
	EXPECT(!world->s->ejected);
	EXPECT_EQ(world->s->ejections, 1);
	cw_free(world);
}

static void fifo_never_holds_a_task(void **state)
{
	static const struct cast fifo = {
		.policy = &gp_policy_fifo, .actors = actors, .devices = 2, .flags = 1,
	};
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,    "",         "oooo" },
		{  100, ARRIVE,   INFER,  1,    "",         "oooo" },
		{  200, LOOK,     NO_TASK, 0,   "",         "oooo" },
		{  300, HINT,     INFER,  0,    "",         "oooo" },
	};

	(void)state;
	PLAY(&fifo, story);
}

static void policies_are_found_by_name_and_number(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; gp_policies[i]; i++) {
		EXPECT(gp_policy_find(gp_policies[i]->name) == gp_policies[i]);
		EXPECT_EQ(gp_policy_number(gp_policies[i]), i);
	}
	EXPECT_EQ(i, 4);
	EXPECT(!gp_policy_find("prio"));
	EXPECT(!gp_policy_find("priorityy"));
	EXPECT_EQ(gp_policy_number(&bad), GP_NONE);
}

PROVE(
	CLAIM(a_policy_that_breaks_a_rule_is_ejected_and_its_holds_released),
	CLAIM(held_past_the_lease_the_task_is_released_and_the_policy_ejected),
	CLAIM(no_task_is_held_for_one_that_is_idle_for_a_lease),
	CLAIM(one_device_that_ejects_releases_all_devices),
	CLAIM(fifo_never_holds_a_task),
	CLAIM(policies_are_found_by_name_and_number),
)
