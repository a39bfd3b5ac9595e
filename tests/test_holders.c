// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The decider's side of the holders, in virtual time: the test is the supervisor, the holders and
 * their sessions, at the other ends of the same channels.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/param.h"
#include "core/task.h"
#include "daemon/children.h"
#include "daemon/holder.h"
#include "daemon/holders.h"
#include "gp_test.h"

enum { GPU_A = 100, GPU_B = 200, ALICE = 1000, BOB = 1001 };

#define LEASE	(400 * GP_MSEC)

struct world {
	struct gp_holders *h;
	struct gp_mechanism *m;
	int supervisor;		/* our end */
	u64 now_ns;
	u64 actions;
	u64 child;		/* the holder that was started last */
};

static u64 clock_of(void *ctx)
{
	return ((struct world *)ctx)->now_ns;
}

static int up(void **state)
{
	static const struct gp_holders_gpu gpus[] = { { GPU_A, 80 }, { GPU_B, 80 } };
	struct world *w = calloc(1, sizeof(*w));
	struct gp_holders_args args = {
		.gpus = gpus, .nr_gpus = 2, .lease_ns = LEASE, .attach_interval_ns = 10 * GP_MSEC,
		.clock = clock_of, .ctx = w,
	};
	int ends[2];

	w->now_ns = 100 * GP_SEC;
	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_children_connect(ends[0]), 0);
	w->supervisor = ends[1];
	EXPECT_EQ(gp_holders_alloc(&args, &w->h), 0);
	w->m = gp_holders_mechanism(w->h);
	*state = w;
	return 0;
}

static int down(void **state)
{
	struct world *w = *state;

	gp_holders_free(w->h);
	gp_children_disconnect();
	close(w->supervisor);
	free(w);
	return 0;
}

/* ---- the other side ---- */

static void run(struct world *w)
{
	struct gp_holders_event e;

	/* Nothing is taken out: only what is due is done. */
	if (gp_holders_next(w->h, &e) == 0)
		fail_msg("unexpected event %u of process %d, error %d", e.what, e.pid, e.err);
}

/* The decider asks for a holder of @user; it gets one. Our end of its control channel. */
static int start_holder(struct world *w, uid_t user)
{
	struct gp_supervisor_message m, reply;
	int fds[GP_CHANNEL_FDS];

	run(w);
	EXPECT_EQ(gp_channel_recv(w->supervisor, &m, sizeof(m), fds), (int)sizeof(m));
	EXPECT_EQ(m.is.kind, GP_SUP_START);
	EXPECT_EQ(m.role, GP_ROLE_HOLDER);
	EXPECT_EQ(m.user, user);
	EXPECT(fds[0] >= 0 && fds[1] < 0);
	w->child = m.child;
	reply = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_STARTED, .child = m.child,
			   .role = m.role, .pid = 7000);
	EXPECT_EQ(gp_channel_send(w->supervisor, &reply.is, NULL, 0), 0);
	run(w);
	return fds[0];
}

static bool asks_for_a_holder(struct world *w)
{
	struct gp_supervisor_message m;
	int fds[GP_CHANNEL_FDS];

	return gp_channel_recv(w->supervisor, &m, sizeof(m), fds) > 0;
}

static void holder_dies(struct world *w)
{
	struct gp_supervisor_message m = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_ENDED,
		.child = w->child, .role = GP_ROLE_HOLDER, .err = SIGKILL);

	EXPECT_EQ(gp_channel_send(w->supervisor, &m.is, NULL, 0), 0);
}

/* The holder is asked to open a session of @pid. Our end of its channel; -1: it is not. */
static int opened(int control, pid_t pid)
{
	int fds[GP_CHANNEL_FDS];
	struct gp_holder_request r;

	if (gp_channel_recv(control, &r, sizeof(r), fds) != (int)sizeof(r))
		return -1;
	EXPECT_EQ(r.is.kind, GP_HOLDER_OPEN);
	EXPECT_EQ(r.pid, pid);
	EXPECT_EQ(r.start, (u64)pid * 10);
	EXPECT(fds[0] >= 0 && fds[1] < 0);
	return fds[0];
}

static void says(int session, u32 kind, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, (u16)kind, .err = err);

	EXPECT_EQ(gp_channel_send(session, &m.is, NULL, 0), 0);
}

static bool is_asked(int session, struct gp_holder_request *r)
{
	return gp_channel_recv(session, r, sizeof(*r), NULL) == (int)sizeof(*r);
}

static struct gp_holder_request asked(int session, u32 kind)
{
	struct gp_holder_request r = { 0 };

	EXPECT(is_asked(session, &r));
	EXPECT_EQ(r.is.kind, kind);
	return r;
}

static bool has_ended(int session)
{
	struct gp_holder_request r;
	int n;

	while ((n = gp_channel_recv(session, &r, sizeof(r), NULL)) > 0)
		;
	return n == -EPIPE;
}

