// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Actions of the mechanism kfd-debug, in virtual time. */
#include "holders_world.h"

static void every_user_has_one_holder(void **state)
{
	struct world *w = *state;
	int alice, bob, s;

	add(w, 1, 10, ALICE);
	alice = start_holder(w, ALICE);
	s = opened(alice, 10);
	EXPECT(s >= 0);
	EXPECT(gp_holders_attaching(w->h));
	says(s, GP_HOLDER_ATTACHED, 0);
	expect_event(w, GP_HOLDERS_ATTACHED, 10, 0);
	EXPECT(!gp_holders_attaching(w->h));
	close(attached(w, alice, 2, 11, ALICE));
	EXPECT(!asks_for_a_holder(w));
	expect_event(w, GP_HOLDERS_LEFT, 11, -ECONNRESET);
	w->now_ns += 10 * GP_MSEC;
	add(w, 3, 12, BOB);
	bob = start_holder(w, BOB);
	EXPECT(opened(alice, 12) == -1);
	close(s);
	s = opened(bob, 12);
	says(s, GP_HOLDER_FAILED, -EPERM);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ECONNRESET);
	expect_event(w, GP_HOLDERS_NOT_ATTACHED, 12, -EPERM);
	close(s);
	close(alice);
	close(bob);
}

static void a_hold_has_a_lease_that_is_renewed_until_it_is_released(void **state)
{
	struct world *w = *state;
	int control, s;
	struct gp_holder_request r;
	u64 action;

	s = first_of(w, 1, 10, ALICE, &control);
	action = begin(w, 0, "1", "");
	EXPECT(gp_holders_acting(w->h, 0) && !gp_holders_acting(w->h, 1));
	r = asked(s, GP_HOLDER_HOLD);
	EXPECT_EQ(r.gpu_id, GPU_A);
	EXPECT_EQ(r.until_ns, w->now_ns + LEASE);
	EXPECT_EQ(r.grace, 1);
	answers(w, s, &r, 0);
	expect_answer(w, action, 1, GP_DONE);
	EXPECT(!gp_holders_acting(w->h, 0));
	for (u32 i = 0; i < 5; i++) {
		EXPECT_EQ(gp_holders_wake_at(w->h), w->now_ns + LEASE / 4);
		w->now_ns += LEASE / 4 - 1;
		run(w);
		EXPECT(!is_asked(s, &r));
		w->now_ns++;
		run(w);
		r = asked(s, GP_HOLDER_RENEW);
		EXPECT_EQ(r.until_ns, w->now_ns + LEASE);
	}
	action = begin(w, 0, "", "1");
	r = asked(s, GP_HOLDER_RELEASE);
	answers(w, s, &r, 0);
	expect_answer(w, action, 1, GP_DONE);
	w->now_ns += 10 * LEASE;
	run(w);
	EXPECT(!is_asked(s, &r));
	close(s);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ECONNRESET);
	close(control);
}

static void a_process_whose_lease_ended_while_it_was_held_runs_and_is_left(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	struct gp_holder_request r;
	int control, s;
	u64 action;

	s = first_of(w, 1, 10, ALICE, &control);
	/* An expiry after the release is ignored. */
	stop(w, s, 1);
	action = begin(w, 0, "", "1");
	r = asked(s, GP_HOLDER_RELEASE);
	says(s, GP_HOLDER_EXPIRED, 0);
	answers(w, s, &r, 0);
	expect_answer(w, action, 1, GP_DONE);
	run(w);
	/* The daemon was stopped meanwhile, so the scheduler must decide again. */
	stop(w, s, 1);
	w->now_ns += 3 * LEASE;
	says(s, GP_HOLDER_EXPIRED, 0);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ETIMEDOUT);
	gp_holders_stats(w->h, &stats);
	EXPECT_EQ(stats.expired, 2);
	while (is_asked(s, &r))
		EXPECT_EQ(r.is.kind, GP_HOLDER_RENEW);
	EXPECT(has_ended(s));
	/* The process runs already, so its start is answered at once. */
	action = begin(w, 0, "", "1");
	expect_answer(w, action, 1, GP_DONE);
	close(s);
	close(control);
}

