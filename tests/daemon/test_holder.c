// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A real holder process on a simulated driver (fake_driver.h). */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/param.h"
#include "daemon/children.h"
#include "daemon/holder.h"
#include "daemon/holders.h"
#include "tests/shared/fake_driver.h"
#include "tests/shared/gp_test.h"

/* ---- the holder of a user ---- */

static struct {
	int control;
	u32 ended;
	int status;
} holder;

static void on_ended(void *ctx, u64 child, int status)
{
	(void)ctx;
	(void)child;
	holder.ended++;
	holder.status = status;
}

static bool supervisor_is_gone(void)
{
	return gp_children_run() != 0;
}

static void start_holder(uid_t user)
{
	static const struct gp_child_owner owner = { .failed = on_ended, .ended = on_ended };
	int channel, ends[2];

	EXPECT_EQ(gp_supervisor_fork(gp_roles, &channel), 0);
	EXPECT_EQ(gp_children_connect(channel), 0);
	gp_children_own(GP_ROLE_HOLDER, &owner);
	EXPECT_EQ(gp_channel_pair(ends), 0);
	/* Leaves room for only some messages to the test. */
	EXPECT_EQ(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &(int){ 1 }, sizeof(int)), 0);
	EXPECT_EQ(gp_children_start(GP_ROLE_HOLDER, 1, user, ends[1]), 0);
	close(ends[1]);
	holder = (typeof(holder)){ .control = ends[0] };
}

static void end_holder(void)
{
	if (holder.control >= 0)
		close(holder.control);
	gp_children_disconnect();
	AWAIT(waitpid(-1, NULL, WNOHANG) > 0);
}

static int holder_up(void **state)
{
	int err = fake_driver_up(state);

	if (!err)
		start_holder(getuid());
	return err;
}

static int holder_down(void **state)
{
	end_holder();
	return fake_driver_down(state);
}

static void wait_readable(int fd)
{
	EXPECT_EQ(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, GP_TEST_PATIENCE_MS), 1);
}

/* Returns the next reply that is not about queues. */
static struct gp_holder_reply reply(int channel)
{
	union {
		struct gp_holder_reply reply;
		struct gp_holder_queues queues;
	} m;
	int n;

	do {
		wait_readable(channel);
		n = gp_channel_recv(channel, &m, sizeof(m), NULL);
	} while (n > 0 && m.reply.is.kind == GP_HOLDER_QUEUES);
	EXPECT_EQ(n, (int)sizeof(m.reply));
	return m.reply;
}

static bool has_ended(int channel)
{
	struct gp_holder_queues m;
	int n;

	do {
		wait_readable(channel);
		n = gp_channel_recv(channel, &m, sizeof(m), NULL);
	} while (n > 0);
	return n == -EPIPE;
}

/* Requests a session of target @i. Returns the test's end of its channel. */
static int open_session(u32 i)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_OPEN,
						.pid = driver->target[i].pid);
	int ends[2];

	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_channel_send(holder.control, &r.is, &ends[1], 1), 0);
	close(ends[1]);
	return ends[0];
}

static int attach(u32 i)
{
	int session = open_session(i);

	EXPECT_EQ(reply(session).is.kind, GP_HOLDER_ATTACHED);
	EXPECT(driver->target[i].enabled);
	return session;
}

static void ask(int session, u32 kind, u64 until_ns)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, (u16)kind,
		.serial = 42, .gpu_id = GPU_ID, .grace = 1, .until_ns = until_ns);

	EXPECT_EQ(gp_channel_send(session, &r.is, NULL, 0), 0);
}

/* Holds until @until_ns and returns the result. */
static int hold(int session, u64 until_ns)
{
	struct gp_holder_reply m;

	ask(session, GP_HOLDER_HOLD, until_ns);
	m = reply(session);
	EXPECT_EQ(m.is.kind, GP_HOLDER_HELD);
	EXPECT_EQ(m.serial, 42);
	EXPECT(m.err || (m.count == QUEUES && m.command_ns && m.done_ns >= m.command_ns));
	return m.err;
}

/* ---- claims ---- */

static struct gp_holder_request request(u32 kind)
{
	return GP_MESSAGE(struct gp_holder_request, (u16)kind, .pid = 1, .grace = 1);
}

