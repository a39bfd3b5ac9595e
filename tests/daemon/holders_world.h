/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the holders in virtual time. The test plays the supervisor, the holders
 * and their sessions at the other ends of the channels.
 */
#ifndef HOLDERS_WORLD_H
#define HOLDERS_WORLD_H

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
#include "tests/shared/gp_test.h"

enum { GPU_A = 100, GPU_B = 200, ALICE = 1000, BOB = 1001 };

#define LEASE	(400 * GP_MSEC)

struct world {
	struct gp_holders *h;
	struct gp_mechanism *m;
	int supervisor;		/* the test's end */
	u64 now_ns;
	u64 actions;
	u64 child;		/* the last holder started */
};

static inline u64 clock_of(void *ctx)
{
	return ((struct world *)ctx)->now_ns;
}

static inline int up(void **state)
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

static inline int down(void **state)
{
	struct world *w = *state;

	gp_holders_free(w->h);
	gp_children_disconnect();
	close(w->supervisor);
	free(w);
	return 0;
}

/* ---- the other side ---- */

static inline void run(struct world *w)
{
	struct gp_holders_event e;

	/* Handles due work without taking events. */
	if (gp_holders_next(w->h, &e) == 0)
		fail_msg("unexpected event %u of process %d, error %d", e.what, e.pid, e.err);
}

/*
 * Starts the holder that the decider requests for @user. Returns the test's end of its control
 * channel.
 */
static inline int start_holder(struct world *w, uid_t user)
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

static inline bool asks_for_a_holder(struct world *w)
{
	struct gp_supervisor_message m;
	int fds[GP_CHANNEL_FDS];

	return gp_channel_recv(w->supervisor, &m, sizeof(m), fds) > 0;
}

static inline void holder_dies(struct world *w)
{
	struct gp_supervisor_message m = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_ENDED,
		.child = w->child, .role = GP_ROLE_HOLDER, .err = SIGKILL);

	EXPECT_EQ(gp_channel_send(w->supervisor, &m.is, NULL, 0), 0);
}

/*
 * Opens the session of @pid that the holder is asked for. Returns the test's end of its channel,
 * or -1 if there is no request.
 */
static inline int opened(int control, pid_t pid)
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

static inline void says(int session, u32 kind, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply, (u16)kind, .err = err);

	EXPECT_EQ(gp_channel_send(session, &m.is, NULL, 0), 0);
}

static inline bool is_asked(int session, struct gp_holder_request *r)
{
	return gp_channel_recv(session, r, sizeof(*r), NULL) == (int)sizeof(*r);
}

static inline struct gp_holder_request asked(int session, u32 kind)
{
	struct gp_holder_request r = { 0 };

	EXPECT(is_asked(session, &r));
	EXPECT_EQ(r.is.kind, kind);
	return r;
}

static inline bool has_ended(int session)
{
	struct gp_holder_request r;
	int n;

	while ((n = gp_channel_recv(session, &r, sizeof(r), NULL)) > 0)
		;
	return n == -EPIPE;
}

static inline void answers(struct world *w, int session, const struct gp_holder_request *r, int err)
{
	struct gp_holder_reply m = GP_MESSAGE(struct gp_holder_reply,
		r->is.kind == GP_HOLDER_HOLD ? GP_HOLDER_HELD : GP_HOLDER_RELEASED,
		.serial = r->serial, .err = err, .command_ns = err ? 0 : w->now_ns + 1,
		.done_ns = err ? 0 : w->now_ns + 2);

	EXPECT_EQ(gp_channel_send(session, &m.is, NULL, 0), 0);
}

/* ---- this side ---- */

static inline void add(struct world *w, u32 task, pid_t pid, uid_t user)
{
	struct gp_holders_process p = { .pid = pid, .start = (u64)pid * 10, .user = user };

	gp_holders_task_add(w->h, task, 3);
	EXPECT_EQ(gp_holders_process_add(w->h, task, &p), 0);
}

static inline void expect_event(struct world *w, u32 what, pid_t pid, int err)
{
	struct gp_holders_event e = { 0 };

	EXPECT_EQ(gp_holders_next(w->h, &e), 0);
	EXPECT_EQ(e.what, what);
	EXPECT_EQ(e.pid, pid);
	EXPECT_EQ(e.err, err);
}

/* Attaches a process of @task by the holder at @control. Returns the test's end of its session. */
static inline int attached(struct world *w, int control, u32 task, pid_t pid, uid_t user)
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

/* The same for the first process of @user, whose holder is started. */
static inline int first_of(struct world *w, u32 task, pid_t pid, uid_t user, int *control)
{
	int session;

	add(w, task, pid, user);
	*control = start_holder(w, user);
	session = opened(*control, pid);
	says(session, GP_HOLDER_ATTACHED, 0);
	expect_event(w, GP_HOLDERS_ATTACHED, pid, 0);
	return session;
}

/* Begins an action. The digits in @out and @in are tasks. The deadline is 100 ms from now. */
static inline u64 begin(struct world *w, u32 device, const char *out, const char *in)
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

static inline void expect_answer(struct world *w, u64 action, u32 task, u32 outcome)
{
	struct gp_answer a = { 0 };

	EXPECT_EQ(w->m->ops->poll(w->m, w->now_ns, &a), 0);
	EXPECT_EQ(a.action, action);
	EXPECT_EQ(a.task, task);
	EXPECT_EQ(a.outcome, outcome);
}

static inline void expect_silence(struct world *w)
{
	struct gp_answer a;

	EXPECT_EQ(w->m->ops->poll(w->m, w->now_ns, &a), -EAGAIN);
}

/* Stops @task, which has one process. */
static inline void stop(struct world *w, int session, u32 task)
{
	char name[2] = { (char)('0' + task) };
	u64 action = begin(w, 0, name, "");
	struct gp_holder_request r = asked(session, GP_HOLDER_HOLD);

	answers(w, session, &r, 0);
	expect_answer(w, action, task, GP_DONE);
}

/* Makes a gang of two processes of two users, and its sessions. */
static inline void make_gang(struct world *w, int control[2], int s[2])
{
	s[0] = first_of(w, 1, 10, ALICE, &control[0]);
	w->now_ns += 10 * GP_MSEC;
	s[1] = first_of(w, 1, 11, BOB, &control[1]);
}

static inline void end_gang(struct world *w, const int control[2], const int s[2])
{
	(void)w;
	for (u32 i = 0; i < 2; i++) {
		close(control[i]);
		close(s[i]);
	}
}

#endif /* HOLDERS_WORLD_H */
