/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Failures as inputs: refused, late, lost and reset actions, and tasks that die at any time. */
#include "core_world.h"

enum { TRAIN, INFER, OTHER };

static const struct actor three[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "other", BATCH(1) }, { .name = NULL },
};
static const struct cast cast = {
	.actors = three, .flags = GP_RPTR_IS_COMPLETION, .set = { { GP_LINGER, 3 } },
};

/* infer preempts. train and other are off. */
static struct core_world *both_off(void)
{
	struct core_world *w = cw_new(&cast);

	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
	      {    0, ARRIVE,   OTHER,  1,   "",       "ooo" },
	      {  100, ARRIVE,   INFER,  1,   "-other -train", "sos" },
	      {  140, DONE,     TRAIN,  0,   "",       ".os" },
	      {  140, DONE,     OTHER,  0,   "",       ".o." });
	return w;
}

static void a_refused_stop_is_tried_again(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, REFUSED,  TRAIN,  0,   "",       "ooo" },
		{ 1139, WAIT,     NO_TASK, 0,  "",       "ooo" },
		{ 1140, WAIT,     NO_TASK, 0,  "-train", "soo" },
		{ 1150, DONE,     TRAIN,  0,   "",       ".oo" },
	};
	struct gp_account a;
	struct core_world *w = cw_new(&cast);

	(void)state;
	cw_play(w, story, 6);
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.stops_asked, 2);
	EXPECT_EQ(a.stops_failed, 1);
	EXPECT_EQ(a.stopped, 1);
	EXPECT_EQ(a.stopping, 0);
	cw_free(w);
}

static void a_stop_refused_again_and_again_is_tried_less_and_less_often(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 us = 150, wait = 1000;
	u32 i;

	(void)state;
	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
	      {  100, HOLD,     TRAIN,  990000, "-train", "soo" });
	for (i = 0; i < 9; i++) {
		SCENE(w,
		      { us, REFUSED, TRAIN, 0, "", "ooo" },
		      { us + wait - 1, WAIT, NO_TASK, 0, "", "ooo" },
		      { us + wait, WAIT, NO_TASK, 0, "-train", "soo" });
		us += wait + 10;
		wait = wait < 64000 ? 2 * wait : wait;
	}
	/* one success resets the errors */
	SCENE(w,
	      { us, DONE, TRAIN, 0, "", ".oo" },
	      { us + 10, RELEASE, TRAIN, 0, "+train", "roo" },
	      { us + 20, DONE, TRAIN, 0, "", "ooo" },
	      { us + 30, HOLD, TRAIN, 9000, "-train", "soo" },
	      { us + 40, REFUSED, TRAIN, 0, "", "ooo" },
	      { us + 1040, WAIT, NO_TASK, 0, "-train", "soo" });
	cw_free(w);
}

static void a_refused_start_is_tried_until_it_works(void **state)
{
	struct core_world *w = both_off();
	struct gp_account a;

	(void)state;
	SCENE(w,
	      {  200, DRAIN,    INFER,  0,   "",       ".o." },
	      {  201, WAIT,     NO_TASK, 0,  "+other +train", "ror" },
	      {  210, DONE,     OTHER,  0,   "",       "roo" },
	      {  210, REFUSED,  TRAIN,  0,   "",       ".oo" },
	      { 1210, WAIT,     NO_TASK, 0,  "+train", "roo" },
	      { 1220, REFUSED,  TRAIN,  0,   "",       ".oo" },
	      { 2220, WAIT,     NO_TASK, 0,  "+train", "roo" },
	      { 2230, REFUSED,  TRAIN,  0,   "",       ".oo" },
	      { 3230, WAIT,     NO_TASK, 0,  "+train", "roo" },
	      { 3240, DONE,     TRAIN,  0,   "",       "ooo" });
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.starts_asked, 4);
	EXPECT_EQ(a.starts_failed, 3);
	EXPECT_EQ(a.started, 1);
	EXPECT_EQ(a.longest_hold_ns, US(3240 - 100));
	cw_free(w);
}