static void the_lease_of_a_process_that_cannot_be_released_ends(void **state)
{
	struct world *w = *state;
	struct gp_holder_request r;
	int control, s;
	u64 action;

	s = first_of(w, 1, 10, ALICE, &control);
	stop(w, s, 1);
	action = begin(w, 0, "", "1");
	r = asked(s, GP_HOLDER_RELEASE);
	answers(w, s, &r, -EIO);
	expect_answer(w, action, 1, GP_REFUSED);
	/* The release can be retried. No lease is renewed meanwhile. */
	w->now_ns += LEASE / 2;
	run(w);
	action = begin(w, 0, "", "1");
	r = asked(s, GP_HOLDER_RELEASE);
	answers(w, s, &r, -EIO);
	expect_answer(w, action, 1, GP_REFUSED);
	w->now_ns += LEASE / 2;
	run(w);
	EXPECT(!is_asked(s, &r));
	says(s, GP_HOLDER_EXPIRED, 0);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ETIMEDOUT);
	EXPECT(has_ended(s));
	close(s);
	close(control);
}

static void a_process_that_hangs_leaves_an_action_that_the_others_have_done(void **state)
{
	struct world *w = *state;
	struct gp_holder_request r;
	int control[2], s[3], again;
	u64 action;

	s[0] = first_of(w, 1, 10, ALICE, &control[0]);
	w->now_ns += 10 * GP_MSEC;
	s[1] = first_of(w, 2, 11, BOB, &control[1]);
	s[2] = attached(w, control[1], 3, 12, BOB);
	stop(w, s[2], 3);
	/* Alice's process hangs. Bob's process stops, and his other one waits for both. */
	action = begin(w, 0, "12", "3");
	asked(s[0], GP_HOLDER_HOLD);
	r = asked(s[1], GP_HOLDER_HOLD);
	w->now_ns += GP_MSEC;
	answers(w, s[1], &r, 0);
	expect_answer(w, action, 2, GP_DONE);
	EXPECT_EQ(gp_holders_wake_at(w->h), w->now_ns + 10 * GP_MSEC);
	w->now_ns += 10 * GP_MSEC;
	expect_answer(w, action, 1, GP_TIMED_OUT);
	r = asked(s[2], GP_HOLDER_RELEASE);
	w->now_ns += GP_MSEC;
	answers(w, s[2], &r, 0);
	expect_answer(w, action, 3, GP_DONE);
	/* The GPU works, so sessions of other processes may call the driver. */
	EXPECT(!gp_holders_acting(w->h, 0));
	w->now_ns += 99 * GP_MSEC;
	expect_answer(w, action, 1, GP_REFUSED);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ETIME);
	/* Processes of Alice are not attached for a second. Processes of Bob are. */
	EXPECT_EQ(gp_holders_task_add(w->h, 5, 3), 0);
	EXPECT_EQ(gp_holders_process_add(w->h, 5, &(struct gp_holders_process){
		.pid = 13, .start = 130, .user = ALICE }), -ECANCELED);
	close(attached(w, control[1], 4, 14, BOB));
	expect_event(w, GP_HOLDERS_LEFT, 14, -ECONNRESET);
	w->now_ns += GP_SEC;
	again = attached(w, control[0], 5, 13, ALICE);
	close(again);
	close(s[2]);
	end_gang(w, control, s);
}

static void a_gang_is_stopped_as_a_whole_or_not_at_all(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	struct gp_holder_request r[2];
	int control[2], s[2];
	u64 action;

	make_gang(w, control, s);
	/* Both ranks are asked at once. The answer comes when both have stopped. */
	action = begin(w, 0, "1", "");
	r[0] = asked(s[0], GP_HOLDER_HOLD);
	r[1] = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[1], &r[1], 0);
	expect_silence(w);
	answers(w, s[0], &r[0], 0);
	expect_answer(w, action, 1, GP_DONE);
	action = begin(w, 0, "", "1");
	for (u32 i = 0; i < 2; i++) {
		r[i] = asked(s[i], GP_HOLDER_RELEASE);
		answers(w, s[i], &r[i], 0);
	}
	expect_answer(w, action, 1, GP_DONE);
	/* One rank cannot be stopped. The other one is released before the answer. */
	action = begin(w, 0, "1", "");
	r[0] = asked(s[0], GP_HOLDER_HOLD);
	r[1] = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[0], &r[0], 0);
	answers(w, s[1], &r[1], -EIO);
	expect_silence(w);
	r[0] = asked(s[0], GP_HOLDER_RELEASE);
	EXPECT(!is_asked(s[1], &r[1]));
	answers(w, s[0], &r[0], 0);
	expect_answer(w, action, 1, GP_REFUSED);
	gp_holders_stats(w->h, &stats);
	EXPECT_EQ(stats.sessions.suspends, 3);
	EXPECT_EQ(stats.sessions.resumes, 3);
	EXPECT_EQ(stats.sessions.suspend_failures, 1);
	/* A process that has ended counts as stopped. */
	action = begin(w, 0, "1", "");
	r[0] = asked(s[0], GP_HOLDER_HOLD);
	r[1] = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[0], &r[0], -ESRCH);
	answers(w, s[1], &r[1], 0);
	expect_answer(w, action, 1, GP_DONE);
	/* If one process may not be stopped, none is. */
	EXPECT_EQ(gp_holders_process_add(w->h, 1, &(struct gp_holders_process){
		.pid = 99, .watch_only = true }), 0);
	action = begin(w, 0, "1", "");
	expect_answer(w, action, 1, GP_REFUSED);
	end_gang(w, control, s);
}

