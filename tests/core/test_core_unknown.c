/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tasks whose pointers the home cannot read preempt no task, count as busy and can be stopped.
 * For comparison, a test leaves out samples instead.
 */
#include "core_world.h"

enum { TRAIN, INFER, OTHER };

static const struct actor three[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "other", BATCH(1) }, { .name = NULL },
};
static const struct cast cast = {
	.actors = three, .flags = GP_RPTR_IS_COMPLETION, .set = { { GP_LINGER, 3 } },
};
static const struct actor equal[] = {
	{ "train", SHARE(1) }, { "infer", SHARE(1) }, { .name = NULL },
};
static const struct cast fair = {
	.policy = &gp_policy_fair, .actors = equal, .flags = GP_RPTR_IS_COMPLETION,
	.set = { { GP_SLICE, US(2000) } },
};
static const struct actor promised[] = {
	{ "train", BATCH(1) }, { "infer", RESERVED(10, 5) }, { .name = NULL },
};
static const struct cast deadline = {
	.policy = &gp_policy_deadline, .actors = promised, .flags = GP_RPTR_IS_COMPLETION,
};

static void an_unknown_task_that_was_idle_is_preempted(void **state)
{
	static const struct line story[] = {
		{    0, UNKNOWN,  TRAIN,  0,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  250, DRAIN,    INFER,  0,   "",       ".oo" },
		{  251, WAIT,     NO_TASK, 0,  "+train", "roo" },
		{  290, DONE,     TRAIN,  0,   "",       "ooo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void an_unknown_task_preempts_no_task(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  9,   "",       "ooo" },
		{   50, UNKNOWN,  INFER,  0,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "",       "ooo" },
		{  200, HINT,     INFER,  0,   "",       "ooo" },
		{ 5000, LOOK,     NO_TASK, 0,  "",       "ooo" },
		/* when it is readable again, its last sample still shows work */
		{ 6000, KNOWN,    INFER,  0,   "",       "ooo" },
		{ 6050, LOOK,     NO_TASK, 0,  "-train", "soo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void a_task_that_becomes_unknown_gives_up_what_it_held(void **state)
{
	static const struct line story[] = {
		{    0, SET,      GP_LINGER, MS(50), "", "ooo" },
		{    0, ARRIVE,   TRAIN,  9,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{  200, UNKNOWN,  INFER,  0,   "+train", "roo" },
		{  240, DONE,     TRAIN,  0,   "",       "ooo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void an_unknown_task_comes_back_with_the_others(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   OTHER,  9,   "",       "ooo" },
		{   10, UNKNOWN,  TRAIN,  0,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train -other", "sos" },
		{  140, DONE,     TRAIN,  0,   "",       ".os" },
		{  150, DONE,     OTHER,  0,   "",       ".o." },
		{  250, DRAIN,    INFER,  0,   "",       ".o." },
		{  251, WAIT,     NO_TASK, 0,  "+train +other", "ror" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void a_share_of_an_unknown_task_is_taken_and_not_given(void **state)
{
	static const struct line story[] = {
		{    0, UNKNOWN,  TRAIN,  0,   "",       "oo" },
		{  100, ARRIVE,   INFER,  9,   "-train", "so" },
		{  140, DONE,     TRAIN,  0,   "",       ".o" },
		/* a slice later it is still the other task's turn */
		{ 2200, PROGRESS, INFER,  1,   "",       ".o" },
		{ 4300, PROGRESS, INFER,  1,   "",       ".o" },
		{ 4400, DRAIN,    INFER,  0,   "",       ".o" },
		{ 5000, WAIT,     NO_TASK, 0,  "+train", "ro" },
	};

	(void)state;
	PLAY(&fair, story);
}

static void a_promise_is_kept_beside_an_unknown_task(void **state)
{
	static const struct line story[] = {
		{    0, UNKNOWN,  TRAIN,  0,   "",       "oo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "so" },
		{  140, DONE,     TRAIN,  0,   "",       ".o" },
		{  250, DRAIN,    INFER,  0,   "+train", "ro" },
		{  290, DONE,     TRAIN,  0,   "",       "oo" },
		{  300, UNKNOWN,  INFER,  0,   "",       "oo" },
		{  400, ARRIVE,   INFER,  1,   "",       "oo" },
	};

	(void)state;
	PLAY(&deadline, story);
}

static void unknown_is_no_answer_to_a_probe(void **state)
{
	struct core_world *w = cw_new(&cast);

	(void)state;
	SCENE(w, { 0, UNKNOWN, TRAIN, 0, "", "ooo" });
	EXPECT_EQ(cw_seat(w, TRAIN)->work, GP_UNKNOWN);
	/* samples are accepted but do not make it known */
	SCENE(w, { 50, ARRIVE, TRAIN, 1, "", "ooo" }, { 90, DRAIN, TRAIN, 0, "", "ooo" },
		 { 9000000, WAIT, NO_TASK, 0, "", "ooo" });
	EXPECT_EQ(cw_seat(w, TRAIN)->work, GP_UNKNOWN);
	SCENE(w, { 9000001, KNOWN, TRAIN, 0, "", "ooo" });
	EXPECT_EQ(cw_seat(w, TRAIN)->work, GP_IDLE);
	EXPECT_EQ(gp_task_set_unknown(w->s, 77, true, 0), -ENOENT);
	cw_free(w);
}

/* A home that only leaves out samples gets both wrong, so it must report unknown pointers. */
static void leaving_samples_out_is_no_substitute(void **state)
{
	static const struct line pending[] = {
		{    0, ARRIVE,   TRAIN,  9,   "",       "ooo" },
		{  100, ARRIVE,   INFER,  1,   "-train", "soo" },
		{  140, DONE,     TRAIN,  0,   "",       ".oo" },
		{ 1900, LOOK,     NO_TASK, 0,  "",       ".oo" },	/* due to frozen pointers */
	};
	static const struct line idle[] = {
		{  100, ARRIVE,   INFER,  1,   "",       "ooo" },	/* never stopped */
		{ 1900, LOOK,     NO_TASK, 0,  "",       "ooo" },
	};

	(void)state;
	PLAY(&cast, pending);
	PLAY(&cast, idle);
}

PROVE(
	CLAIM(an_unknown_task_that_was_idle_is_preempted),
	CLAIM(an_unknown_task_preempts_no_task),
	CLAIM(a_task_that_becomes_unknown_gives_up_what_it_held),
	CLAIM(an_unknown_task_comes_back_with_the_others),
	CLAIM(a_share_of_an_unknown_task_is_taken_and_not_given),
	CLAIM(a_promise_is_kept_beside_an_unknown_task),
	CLAIM(unknown_is_no_answer_to_a_probe),
	CLAIM(leaving_samples_out_is_no_substitute),
)