static void a_stop_past_its_deadline_is_lost_and_not_waited_for(void **state)
{
	static const struct line story[] = {
		{      0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{      0, ARRIVE,   OTHER,  1,   "",       "ooo" },
		{    100, ARRIVE,   INFER,  1,   "-other -train", "sos" },
		{    140, DONE,     OTHER,  0,   "",       "so." },
		{ 100099, WAIT,     NO_TASK, 0,  "",       "so." },
		/* other reached its maximum hold meanwhile, so it is started */
		{ 100100, WAIT,     NO_TASK, 0,  "+other", "xor" },
		{ 100200, DONE,     OTHER,  0,   "",       "xoo" },
	};
	struct core_world *w = cw_new(&cast);
	struct gp_account a;

	(void)state;
	cw_play(w, story, 7);
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.stops_lost, 1);
	EXPECT_EQ(a.stopping, 0);
	EXPECT_EQ(a.late, 0);
	EXPECT_EQ(cw_seat(w, TRAIN)->overdue, GP_STOPPING);
	/* no other task is stopped while an answer is overdue */
	SCENE(w,
	      { 110000, DRAIN,    INFER,  0,   "",       "xoo" },
	      { 120000, ARRIVE,   INFER,  1,   "",       "xoo" },
	      { 121000, LOOK,     NO_TASK, 0,  "",       "xoo" });
	cw_free(w);
}

static void the_deadline_of_a_stop_is_a_time_to_wake(void **state)
{
	struct core_world *w = cw_new(&cast);

	(void)state;
	SCENE(w, { 50, HOLD, TRAIN, 900000, "-train", "soo" });
	EXPECT_EQ(gp_sched_wake_at(w->s), US(100050));
	cw_free(w);
}

static void a_late_answer_brings_it_back(void **state)
{
	static const struct line lost[] = {
		{      0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{    100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{    150, TIMED_OUT, TRAIN, 0,   "",       "xoo" },
		{    200, DRAIN,    INFER,  0,   "",       "xoo" },
	};
	static const struct line done[] = {
		{    300, DONE,     TRAIN,  0,   "+train", "roo" },
		{    310, DONE,     TRAIN,  0,   "",       "ooo" },
	};
	static const struct line refused[] = {
		{    300, REFUSED,  TRAIN,  0,   "",       "ooo" },
	};
	struct core_world *w = cw_new(&cast);
	struct gp_account a;

	(void)state;
	cw_play(w, lost, 4);
	cw_play(w, done, 2);
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.late, 1);
	EXPECT_EQ(a.stops_lost, 1);
	EXPECT_EQ(a.stopped, 0);
	EXPECT_EQ(cw_do(w, &(struct line){ 320, DONE, TRAIN, 0, 0, 0 }), -EPROTO);
	cw_free(w);

	w = cw_new(&cast);
	cw_play(w, lost, 4);
	/* an unknown result is no answer, so the real one may still come */
	SCENE(w, { 250, TIMED_OUT, TRAIN, 0, "", "xoo" });
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.late, 0);
	cw_play(w, refused, 1);
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.late, 1);
	/* preemption works there again */
	SCENE(w,
	      {  400, ARRIVE,   INFER,  1,   "-train", "soo" },
	      {  410, DONE,     TRAIN,  0,   "",       ".oo" });
	cw_free(w);
}

static void a_lost_start_comes_back_the_same_way(void **state)
{
	struct core_world *w = both_off();

	(void)state;
	SCENE(w,
	      {  200, DRAIN,    INFER,  0,   "",       ".o." },
	      {  201, WAIT,     NO_TASK, 0,  "+other +train", "ror" },
	      {  210, TIMED_OUT, OTHER, 0,   "",       "rox" },
	      {  220, TIMED_OUT, TRAIN, 0,   "",       "xox" },
	      {  300, DONE,     OTHER,  0,   "",       "xoo" },
	      {  310, REFUSED,  TRAIN,  0,   "+train", "roo" },
	      {  320, DONE,     TRAIN,  0,   "",       "ooo" });
	cw_free(w);
}

