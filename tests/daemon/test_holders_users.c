// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The holders of several users, and how one user affects others, in virtual time. */
#include "holders_world.h"

static void a_stuck_session_is_trouble_of_its_user(void **state)
{
	struct world *w = *state;
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_STUCK, .pid = 10);
	int control[2], s[2];

	make_gang(w, control, s);
	m.ns = 5;
	m.count = 2;
	EXPECT_EQ(gp_channel_send(control[0], &m.is, NULL, 0), 0);
	run(w);
	EXPECT(gp_holders_in_trouble(w->h, ALICE) && !gp_holders_in_trouble(w->h, BOB));
	/* Each message replaces the earlier ones. */
	m.ns = m.count = 0;
	EXPECT_EQ(gp_channel_send(control[0], &m.is, NULL, 0), 0);
	run(w);
	EXPECT(!gp_holders_in_trouble(w->h, ALICE));
	end_gang(w, control, s);
}

static void holders_that_die_are_started_again_more_and_more_seldom(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	u64 wait = GP_SEC;
	int control;

	add(w, 1, 10, ALICE);
	for (u32 i = 0; i < 8; i++) {
		control = start_holder(w, ALICE);
		close(opened(control, 10));
		close(control);
		holder_dies(w);
		expect_event(w, GP_HOLDERS_NOT_ATTACHED, 10, -ECONNRESET);
		add(w, 1, 10, ALICE);
		w->now_ns += wait - 1;
		run(w);
		EXPECT(!asks_for_a_holder(w));
		EXPECT(gp_holders_in_trouble(w->h, ALICE));
		EXPECT_EQ(gp_holders_wake_at(w->h), w->now_ns + 1);
		w->now_ns++;
		wait = wait * 2 < 60 * GP_SEC ? wait * 2 : 60 * GP_SEC;
	}
	gp_holders_stats(w->h, &stats);
	EXPECT(stats.started == 8 && stats.died == 8);
}

static void a_process_added_in_the_moment_its_holder_dies_waits_for_the_next_holder(void **state)
{
	struct world *w = *state;
	int control, s;

	s = first_of(w, 1, 10, ALICE, &control);
	w->now_ns += 10 * GP_MSEC;
	close(control);
	add(w, 2, 11, ALICE);
	run(w);
	holder_dies(w);
	run(w);
	w->now_ns += GP_SEC;
	control = start_holder(w, ALICE);
	close(s);
	s = opened(control, 11);
	EXPECT(s >= 0);
	close(s);
	close(control);
}

static void a_holder_whose_failed_start_is_not_reported_is_started_again(void **state)
{
	struct gp_supervisor_message m;
	struct world *w = *state;
	int fds[GP_CHANNEL_FDS], control, s;

	add(w, 1, 10, ALICE);
	run(w);
	/* The supervisor can neither fork nor send, so only the end of the channel arrives. */
	EXPECT_EQ(gp_channel_recv(w->supervisor, &m, sizeof(m), fds), (int)sizeof(m));
	close(fds[0]);
	expect_event(w, GP_HOLDERS_NOT_ATTACHED, 10, -ECONNRESET);
	add(w, 1, 10, ALICE);
	run(w);
	EXPECT(gp_holders_in_trouble(w->h, ALICE));
	w->now_ns += 2 * GP_SEC - 1;
	run(w);
	EXPECT(!asks_for_a_holder(w));
	w->now_ns++;
	run(w);
	w->now_ns += GP_SEC;
	control = start_holder(w, ALICE);
	s = opened(control, 10);
	EXPECT(s >= 0);
	says(s, GP_HOLDER_ATTACHED, 0);
	expect_event(w, GP_HOLDERS_ATTACHED, 10, 0);
	EXPECT(!gp_holders_in_trouble(w->h, ALICE));
	close(s);
	close(control);
}

static void attaching_and_leaving_take_turns_but_one_that_is_off_is_left_at_once(void **state)
{
	struct world *w = *state;
	int control, s[3];

	add(w, 1, 10, ALICE);
	add(w, 2, 11, ALICE);
	add(w, 3, 12, ALICE);
	control = start_holder(w, ALICE);
	for (u32 i = 0; i < 3; i++) {
		s[i] = opened(control, 10 + (pid_t)i);
		EXPECT(s[i] >= 0);
		says(s[i], GP_HOLDER_ATTACHED, 0);
		expect_event(w, GP_HOLDERS_ATTACHED, 10 + (pid_t)i, 0);
		run(w);
		EXPECT_EQ(opened(control, 0), -1);
		w->now_ns += 10 * GP_MSEC;
		run(w);
	}
	stop(w, s[0], 1);
	EXPECT_EQ(gp_holders_process_del(w->h, 11), 0);
	EXPECT(has_ended(s[1]));
	EXPECT_EQ(gp_holders_process_del(w->h, 12), 0);
	EXPECT(!has_ended(s[2]));
	EXPECT_EQ(gp_holders_task_del(w->h, 1), 0);
	EXPECT(has_ended(s[0]));
	EXPECT(gp_holders_attaching(w->h));
	w->now_ns += 10 * GP_MSEC;
	run(w);
	EXPECT(has_ended(s[2]));
	for (u32 i = 0; i < 3; i++)
		close(s[i]);
	run(w);
	EXPECT(!gp_holders_attaching(w->h));
	/* On leave all sessions end at once, without waiting for turns. */
	w->now_ns += 10 * GP_MSEC;
	s[0] = attached(w, control, 4, 13, ALICE);
	w->now_ns += 10 * GP_MSEC;
	s[1] = attached(w, control, 4, 14, ALICE);
	EXPECT(!gp_holders_leave(w->h));
	EXPECT(has_ended(s[0]) && has_ended(s[1]));
	close(s[0]);
	EXPECT(!gp_holders_leave(w->h));
	close(s[1]);
	EXPECT(gp_holders_leave(w->h));
	/* A holder without a process is ended after a while. */
	w->now_ns += 6 * GP_SEC;
	run(w);
	EXPECT(has_ended(control));
	close(control);
}