static void requests_are_checked(void **state)
{
	struct gp_holder_request r;

	(void)state;
	for (u32 kind = 0; kind < 30; kind++) {
		r = request(kind);
		EXPECT_EQ(gp_holder_check(&r, true),
			  kind == GP_HOLDER_OPEN || kind == GP_HOLDER_GET_KFD);
		EXPECT_EQ(gp_holder_check(&r, false),
			  kind >= GP_HOLDER_HOLD && kind <= GP_HOLDER_REFRESH);
	}
	r = request(GP_HOLDER_OPEN);
	r.pid = 0;
	EXPECT(!gp_holder_check(&r, true));
	r.pid = -5;
	EXPECT(!gp_holder_check(&r, true));
	r = request(GP_HOLDER_OPEN);
	r.flags = 2;
	EXPECT(!gp_holder_check(&r, true));
	r = request(GP_HOLDER_HOLD);
	r.grace = 0;
	EXPECT(!gp_holder_check(&r, false));
	r.grace = 256;
	EXPECT(!gp_holder_check(&r, false));
	r = request(GP_HOLDER_HOLD);
	r.is.bytes++;
	EXPECT(!gp_holder_check(&r, false));
}

static void a_lease_is_at_most_ten_seconds_long_and_not_over(void **state)
{
	const u64 now = 5 * GP_SEC;

	(void)state;
	EXPECT_EQ(gp_holder_check_lease(now, now), -ETIME);
	EXPECT_EQ(gp_holder_check_lease(0, now), -ETIME);
	EXPECT_EQ(gp_holder_check_lease(now + 1, now), 0);
	EXPECT_EQ(gp_holder_check_lease(now + 10 * GP_SEC, now), 0);
	EXPECT_EQ(gp_holder_check_lease(now + 10 * GP_SEC + 1, now), -EINVAL);
	EXPECT_EQ(gp_holder_check_lease(~0ull, now), -EINVAL);
}

static void a_lease_that_is_too_long_or_over_is_refused_and_nothing_is_suspended(void **state)
{
	int s;

	(void)state;
	s = attach(0);
	EXPECT_EQ(hold(s, fake_now() + 60 * GP_SEC), -EINVAL);
	EXPECT_EQ(hold(s, fake_now() - 1), -ETIME);
	EXPECT_EQ(driver->suspends, 0);
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	EXPECT_EQ(driver->target[0].held, 7);
	close(s);
	AWAIT(!driver->target[0].enabled);
}

static void a_lease_ends_by_itself_and_a_renewal_that_is_too_long_does_not_count(void **state)
{
	u64 until;
	int s;

	(void)state;
	s = attach(0);
	until = fake_now() + 300 * GP_MSEC;
	EXPECT_EQ(hold(s, until), 0);
	until += 100 * GP_MSEC;
	ask(s, GP_HOLDER_RENEW, until);
	ask(s, GP_HOLDER_RENEW, fake_now() + 3600 * GP_SEC);
	EXPECT_EQ(reply(s).is.kind, GP_HOLDER_EXPIRED);
	EXPECT_EQ(driver->target[0].held, 0);
	EXPECT(driver->resumed_ns >= until);
	/* The session continues. */
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	ask(s, GP_HOLDER_RELEASE, 0);
	EXPECT_EQ(reply(s).is.kind, GP_HOLDER_RELEASED);
	EXPECT_EQ(driver->target[0].held, 0);
	close(s);
}

static void the_end_of_a_channel_releases_what_it_held(void **state)
{
	int s, t;

	(void)state;
	s = attach(0);
	t = attach(1);
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	EXPECT_EQ(hold(t, fake_now() + 9 * GP_SEC), 0);
	close(s);
	AWAIT(!driver->target[0].enabled && !driver->target[0].held);
	EXPECT_EQ(driver->target[1].held, 7);
	/* The end of the control channel ends all sessions and the holder. */
	close(holder.control);
	holder.control = -1;
	AWAIT(!driver->target[1].enabled && !driver->target[1].held);
	EXPECT(has_ended(t));
	AWAIT(supervisor_is_gone() || holder.ended);
	EXPECT_EQ(holder.status, 0);
	/* RESUME came before DISABLE. Many other calls precede DISABLE. */
	EXPECT_EQ(driver->left_off, 0);
	close(t);
}