static void one_answer_may_end_all_that_is_left(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_answer all = { .task = GP_NONE, .outcome = GP_DONE };

	(void)state;
	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
	      {    0, ARRIVE,   OTHER,  1,   "",       "ooo" },
	      {  100, ARRIVE,   INFER,  1,   "-other -train", "sos" });
	all.action = w->action[TRAIN][0];
	EXPECT_EQ(gp_sched_answer(w->s, &all, US(120)), 0);
	EXPECT_EQ(gp_sched_answer(w->s, &all, US(121)), -EPROTO);
	SCENE(w, {  130, LOOK,  NO_TASK, 0,  "",       ".o." });
	cw_free(w);
}

static void a_reset_loses_all_tasks_and_answers_none(void **state)
{
	struct core_world *w = both_off();
	struct gp_account a;

	(void)state;
	SCENE(w,
	      {  200, DRAIN,    INFER,  0,   "",       ".o." },
	      {  201, WAIT,     NO_TASK, 0,  "+other +train", "ror" },
	      {  205, RESET,    0,      0,   "",       "xxx" });
	EXPECT_EQ(cw_do(w, &(struct line){ 210, DONE, TRAIN, 0, 0, 0 }), -EPROTO);
	cw_account(w, TRAIN, &a);
	EXPECT_EQ(a.starts_lost, 1);
	EXPECT_EQ(a.starting, 0);
	/* no LOST task is part of any action from here on */
	SCENE(w,
	      {  300, ARRIVE,   INFER,  1,   "",       "xxx" },
	      {  900, LOOK,     NO_TASK, 0,  "",       "xxx" },
	      { 1000, HOLD,     TRAIN,  500, "",       "xxx" },
	      { 1100, TURN_OFF, NO_TASK, 0,  "",       "xxx" });
	cw_free(w);
}

static void a_task_may_die_in_the_middle_of_anything(void **state)
{
	static const struct line begin[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "",       ".oo" },
		{  201, WAIT,     NO_TASK, 0,  "+train", "roo" },
		{  240, DONE,     TRAIN,  0,   "",       "ooo" },
	};
	struct core_world *w;
	u32 i, victim;

	(void)state;
	/* the victim dies after any prefix and the others continue */
	for (i = 0; i <= 6; i++) {
		w = cw_new(&cast);
		cw_play(w, begin, i);
		SCENE(w, { 300, DIE, TRAIN, 0, "", "oo" });
		EXPECT_EQ(gp_task_del(w->s, w->task[TRAIN], US(301)), -ENOENT);
		EXPECT(!w->s->devices[0].action);
		SCENE(w, { 400, ARRIVE, OTHER, 1, NULL, NULL },
		      { 500, ARRIVE, INFER, 1, NULL, NULL },
		      { 510, LOOK, NO_TASK, 0, NULL, "os" });
		cw_free(w);
	}
	/* the preemptor dies and the victims come back */
	for (i = 2; i <= 6; i++) {
		w = cw_new(&cast);
		cw_play(w, begin, i);
		SCENE(w, { 300, DIE, INFER, 0, NULL, NULL });
		for (victim = 0; victim < 3 && cw_seat(w, TRAIN)->state != GP_ON; victim++)
			SCENE(w, { 310, DONE, TRAIN, 0, NULL, NULL });
		SCENE(w, { 320, WAIT, NO_TASK, 0, "", "oo" });
		cw_free(w);
	}
}

static void a_number_taken_again_does_not_inherit_an_answer(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 old;

	(void)state;
	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
	      {  100, ARRIVE,   INFER,  1,   "-train", "soo" });
	old = w->action[TRAIN][0];
	SCENE(w, {  110, DIE,      TRAIN,  0,   "",       "oo" });
	{
		const char *why;
		u32 again;

		EXPECT_EQ(gp_task_add(w->s, 1, &three[TRAIN].class, US(120), &again, &why), 0);
		EXPECT_EQ(again, w->task[TRAIN]);
	}
	w->action[TRAIN][0] = old;
	EXPECT_EQ(cw_do(w, &(struct line){ 130, DONE, TRAIN, 0, 0, 0 }), -EPROTO);
	EXPECT_EQ(cw_seat(w, TRAIN)->state, GP_ON);
	cw_free(w);
}

