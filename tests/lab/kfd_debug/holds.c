// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Holding and releasing: the everyday of a session. */
#include <signal.h>
#include <unistd.h>

#include "kfd_debug.h"
#include "lib/process.h"

enum { ROUNDS = 50, GRACE = 1 };

static void fifty_times(void)
{
	const char *const options[] = {
		"--requests", "400", "--kernel", "1ms", "--queues", "4", NULL,
	};
	struct target t = { .pid = start_gpload(options) };
	struct gp_session_done done;
	struct gp_session s;

	NEED(has_queues(t.pid, 4));
	s = session_of(&t);
	EQ(s.nr_queues, 4);
	for (u32 i = 0; i < ROUNDS; i++) {
		NEED(gp_session_suspend(&s, i % 2 ? s.queues[0].gpu_id : 0, GRACE, &done) == 0);
		EQ(done.asked, 4);
		EQ(done.done, 4);
		CHECK(done.command_ns && done.done_ns >= done.command_ns);
		NEED(gp_session_resume(&s, i % 3 ? 0 : s.queues[0].gpu_id, &done) == 0);
		EQ(done.done, 4);
	}
	EQ(gp_session_events(&s), 0);
	gp_session_close(&s);
	EQ(gpload_ends(t.pid), 0);
}

static void held_is_held(void)
{
	struct target t = target_busy(2);
	struct gp_session_done done;
	struct device_counts before;
	struct gp_session s;

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	s = session_of(&t);
	CHECK(!s.attached);
	CHECK(comes_to_be_untraced(t.pid));
	before = device_counts();
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	SAW(&before, 1, 0, 2);	/* both queues at once; no process is left to run */
	CHECK(device_maps(t.pid, t.ring[0], false) && device_maps(t.pid, t.ring[1], false));
	CHECK(held(&t, 0) && held(&t, 1));
	EQ(gp_session_resume(&s, 0, &done), 0);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	EQ(gp_session_suspend(&s, 77, GRACE, &done), 0);	/* nothing is there */
	EQ(done.asked, 0);
	EQ(gp_session_suspend(&s, 0, 0, &done), -EINVAL);
	EQ(gp_session_suspend(&s, 0, 256, &done), -EINVAL);
	EQ(gp_session_suspend(&s, 0, 255, &done), 0);
	gp_session_close(&s);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	target_ends_right(&t);
}

static void queues_come_and_go(void)
{
	struct target t = target_busy(2);
	struct gp_session_done done;
	struct gp_session s;
	u32 new = 0;

	s = session_of(&t);
	EQ(target_ask(&t, ASK_DESTROY, 1), 0);
	/* what the session still knows is not there any more */
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	EQ(done.done, 1);
	EQ(s.nr_queues, 1);
	target_queue(&t, 2);
	CHECK(device_maps(t.pid, t.ring[2], true));	/* on at once */
	EQ(wait_events(&s), GP_SESSION_NEW_QUEUES);
	EQ(gp_session_refresh(&s, &new), 0);
	EQ(s.nr_queues, 2);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	EQ(done.done, 2);
	CHECK(device_maps(t.pid, t.ring[2], false));
	EQ(gp_session_events(&s), 0);
	/* destroying a queue that is held waits until it is let go */
	target_tell(&t, ASK_DESTROY, 2);
	CHECK(!target_answers(&t, 200));
	EQ(gp_session_resume(&s, 0, &done), 0);
	EQ(target_answer(&t), 0);
	gp_session_close(&s);
	target_ends_right(&t);
}

static void eighty_queues(void)
{
	const char *const options[] = {
		"--requests", "160", "--kernel", "1ms", "--queues", "80", NULL,
	};
	struct target t = { .pid = start_gpload(options) };
	struct gp_session_done done;
	struct gp_session s;

	NEED(has_queues(t.pid, 80));
	s = session_of(&t);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	EQ(done.asked, 80);
	EQ(done.done, 80);
	EQ(gp_session_resume(&s, s.queues[0].gpu_id, &done), 0);
	EQ(done.done, 80);
	gp_session_close(&s);
	EQ(gpload_ends(t.pid), 0);
}

static void staying_attached(void)
{
	struct target t = target_busy(1);
	struct gp_session_done done;
	struct gp_session s;

	NEED(gp_session_open(&s, &(struct gp_session_args){
		.kfd_fd = open_kfd(), .pid = t.pid, .stay_attached = true }) == 0);
	CHECK(s.attached && is_traced(t.pid));
	/* a signal stops it until we look */
	kill(t.pid, SIGUSR1);
	for (u32 i = 0; i < 5; i++) {
		EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
		EQ(gp_session_resume(&s, 0, &done), 0);
		gp_session_wait_stops(&s);
	}
	EQ(target_ask(&t, ASK_PENDING, 0) >= 0, true);
	gp_session_close(&s);
	CHECK(!is_traced(t.pid));
	target_ends_right(&t);
}

const struct story holds[] = {
	{ "gpload is suspended and resumed 50 times by another process, and its sums are right",
	  fifty_times },
	{ "a held process is off and stays off, in one cycle for all queues, and is not traced",
	  held_is_held },
	{ "queues that a held process destroys and creates are followed", queues_come_and_go },
	{ "80 queues in one call", eighty_queues },
	{ "a session that stays attached (older drivers) lets the target have its signals",
	  staying_attached },
	{ NULL, NULL }
};