static void a_holder_that_dies_while_a_gang_is_stopped_refuses_the_stop(void **state)
{
	struct world *w = *state;
	struct gp_holder_request r;
	int control[2], s[2];
	u64 action;

	make_gang(w, control, s);
	action = begin(w, 0, "1", "");
	r = asked(s[0], GP_HOLDER_HOLD);
	answers(w, s[0], &r, 0);
	close(s[1]);
	expect_event(w, GP_HOLDERS_LEFT, 11, -ECONNRESET);
	expect_silence(w);
	r = asked(s[0], GP_HOLDER_RELEASE);
	answers(w, s[0], &r, 0);
	expect_answer(w, action, 1, GP_REFUSED);
	s[1] = dup(s[0]);
	end_gang(w, control, s);
}

static void tasks_start_when_those_that_stop_have_stopped(void **state)
{
	struct world *w = *state;
	struct gp_holder_request r;
	int control, s[2];
	u64 action;

	s[0] = first_of(w, 1, 10, ALICE, &control);
	s[1] = attached(w, control, 2, 11, ALICE);
	stop(w, s[0], 1);
	action = begin(w, 0, "2", "1");
	EXPECT(!is_asked(s[0], &r));
	r = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[1], &r, 0);
	expect_answer(w, action, 2, GP_DONE);
	r = asked(s[0], GP_HOLDER_RELEASE);
	answers(w, s[0], &r, 0);
	expect_answer(w, action, 1, GP_DONE);
	end_gang(w, (int[]){ control, dup(control) }, s);
}

/* Makes task 1 hang in the driver. Task 2 belongs to another user. */
static u64 hang(struct world *w, int control[2], int s[2])
{
	u64 action;

	s[0] = first_of(w, 1, 10, ALICE, &control[0]);
	w->now_ns += 10 * GP_MSEC;
	s[1] = first_of(w, 2, 11, BOB, &control[1]);
	action = begin(w, 0, "1", "");
	asked(s[0], GP_HOLDER_HOLD);
	EXPECT_EQ(gp_holders_wake_at(w->h), w->now_ns + 100 * GP_MSEC);
	w->now_ns += 100 * GP_MSEC - 1;
	expect_silence(w);
	w->now_ns++;
	expect_answer(w, action, 1, GP_TIMED_OUT);
	expect_silence(w);
	EXPECT(gp_holders_acting(w->h, 0));
	return action;
}

static void at_the_deadline_waiting_ends_and_a_late_answer_is_passed_on(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	int control[2], s[2];
	u64 action = hang(w, control, s);
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_HELD,
					      .command_ns = 1, .done_ns = 2);

	/* the number of the only request so far */
	m.serial = 1;
	w->now_ns += 40 * GP_MSEC;
	EXPECT_EQ(gp_channel_send(s[0], &m.is, NULL, 0), 0);
	expect_answer(w, action, 1, GP_DONE);
	EXPECT(!gp_holders_acting(w->h, 0));
	gp_holders_stats(w->h, &stats);
	EXPECT(stats.sessions.late == 1 && !stats.stuck);
	end_gang(w, control, s);
}

