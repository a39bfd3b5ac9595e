/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A gang sits on several devices and is on or off on all of them. */
#include "core_world.h"

enum { GANG, INFER, LOW };

static const struct actor actors[] = {
	{ "gang", BATCH(5), .devices = 3 },
	{ "infer", CRITICAL(9), .devices = 1 },
	{ "low", BATCH(1), .devices = 2 },
	{ .name = NULL },
};
static const struct cast cast = {
	.actors = actors, .devices = 2, .flags = GP_RPTR_IS_COMPLETION, .set = { { GP_LINGER, 3 } },
};

/* where: the gang on device 0, on device 1, infer on 0, low on 1 */
static struct core_world *gang_off(void)
{
	struct core_world *w = cw_new(&cast);

	SCENE(w,
	      {    0, ARRIVE,   GANG,        1, "", "oooo" },
	      {    0, ARRIVE,   AT(1, GANG), 1, "", "oooo" },
	      {  100, ARRIVE,   INFER,       1, "0:-gang | 1:-gang", "ssoo" },
	      {  140, DONE,     GANG,        0, "", ".soo" },
	      {  150, DONE,     AT(1, GANG), 0, "", "..oo" });
	return w;
}

static void it_stops_and_starts_on_both(void **state)
{
	struct core_world *w = gang_off();

	(void)state;
	SCENE(w,
	      {  200, DRAIN,    INFER,       0, "", "..oo" },
	      {  201, WAIT,     NO_TASK,      0, "0:+gang | 1:+gang", "rroo" },
	      {  210, DONE,     GANG,        0, "", "oroo" },
	      {  220, DONE,     AT(1, GANG), 0, "", "oooo" });
	cw_free(w);
}

static void an_idle_rank_is_stopped_with_the_others(void **state)
{
	static const struct line story[] = {
		{    0, ARRIVE,   GANG,        1, "", "oooo" },
		{  100, ARRIVE,   INFER,       1, "0:-gang | 1:-gang", "ssoo" },
	};

	(void)state;
	PLAY(&cast, story);
}

static void lost_on_one_it_is_released_on_the_other(void **state)
{
	static const struct line lost[] = {
		{    0, ARRIVE,   GANG,        1, "", "oooo" },
		{    0, ARRIVE,   AT(1, GANG), 1, "", "oooo" },
		{  100, ARRIVE,   INFER,       1, "0:-gang | 1:-gang", "ssoo" },
		{  140, DONE,     AT(1, GANG), 0, "", "s.oo" },
		{  150, TIMED_OUT, GANG,       0, "1:+gang", "xroo" },
		{  160, DONE,     AT(1, GANG), 0, "", "xooo" },
	};
	static const struct line back[] = {
		/* the late answer completes the stop, so the gang is off on all devices */
		{  170, DONE,     GANG,        0, "1:-gang", ".soo" },
		{  180, DONE,     AT(1, GANG), 0, "", "..oo" },
	};
	struct core_world *w = cw_new(&cast);

	(void)state;
	cw_play(w, lost, 6);
	cw_play(w, back, 2);
	cw_free(w);
}

static void a_reset_of_one_device_releases_the_other_at_once(void **state)
{
	struct core_world *w = gang_off();
	u32 i;

	(void)state;
	SCENE(w,
	      {  200, RESET,    0,           0, "1:+gang", "xrxo" },
	      {  210, DONE,     AT(1, GANG), 0, "", "xoxo" });
	cw_free(w);

	/* also if the other device or a user holds it */
	for (i = 0; i < 2; i++) {
		w = cw_new(&cast);
		if (i)
			SCENE(w, {  0, HOLD, GANG, 500000, "0:-gang | 1:-gang", "ssoo" });
		else
			SCENE(w, {  0, ARRIVE, GANG, 1, "", NULL },
			      {  1, ARRIVE, INFER, 1, "0:-gang | 1:-gang", "ssoo" });
		SCENE(w,
		      {  10, DONE,     GANG,        0, "", ".soo" },
		      {  10, DONE,     AT(1, GANG), 0, "", "..oo" },
		      {  20, RESET,    1,           0, "0:+gang", "rxox" });
		cw_free(w);
	}
}

static void a_device_pulled_out_leaves_the_rest_of_the_gang(void **state)
{
	struct core_world *w = gang_off();

	(void)state;
	SCENE(w,
	      {  200, UNPLUG,   0,           0, "1:+gang", "ro" },
	      {  210, DONE,     AT(1, GANG), 0, "", "oo" });
	cw_free(w);

	/* a LOST rank on a removed device does not count, so the gang can be held again */
	w = gang_off();
	SCENE(w,
	      {  200, RESET,    0,           0, "1:+gang", "xrxo" },
	      {  210, DONE,     AT(1, GANG), 0, "", "xoxo" },
	      {  220, UNPLUG,   0,           0, "", "oo" },
	      {  230, HOLD,     GANG,        500, "1:-gang", "so" });
	cw_free(w);
}

/* The gang is held for infer on device 0, so it must not preempt on device 1. */
static void a_task_that_cannot_run_claims_nothing(void **state)
{
	struct core_world *w = gang_off();

	(void)state;
	SCENE(w,
	      {  200, ARRIVE,   AT(1, LOW),  1, "", "..oo" },
	      {  300, LOOK,     AT(1, LOW),  0, "", "..oo" },
	      { 1100, LOOK,     AT(1, LOW),  0, "", "..oo" },
	      { 1200, LOOK,     AT(1, LOW),  0, "", "..oo" });
	cw_free(w);
}

