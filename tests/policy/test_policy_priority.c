/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which task waits for which, the longest wait, and the linger after the last work. */
#include "tests/core/core_world.h"

enum { TRAIN, INFER, BATCH2 };

static const struct actor actors[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "report", ORDINARY(5) },
	{ .name = NULL },
};
enum { REPORT = BATCH2 };

static const struct cast cast = {
	.actors = actors, .flags = GP_RPTR_IS_COMPLETION, .set = { { GP_LINGER, 3 } },
};

/* ---- hints ---- */

static void a_hint_clears_the_gpu_just_in_time(void **state)
{
	static const struct line story[] = {
		/* one stop of 40 us teaches its cost: 40 us and a quarter more */
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,    "-train", "soo" },
		{  140, DONE,     TRAIN,  0,    "",       ".oo" },
		{  200, DRAIN,    INFER,  0,    "",       ".oo" },
		{  201, WAIT,     NO_TASK, 0,   "+train", "roo" },
		{  211, DONE,     TRAIN,  0,    "",       "ooo" },
		{ 1000, HINT,     INFER,  200,  "",       "ooo" },
		{ 1149, WAIT,     NO_TASK, 0,   "",       "ooo" },
		{ 1150, WAIT,     NO_TASK, 0,   "-train", "soo" },
		{ 1190, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 1200, ARRIVE,   INFER,  1,    "",       ".oo" },
		{ 1300, DRAIN,    INFER,  0,    "",       ".oo" },
		{ 1301, WAIT,     NO_TASK, 0,   "+train", "roo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void a_hint_that_comes_to_nothing_expires(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{ 1000, HINT,     INFER,  200,  "-train", "soo" },
		{ 1040, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 2199, WAIT,     NO_TASK, 0,   "",       ".oo" },
		{ 2200, WAIT,     NO_TASK, 0,   "",       ".oo" },
		{ 2201, WAIT,     NO_TASK, 0,   "+train", "roo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void a_hint_claims_no_longer_than_its_maximum(void **state)
{
	struct core_world *w = cw_new(&cast);

	(void)state;
	SCENE(w, { 0, ARRIVE, TRAIN, 9, "", "ooo" });
	EXPECT_EQ(gp_sched_hint(w->s, w->task[INFER], 0, MS(900), US(10)), 0);
	SCENE(w,
	      {   10, WAIT,     NO_TASK, 0,   "-train", "soo" },
	      {   50, DONE,     TRAIN,  0,    "",       ".oo" },
	      { 5009, WAIT,     NO_TASK, 0,   "",       ".oo" },
	      { 5010, WAIT,     NO_TASK, 0,   "",       ".oo" },
	      { 5011, WAIT,     NO_TASK, 0,   "+train", "roo" });
	cw_free(w);
}

static void a_hint_that_makes_no_sense_is_refused(void **state)
{
	struct core_world *w = cw_new(&cast);

	(void)state;
	EXPECT_EQ(gp_sched_hint(w->s, 7, 0, MS(1), 0), -ENOENT);
	EXPECT_EQ(gp_sched_hint(w->s, w->task[INFER], MS(3), MS(2), 0), -EINVAL);
	EXPECT_EQ(gp_sched_hint(w->s, w->task[INFER], 0, MS(2), MS(2)), -EINVAL);
	EXPECT_EQ(gp_sched_hint(w->s, w->task[INFER], 3601 * GP_SEC, GP_NEVER, 0), -EINVAL);
	EXPECT_EQ(w->s->now_ns, 0);
	cw_free(w);
}

/* ---- linger ---- */

/* Submits work for 10 us, then nothing for gap us, n times. Returns the time of the last drain. */
static u64 requests(struct core_world *w, u64 us, u64 gap, u32 n)
{
	while (n--) {
		us += gap;
		SCENE(w, { us, ARRIVE, INFER, 1, NULL, NULL });
		us += 10;
		if (cw_seat(w, TRAIN)->state == GP_STOPPING)
			SCENE(w, { us, DONE, TRAIN, 0, NULL, NULL });
		SCENE(w, { us, DRAIN, INFER, 0, NULL, NULL });
		if (cw_seat(w, TRAIN)->state == GP_STARTING)
			SCENE(w, { us, DONE, TRAIN, 0, NULL, NULL });
	}
	return us;
}

/* Returns when train starts after the drain at @us. */
static u64 linger_us(struct core_world *w, u64 us, u64 most)
{
	u64 at;

	for (at = us; at <= us + most; at++) {
		SCENE(w, { at, WAIT, NO_TASK, 0, NULL, NULL });
		if (cw_seat(w, TRAIN)->state == GP_STARTING)
			return at - us;
	}
	return GP_NEVER;
}

static void a_fixed_linger_is_that_long(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 us;

	(void)state;
	SCENE(w, { 0, SET, GP_LINGER, US(70), "", NULL }, { 0, ARRIVE, TRAIN, 9, "", NULL });
	us = requests(w, 0, 1000, 1);
	EXPECT_EQ(linger_us(w, us, 1000), 70);
	cw_free(w);
}

static void ski_rental_lingers_for_what_a_switch_costs(void **state)
{
	struct core_world *w = cw_new(&cast);

	(void)state;
	SCENE(w,
	      {    0, SET,      GP_LINGER, GP_LINGER_SKI, "", NULL },
	      {    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
	      {  100, ARRIVE,   INFER,  1,    "-train", "soo" },
	      {  140, DONE,     TRAIN,  0,    "",       ".oo" },
	      {  200, DRAIN,    INFER,  0,    "",       ".oo" },
	      {  240, WAIT,     NO_TASK, 0,   "+train", "roo" },
	      {  270, DONE,     TRAIN,  0,    "",       "ooo" },
	      { 1000, ARRIVE,   INFER,  1,    "-train", "soo" },
	      { 1040, DONE,     TRAIN,  0,    "",       ".oo" },
	      { 1100, DRAIN,    INFER,  0,    "",       ".oo" });
	/* stop 40, start 30 */
	EXPECT_EQ(linger_us(w, 1100, 1000), 70);
	cw_free(w);
}

/* A stop of 10 ms beside one of 40 us, in either order, hardly changes the learnt cost. */
static void a_cost_far_from_the_others_is_hardly_believed(void **state)
{
	static const u64 stop_us[][2] = { { 40, 10000 }, { 10000, 40 } };
	u64 us, learnt;
	u32 i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct core_world *w = cw_new(&cast);

		SCENE(w, { 0, SET, GP_LINGER, GP_LINGER_SKI, "", NULL },
		      { 0, ARRIVE, TRAIN, 9, "", NULL });
		for (k = 0, us = 0; k < 2; k++) {
			us += MS(50) / 1000;
			SCENE(w, { us, ARRIVE, INFER, 1, "-train", NULL });
			us += stop_us[i][k];
			SCENE(w, { us, DONE, TRAIN, 0, "", NULL });
			SCENE(w, { us, DRAIN, INFER, 0, NULL, NULL });
			learnt = linger_us(w, us, 20000);
			us += learnt;
			SCENE(w, { us, DONE, TRAIN, 0, "", NULL });
		}
		EXPECT(learnt > 40 && learnt < 40 * 8);
		cw_free(w);
	}
}

static void the_learnt_linger_covers_short_gaps_and_not_long_ones(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 us;

	(void)state;
	SCENE(w, { 0, SET, GP_LINGER, GP_LINGER_LEARNT, "", NULL },
	      { 0, ARRIVE, TRAIN, 9, "", NULL });
	/* 15 us are shorter than the cost of a return: a stop of 10, and 5 x 10 of latency */
	us = requests(w, 0, 15, 40);
	EXPECT_EQ(cw_seat(w, TRAIN)->state, GP_OFF);
	EXPECT(linger_us(w, us, 5000) > 15);
	cw_free(w);

	w = cw_new(&cast);
	SCENE(w, { 0, SET, GP_LINGER, GP_LINGER_LEARNT, "", NULL },
	      { 0, ARRIVE, TRAIN, 9, "", NULL });
	requests(w, 0, 20000, 40);
	EXPECT_EQ(cw_seat(w, TRAIN)->state, GP_ON);
	cw_free(w);
}

static void no_linger_lasts_past_the_lease(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 us;

	(void)state;
	SCENE(w, { 0, SET, GP_LINGER, 10 * GP_SEC, "", NULL }, { 0, ARRIVE, TRAIN, 9, "", NULL });
	us = requests(w, 0, 1000, 1);
	for (; us < 3000000; us += 500) {
		SCENE(w, { us, WAIT, NO_TASK, 0, NULL, NULL });
		if (cw_seat(w, TRAIN)->state == GP_STARTING ||
		    cw_seat(w, TRAIN)->state == GP_STOPPING)
			SCENE(w, { us, DONE, TRAIN, 0, NULL, NULL });
	}
	EXPECT(!w->s->ejected);
	EXPECT_EQ(cw_seat(w, TRAIN)->state, GP_ON);
	cw_free(w);
}

/* ---- minimum turn, maximum hold, minimum share ---- */

static void a_task_just_started_keeps_the_gpu_for_a_turn_unless_latency_is_critical(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{ 2000, ARRIVE,   REPORT, 1,    "-train", "soo" },
		{ 2040, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 2100, DRAIN,    REPORT, 0,    "",       ".oo" },
		{ 2101, WAIT,     NO_TASK, 0,   "+train", "roo" },
		{ 2200, DONE,     TRAIN,  0,    "",       "ooo" },
		{ 2300, ARRIVE,   REPORT, 1,    "",       "ooo" },
		{ 3199, LOOK,     NO_TASK, 0,   "",       "ooo" },
		{ 3200, WAIT,     NO_TASK, 0,   "-train", "soo" },
		{ 3240, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 3300, DRAIN,    REPORT, 0,    "",       ".oo" },
		{ 3301, WAIT,     NO_TASK, 0,   "+train", "roo" },
		{ 3400, DONE,     TRAIN,  0,    "",       "ooo" },
		{ 3450, ARRIVE,   INFER,  1,    "-train", "soo" },
	};

	(void)state;
	PLAY(&cast, story);
}

/* The task waited for another task's turn and not at a barrier. */
static void waiting_for_a_turn_is_not_being_blocked(void **state)
{
	static const struct cast patient = {
		.actors = actors, .flags = GP_RPTR_IS_COMPLETION,
		.set = { { GP_LINGER, 3 }, { GP_MIN_TURN, MS(10) } },
	};
	static const struct line story[] = {
		{     0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  1000, ARRIVE,   REPORT, 1,    "",       "ooo" },
		{  5000, LOOK,     NO_TASK, 0,   "",       "ooo" },
		{ 10000, WAIT,     NO_TASK, 0,   "-train", "soo" },
		{ 10040, DONE,     TRAIN,  0,    "",       ".oo" },
		{ 12039, LOOK,     NO_TASK, 0,   "",       ".oo" },
	};

	(void)state;
	PLAY(&patient, story);
}

/* The time before a task existed does not count as time off. */
static void a_task_that_comes_late_is_owed_nothing(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct gp_pointers work = { 0, 1 };
	const char *why;
	u32 task, queue;

	(void)state;
	SCENE(w, { 10000000, WAIT, NO_TASK, 0, "", NULL }, { 10000001, DIE, TRAIN, 0, "", NULL });
	EXPECT_EQ(gp_task_add(w->s, 1, &actors[TRAIN].class, w->now_ns, &task, &why), 0);
	EXPECT_EQ(task, w->task[TRAIN]);
	EXPECT_EQ(gp_queue_add(w->s, task, 0, &work, w->now_ns, &queue), 0);
	SCENE(w, { 10000100, ARRIVE, INFER, 1, "-train", "soo" });
	cw_free(w);
}

struct shares {
	u64 on_ns, longest_ns;
};

/*
 * infer has work for @busy us of every @period us and progresses only alone. train always has
 * work. A switch takes 30 us.
 */
static struct shares colocate(struct core_world *w, u64 busy, u64 period, u64 length)
{
	struct shares got = { 0, 0 };
	struct gp_account a;
	u64 us, moves_at = 0;

	SCENE(w, { 0, ARRIVE, TRAIN, 1, NULL, NULL });
	for (us = 10; us < length; us += 10) {
		bool work = us % period < busy, has = w->rptr[INFER][0] != w->wptr[INFER][0];
		bool alone = cw_seat(w, TRAIN)->state == GP_OFF;
		u32 is;

		if (work && us % 50 == 0)
			SCENE(w, { us, !has ? ARRIVE : alone ? TURNOVER : LOOK, INFER, 1,
				   NULL, NULL });
		else if (!work && has)
			SCENE(w, { us, DRAIN, INFER, 0, NULL, NULL });
		else
			SCENE(w, { us, WAIT, NO_TASK, 0, NULL, NULL });
		is = cw_seat(w, TRAIN)->state;
		if (is != GP_STOPPING && is != GP_STARTING)
			moves_at = us + 30;
		else if (us >= moves_at)
			SCENE(w, { us, DONE, TRAIN, 0, NULL, NULL });
	}
	cw_account(w, TRAIN, &a);
	got.on_ns = a.state_ns[GP_ON];
	got.longest_ns = a.longest_hold_ns;
	return got;
}

static void below_a_task_that_never_ends_others_get_their_share_in_time(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct shares got = colocate(w, 1000, 1000, 2000000);
	struct gp_account train, infer;

	(void)state;
	EXPECT(got.longest_ns <= MS(100));
	EXPECT(got.longest_ns >= MS(95));
	EXPECT(got.on_ns >= MS(2000) * 45 / 1000);
	EXPECT(got.on_ns <= MS(2000) * 60 / 1000);
	EXPECT(!w->s->ejected);
	/* the wait for turns of other tasks is not the latency of a stop */
	cw_account(w, TRAIN, &train);
	cw_account(w, INFER, &infer);
	EXPECT_EQ(infer.preempted_others, train.stops_asked);
	EXPECT(infer.part[GP_PART_TOTAL].count >= train.stopped);
	EXPECT(infer.part[GP_PART_TOTAL].max < MS(1));
	cw_free(w);
}

/* Two victims are stopped at different times. A turn of one does not count as a preemption. */
static void a_turn_is_not_counted_as_a_preemption(void **state)
{
	static const struct actor four[] = {
		{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "other", BATCH(1) },
		{ .name = NULL },
	};
	static const struct cast patient = {
		.actors = four, .flags = GP_RPTR_IS_COMPLETION,
		.set = { { GP_LINGER, 3 }, { GP_STALL_AFTER, 10 * GP_SEC } },
	};
	struct core_world *w = cw_new(&patient);
	struct gp_account a;

	(void)state;
	SCENE(w,
	      {     0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
	      {   100, ARRIVE,   INFER,  9,    "-train", "soo" },
	      {   140, DONE,     TRAIN,  0,    "",       ".oo" },
	      { 50000, ARRIVE,   2,      9,    "-other", ".os" },
	      { 50040, DONE,     2,      0,    "",       ".o." },
	      {100100, WAIT,     NO_TASK, 0,   "+train", "ro." });
	cw_account(w, INFER, &a);
	EXPECT_EQ(a.preempted_others, 2);
	cw_free(w);
}

static void held_again_and_again_for_short_work_others_still_get_their_share(void **state)
{
	struct core_world *w = cw_new(&cast);
	struct shares got = colocate(w, 970, 1000, 2000000);

	(void)state;
	EXPECT(got.longest_ns <= MS(100));
	EXPECT(got.on_ns >= MS(2000) * 45 / 1000);
	cw_free(w);
}

/* ---- looking ---- */

static void looks_are_the_closer_the_closer_the_arrivals(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 us, close, far;

	(void)state;
	SCENE(w, { 0, ARRIVE, TRAIN, 9, "", NULL });
	EXPECT_EQ(w->s->devices[0].look_ns, US(50));
	us = requests(w, 0, 1000, 60);
	close = w->s->devices[0].look_ns;
	/* sqrt(2 x 1.2 us x about 1 ms / 5) */
	EXPECT(close > US(20) && close < US(24));
	us = requests(w, us, 100, 60);
	EXPECT_EQ(w->s->devices[0].look_ns, US(20));
	requests(w, us, 50000, 60);
	far = w->s->devices[0].look_ns;
	EXPECT_EQ(far, US(50));
	/* no task to preempt, so looks are rare */
	SCENE(w, { 8000000, WAIT, NO_TASK, 0, NULL, NULL });
	if (cw_seat(w, TRAIN)->state == GP_STARTING)
		SCENE(w, { 8000010, DONE, TRAIN, 0, "", "ooo" });
	SCENE(w, { 9000000, DRAIN, TRAIN, 0, "", "ooo" });
	EXPECT_EQ(w->s->devices[0].look_ns, MS(1));
	cw_free(w);
}

PROVE(
	CLAIM(a_hint_clears_the_gpu_just_in_time),
	CLAIM(a_hint_that_comes_to_nothing_expires),
	CLAIM(a_hint_claims_no_longer_than_its_maximum),
	CLAIM(a_hint_that_makes_no_sense_is_refused),
	CLAIM(a_fixed_linger_is_that_long),
	CLAIM(ski_rental_lingers_for_what_a_switch_costs),
	CLAIM(a_cost_far_from_the_others_is_hardly_believed),
	CLAIM(the_learnt_linger_covers_short_gaps_and_not_long_ones),
	CLAIM(no_linger_lasts_past_the_lease),
	CLAIM(a_task_just_started_keeps_the_gpu_for_a_turn_unless_latency_is_critical),
	CLAIM(waiting_for_a_turn_is_not_being_blocked),
	CLAIM(a_task_that_comes_late_is_owed_nothing),
	CLAIM(below_a_task_that_never_ends_others_get_their_share_in_time),
	CLAIM(a_turn_is_not_counted_as_a_preemption),
	CLAIM(held_again_and_again_for_short_work_others_still_get_their_share),
	CLAIM(looks_are_the_closer_the_closer_the_arrivals),
)
