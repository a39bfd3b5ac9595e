// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How a session ends. Every end leaves queues that run. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "story.h"

/* What the debugger does after it has suspended its target's queues. */
enum then { THEN_WAIT, THEN_EXIT, THEN_EXEC, THEN_CLOSE };

/* Starts a debugger process and returns after it has suspended all queues. */
static pid_t debugger_process(const struct target *t, u32 queues, enum then then)
{
	pid_t pid = fork_until_ready();
	struct debugger d;

	if (pid)
		return pid;
	debugger_attach(&d, t, 0);
	detach(t->pid);
	for (u32 i = 0; i < queues; i++)
		if (debugger_suspend(&d, t, i) != 1)
			_exit(1);
	if (then == THEN_CLOSE)
		close(d.c.kfd_fd);
	if (then == THEN_WAIT || then == THEN_CLOSE)
		ready_until_killed();
	is_ready();
	if (then == THEN_EXEC)
		execl("/proc/self/exe", "lab-debug", "--sleep", NULL);
	_exit(then != THEN_EXIT);
}

static struct target two_busy_queues(void)
{
	struct target t = target_busy(2);

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	return t;
}

static void both(const struct target *t, bool on)
{
	CHECK(device_maps(t->pid, t->ring[0], on));
	CHECK(device_maps(t->pid, t->ring[1], on));
}

static void disable_resumes(void)
{
	struct target t = two_busy_queues();
	struct kfd_queue_snapshot_entry e[2];
	struct debugger d;
	u32 count;

	debugger_attach(&d, &t, 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	EQ(debugger_suspend(&d, &t, 1), 1);
	both(&t, false);
	target_queue(&t, 2);
	CHECK(device_maps(t.pid, t.ring[2], true));	/* new queues are mapped at once */
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	both(&t, true);
	/* ENABLE clears every exception, so the new queue is no longer new. */
	EQ(debugger_enable(&d, t.pid, 0), 0);
	EQ(gp_debug_snapshot(&d.c, t.pid, 0, e, 1, &count), 0);
	EQ(count, 3);
	EQ(e[0].exception_status, 0);
	EQ(debugger_suspend(&d, &t, 2), 1);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	EQ(gp_debug_disable(&d.c, t.pid), -EINVAL);
	target_ends_right(&t);
}

static void killed_debugger(void)
{
	struct target t = two_busy_queues();
	pid_t pid = debugger_process(&t, 2, THEN_WAIT);

	both(&t, false);
	CHECK(held(&t, 0) && held(&t, 1));
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, NULL, 0), pid);
	both(&t, true);
	target_ends_right(&t);
}

static void killed_debugger_of_two(void)
{
	struct target t = two_busy_queues(), u = two_busy_queues();
	struct debugger d;
	u32 queues;
	pid_t pid;

	pid = fork_until_ready();
	if (!pid) {
		debugger_attach(&d, &t, 0);
		seize(u.pid);
		NEED(debugger_enable(&d, u.pid, 0) == 0);
		NEED(debugger_clear_new(&d, u.pid, &queues) == 0);
		NEED(debugger_suspend(&d, &t, 0) == 1 && debugger_suspend(&d, &t, 1) == 1);
		NEED(debugger_suspend(&d, &u, 0) == 1 && debugger_suspend(&d, &u, 1) == 1);
		ready_until_killed();
	}
	both(&t, false);
	both(&u, false);
	/* This debugger still traces both processes, unlike the other debuggers. */
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, NULL, 0), pid);
	both(&t, true);
	both(&u, true);
	target_ends_right(&t);
	target_ends_right(&u);
}

static void leaving_debugger(void)
{
	struct target t = two_busy_queues();
	pid_t pid = debugger_process(&t, 2, THEN_EXIT);

	EQ(waitpid(pid, NULL, 0), pid);
	both(&t, true);
	target_ends_right(&t);
}

static void exec_of_the_debugger(void)
{
	struct target t = two_busy_queues();
	pid_t pid = debugger_process(&t, 2, THEN_EXEC);

	both(&t, true);
	EQ(kill(pid, 0), 0);	/* the debugger is alive */
	EQ(waitpid(pid, NULL, WNOHANG), 0);
	target_ends_right(&t);
}

static void close_is_not_enough(void)
{
	struct target t = two_busy_queues();
	pid_t pid = debugger_process(&t, 2, THEN_CLOSE);

	both(&t, false);
	usleep(200000);
	both(&t, false);
	EQ(kill(pid, SIGKILL), 0);
	both(&t, true);
	target_ends_right(&t);
}

static void detach_is_not_enough(void)
{
	struct target t = two_busy_queues();
	struct debugger d;

	debugger_attach(&d, &t, 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	EQ(debugger_suspend(&d, &t, 1), 1);
	detach(t.pid);
	both(&t, false);
	CHECK(held(&t, 0) && held(&t, 1));
	EQ(gp_debug_resume(&d.c, t.pid, NULL, 0), 2);
	target_ends_right(&t);
}

const struct story ends[] = {
	{ "DISABLE resumes every queue and clears every exception", disable_resumes },
	{ "a debugger that is killed: its target's queues run again", killed_debugger },
	{ "so do those of all its targets, also while it traces them", killed_debugger_of_two },
	{ "a debugger that exits: its target's queues run again", leaving_debugger },
	{ "a debugger that calls exec lives on, and its target's queues run again",
	  exec_of_the_debugger },
	{ "a debugger that closes /dev/kfd holds on until it ends", close_is_not_enough },
	{ "detaching changes nothing: the queues stay suspended", detach_is_not_enough },
	{ NULL, NULL }
};
