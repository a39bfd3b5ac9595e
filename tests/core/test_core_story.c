/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The scheduler's behaviour in stories: tasks arrive, are stopped and come back. */
#include "core_world.h"

enum { TRAIN, INFER, OTHER };

/* Two batch jobs and a server. Pointers move at completion. */
static const struct actor three[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "other", BATCH(1) }, { .name = NULL },
};

static const struct cast completion = {
	.actors = three, .flags = GP_RPTR_IS_COMPLETION, .set = { { GP_LINGER, 3 } },
};
static const struct cast settling = { .actors = three, .set = { { GP_LINGER, 3 } } };
static const struct cast probing = {
	.actors = three, .flags = GP_CAN_PROBE,
	.set = { { GP_LINGER, 3 }, { GP_OCCUPANCY_EVERY, 10 * GP_SEC } },
};

static void work_that_arrives_takes_the_gpu_and_gives_it_back(void **state)
{
	static const struct line story[] = {
		/* us   what      who     arg  wanted    where */
		{    0, ARRIVE,   TRAIN,  2,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, LOOK,     NO_TASK, 0,  "",       ".oo" },
		{  250, DRAIN,    INFER,  0,   "",       ".oo" },
		{  251, WAIT,     NO_TASK, 0,  "+train", "roo" },
		{  290, DONE,     TRAIN,  0,   "",       "ooo" },
	};

	(void)state;
	PLAY(&completion, story);
}

