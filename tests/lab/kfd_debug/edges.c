// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The edges of a session: what targets, other debuggers and our own death do to it. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kfd_debug.h"
#include "lib/gpreempt.h"

enum { GRACE = 1, ATTACHES = 30 };

/* What a session's process does once it has suspended the target. */
enum then { THEN_WAIT, THEN_STOP };

/* A process with a session of @t, which is suspended when this returns. */
static pid_t holder(const struct target *t, enum then then)
{
	struct gp_session_done done;
	struct gp_session s;
	pid_t pid;

	pid = fork_until_ready();
	if (pid) {
		if (then == THEN_STOP)
			NEED(kill(pid, SIGSTOP) == 0);
		return pid;
	}
	s = session_of(t);
	NEED(gp_session_suspend(&s, 0, GRACE, &done) == 0);
	ready_until_killed();
}

static void kill_and_wait(pid_t pid)
{
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, NULL, 0), pid);
}

static void runtime_not_ready(void)
{
	struct target t = target_start();

	EQ(try_session(&t), -ESRCH);		/* has not opened the driver */
	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	EQ(try_session(&t), -EAGAIN);
	CHECK(strstr(gp_strerror(-EAGAIN), "not ready"));
	/* It does not wait for any process. */
	EQ(target_ask(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK), 0);
	EQ(try_session(&t), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(try_session(&t), 0);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	target_ends_right(&t);
}

/* Enables its runtime in the moment before a session ends: ioctl(2) of this program is ours. */
static const struct target *late_one;

int __real_ioctl(int fd, unsigned long call, void *arg);
int __wrap_ioctl(int fd, unsigned long call, void *arg);

int __wrap_ioctl(int fd, unsigned long call, void *arg)
{
	const struct kfd_ioctl_dbg_trap_args *dbg = arg;
	const struct target *t = late_one;

	if (t && call == AMDKFD_IOC_DBG_TRAP && dbg->op == KFD_IOC_DBG_TRAP_DISABLE) {
		late_one = NULL;
		target_tell(t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK);
		CHECK(target_sleeps_in(t->pid, "kfd_ioctl_runtime_enable"));
	}
	return __real_ioctl(fd, call, arg);
}

static void runtime_while_left(void)
{
	struct target t = target_start();

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	late_one = &t;
	EQ(try_session(&t), -EAGAIN);
	NEED(target_answers(&t, 2000));
	EQ(target_answer(&t), -EINTR);
	EQ(target_ask(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK), 0);
	EQ(try_session(&t), 0);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	target_ends_right(&t);
}

static void runtime_never(void)
{
	struct target t = target_start();

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(try_session(&t), -EOPNOTSUPP);
	CHECK(strstr(gp_strerror(-EOPNOTSUPP), "never enables"));
	target_ends_right(&t);
}

static void shutdown_while_held(void)
{
	struct target t = target_busy(1);
	struct gp_session_done done;
	struct gp_session s;

	s = session_of(&t);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	/* It has its answer before we have heard the question. */
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	CHECK(device_maps(t.pid, t.ring[0], true));
	EQ(gp_session_suspend(&s, 0, GRACE, &done), -EPERM);
	EQ(wait_events(&s), GP_SESSION_RUNTIME);
	gp_session_close(&s);
	target_ends_right(&t);
}

/* Off, on and off again, as a program that uses a library which shuts it down. */
static void runtime_off_and_on(void)
{
	struct target t = target_ready(0);
	struct gp_session s = session_of(&t);

	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	target_tell(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK);
	CHECK(wait_events(&s) & GP_SESSION_RUNTIME);
	EQ(target_answer(&t), 0);
	gp_session_close(&s);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	EQ(target_ask(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(try_session(&t), 0);
	target_ends_right(&t);
}

static void stopped_holder(void)
{
	struct target t = target_busy(1);
	pid_t pid;

	pid = holder(&t, THEN_STOP);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	CHECK(device_maps(t.pid, t.ring[0], true));
	kill_and_wait(pid);
	target_ends_right(&t);
}

static void killed_holder(void)
{
	struct target t = target_busy(2);
	pid_t pid;

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	pid = holder(&t, THEN_WAIT);
	CHECK(held(&t, 0) && held(&t, 1));
	kill_and_wait(pid);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	/* the next one takes over */
	CHECK(driver_forgot(pid));
	EQ(try_session(&t), 0);
	target_ends_right(&t);
}

static void target_killed_while_held(void)
{
	struct target t = target_busy(1);
	struct gp_session_done done;
	struct gp_session s;

	s = session_of(&t);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	EQ(wait_events(&s), GP_SESSION_GONE);	/* told, not found out */
	EQ(gp_session_resume(&s, 0, &done), -ESRCH);
	gp_session_close(&s);
	CHECK(driver_forgot(t.pid));
}

static void target_execs_while_held(void)
{
	struct target t = target_ready(1);
	struct gp_session_done done;
	struct gp_session s;

	s = session_of(&t);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	target_tell(&t, ASK_EXEC, 0);
	EQ(wait_events(&s), GP_SESSION_GONE);
	CHECK(gp_session_suspend(&s, 0, GRACE, &done) < 0);
	gp_session_close(&s);
	CHECK(driver_forgot(t.pid));
	EQ(kill(t.pid, 0), 0);			/* lives on */
	EQ(try_session(&t), -ESRCH);
	kill_and_wait(t.pid);
}

static void target_forks_while_held(void)
{
	struct target t = target_busy(1);
	struct gp_session_done done;
	struct gp_session s;
	s64 child;

	s = session_of(&t);
	EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
	child = target_ask(&t, ASK_FORK, 0);
	CHECK(child > 0);
	EQ(try_session(&(struct target){ .pid = (pid_t)child }), -ESRCH);	/* no GPU process */
	CHECK(held(&t, 0));
	EQ(gp_session_resume(&s, 0, &done), 0);
	gp_session_close(&s);
	kill((pid_t)child, SIGKILL);
	target_ends_right(&t);
}

/* Processes that the driver takes apart: it waits for those before it attaches to any process. */
static void come_and_go(void)
{
	pid_t pid = fork();

	NEED(pid >= 0);
	while (!pid) {
		pid_t one = fork();

		if (!one) {
			open_kfd();
			_exit(0);
		}
		waitpid(one, NULL, 0);
	}
}

/* Attaches and leaves until @t is killed. */
static int attach_until_killed(const struct target *t, int kfd, u32 after_us)
{
	struct gp_session s;
	pid_t killer = fork();
	int err;

	NEED(killer >= 0);
	if (!killer) {
		usleep(after_us);
		_exit(kill(t->pid, SIGKILL));
	}
	do {
		err = gp_session_open(&s, &(struct gp_session_args){
			.kfd_fd = kfd, .pid = t->pid });
		if (!err)
			gp_session_close(&s);
	} while (!err);
	EQ(waitpid(killer, NULL, 0), killer);
	waitpid(t->pid, NULL, 0);	/* unless it ended as ours to trace */
	return err;
}

/* The driver crashes if it is told to debug a thread that ends meanwhile (kfd_debug/session.c). */
static void killed_while_attaching(bool threads)
{
	int kfd = open_kfd();

	for (u32 i = 0; i < 3; i++)
		come_and_go();
	for (u32 i = 0; i < ATTACHES; i++) {
		struct target t = target_start();

		EQ(target_ask(&t, ASK_OPEN, 0), 0);
		NEED(!threads || target_ask(&t, ASK_TID, 0) > 0);
		CHECK(attach_until_killed(&t, kfd, i * 7919 % 10000) < 0);
		close(t.fd);
	}
	close(kfd);
}

static void one_thread_killed_while_attaching(void)
{
	killed_while_attaching(false);
}

static void threads_killed_while_attaching(void)
{
	killed_while_attaching(true);
}

static void lead_thread_ends(void)
{
	struct target t = target_busy(1);
	struct gp_session_done done;
	struct gp_session s;

	s = session_of(&t);
	EQ(target_ask(&t, ASK_LEAD_ENDS, 0), 0);
	usleep(50000);
	for (u32 i = 0; i < 3; i++) {
		EQ(gp_session_suspend(&s, 0, GRACE, &done), 0);
		EQ(done.done, 1);
		EQ(gp_session_resume(&s, 0, &done), 0);
	}
	CHECK(s.tid != t.pid);
	gp_session_close(&s);
	target_ends_right(&t);
}

static void debugger_attached(void)
{
	struct target t = target_busy(1);
	struct debugger d;
	int status;
	pid_t pid;

	debugger_attach(&d, &t, 0);	/* and traces it, as rocgdb does */
	pid = fork();
	NEED(pid >= 0);
	if (!pid)
		_exit(try_session(&t) == -EALREADY ? 0 : 1);
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	/* detached like us: still its alone */
	detach(t.pid);
	pid = fork();
	NEED(pid >= 0);
	if (!pid)
		_exit(try_session(&t) == -EALREADY ? 0 : 1);
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	EQ(try_session(&t), 0);
	target_ends_right(&t);
}

/* A debugger that gave no go-ahead and was killed: what an older daemon may leave behind. */
static void sleeper_is_poked(void)
{
	struct target t = target_ready(1);
	struct debugger d;
	pid_t pid;

	pid = fork_until_ready();
	if (!pid) {
		debugger_attach(&d, &t, RUNTIME);
		ready_until_killed();
	}
	EQ(gp_session_needs_poke(NULL, t.pid), 0);
	target_tell(&t, ASK_RUNTIME, 0);
	CHECK(target_sleeps_in(t.pid, "kfd_ioctl_runtime_enable"));
	kill_and_wait(pid);
	CHECK(!target_answers(&t, 200));
	EQ(gp_session_needs_poke(NULL, t.pid), 1);
	EQ(gp_session_poke(t.pid), 0);
	EQ(target_answer(&t), -EINTR);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);	/* what a runtime does then */
	EQ(gp_session_needs_poke(NULL, t.pid), 0);
	target_ends_right(&t);
}

/* ... and one that was poked once tells its next debugger nothing: it must not wait for us. */
static void poked_one_never_waits_for_us(void)
{
	struct target t = target_start();
	struct gp_session s;
	struct debugger d;
	pid_t pid;

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	pid = fork_until_ready();
	if (!pid) {
		debugger_open(&d);
		seize(t.pid);
		NEED(debugger_enable(&d, t.pid, RUNTIME) == 0);
		ready_until_killed();
	}
	target_tell(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK);
	CHECK(target_sleeps_in(t.pid, "kfd_ioctl_runtime_enable"));
	kill_and_wait(pid);
	CHECK(driver_forgot(pid));
	EQ(gp_session_poke(t.pid), 0);
	EQ(target_answer(&t), -EINTR);
	EQ(target_ask(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK), 0);
	s = session_of(&t);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	gp_session_close(&s);
	target_ends_right(&t);
}

const struct story edges[] = {
	{ "a target whose runtime is not enabled is left at once, does not wait, and can be had "
	  "later", runtime_not_ready },
	{ "... and one that enables it in the moment of being left is not asleep for good",
	  runtime_while_left },
	{ "a target that has queues and no runtime is told apart: it never will", runtime_never },
	{ "hsa_shut_down while held: the target does not wait, its queues run, we are told",
	  shutdown_while_held },
	{ "a runtime that is disabled and enabled again while we are there goes on",
	  runtime_off_and_on },
	{ "hsa_shut_down while its holder is stopped does not wait either", stopped_holder },
	{ "kill -9 of the holder: everything runs, and the next one takes over", killed_holder },
	{ "a target that is killed while held: told at once, nothing is left",
	  target_killed_while_held },
	{ "exec while held ends the session, not the process", target_execs_while_held },
	{ "fork while held: the child is no GPU process, the parent stays held",
	  target_forks_while_held },
	{ "a target that is killed at any moment of being attached to: told, and the driver lives",
	  threads_killed_while_attaching },
	{ "... and one that has a single thread", one_thread_killed_while_attaching },
	{ "the first thread ends: the others are still held and released", lead_thread_ends },
	{ "one that another debugger has is EALREADY and stays that debugger's, also if it has "
	  "detached", debugger_attached },
	{ "a target asleep after its debugger died is seen, and a poke wakes it",
	  sleeper_is_poked },
	{ "one that was poked once tells no tracer when it waits: with us it does not wait",
	  poked_one_never_waits_for_us },
	{ NULL, NULL }
};