static void a_process_that_hangs_its_session_is_given_up_and_stops_no_other_task(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	struct gp_holder_request r;
	int control[2], s[2];
	u64 action = hang(w, control, s), other;

	/* The device accepts other actions as soon as the deadline has passed. */
	other = begin(w, 0, "2", "");
	r = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[1], &r, 0);
	expect_answer(w, other, 2, GP_DONE);
	w->now_ns += 50 * GP_MSEC - 1;
	while (is_asked(s[1], &r))
		;
	expect_silence(w);
	w->now_ns++;
	expect_answer(w, action, 1, GP_REFUSED);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ETIME);
	EXPECT(has_ended(s[0]));
	run(w);
	EXPECT(gp_holders_in_trouble(w->h, ALICE) && !gp_holders_in_trouble(w->h, BOB));
	gp_holders_stats(w->h, &stats);
	EXPECT_EQ(stats.stuck, 1);
	/* The GPU may be what hangs, so the decider makes no driver calls for it. */
	EXPECT(gp_holders_acting(w->h, 0) && gp_holders_attaching(w->h));
	w->now_ns += 11 * GP_SEC;
	EXPECT(!gp_holders_acting(w->h, 0) && !gp_holders_attaching(w->h));
	end_gang(w, control, s);
}

static void a_session_that_says_nonsense_is_ended(void **state)
{
	static const struct {
		u16 version, kind;
		u32 bytes, sent;
	} nonsense[] = {
		{ 2, GP_HOLDER_ATTACHED, sizeof(struct gp_holder_reply),
		  sizeof(struct gp_holder_reply) },
		{ 1, GP_HOLDER_ATTACHED, 8, sizeof(struct gp_holder_reply) },
		{ 1, GP_HOLDER_ATTACHED, 40, 40 },
		{ 1, GP_HOLDER_HOLD, sizeof(struct gp_holder_reply),
		  sizeof(struct gp_holder_reply) },
		{ 1, GP_HOLDER_QUEUES, sizeof(struct gp_holder_reply),
		  sizeof(struct gp_holder_reply) },
		{ 1, 999, sizeof(struct gp_holder_reply), sizeof(struct gp_holder_reply) },
		{ 1, 0, 4, 4 },
	};
	struct world *w = *state;
	char bytes[256] = { 0 };
	int control, s;

	add(w, 1, 10, ALICE);
	control = start_holder(w, ALICE);
	s = opened(control, 10);
	for (u32 i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct gp_message m = { nonsense[i].version, nonsense[i].kind, nonsense[i].bytes };

		memcpy(bytes, &m, sizeof(m));
		EXPECT_EQ(send(s, bytes, nonsense[i].sent, 0), (ssize_t)nonsense[i].sent);
		expect_event(w, GP_HOLDERS_NOT_ATTACHED, 10, -EPROTO);
		close(s);
		w->now_ns += 10 * GP_MSEC;
		add(w, 1, 10, ALICE);
		s = opened(control, 10);
	}
	close(s);
	expect_event(w, GP_HOLDERS_NOT_ATTACHED, 10, -ECONNRESET);
	close(control);
}

static void queues_come_in_several_messages_and_only_in_order(void **state)
{
	struct world *w = *state;
	struct kfd_queue_snapshot_entry got[64];
	struct gp_holder_queues q = GP_MESSAGE(struct gp_holder_queues, GP_HOLDER_QUEUES,
					       .total = 20);
	int control, s;

	add(w, 1, 10, ALICE);
	control = start_holder(w, ALICE);
	s = opened(control, 10);
	for (u32 i = 0; i < 20; i += q.count) {
		q.first = i;
		q.count = i ? 4 : GP_HOLDER_ENTRIES;
		for (u32 j = 0; j < q.count; j++)
			q.entry[j].queue_id = 500 + i + j;
		EXPECT_EQ(gp_channel_send(s, &q.is, NULL, 0), 0);
	}
	EXPECT_EQ(gp_holders_queues(w->h, 10, got, 64), -ENOENT);
	says(s, GP_HOLDER_ATTACHED, 0);
	expect_event(w, GP_HOLDERS_ATTACHED, 10, 0);
	EXPECT_EQ(gp_holders_queues(w->h, 10, got, 64), 20);
	for (u32 i = 0; i < 20; i++)
		EXPECT_EQ(got[i].queue_id, 500 + i);
	EXPECT_EQ(gp_holders_queues(w->h, 10, got, 3), 20);
	/* Refuses queues beyond the limit, out of order, or beyond the announced total. */
	q.total = 5000;
	EXPECT_EQ(gp_channel_send(s, &q.is, NULL, 0), 0);
	q.total = 40;
	q.first = 30;
	EXPECT_EQ(gp_channel_send(s, &q.is, NULL, 0), 0);
	q.first = 0;
	q.total = 3;
	EXPECT_EQ(gp_channel_send(s, &q.is, NULL, 0), 0);
	run(w);
	EXPECT_EQ(gp_holders_queues(w->h, 10, got, 64), 20);
	q.total = q.count = 0;
	EXPECT_EQ(gp_channel_send(s, &q.is, NULL, 0), 0);
	run(w);
	EXPECT_EQ(gp_holders_queues(w->h, 10, got, 64), 0);
	close(s);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ECONNRESET);
	close(control);
}