static void users_take_turns_and_leaving_does_not_wait_for_attaching(void **state)
{
	struct world *w = *state;
	int alice, bob, s[3];

	s[0] = first_of(w, 1, 10, ALICE, &alice);
	w->now_ns += 10 * GP_MSEC;
	s[1] = first_of(w, 2, 11, BOB, &bob);
	/* Alice has many processes queued before Bob's. */
	for (u32 i = 0; i < 100; i++)
		add(w, 10 + i, 100 + (pid_t)i, ALICE);
	add(w, 3, 12, BOB);
	EXPECT_EQ(gp_holders_process_del(w->h, 11), 0);
	EXPECT(has_ended(s[1]));
	w->now_ns += 10 * GP_MSEC;
	run(w);
	s[2] = opened(alice, 100);
	EXPECT(s[2] >= 0);
	close(s[2]);
	expect_event(w, GP_HOLDERS_NOT_ATTACHED, 100, -ECONNRESET);
	w->now_ns += 10 * GP_MSEC;
	run(w);
	EXPECT_EQ(opened(alice, 0), -1);
	s[2] = opened(bob, 12);
	EXPECT(s[2] >= 0);
	end_gang(w, (int[]){ alice, bob }, s);
	close(s[2]);
}

static void a_flood_of_one_process_loses_no_event_of_another(void **state)
{
	struct world *w = *state;
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_NEW_QUEUES,
					      .count = 1);
	struct gp_holders_event e;
	int control[2], s[2];

	s[0] = first_of(w, 1, 10, ALICE, &control[0]);
	w->now_ns += 10 * GP_MSEC;
	s[1] = first_of(w, 2, 11, BOB, &control[1]);
	/* The owner polls for answers, which reads the channels, but does not take events. */
	for (u32 i = 0; i < 1200; i++) {
		EXPECT_EQ(gp_channel_send(s[0], &m.is, NULL, 0), 0);
		if (i % 32 == 31)
			expect_silence(w);
	}
	expect_silence(w);
	says(s[1], GP_HOLDER_NEW_QUEUES, 0);
	says(s[1], GP_HOLDER_LEFT, -EAGAIN);
	expect_silence(w);
	EXPECT_EQ(gp_holders_next(w->h, &e), 0);
	EXPECT(e.what == GP_HOLDERS_QUEUES && e.pid == 10);
	EXPECT_EQ(e.count, 1200);
	expect_event(w, GP_HOLDERS_LEFT, 11, -EAGAIN);
	expect_event(w, GP_HOLDERS_QUEUES, 11, 0);
	run(w);
	end_gang(w, control, s);
}

static void a_run_reads_a_bounded_number_of_messages_of_a_process(void **state)
{
	struct world *w = *state;
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_NEW_QUEUES,
					      .count = 1);
	struct gp_holders_event e;
	int control, s;

	s = first_of(w, 1, 10, ALICE, &control);
	for (u32 i = 0; i < 100; i++)
		EXPECT_EQ(gp_channel_send(s, &m.is, NULL, 0), 0);
	expect_silence(w);
	EXPECT_EQ(gp_holders_next(w->h, &e), 0);
	EXPECT_EQ(e.count, 32);
	/* Events of a deleted process are dropped, both read and unread ones. */
	expect_silence(w);
	EXPECT_EQ(gp_holders_process_del(w->h, 10), 0);
	run(w);
	close(s);
	close(control);
}

PROVE(
	CLAIM_WITH(a_stuck_session_is_trouble_of_its_user, up, down),
	CLAIM_WITH(holders_that_die_are_started_again_more_and_more_seldom, up, down),
	CLAIM_WITH(a_process_added_in_the_moment_its_holder_dies_waits_for_the_next_holder, up,
		   down),
	CLAIM_WITH(a_holder_whose_failed_start_is_not_reported_is_started_again, up, down),
	CLAIM_WITH(attaching_and_leaving_take_turns_but_one_that_is_off_is_left_at_once, up, down),
	CLAIM_WITH(users_take_turns_and_leaving_does_not_wait_for_attaching, up, down),
	CLAIM_WITH(a_flood_of_one_process_loses_no_event_of_another, up, down),
	CLAIM_WITH(a_run_reads_a_bounded_number_of_messages_of_a_process, up, down),
)