static void answers(struct world *w, int session, const struct gp_holder_request *r, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply,
		r->is.kind == GP_HOLDER_HOLD ? GP_HOLDER_HELD : GP_HOLDER_RELEASED,
		.serial = r->serial, .err = err, .command_ns = err ? 0 : w->now_ns + 1,
		.done_ns = err ? 0 : w->now_ns + 2);

	EXPECT_EQ(gp_channel_send(session, &m.is, NULL, 0), 0);
}

/* ---- this side ---- */

static void add(struct world *w, u32 task, pid_t pid, uid_t user)
{
	struct gp_holders_process p = { .pid = pid, .start = (u64)pid * 10, .user = user };

	gp_holders_task_add(w->h, task, 3);
	EXPECT_EQ(gp_holders_process_add(w->h, task, &p), 0);
}

static void expect_event(struct world *w, u32 what, pid_t pid, int err)
{
	struct gp_holders_event e = { 0 };

	EXPECT_EQ(gp_holders_next(w->h, &e), 0);
	EXPECT_EQ(e.what, what);
	EXPECT_EQ(e.pid, pid);
	EXPECT_EQ(e.err, err);
}

/* A process of @task is attached by the holder at @control. Our end of its session. */
static int attached(struct world *w, int control, u32 task, pid_t pid, uid_t user)
{
	int session;

	w->now_ns += 10 * GP_MSEC;
	add(w, task, pid, user);
	session = opened(control, pid);
	EXPECT(session >= 0);
	says(session, GP_HOLDER_ATTACHED, 0);
	expect_event(w, GP_HOLDERS_ATTACHED, pid, 0);
	return session;
}

/* The same of the first process of @user, whose holder is started. */
static int first_of(struct world *w, u32 task, pid_t pid, uid_t user, int *control)
{
	int session;

	add(w, task, pid, user);
	*control = start_holder(w, user);
	session = opened(*control, pid);
	says(session, GP_HOLDER_ATTACHED, 0);
	expect_event(w, GP_HOLDERS_ATTACHED, pid, 0);
	return session;
}

/* @out and @in are digits: tasks. The deadline is 100 ms from now. */
static u64 begin(struct world *w, u32 device, const char *out, const char *in)
{
	u32 tasks[8], n = 0;
	struct gp_action a = {
		.id = ++w->actions * 64 + device, .device = device, .tasks = tasks,
		.deadline_ns = w->now_ns + 100 * GP_MSEC,
	};

	for (; *out; out++, a.nr_out++)
		tasks[n++] = (u32)(*out - '0');
	for (; *in; in++, a.nr_in++)
		tasks[n++] = (u32)(*in - '0');
	EXPECT_EQ(w->m->ops->begin(w->m, &a, w->now_ns), 0);
	return a.id;
}

static void expect_answer(struct world *w, u64 action, u32 task, u32 outcome)
{
	struct gp_answer a = { 0 };

	EXPECT_EQ(w->m->ops->poll(w->m, w->now_ns, &a), 0);
	EXPECT_EQ(a.action, action);
	EXPECT_EQ(a.task, task);
	EXPECT_EQ(a.outcome, outcome);
}

static void expect_silence(struct world *w)
{
	struct gp_answer a;

	EXPECT_EQ(w->m->ops->poll(w->m, w->now_ns, &a), -EAGAIN);
}

/* Task @task, of one process, comes to be off. */
static void stop(struct world *w, int session, u32 task)
{
	char name[2] = { (char)('0' + task) };
	u64 action = begin(w, 0, name, "");
	struct gp_holder_request r = asked(session, GP_HOLDER_HOLD);

	answers(w, session, &r, 0);
	expect_answer(w, action, task, GP_DONE);
}

/* ---- claims ---- */

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

static void a_lease_that_ended_although_it_is_wanted_is_taken_again(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	struct gp_holder_request r;
	int control, s;

	s = first_of(w, 1, 10, ALICE, &control);
	stop(w, s, 1);
	/* We were stopped meanwhile. */
	w->now_ns += 3 * LEASE;
	says(s, GP_HOLDER_EXPIRED, 0);
	run(w);
	r = asked(s, GP_HOLDER_HOLD);
	EXPECT_EQ(r.until_ns, w->now_ns + LEASE);
	answers(w, s, &r, 0);
	run(w);
	gp_holders_stats(w->h, &stats);
	EXPECT_EQ(stats.expired, 1);
	/* If it cannot be held again, it is not taken for held. */
	says(s, GP_HOLDER_EXPIRED, 0);
	run(w);
	while (is_asked(s, &r) && r.is.kind != GP_HOLDER_HOLD)
		;
	answers(w, s, &r, -EIO);
	expect_event(w, GP_HOLDERS_LEFT, 10, -EIO);
	EXPECT(has_ended(s));
	close(s);
	close(control);
}