static void a_malformed_request_ends_its_channel(void **state)
{
	struct gp_holder_request r;
	int s;

	(void)state;
	for (u32 i = 0; i < 5; i++) {
		s = attach(0);
		EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
		r = request(i == 0 ? GP_HOLDER_OPEN : i == 1 ? GP_HOLDER_HELD : GP_HOLDER_HOLD);
		if (i == 2)
			r.is.version++;
		if (i == 3)
			r.grace = 0;
		EXPECT(send(s, &r, i == 4 ? 10 : sizeof(r), 0) > 0);
		EXPECT(has_ended(s));
		EXPECT(!driver->target[0].enabled && !driver->target[0].held);
		close(s);
	}
	s = attach(0);
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	r = request(GP_HOLDER_HOLD);
	EXPECT(send(holder.control, &r, sizeof(r), 0) > 0);
	EXPECT(has_ended(s));
	EXPECT(!driver->target[0].enabled && !driver->target[0].held);
	AWAIT(supervisor_is_gone() || holder.ended);
	close(s);
}

static void a_process_of_another_user_is_refused(void **state)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_GET_KFD,
						.pid = driver->target[0].pid);
	struct gp_holder_reply m;
	int s;

	(void)state;
	start_holder(getuid() + 1);
	s = open_session(0);
	m = reply(s);
	EXPECT(m.is.kind == GP_HOLDER_FAILED && m.err == -EACCES);
	EXPECT(has_ended(s));
	EXPECT(!driver->target[0].enabled);
	EXPECT_EQ(gp_channel_send(holder.control, &r.is, NULL, 0), 0);
	m = reply(holder.control);
	EXPECT(m.is.kind == GP_HOLDER_KFD && m.err == -EACCES);
	close(s);
	end_holder();
}

static void no_answer_is_lost_because_the_decider_is_busy(void **state)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_GET_KFD,
						.pid = driver->target[0].pid);
	u64 all = 0;

	(void)state;
	for (r.serial = 0; r.serial < GP_HOLDER_ERRANDS; r.serial++)
		EXPECT_EQ(gp_channel_send(holder.control, &r.is, NULL, 0), 0);
	/* Takes as many as fit. The others wait. */
	wait_readable(holder.control);
	usleep(100000);
	for (u32 i = 0; i < GP_HOLDER_ERRANDS; i++) {
		struct gp_holder_reply m = reply(holder.control);

		EXPECT(m.is.kind == GP_HOLDER_KFD && m.err == -ENOENT);
		all |= BIT_ULL(m.serial);
	}
	EXPECT_EQ(all, BIT_ULL(GP_HOLDER_ERRANDS) - 1);
}

static void a_session_without_a_thread_is_not_a_process_that_is_not_ready(void **state)
{
	struct gp_holder_request r = GP_MESSAGE(struct gp_holder_request, GP_HOLDER_GET_KFD,
						.pid = driver->target[0].pid);
	struct gp_holder_reply m;
	int s;

	(void)state;
	driver->no_threads = true;
	s = open_session(0);
	m = reply(s);
	EXPECT(m.is.kind == GP_HOLDER_FAILED && m.err == -ENOMEM);
	EXPECT_EQ(gp_channel_send(holder.control, &r.is, NULL, 0), 0);
	m = reply(holder.control);
	EXPECT(m.is.kind == GP_HOLDER_KFD && m.err == -ENOMEM);
	close(s);
	driver->no_threads = false;
	close(attach(0));
}

static void a_session_that_hangs_in_the_driver_is_reported_and_harms_no_other(void **state)
{
	struct gp_holder_reply m;
	int s, t;

	(void)state;
	s = attach(0);
	t = attach(1);
	driver->hangs = 1;
	ask(s, GP_HOLDER_HOLD, fake_now() + 100 * GP_MSEC);
	m = reply(holder.control);
	EXPECT(m.is.kind == GP_HOLDER_STUCK && m.pid == driver->target[0].pid && m.ns);
	EXPECT_EQ(hold(t, fake_now() + 9 * GP_SEC), 0);
	ask(t, GP_HOLDER_RELEASE, 0);
	EXPECT_EQ(reply(t).is.kind, GP_HOLDER_RELEASED);
	driver->hangs = 0;
	m = reply(holder.control);
	EXPECT(m.is.kind == GP_HOLDER_STUCK && !m.ns);
	/* The answer came so late that the lease has expired. */
	EXPECT_EQ(reply(s).is.kind, GP_HOLDER_HELD);
	EXPECT_EQ(reply(s).is.kind, GP_HOLDER_EXPIRED);
	EXPECT_EQ(driver->target[0].held, 0);
	close(s);
	close(t);
}