static void descriptors_of_a_process_come_from_the_holder_of_its_user(void **state)
{
	struct world *w = *state;
	struct gp_holders_process p = { .pid = 10, .start = 100, .user = BOB };
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_KFD);
	struct gp_holders_kfd kfd;
	struct gp_holder_request r;
	int control, fds[2] = { open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY) };

	EXPECT_EQ(gp_holders_ask_kfd(w->h, &p), 0);
	EXPECT_EQ(gp_holders_next_kfd(w->h, &kfd), -EAGAIN);
	control = start_holder(w, BOB);
	r = asked(control, GP_HOLDER_GET_KFD);
	EXPECT(r.pid == 10 && r.start == 100);
	m.serial = r.serial;
	EXPECT_EQ(gp_channel_send(control, &m.is, fds, 2), 0);
	EXPECT_EQ(gp_holders_next_kfd(w->h, &kfd), 0);
	EXPECT(kfd.pid == 10 && !kfd.err && kfd.pidfd >= 0 && kfd.kfd_fd >= 0);
	close(kfd.pidfd);
	close(kfd.kfd_fd);
	EXPECT_EQ(gp_holders_next_kfd(w->h, &kfd), -EAGAIN);
	/* The holder hangs on the process. Descriptors that arrive later are closed. */
	EXPECT_EQ(gp_holders_ask_kfd(w->h, &p), 0);
	m.serial = asked(control, GP_HOLDER_GET_KFD).serial;
	EXPECT_EQ(gp_holders_wake_at(w->h), w->now_ns + 2 * GP_SEC);
	w->now_ns += 2 * GP_SEC;
	EXPECT_EQ(gp_holders_next_kfd(w->h, &kfd), 0);
	EXPECT(kfd.err == -ETIME && kfd.pidfd < 0);
	EXPECT_EQ(gp_channel_send(control, &m.is, fds, 2), 0);
	EXPECT_EQ(gp_holders_next_kfd(w->h, &kfd), -EAGAIN);
	/* The holder dies, which is reported as an error. */
	EXPECT_EQ(gp_holders_ask_kfd(w->h, &p), 0);
	holder_dies(w);
	EXPECT_EQ(gp_holders_next_kfd(w->h, &kfd), 0);
	EXPECT_EQ(kfd.err, -ECONNRESET);
	close(control);
	close(fds[0]);
	close(fds[1]);
}

PROVE(
	CLAIM_WITH(every_user_has_one_holder, up, down),
	CLAIM_WITH(a_hold_has_a_lease_that_is_renewed_until_it_is_released, up, down),
	CLAIM_WITH(a_process_whose_lease_ended_while_it_was_held_runs_and_is_left, up, down),
	CLAIM_WITH(the_lease_of_a_process_that_cannot_be_released_ends, up, down),
	CLAIM_WITH(a_process_that_hangs_leaves_an_action_that_the_others_have_done, up, down),
	CLAIM_WITH(a_gang_is_stopped_as_a_whole_or_not_at_all, up, down),
	CLAIM_WITH(a_holder_that_dies_while_a_gang_is_stopped_refuses_the_stop, up, down),
	CLAIM_WITH(tasks_start_when_those_that_stop_have_stopped, up, down),
	CLAIM_WITH(at_the_deadline_waiting_ends_and_a_late_answer_is_passed_on, up, down),
	CLAIM_WITH(a_process_that_hangs_its_session_is_given_up_and_stops_no_other_task, up, down),
	CLAIM_WITH(a_session_that_says_nonsense_is_ended, up, down),
	CLAIM_WITH(queues_come_in_several_messages_and_only_in_order, up, down),
	CLAIM_WITH(descriptors_of_a_process_come_from_the_holder_of_its_user, up, down),
)