/* A gang of two processes of two users, and its sessions. */
static void make_gang(struct world *w, int control[2], int s[2])
{
	s[0] = first_of(w, 1, 10, ALICE, &control[0]);
	w->now_ns += 10 * GP_MSEC;
	s[1] = first_of(w, 1, 11, BOB, &control[1]);
}

static void end_gang(struct world *w, const int control[2], const int s[2])
{
	(void)w;
	for (u32 i = 0; i < 2; i++) {
		close(control[i]);
		close(s[i]);
	}
}

static void a_gang_is_stopped_as_a_whole_or_not_at_all(void **state)
{
	struct world *w = *state;
	struct gp_holders_stats stats;
	struct gp_holder_request r[2];
	int control[2], s[2];
	u64 action;

	make_gang(w, control, s);
	/* At once, and answered when both have stopped. */
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
	/* One cannot be: the other one goes on, before that is answered. */
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
	/* A process that is gone is off. */
	action = begin(w, 0, "1", "");
	r[0] = asked(s[0], GP_HOLDER_HOLD);
	r[1] = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[0], &r[0], -ESRCH);
	answers(w, s[1], &r[1], 0);
	expect_answer(w, action, 1, GP_DONE);
	/* One that may not be stopped, and none is. */
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

/* Task 1 hangs in the driver from here on; task 2 is of another user. */
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

	/* The only request so far. */
	m.serial = 1;
	w->now_ns += 200 * GP_MSEC;
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

	/* The device is free for others as soon as the deadline has passed. */
	other = begin(w, 0, "2", "");
	r = asked(s[1], GP_HOLDER_HOLD);
	answers(w, s[1], &r, 0);
	expect_answer(w, other, 2, GP_DONE);
	w->now_ns += 250 * GP_MSEC - 1;
	while (is_asked(s[1], &r))
		;
	expect_silence(w);
	w->now_ns++;
	expect_answer(w, action, 1, GP_REFUSED);
	expect_event(w, GP_HOLDERS_LEFT, 10, -ETIME);
	EXPECT(has_ended(s[0]));
	gp_holders_stats(w->h, &stats);
	EXPECT_EQ(stats.stuck, 1);
	/* As long as it may be the GPU that hangs, the driver is not asked about it. */
	EXPECT(gp_holders_acting(w->h, 0) && gp_holders_attaching(w->h));
	w->now_ns += 11 * GP_SEC;
	EXPECT(!gp_holders_acting(w->h, 0) && !gp_holders_attaching(w->h));
	end_gang(w, control, s);
}

static void a_stuck_session_is_trouble_of_its_user(void **state)
{
	struct world *w = *state;
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, GP_HOLDER_STUCK, .pid = 10);
	int control[2], s[2];

	make_gang(w, control, s);
	m.ns = 5;
	EXPECT_EQ(gp_channel_send(control[0], &m.is, NULL, 0), 0);
	run(w);
	EXPECT(gp_holders_in_trouble(w->h, ALICE) && !gp_holders_in_trouble(w->h, BOB));
	m.ns = 0;
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
	/* At the end none waits for its turn. */
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
	/* A holder without a process is let go after a while. */
	w->now_ns += 6 * GP_SEC;
	run(w);
	EXPECT(has_ended(control));
	close(control);
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
	struct gp_kfd_queue_entry got[64];
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
	/* More than there may be, out of order, more than are said to be there: not taken. */
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
	/* Its holder dies: an error is an answer, too. */
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
	CLAIM_WITH(a_lease_that_ended_although_it_is_wanted_is_taken_again, up, down),
	CLAIM_WITH(a_gang_is_stopped_as_a_whole_or_not_at_all, up, down),
	CLAIM_WITH(a_holder_that_dies_while_a_gang_is_stopped_refuses_the_stop, up, down),
	CLAIM_WITH(tasks_start_when_those_that_stop_have_stopped, up, down),
	CLAIM_WITH(at_the_deadline_waiting_ends_and_a_late_answer_is_passed_on, up, down),
	CLAIM_WITH(a_process_that_hangs_its_session_is_given_up_and_stops_no_other_task, up, down),
	CLAIM_WITH(a_stuck_session_is_trouble_of_its_user, up, down),
	CLAIM_WITH(holders_that_die_are_started_again_more_and_more_seldom, up, down),
	CLAIM_WITH(a_process_added_in_the_moment_its_holder_dies_waits_for_the_next_holder, up,
		   down),
	CLAIM_WITH(attaching_and_leaving_take_turns_but_one_that_is_off_is_left_at_once, up, down),
	CLAIM_WITH(a_session_that_says_nonsense_is_ended, up, down),
	CLAIM_WITH(queues_come_in_several_messages_and_only_in_order, up, down),
	CLAIM_WITH(descriptors_of_a_process_come_from_the_holder_of_its_user, up, down),
)