static void a_gang_refused_on_one_device_is_not_off_for_ever_on_the_other(void **state)
{
	struct core_world *w = cw_new(&cast);
	u64 us, on = 0;

	(void)state;
	SCENE(w,
	      {    0, ARRIVE,   GANG,        1, "", "oooo" },
	      {    0, ARRIVE,   AT(1, GANG), 1, "", "oooo" },
	      {  100, ARRIVE,   INFER,       9999, "0:-gang | 1:-gang", "ssoo" },
	      {  140, DONE,     AT(1, GANG), 0, "", "s.oo" });
	/* infer always has work, and the mechanism refuses to stop the gang on device 0 */
	for (us = 200; us < 400000; us += 100) {
		struct line progress = { us, PROGRESS, INFER, 1, NULL, NULL };

		cw_play(w, &progress, 1);
		if (cw_seat(w, GANG)->state == GP_STOPPING)
			SCENE(w, { us, REFUSED, GANG, 0, NULL, NULL });
		if (cw_seat(w, AT(1, GANG))->state == GP_STARTING)
			SCENE(w, { us, DONE, AT(1, GANG), 0, NULL, NULL });
		if (cw_seat(w, AT(1, GANG))->state == GP_STOPPING)
			SCENE(w, { us, DONE, AT(1, GANG), 0, NULL, NULL });
		on += cw_seat(w, AT(1, GANG))->state == GP_ON;
		EXPECT(cw_seat(w, AT(1, GANG))->state == GP_ON ||
		       w->now_ns - cw_seat(w, AT(1, GANG))->held_ns <= MS(100));
	}
	EXPECT(on > 0);
	EXPECT(!w->s->ejected);
	cw_free(w);
}

/*
 * Device 0 is busy, so the gang leaves device 1 first. Device 0 holds the gang and must remember
 * how long it has been off.
 */
static void a_gang_that_waits_for_a_busy_device_is_off_no_longer_than_others(void **state)
{
	static const struct actor four[] = {
		{ "gang", BATCH(5), .devices = 3 }, { "infer", CRITICAL(9), .devices = 1 },
		{ "low", BATCH(1), .devices = 1 }, { .name = NULL },
	};
	static const struct cast busy = {
		.actors = four, .devices = 2, .flags = GP_RPTR_IS_COMPLETION,
		.set = { { GP_LINGER, 3 }, { GP_STOP_DEADLINE, MS(900) } },
	};
	static const struct line story[] = {
		{      0, ARRIVE,   GANG,        1, "", NULL },
		{      0, HOLD,     LOW,         900000, "0:-low", "ooos" },
		{    100, ARRIVE,   INFER,       1, "1:-gang", "osos" },
		{    140, DONE,     AT(1, GANG), 0, "", "o.os" },
		{ 100000, WAIT,     NO_TASK,      0, NULL, NULL },
		{ 100100, WAIT,     NO_TASK,      0, NULL, "oros" },
	};

	(void)state;
	PLAY(&busy, story);
}

/* Two gangs share both devices. A device that decides alone could choose a different gang. */
static void two_gangs_under_fair_do_not_hold_each_other(void **state)
{
	static const struct actor two[] = {
		{ "a", SHARE(1), .devices = 3 }, { "b", SHARE(1), .devices = 3 }, { .name = NULL },
	};
	static const struct cast fair = {
		.policy = &gp_policy_fair, .actors = two, .devices = 2,
		.flags = GP_RPTR_IS_COMPLETION,
	};
	struct core_world *w = cw_new(&fair);
	u64 us, none = 0, i, d;

	(void)state;
	SCENE(w,
	      { 0, ARRIVE, AT(0, 0), 1000000, NULL, NULL },
	      { 0, ARRIVE, AT(1, 1), 1000000, NULL, NULL },
	      { 0, ARRIVE, AT(0, 1), 1000000, NULL, NULL },
	      { 0, ARRIVE, AT(1, 0), 1000000, NULL, NULL });
	for (us = 50; us < 200000; us += 50) {
		u64 whole = 0;

		for (i = 0; i < 2; i++) {
			for (d = 0; d < 2; d++) {
				u32 who = AT((u32)d, (u32)i);
				u32 is = cw_seat(w, who)->state;
				struct line done = { us, DONE, who, 0, NULL, NULL };
				struct line go = { us, PROGRESS, who, 1, NULL, NULL };

				if (is == GP_STOPPING || is == GP_STARTING)
					cw_play(w, &done, 1);
				else if (is == GP_ON)
					cw_play(w, &go, 1);
			}
			whole += cw_seat(w, AT(0, (u32)i))->state == GP_ON &&
				 cw_seat(w, AT(1, (u32)i))->state == GP_ON;
		}
		none += !whole;
	}
	/* of 4000 looks; a switch takes one or two */
	EXPECT(none < 600);
	EXPECT(!w->s->ejected);
	cw_free(w);
}

PROVE(
	CLAIM(it_stops_and_starts_on_both),
	CLAIM(an_idle_rank_is_stopped_with_the_others),
	CLAIM(lost_on_one_it_is_released_on_the_other),
	CLAIM(a_reset_of_one_device_releases_the_other_at_once),
	CLAIM(a_device_pulled_out_leaves_the_rest_of_the_gang),
	CLAIM(a_task_that_cannot_run_claims_nothing),
	CLAIM(a_gang_refused_on_one_device_is_not_off_for_ever_on_the_other),
	CLAIM(a_gang_that_waits_for_a_busy_device_is_off_no_longer_than_others),
	CLAIM(two_gangs_under_fair_do_not_hold_each_other),
)