/* Returns the thread of the holder's only session. */
static pid_t session_thread(void)
{
	char path[300];
	struct dirent *e;
	pid_t pid = 0, tid = 0;
	DIR *dir = opendir("/proc");

	while (!pid && (e = readdir(dir)))
		pid = gp_children_has(atoi(e->d_name)) ? atoi(e->d_name) : 0;
	closedir(dir);
	EXPECT(pid);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (!tid && (e = readdir(dir)))
		tid = atoi(e->d_name) != pid ? atoi(e->d_name) : 0;
	closedir(dir);
	EXPECT(tid);
	return tid;
}

static void a_holder_whose_session_misses_the_end_of_its_lease_ends_itself(void **state)
{
	pid_t tid;
	int s;

	(void)state;
	s = attach(0);
	AWAIT(!supervisor_is_gone());
	tid = session_thread();
	EXPECT_EQ(hold(s, fake_now() + 200 * GP_MSEC), 0);
	/* Stops the thread outside the driver. */
	EXPECT_EQ(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
	EXPECT_EQ(ptrace(PTRACE_INTERRUPT, tid, 0, 0), 0);
	/* The test traces the thread, so it sees its end before the supervisor can. */
	AWAIT(waitpid(tid, NULL, __WALL | WNOHANG) < 0);
	AWAIT(supervisor_is_gone() || holder.ended);
	EXPECT(WIFEXITED(holder.status) && WEXITSTATUS(holder.status) == 3);
	/*
	 * Another thread resumed the queues, because this driver does nothing when a debugger
	 * ends.
	 */
	EXPECT_EQ(driver->target[0].held, 0);
	close(s);
}

/* Expects that the session reports its end and that all queues run. */
static void expect_left(int session, int err)
{
	struct gp_holder_reply m = reply(session);

	EXPECT_EQ(m.is.kind, GP_HOLDER_LEFT);
	EXPECT_EQ(m.err, err);
	EXPECT(!driver->target[0].enabled && !driver->target[0].held);
	EXPECT(has_ended(session));
	close(session);
}

static void a_hold_that_fails_and_cannot_be_undone_ends_the_session(void **state)
{
	int s;

	(void)state;
	s = attach(0);
	driver->fails = 1;
	driver->no_memory = 1u << KFD_IOC_DBG_TRAP_RESUME_QUEUES;
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), -EREMOTEIO);
	expect_left(s, -EREMOTEIO);
}

static void a_session_that_may_not_resume_ends(void **state)
{
	int s;

	(void)state;
	s = attach(0);
	EXPECT_EQ(hold(s, fake_now() + 100 * GP_MSEC), 0);
	driver->refused = 1u << KFD_IOC_DBG_TRAP_RESUME_QUEUES;
	expect_left(s, -EPERM);
	driver->refused = 0;
	s = attach(0);
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	driver->refused = 1u << KFD_IOC_DBG_TRAP_RESUME_QUEUES;
	ask(s, GP_HOLDER_RELEASE, 0);
	EXPECT_EQ(reply(s).err, 0);
	expect_left(s, -EPERM);
	driver->refused = 0;
	s = attach(0);
	driver->refused = 1u << KFD_IOC_DBG_TRAP_SUSPEND_QUEUES;
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), -EPERM);
	expect_left(s, -EPERM);
}

static void a_holder_that_can_neither_resume_nor_leave_ends_itself(void **state)
{
	int s;

	(void)state;
	s = attach(0);
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	driver->no_memory = 1u << KFD_IOC_DBG_TRAP_RESUME_QUEUES | 1u << KFD_IOC_DBG_TRAP_DISABLE;
	close(s);
	AWAIT(supervisor_is_gone() || holder.ended);
	EXPECT(WIFEXITED(holder.status) && WEXITSTATUS(holder.status) == 3);
}