/* infer dies and a new task takes its number. The stop was not for the new task. */
static void a_task_does_not_inherit_what_was_done_for_the_last_in_its_place(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_account a;
	const char *why;
	u32 again;

	(void)state;
	SCENE(w,
	      {    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
	      {  100, ARRIVE,   INFER,  1,   "-train", "soo" },
	      {  110, DIE,      INFER,  0,   "",       "so" });
	EXPECT_EQ(gp_task_add(w->s, 1, &three[INFER].class, US(120), &again, &why), 0);
	EXPECT_EQ(again, w->task[INFER]);
	SCENE(w, {  140, DONE,     TRAIN,  0,   "+train", "roo" });
	cw_account(w, INFER, &a);
	EXPECT_EQ(a.part[GP_PART_TOTAL].count, 0);
	cw_free(w);
}

static void a_device_may_be_pulled_out_in_the_middle_of_anything(void **state)
{
	static const struct line begin[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "",       ".oo" },
		{  201, WAIT,     NO_TASK, 0,  "+train", "roo" },
		{  210, TIMED_OUT, TRAIN, 0,   "",       "xoo" },
	};
	struct core_world *w;
	u32 i, again;

	(void)state;
	for (i = 0; i <= 6; i++) {
		w = cw_new(&cast);
		cw_play(w, begin, i);
		SCENE(w, { 300, UNPLUG, 0, 0, "", "" });
		EXPECT_EQ(gp_sched_look(w->s, 0, NULL, 0, US(310)), -ENOENT);
		EXPECT_EQ(gp_sched_wake_at(w->s), GP_NEVER);
		EXPECT_EQ(gp_device_add(w->s, 0, &again), 0);
		EXPECT_EQ(again, 0);
		SCENE(w, { 400, WAIT, NO_TASK, 0, "", "" });
		cw_free(w);
	}
}

static void a_probe_without_an_answer_does_not_keep_others_off(void **state)
{
	static const struct actor actors[] = {
		{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { .name = NULL }
	};
	static const struct cast asking = {
		.policy = &gp_policy_priority, .actors = actors, .flags = GP_CAN_PROBE,
		.set = { { GP_LINGER, 3 }, { GP_STOP_DEADLINE, MS(5) }, { GP_SMALL_VICTIM, 0 } },
	};
	struct core_world *w = cw_new(&asking);

	(void)state;
	SCENE(w,
	      {    100, ARRIVE, 0, 9, NULL,     "oo" },
	      {    300, ARRIVE, 1, 1, "-train", "so" },
	      {    340, DONE,   0, 0, "",       ".o" },
	      {    500, DRAIN,  1, 0, "?infer", ".o" },
	      {   5400, WAIT,   0, 0, "",       ".o" },
	      /* 5 ms for the answer, and drained for longer than the settle time */
	      {   5510, WAIT,   0, 0, NULL,     NULL },
	      {   5520, WAIT,   0, 0, NULL,     "ro" });
	cw_free(w);
}

PROVE(
	CLAIM(a_refused_stop_is_tried_again),
	CLAIM(a_probe_without_an_answer_does_not_keep_others_off),
	CLAIM(a_stop_refused_again_and_again_is_tried_less_and_less_often),
	CLAIM(a_refused_start_is_tried_until_it_works),
	CLAIM(a_stop_past_its_deadline_is_lost_and_not_waited_for),
	CLAIM(the_deadline_of_a_stop_is_a_time_to_wake),
	CLAIM(a_late_answer_brings_it_back),
	CLAIM(a_lost_start_comes_back_the_same_way),
	CLAIM(one_answer_may_end_all_that_is_left),
	CLAIM(a_reset_loses_all_tasks_and_answers_none),
	CLAIM(a_task_may_die_in_the_middle_of_anything),
	CLAIM(a_number_taken_again_does_not_inherit_an_answer),
	CLAIM(a_task_does_not_inherit_what_was_done_for_the_last_in_its_place),
	CLAIM(a_device_may_be_pulled_out_in_the_middle_of_anything),
)
