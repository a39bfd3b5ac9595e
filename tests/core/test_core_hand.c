/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Requests of users: hold and release, off and on, another policy, other settings. */
#include "core_world.h"

enum { TRAIN, INFER, FIRM };

static const struct actor three[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "firm", ORDINARY(1) }, { .name = NULL },
};
static const struct cast cast = {
	.actors = three, .flags = GP_RPTR_IS_COMPLETION, .set = { { GP_LINGER, 3 } },
};

static void a_hold_by_hand_ends_when_released(void **state)
{
	static const struct line story[] = {
		{    0, HOLD,     TRAIN,  9000, "-train", "soo" },
		{   50, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 1000, RELEASE,  TRAIN,  0,    "+train", "roo" },
		{ 1050, DONE,     TRAIN,  0,    "",       "ooo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void a_hold_by_hand_ends_with_its_lease(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,    "",       "ooo" },
		{    0, HOLD,     TRAIN,  9000, "-train", "soo" },
		{   50, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 8999, WAIT,     NO_TASK, 0,   "",       ".oo" },
		{ 9000, WAIT,     NO_TASK, 0,   "+train", "roo" },
		{ 9050, DONE,     TRAIN,  0,    "",       "ooo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void released_while_stopping_it_comes_back_at_once(void **state)
{
	static const struct line story[] = {
		{    0, HOLD,     TRAIN,  9000, "-train", "soo" },
		{   10, RELEASE,  TRAIN,  0,    "",       "soo" },
		{   50, DONE,     TRAIN,  0,    "+train", "roo" },
		{   60, HOLD,     TRAIN,  9000, "",       "roo" },
		{   90, DONE,     TRAIN,  0,    "-train", "soo" },
	};

	(void)state;
	PLAY(&cast, story);
}

/* The work of a task held by hand does not preempt. */
static void a_task_held_by_hand_claims_nothing(void **state)
{
	static const struct actor two[] = {
		{ "low", BATCH(1) }, { "high", BATCH(9) }, { .name = NULL },
	};
	static const struct cast batch = { .actors = two, .flags = GP_RPTR_IS_COMPLETION };
	static const struct line story[] = {
		{    0, ARRIVE,   0,      1,    "",       "oo" },
		{ 2000, HOLD,     1,      9000, "-high",  "os" },
		{ 2050, DONE,     1,      0,    "",       "o." },
		{ 2100, ARRIVE,   1,      1,    "",       "o." },
		{ 2200, LOOK,     NO_TASK, 0,   "",       "o." },
		{ 2300, RELEASE,  1,      0,    NULL,     NULL },
		{ 2400, LOOK,     NO_TASK, 0,   NULL,     "sr" },
	};

	(void)state;
	PLAY(&batch, story);
}

static void people_cannot_hold_what_may_not_be_held(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct line l = { 10, HOLD, FIRM, 100, NULL, NULL };

	(void)state;
	EXPECT_EQ(cw_do(w, &l), -EPERM);
	l.who = INFER;
	EXPECT_EQ(cw_do(w, &l), -EPERM);
	l.who = TRAIN;
	l.arg = 0;
	EXPECT_EQ(cw_do(w, &l), -ERANGE);
	l.arg = 1000001;
	EXPECT_EQ(cw_do(w, &l), -ERANGE);
	EXPECT_EQ(gp_sched_hold(w->s, 7, MS(1), MS(1)), -ENOENT);
	EXPECT_EQ(gp_sched_release(w->s, 7, MS(1)), -ENOENT);
	cw_free(w);
}

static void a_class_that_forbids_it_ends_a_hold_by_hand(void **state)
{
	struct core_world *w = cw_new(&cast);
	const char *why;

	(void)state;
	SCENE(w,
	      {    0, HOLD,     TRAIN,  9000, "-train", "soo" },
	      {   50, DONE,     TRAIN,  0,    "",       ".oo" });
	EXPECT_EQ(gp_task_set_class(w->s, w->task[TRAIN], &three[FIRM].class, US(60), &why), 0);
	SCENE(w,
	      {   60, WAIT,     NO_TASK, 0,   "+train", "roo" });
	cw_free(w);
}

static void a_task_that_may_not_be_preempted_never_is(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   FIRM,   1,    "",       "ooo" },
		{    0, ARRIVE,   TRAIN,  1,    "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,    "-train", "soo" },
		{  110, DONE,     TRAIN,  0,    "",       ".oo" },
		{  500, LOOK,     NO_TASK, 0,   "",       ".oo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void off_releases_everything_and_holds_nothing_until_on(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,    "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,    "-train", "soo" },
		{  110, DONE,     TRAIN,  0,    "",       ".oo" },
		{  200, TURN_OFF, NO_TASK, 0,   "+train", "roo" },
		{  210, DONE,     TRAIN,  0,    "",       "ooo" },
		{  300, LOOK,     NO_TASK, 0,   "",       "ooo" },
		{  310, ARRIVE,   INFER,  1,    "",       "ooo" },
		{  320, HOLD,     TRAIN,  500,  "",       "ooo" },
		{  330, HINT,     INFER,  0,    "",       "ooo" },
		{  340, RELEASE,  TRAIN,  0,    "",       "ooo" },
		{  400, TURN_ON,  NO_TASK, 0,   "-train", "soo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void turned_off_in_the_middle_of_a_stop_it_starts_again(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,    "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,    "-train", "soo" },
		{  105, TURN_OFF, NO_TASK, 0,   "",       "soo" },
		{  110, DONE,     TRAIN,  0,    "+train", "roo" },
		{  120, DONE,     TRAIN,  0,    "",       "ooo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void another_policy_keeps_track_of_all_tasks(void **state)
{
	enum { FIFO, PRIORITY, FAIR, DEADLINE };
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,    "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,    "-train", "soo" },
		/* during a stop */
		{  105, POLICY,   NO_TASK, DEADLINE, "",   "soo" },
		{  110, DONE,     TRAIN,  0,    "+train", "roo" },
		{  115, POLICY,   NO_TASK, PRIORITY, "",   "roo" },
		{  120, DONE,     TRAIN,  0,    "-train", "soo" },
		{  130, DONE,     TRAIN,  0,    "",       ".oo" },
		/* a new turn of the same policy knows which tasks are off and why */
		{  140, POLICY,   NO_TASK, PRIORITY, "",   ".oo" },
		{  150, POLICY,   NO_TASK, FIFO, "+train", "roo" },
		{  160, DONE,     TRAIN,  0,    "",       "ooo" },
		{  170, POLICY,   NO_TASK, FAIR, NULL,     NULL },
	};

	(void)state;
	PLAY(&cast, story);
}

static void another_policy_finds_no_traces_of_the_last(void **state)
{
	struct core_world *w = cw_new(&cast);
	const char *why;
	u32 i;

	(void)state;
	SCENE(w,
	      {   10, ARRIVE,   TRAIN,  1,    "",       "ooo" },
	      {  100, ARRIVE,   INFER,  1,    "-train", "soo" });
	EXPECT(cw_seat(w, TRAIN)->scratch[5]);
	((struct gp_device *)&w->s->devices[0])->scratch[0] = 1;
	EXPECT_EQ(gp_sched_set_policy(w->s, &gp_policy_fair, US(110), &why), 0);
	for (i = 0; i < GP_SCRATCH; i++) {
		EXPECT_EQ(cw_seat(w, TRAIN)->scratch[i], 0);
		EXPECT_EQ(w->s->devices[0].scratch[i], 0);
	}
	cw_free(w);
}

static void a_setting_takes_effect_at_once(void **state)
{
	static const struct line story[] = {
		{    0, SET,      GP_LINGER, MS(5), "",   "ooo" },
		{    0, ARRIVE,   TRAIN,  1,    "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,    "-train", "soo" },
		{  110, DONE,     TRAIN,  0,    "",       ".oo" },
		{  500, SET,      GP_STALL_AFTER, US(300), "", ".oo" },
		{  501, WAIT,     NO_TASK, 0,   "",       ".oo" },
		{ 5499, WAIT,     NO_TASK, 0,   "",       ".oo" },
		{ 5500, WAIT,     NO_TASK, 0,   "+train", "roo" },
	};

	(void)state;
	PLAY(&cast, story);
}

PROVE(
	CLAIM(a_hold_by_hand_ends_when_released),
	CLAIM(a_hold_by_hand_ends_with_its_lease),
	CLAIM(released_while_stopping_it_comes_back_at_once),
	CLAIM(a_task_held_by_hand_claims_nothing),
	CLAIM(people_cannot_hold_what_may_not_be_held),
	CLAIM(a_class_that_forbids_it_ends_a_hold_by_hand),
	CLAIM(a_task_that_may_not_be_preempted_never_is),
	CLAIM(off_releases_everything_and_holds_nothing_until_on),
	CLAIM(turned_off_in_the_middle_of_a_stop_it_starts_again),
	CLAIM(another_policy_keeps_track_of_all_tasks),
	CLAIM(another_policy_finds_no_traces_of_the_last),
	CLAIM(a_setting_takes_effect_at_once),
)
