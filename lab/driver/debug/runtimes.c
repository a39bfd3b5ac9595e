// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* RUNTIME_ENABLE and its wait for a debugger. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "story.h"

enum { ENABLE = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK };

#define ASLEEP(t)							\
do {									\
	CHECK(target_sleeps_in((t).pid, "kfd_ioctl_runtime_enable"));	\
	CHECK(!target_answers(&(t), 200));				\
} while (0)

static void enable_twice_or_late(void)
{
	struct target t = target_ready(0), u = target_start();

	EQ(target_ask(&t, ASK_RUNTIME, ENABLE), -EBUSY);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_RUNTIME, ENABLE), -EEXIST);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(target_ask(&u, ASK_OPEN, 1), 0);
	target_queue(&u, 0);
	EQ(target_ask(&u, ASK_RUNTIME, ENABLE), -EEXIST);
	EQ(target_ask(&u, ASK_SHORT, 0), 0);
	target_ends_right(&t);
	target_ends_right(&u);
}

static void disable_waits(void)
{
	struct kfd_ioctl_dbg_trap_args query = { .op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT };
	struct target t = target_busy(1);
	struct debugger d;

	debugger_attach(&d, &t, RUNTIME);
	EQ(debugger_suspend(&d, &t, 0), 1);
	target_tell(&t, ASK_RUNTIME, 0);
	ASLEEP(t);
	/* The driver has resumed the queue, and the debugger can no longer suspend it. */
	CHECK(device_maps(t.pid, t.ring[0], true));
	EQ(debugger_suspend(&d, &t, 0), -EPERM);
	EQ(debugger_bytes(&d), 1);
	query.query_debug_event.exception_mask = RUNTIME;
	EQ(gp_debug(&d.c, t.pid, &query, "QUERY_DEBUG_EVENT"), 0);
	EQ(query.query_debug_event.exception_mask, RUNTIME);
	CHECK(!target_answers(&t, 100));
	EQ(debugger_send_runtime(&d, t.pid), 0);
	EQ(target_answer(&t), 0);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

static void go_on_before_it_asks(void)
{
	struct target t = target_ready(1);
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_attach(&d, &t, RUNTIME);
	/* The driver counts this in a semaphore, so an early answer is not lost. */
	EQ(debugger_send_runtime(&d, t.pid), 0);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

/* Starts a process that enables @t and then waits to be killed. */
static pid_t deaf_debugger(const struct target *t)
{
	pid_t pid = fork_until_ready();
	struct debugger d;

	if (pid)
		return pid;
	debugger_open(&d);
	seize(t->pid);
	NEED(debugger_enable(&d, t->pid, RUNTIME) == 0);
	detach(t->pid);
	ready_until_killed();
}

static void poke(const struct target *t)
{
	seize(t->pid);
	detach(t->pid);
}

static void kill_and_wait(pid_t pid)
{
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, NULL, 0), pid);
}

static void death_does_not_wake(void)
{
	struct target t = target_start();
	pid_t pid;

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	pid = deaf_debugger(&t);
	target_tell(&t, ASK_RUNTIME, ENABLE);
	ASLEEP(t);
	kill_and_wait(pid);
	CHECK(driver_forgot(pid));
	CHECK(!target_answers(&t, 1000));
	ASLEEP(t);
	poke(&t);
	EQ(target_answer(&t), -EINTR);
	/* A runtime repeats the call after EINTR. */
	EQ(target_ask(&t, ASK_RUNTIME, ENABLE), 0);
	/* The driver treats each further call as that repetition. */
	EQ(target_ask(&t, ASK_RUNTIME, ENABLE), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	target_ends_right(&t);
}

static void death_in_shutdown(void)
{
	struct target t = target_busy(1);
	pid_t pid = deaf_debugger(&t);

	target_tell(&t, ASK_RUNTIME, 0);
	ASLEEP(t);
	kill_and_wait(pid);
	CHECK(driver_forgot(pid));
	ASLEEP(t);
	poke(&t);
	EQ(target_answer(&t), -EINTR);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	target_ends_right(&t);
}

static void poked_one_is_silent(void)
{
	struct kfd_ioctl_dbg_trap_args query = { .op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT };
	struct target t = target_start();
	struct debugger d;
	pid_t pid;

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	pid = deaf_debugger(&t);
	target_tell(&t, ASK_RUNTIME, ENABLE);
	ASLEEP(t);
	kill_and_wait(pid);
	CHECK(driver_forgot(pid));
	poke(&t);
	EQ(target_answer(&t), -EINTR);
	EQ(target_ask(&t, ASK_RUNTIME, ENABLE), 0);
	/* The driver does not report the next wait to the next debugger. */
	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, RUNTIME), 0);
	EQ(d.info.runtime_state, DEBUG_RUNTIME_STATE_ENABLED);
	target_tell(&t, ASK_RUNTIME, 0);
	ASLEEP(t);
	EQ(debugger_bytes(&d), 0);
	EQ(gp_debug(&d.c, t.pid, &query, "QUERY_DEBUG_EVENT"), -EAGAIN);
	EQ(debugger_send_runtime(&d, t.pid), 0);
	EQ(target_answer(&t), 0);
	target_ends_right(&t);
}

static void sleeper_can_be_killed(void)
{
	struct target t = target_ready(1);
	struct debugger d;
	int status;

	debugger_attach(&d, &t, RUNTIME);
	detach(t.pid);
	target_tell(&t, ASK_RUNTIME, 0);
	ASLEEP(t);
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, &status, 0), t.pid);
	CHECK(driver_forgot(t.pid));
}

const struct story runtimes[] = {
	{ "RUNTIME_ENABLE twice is EBUSY, after the first queue EEXIST; disabling is always "
	  "right", enable_twice_or_late },
	{ "a debugged target that disables its runtime: queues resumed, debugger told, waits "
	  "for SEND_RUNTIME_EVENT", disable_waits },
	{ "SEND_RUNTIME_EVENT before the target waits is kept for it", go_on_before_it_asks },
	{ "the debugger's death does not wake a target in RUNTIME_ENABLE; a poke by ptrace "
	  "does, and asking again succeeds", death_does_not_wake },
	{ "nor one that disables its runtime, which a poke frees in the same way",
	  death_in_shutdown },
	{ "a target that was poked no longer tells the next debugger that it waits",
	  poked_one_is_silent },
	{ "a target asleep there can be killed, and its queues are released",
	  sleeper_can_be_killed },
	{ NULL, NULL }
};