static void a_holder_that_ends_although_a_session_hangs_resumes_its_process(void **state)
{
	int s;

	(void)state;
	s = attach(0);
	driver->hangs = 1;
	ask(s, GP_HOLDER_HOLD, fake_now() + 9 * GP_SEC);
	EXPECT_EQ(reply(holder.control).is.kind, GP_HOLDER_STUCK);
	close(holder.control);
	holder.control = -1;
	AWAIT(supervisor_is_gone() || holder.ended);
	/*
	 * The exit code lets the supervisor wake processes that wait for the holder in the
	 * driver.
	 */
	EXPECT(WIFEXITED(holder.status) && WEXITSTATUS(holder.status) == 4);
	EXPECT_EQ(driver->resumes, 1);
	close(s);
}

static void a_process_that_would_crash_the_driver_is_left(void **state)
{
	int s;

	(void)state;
	fake_driver_opens_other_gpu(0);
	driver->queues = 0;
	start_holder(getuid());
	s = attach(0);
	driver->queues = QUEUES;
	ask(s, GP_HOLDER_REFRESH, 0);
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), -EXDEV);
	expect_left(s, -EXDEV);
	EXPECT_EQ(driver->suspends, 0);
	end_holder();
}

static void an_older_driver_gets_its_calls_from_the_thread_that_traces(void **state)
{
	int s;

	(void)state;
	driver->insists = true;
	start_holder(getuid());
	s = attach(0);
	EXPECT(fake_tracer_of(driver->target[0].pid));
	for (u32 i = 0; i < 3; i++) {
		EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
		EXPECT_EQ(driver->target[0].held, 7);
		ask(s, GP_HOLDER_RELEASE, 0);
		EXPECT_EQ(reply(s).err, 0);
		EXPECT_EQ(driver->target[0].held, 0);
	}
	EXPECT_EQ(hold(s, fake_now() + 9 * GP_SEC), 0);
	close(s);
	AWAIT(!driver->target[0].enabled && !fake_tracer_of(driver->target[0].pid));
	end_holder();
}

/* ---- with the decider's side ---- */

static u32 outcome_of(struct gp_holders *h, u64 id, u32 nr_out)
{
	struct gp_mechanism *base = gp_holders_mechanism(h);
	u32 task = 1;
	struct gp_action action = {
		.id = id, .nr_out = nr_out, .nr_in = 1 - nr_out, .tasks = &task,
		.deadline_ns = ~0ull,
	};
	struct gp_answer a = { 0 };

	EXPECT_EQ(base->ops->begin(base, &action, 0), 0);
	AWAIT(!base->ops->poll(base, 0, &a));
	EXPECT_EQ(a.action, id);
	return a.outcome;
}

static void a_stop_that_the_hardware_refuses_is_refused_counted_and_undone(void **state)
{
	struct gp_holders_gpu gpu = { GPU_ID, 80 };
	struct gp_holders_args args = { .gpus = &gpu, .nr_gpus = 1, .attach_interval_ns = 1 };
	struct gp_holders_stats stats;
	struct gp_holders_event e;
	struct gp_holders *h;
	int channel;

	(void)state;
	EXPECT_EQ(gp_supervisor_fork(gp_roles, &channel), 0);
	EXPECT_EQ(gp_children_connect(channel), 0);
	EXPECT_EQ(gp_holders_alloc(&args, &h), 0);
	EXPECT_EQ(gp_holders_task_add(h, 1, 1), 0);
	for (u32 i = 0; i < 2; i++) {
		EXPECT_EQ(gp_holders_process_add(h, 1, &(struct gp_holders_process){
			.pid = driver->target[i].pid, .user = getuid() }), 0);
		AWAIT(!gp_holders_next(h, &e));
		EXPECT_EQ(e.what, GP_HOLDERS_ATTACHED);
	}
	for (u32 i = 0; i < 2; i++) {
		driver->fails = 2;
		driver->fails_of = 1u << i;
		EXPECT_EQ(outcome_of(h, 64 * (i + 1), 1), GP_REFUSED);
		EXPECT(!driver->target[0].held && !driver->target[1].held);
	}
	gp_holders_stats(h, &stats);
	EXPECT(stats.sessions.suspend_failures == 2 && stats.sessions.suspends == 2);
	driver->fails = NO_TARGET;
	EXPECT_EQ(outcome_of(h, 64 * 4, 1), GP_DONE);
	EXPECT(driver->target[0].held == 7 && driver->target[1].held == 7);
	/* A failed start is refused. Its session ends, which resumes the process. */
	driver->no_memory = 1u << KFD_IOC_DBG_TRAP_RESUME_QUEUES;
	EXPECT_EQ(outcome_of(h, 64 * 5, 0), GP_REFUSED);
	driver->no_memory = 0;
	EXPECT_EQ(outcome_of(h, 64 * 6, 0), GP_DONE);
	AWAIT(!driver->target[0].held && !driver->target[1].held);
	gp_holders_free(h);
	AWAIT(!driver->target[0].enabled && !driver->target[1].enabled);
	holder.control = -1;
	end_holder();
}

