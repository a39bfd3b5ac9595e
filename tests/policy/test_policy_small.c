/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Policy priority: a task that leaves enough of the GPU free for others may stay. */
#include "tests/core/core_world.h"

enum { TRAIN, INFER };

static const struct actor actors[] = {
	{ "train", BATCH(1) }, { "infer", CRITICAL(9) }, { "report", ORDINARY(5) },
	{ .name = NULL },
};

static const struct cast probing = {
	.actors = actors, .flags = GP_RPTR_IS_COMPLETION | GP_CAN_PROBE,
	.set = { { GP_LINGER, 3 } },
};

static void a_small_victim_stays_as_long_as_the_other_executes(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  300, ARRIVE,   INFER,  1,    "?infer ?train", "ooo" },
		{  310, EXECUTES, INFER,  800,  "",       "ooo" },
		{  320, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  350, LOOK,     NO_TASK, 0,   "",       "ooo" },
		{  400, LOOK,     NO_TASK, 0,   "?infer ?train", "ooo" },
		{  410, EXECUTES, INFER,  800,  "",       "ooo" },
		{  420, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  450, DRAIN,    INFER,  0,    "",       "ooo" },
	};
	struct core_world *w = cw_new(&probing);

	(void)state;
	cw_play(w, story, 11);
	EXPECT_EQ(w->stops, 0);
	cw_free(w);
}

static void a_small_victim_goes_when_the_other_does_not_execute(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  250, LOOK,     NO_TASK, 0,   "",       "ooo" },
		{  300, ARRIVE,   INFER,  1,    "?infer ?train", "ooo" },
		/* that may be the gap between two kernels, so another look must see no waves */
		{  310, EXECUTES_NOT, INFER, 0, "",       "ooo" },
		{  330, LOOK,     NO_TASK, 0,   "-train", "soo" },
	};
	/* a starting task holds slots that are not counted */
	static const struct line starting[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  220, HOLD,     TRAIN,  900,  "-train", "soo" },
		{  230, DONE,     TRAIN,  0,    "",       ".oo" },
		{  240, RELEASE,  TRAIN,  0,    "+train", "roo" },
		{  300, ARRIVE,   INFER,  1,    "",       "roo" },
		{  310, DONE,     TRAIN,  0,    "-train", "soo" },
	};

	(void)state;
	PLAY(&probing, story);
	PLAY(&probing, starting);
}

static void a_victim_that_was_small_between_two_kernels_goes_when_it_has_grown(void **state)
{
	/* it is probed again as soon as another task starves */
	static const struct line grown[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  300, ARRIVE,   INFER,  1,    "?infer ?train", "ooo" },
		{  310, EXECUTES, TRAIN,  900,  "-train", "soo" },
	};
	/* and again when it grew after that, because a few waves of the other task found slots */
	static const struct line grows[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{  300, ARRIVE,   INFER,  1,    "?infer ?train", "ooo" },
		{  310, EXECUTES, TRAIN,  200,  "",       "ooo" },
		{  320, EXECUTES, INFER,  100,  "",       "ooo" },
		{  400, LOOK,     NO_TASK, 0,   "",       "ooo" },
		{  450, LOOK,     NO_TASK, 0,   "?infer ?train", "ooo" },
		{  460, EXECUTES, TRAIN,  900,  "-train", "soo" },
	};

	/* at once, although it has not changed for long and would otherwise not be probed */
	static const struct line old[] = {
		{     0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{   200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{   210, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{ 10210, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{ 10215, EXECUTES, TRAIN,  100,  "",       "ooo" },
		{ 10300, ARRIVE,   INFER,  1,    "?infer ?train", "ooo" },
		{ 10310, EXECUTES, TRAIN,  900,  "-train", "soo" },
	};

	(void)state;
	PLAY(&probing, grown);
	PLAY(&probing, grows);
	PLAY(&probing, old);
}

static void a_victim_that_is_large_or_unknown_goes_at_once(void **state)
{
	static const struct line large[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES, TRAIN,  251,  "",       "ooo" },
		{  300, ARRIVE,   INFER,  1,    "-train", "soo" },
	};
	static const struct line unknown[] = {
		{    0, ARRIVE,   TRAIN,  9,    "",       "ooo" },
		{  200, WAIT,     NO_TASK, 0,   "?train", "ooo" },
		{  210, EXECUTES_PERHAPS, TRAIN, 0, "",   "ooo" },
		{  300, ARRIVE,   INFER,  1,    "-train", "soo" },
	};

	(void)state;
	PLAY(&probing, large);
	PLAY(&probing, unknown);
}

PROVE(
	CLAIM(a_small_victim_stays_as_long_as_the_other_executes),
	CLAIM(a_small_victim_goes_when_the_other_does_not_execute),
	CLAIM(a_victim_that_was_small_between_two_kernels_goes_when_it_has_grown),
	CLAIM(a_victim_that_is_large_or_unknown_goes_at_once),
)