static void all_victims_leave_in_one_action_but_not_the_idle(void **state)
{
	static const struct line both[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{    0, ARRIVE,   OTHER,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-other -train", "sos" },
		{  130, DONE,     OTHER,  0,   "",       "so." },
		{  140, DONE,     TRAIN,  0,   "",       ".o." },
	};
	static const struct line one[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{    0, ARRIVE,   OTHER,  1,   "",       "ooo" },
		{   50, DRAIN,    OTHER,  0,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
	};

	(void)state;
	PLAY(&completion, both);
	PLAY(&completion, one);
}

static void a_drained_victim_is_stopped_until_it_is_known_to_be_idle(void **state)
{
	static const struct line not_yet[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{   50, DRAIN,    TRAIN,  0,   "",       "ooo" },
		{  500, ARRIVE,   INFER,  1,   "-train", "soo" },
	};
	static const struct line settled[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{   50, DRAIN,    TRAIN,  0,   "",       "ooo" },
		{  600, ARRIVE,   INFER,  1,   "",       "ooo" },
	};

	(void)state;
	PLAY(&settling, not_yet);
	PLAY(&settling, settled);
}

static void a_drained_task_keeps_the_gpu_until_the_settle_time_is_over(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "",       ".oo" },
		{  699, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{  700, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{  701, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	(void)state;
	PLAY(&settling, story);
}

static void a_probe_that_sees_waves_keeps_it_and_one_that_sees_none_ends_it(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "?infer", ".oo" },
		{  210, EXECUTES, INFER,  500, "",       ".oo" },
		{  240, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{  260, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
		{  270, EXECUTES_NOT, INFER, 0, "",      ".oo" },
		{  271, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	(void)state;
	PLAY(&probing, story);
}

static void a_probe_that_cannot_tell_leaves_it_to_the_settle_time(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "?infer", ".oo" },
		{  210, EXECUTES_PERHAPS, INFER, 0, "",  ".oo" },
		{  700, WAIT,     NO_TASK, 0,  NULL,     NULL },
		{  701, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	(void)state;
	PLAY(&probing, story);
}

static void an_unanswered_probe_is_waited_for(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "?infer", ".oo" },
		{  900, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 1000, LOOK,     NO_TASK, 0,  "",       ".oo" },
		{ 1100, EXECUTES_NOT, INFER, 0, "",      ".oo" },
		{ 1101, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	(void)state;
	PLAY(&probing, story);
}

/* A probe from before the last launch says nothing about that kernel. */
static void an_answer_to_an_old_question_confirms_nothing(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  2,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  340, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
		{  350, DRAIN,    INFER,  0,   "",       ".oo" },
		{  360, EXECUTES_NOT, INFER, 0, "?infer", ".oo" },
		{  370, EXECUTES_NOT, INFER, 0, "",      ".oo" },
		{  371, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	(void)state;
	PLAY(&probing, story);
}

static void blocked_at_a_barrier_it_loses_its_claim_after_1_ms(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, AT_BARRIER, INFER, 0,  "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{ 1139, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 1140, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 1141, WAIT,     NO_TASK, 0,  "+train", "roo" },
		{ 1180, DONE,     TRAIN,  0,   "",       "ooo" },
		/* packets after the barrier change nothing, progress does */
		{ 1300, ARRIVE,   INFER,  3,   "",       "ooo" },
		{ 1400, PROGRESS, INFER,  1,   "",       "ooo" },
		{ 1450, LOOK,     NO_TASK, 0,  "-train", "soo" },
	};

	(void)state;
	PLAY(&completion, story);
}

static void a_stall_that_is_no_barrier_takes_2_ms(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  2,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{ 1000, PROGRESS, INFER,  1,   "",       ".oo" },
		{ 2999, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 3000, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 3001, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	struct core_world *w = cw_new(&completion);

	(void)state;
	cw_play(w, story, 4);
	/* progress changes the time to wake without a decision */
	EXPECT_EQ(gp_sched_wake_at(w->s), US(3000));
	cw_play(w, story + 4, 3);
	cw_free(w);
}

/* The task lingered while it held others off. The stall starts with the new work. */
static void new_work_of_one_that_lingers_has_its_own_2_ms(void **state)
{
	static const struct line story[] = {
		{    0, SET,      GP_LINGER, MS(50), "", "ooo" },
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, DRAIN,    INFER,  0,   "",       ".oo" },
		{ 9000, ARRIVE,   INFER,  1,   "",       ".oo" },
		{ 9500, WAIT,     NO_TASK, 0,  "",       ".oo" },
	};
	struct core_world *w = cw_new(&completion);

	(void)state;
	cw_play(w, story, sizeof(story) / sizeof(story[0]));
	EXPECT_EQ(cw_seat(w, INFER)->work, GP_PENDING);
	SCENE(w, { 11000, WAIT, NO_TASK, 0, "", ".oo" });
	EXPECT_EQ(cw_seat(w, INFER)->work, GP_BLOCKED);
	/*
	 * the gap lasts from the drain to the new work; time before the first work does not count
	 */
	EXPECT_EQ(cw_seat(w, INFER)->gaps.count, 1);
	EXPECT_EQ(cw_seat(w, INFER)->gaps.sum, US(8800));
	cw_free(w);
}

static void a_probe_finds_it_blocked_after_200_us(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  339, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{  340, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
		{  350, EXECUTES, INFER,  900, "",       ".oo" },
		{  550, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
		{  560, EXECUTES_NOT, INFER, 0, "",      ".oo" },
		{  561, WAIT,     NO_TASK, 0,  "+train", "roo" },
	};

	(void)state;
	PLAY(&probing, story);
}

static void waves_once_seen_are_no_stall_until_asked_about_again(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  2,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  340, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
		{  350, EXECUTES, INFER,  900, "",       ".oo" },
		{  550, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
		/* the home answers late */
		{ 4000, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 4010, EXECUTES, INFER,  900, NULL,     ".oo" },
		{ 4020, PROGRESS, INFER,  1,   NULL,     ".oo" },
	};
	struct core_world *w = cw_new(&probing);

	(void)state;
	cw_play(w, story, sizeof(story) / sizeof(story[0]));
	/* nothing is known about the new kernel */
	EXPECT_EQ(cw_seat(w, INFER)->executing, GP_EXEC_UNKNOWN);
	cw_free(w);
}

/* A probe from before the task was off does not describe it now. */
static void a_task_that_comes_back_is_probed_anew(void **state)
{
	static const struct actor ranks[] = {
		{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "middle", BATCH(5) },
		{ .name = NULL },
	};
	static const struct cast middle = {
		.actors = ranks, .flags = GP_CAN_PROBE | GP_RPTR_IS_COMPLETION,
		.set = { { GP_LINGER, 3 }, { GP_OCCUPANCY_EVERY, 10 * GP_SEC },
			 { GP_SMALL_VICTIM, 1 } },
	};
	struct core_world *w = cw_new(&middle);
	u64 us;

	(void)state;
	SCENE(w,
	      { 2000, ARRIVE,   TRAIN,  1,   NULL,      "ooo" },
	      { 2100, ARRIVE,   OTHER,  1,   NULL,      "soo" },
	      { 2140, DONE,     TRAIN,  0,   NULL,      ".oo" });
	/* the interval between probes of one long kernel grows */
	for (us = 2200; us < 13000 || cw_seat(w, OTHER)->probe_ns < US(us + 900); us += 50) {
		SCENE(w, { us, WAIT, NO_TASK, 0, NULL, ".oo" });
		if (cw_seat(w, OTHER)->probing)
			SCENE(w, { us, EXECUTES, OTHER, 900, NULL, ".oo" });
	}
	/* but a probe comes at least once per stall time */
	EXPECT(cw_seat(w, OTHER)->probe_ns <= US(us) + MS(2));
	SCENE(w,
	      { us + 50, ARRIVE, INFER,  1,   NULL,      ".os" },
	      { us + 60, DONE,   OTHER,  0,   NULL,      ".o." },
	      { us + 70, DRAIN,  INFER,  0,   NULL,      NULL },
	      { us + 71, WAIT,   NO_TASK, 0,  "+middle", ".or" },
	      { us + 80, DONE,   OTHER,  0,   NULL,      ".oo" },
	      { us + 279, WAIT,  NO_TASK, 0,  "",        ".oo" },
	      { us + 280, WAIT,  NO_TASK, 0,  "?middle", ".oo" });
	cw_free(w);
}

/* The task waits for the save and not at a barrier, so it is not blocked. */
static void waiting_for_a_slow_stop_is_not_being_blocked(void **state)
{
	static const struct line plain[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{ 5000, WAIT,     NO_TASK, 0,  "",       "soo" },
		{ 9000, DONE,     TRAIN,  0,   "",       ".oo" },
		{10999, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{11001, WAIT,     NO_TASK, 0,  NULL,     NULL },
		{11002, WAIT,     NO_TASK, 0,  NULL,     "roo" },
	};
	static const struct line asked[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{ 1000, WAIT,     NO_TASK, 0,  "",       "soo" },
		{ 1100, DONE,     TRAIN,  0,   "",       ".oo" },
		{ 1299, WAIT,     NO_TASK, 0,  "",       ".oo" },
		{ 1300, WAIT,     NO_TASK, 0,  "?infer", ".oo" },
	};

	(void)state;
	PLAY(&completion, plain);
	PLAY(&probing, asked);
}

static void progress_beside_a_lower_task_stops_no_task_until_a_look_sees_none(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, TURNOVER, INFER,  1,   "",       "ooo" },
		{  140, ARRIVE,   OTHER,  1,   "",       "ooo" },
		{  200, DRAIN,    OTHER,  0,   "",       "ooo" },
	};
	static const struct line inverted[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  5,   "-train", "soo" },
		{  110, REFUSED,  TRAIN,  0,   "",       "ooo" },
		{  150, PROGRESS, INFER,  1,   "",       "ooo" },
	};
	struct core_world *w = cw_new(&completion);
	static const struct line wptr_and_rptr[] = {
		{    0, ARRIVE,   TRAIN,  1,   "",       "ooo" },
	};
	struct gp_sample sample;

	(void)state;
	PLAY(&completion, story);
	PLAY(&completion, inverted);

	/* five packets written, one of them already read at the first look */
	cw_play(w, wptr_and_rptr, 1);
	sample = (struct gp_sample){ .queue = w->queue[INFER][0], .rptr = 1, .wptr = 5 };
	w->now_ns = US(100);
	EXPECT_EQ(gp_sched_look(w->s, 0, &sample, 1, w->now_ns), 0);
	cw_pull(w);
	assert_string_equal(w->wanted, "");
	w->rptr[INFER][0] = 1;
	w->wptr[INFER][0] = 5;
	SCENE(w,
	      { 150, PROGRESS, INFER, 1, "", "ooo" },
	      { 200, PROGRESS, INFER, 1, "", "ooo" },
	      /* a look right after it misses nothing */
	      { 201, LOOK, NO_TASK, 0, "", "ooo" },
	      { 250, LOOK, NO_TASK, 0, "-train", "soo" });
	cw_free(w);
}

/* A read pointer that moves at launch shows only that new work was fetched. */
static void fetched_is_not_progress(void **state)
{
	struct core_world *w = cw_new(&settling);
	struct gp_sample sample;

	(void)state;
	SCENE(w, { 10, ARRIVE, TRAIN, 1, "", "ooo" });
	sample = (struct gp_sample){ .queue = w->queue[INFER][0], .rptr = 1, .wptr = 5 };
	w->now_ns = US(100);
	EXPECT_EQ(gp_sched_look(w->s, 0, &sample, 1, w->now_ns), 0);
	/* a decision is due, and the scheduler reports that */
	EXPECT(gp_sched_due(w->s, w->now_ns));
	EXPECT_EQ(gp_sched_wake_at(w->s), w->now_ns);
	cw_pull(w);
	assert_string_equal(w->wanted, "-train");
	EXPECT(!gp_sched_due(w->s, w->now_ns));
	EXPECT(gp_sched_due(w->s, gp_sched_wake_at(w->s)));
	cw_free(w);
}

static void no_task_is_stopped_for_a_lower_or_equal_one(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   INFER,  1,   "",       "ooo" },
		{   50, DRAIN,    INFER,  0,   "",       "ooo" },
		{  100, ARRIVE,   TRAIN,  1,   "",       "ooo" },
		{  300, ARRIVE,   OTHER,  1,   "",       "ooo" },
		{  400, LOOK,     NO_TASK, 0,  "",       "ooo" },
	};

	(void)state;
	PLAY(&completion, story);
}

static void without_a_preemptible_task_below_another_there_are_no_looks(void **state)
{
	static const struct actor equal[] = {
		{ "a", BATCH(5) }, { "b", BATCH(5) }, { .name = NULL }
	};
	static const struct actor firm[] = {
		{ "a", ORDINARY(1) }, { "b", CRITICAL(9) }, { .name = NULL }
	};
	static const struct cast a = { .actors = equal }, b = { .actors = firm };
	static const struct cast c = { .policy = &gp_policy_fifo, .actors = three };
	const struct cast *all[] = { &a, &b, &c };
	struct core_world *w;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		w = cw_new(all[i]);
		SCENE(w, { 10, ARRIVE, 0, 1, "", NULL }, { 20, ARRIVE, 1, 1, "", NULL });
		EXPECT_EQ(gp_sched_look_at(w->s, 0), GP_NEVER);
		cw_free(w);
	}
	w = cw_new(&completion);
	SCENE(w, { 10, ARRIVE, TRAIN, 1, "", NULL });
	EXPECT_EQ(gp_sched_look_at(w->s, 0), US(10 + 50));
	SCENE(w, { 20, TURN_OFF, NO_TASK, 0, "", NULL });
	EXPECT_EQ(gp_sched_look_at(w->s, 0), GP_NEVER);
	EXPECT_EQ(gp_sched_look_at(w->s, 1), GP_NEVER);
	/* a task that is off waits for another task's work, so looks stay frequent */
	SCENE(w, { 30, TURN_ON, NO_TASK, 0, "", NULL }, { 40, ARRIVE, INFER, 1, "-train", NULL },
	      { 50, DRAIN, TRAIN, 0, "", NULL }, { 60, DONE, TRAIN, 0, "", ".oo" });
	EXPECT_EQ(w->s->devices[0].look_ns, US(50));
	cw_free(w);
}

PROVE(
	CLAIM(work_that_arrives_takes_the_gpu_and_gives_it_back),
	CLAIM(all_victims_leave_in_one_action_but_not_the_idle),
	CLAIM(a_drained_victim_is_stopped_until_it_is_known_to_be_idle),
	CLAIM(a_drained_task_keeps_the_gpu_until_the_settle_time_is_over),
	CLAIM(a_probe_that_sees_waves_keeps_it_and_one_that_sees_none_ends_it),
	CLAIM(a_probe_that_cannot_tell_leaves_it_to_the_settle_time),
	CLAIM(an_unanswered_probe_is_waited_for),
	CLAIM(an_answer_to_an_old_question_confirms_nothing),
	CLAIM(blocked_at_a_barrier_it_loses_its_claim_after_1_ms),
	CLAIM(a_stall_that_is_no_barrier_takes_2_ms),
	CLAIM(new_work_of_one_that_lingers_has_its_own_2_ms),
	CLAIM(a_probe_finds_it_blocked_after_200_us),
	CLAIM(waves_once_seen_are_no_stall_until_asked_about_again),
	CLAIM(a_task_that_comes_back_is_probed_anew),
	CLAIM(waiting_for_a_slow_stop_is_not_being_blocked),
	CLAIM(progress_beside_a_lower_task_stops_no_task_until_a_look_sees_none),
	CLAIM(fetched_is_not_progress),
	CLAIM(no_task_is_stopped_for_a_lower_or_equal_one),
	CLAIM(without_a_preemptible_task_below_another_there_are_no_looks),
)