static void the_table_is_honest(void **state)
{
	const struct gp_holders_gpu gpu = { 1, 1 };
	struct gp_holders_args args = { .gpus = &gpu, .nr_gpus = 1 }, bad = args;
	struct gp_mechanism *m;
	struct gp_holders *h;
	u32 task = 7;
	struct gp_action a = { .id = 64, .nr_out = 1, .tasks = &task };

	(void)state;
	bad.nr_gpus = 0;
	EXPECT_EQ(gp_holders_alloc(&bad, &h), -EINVAL);
	bad = args;
	bad.grace = 256;
	EXPECT_EQ(gp_holders_alloc(&bad, &h), -EINVAL);
	bad = args;
	bad.lease_ns = GP_HOLDER_LEASE_MAX_NS + 1;
	EXPECT_EQ(gp_holders_alloc(&bad, &h), -EINVAL);
	EXPECT_EQ(gp_holders_alloc(&args, &h), 0);
	m = gp_holders_mechanism(h);
	EXPECT_EQ(gp_mechanism_check(m->ops), 0);
	EXPECT_EQ(m->ops->begin(m, &a, 0), -ENOENT);
	EXPECT_EQ(gp_holders_task_add(h, 7, 2), 0);
	EXPECT_EQ(gp_holders_task_add(h, 7, 2), -EEXIST);
	EXPECT_EQ(m->ops->begin(m, &a, 0), -ENOENT);
	a.device = 1;
	EXPECT_EQ(m->ops->begin(m, &a, 0), -ENODEV);
	EXPECT_EQ(gp_holders_task_del(h, 7), 0);
	EXPECT_EQ(gp_holders_task_del(h, 7), -ENOENT);
	EXPECT_EQ(gp_holders_process_del(h, 7), -ENOENT);
	gp_holders_free(h);
}

#define WITH(claim)	CLAIM_WITH(claim, fake_driver_up, fake_driver_down)
/* Runs a test with a holder of the test's own user, which ends with the test. */
#define WITH_HOLDER(claim)	CLAIM_WITH(claim, holder_up, holder_down)

PROVE(
	CLAIM(the_table_is_honest),
	CLAIM(requests_are_checked),
	CLAIM(a_lease_is_at_most_ten_seconds_long_and_not_over),
	WITH_HOLDER(a_lease_that_is_too_long_or_over_is_refused_and_nothing_is_suspended),
	WITH_HOLDER(a_lease_ends_by_itself_and_a_renewal_that_is_too_long_does_not_count),
	WITH_HOLDER(the_end_of_a_channel_releases_what_it_held),
	WITH_HOLDER(a_malformed_request_ends_its_channel),
	WITH(a_process_of_another_user_is_refused),
	WITH_HOLDER(no_answer_is_lost_because_the_decider_is_busy),
	WITH_HOLDER(a_session_without_a_thread_is_not_a_process_that_is_not_ready),
	WITH_HOLDER(a_session_that_hangs_in_the_driver_is_reported_and_harms_no_other),
	WITH_HOLDER(a_holder_whose_session_misses_the_end_of_its_lease_ends_itself),
	WITH_HOLDER(a_hold_that_fails_and_cannot_be_undone_ends_the_session),
	WITH_HOLDER(a_session_that_may_not_resume_ends),
	WITH_HOLDER(a_holder_that_can_neither_resume_nor_leave_ends_itself),
	WITH_HOLDER(a_holder_that_ends_although_a_session_hangs_resumes_its_process),
	WITH(a_process_that_would_crash_the_driver_is_left),
	WITH(an_older_driver_gets_its_calls_from_the_thread_that_traces),
	WITH(a_stop_that_the_hardware_refuses_is_refused_counted_and_undone),
)
