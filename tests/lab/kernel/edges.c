// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What processes do, and what is done to them, while gpreempt.ko holds them or stops them; each by
 * evict and by direct.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

enum { LOOK_US = 10000, LOOKS = 4000 };

/* It is off, and it was @way that took it off. */
static void take_off(int ctl, u32 task, const char *way)
{
	EQ(preempt(ctl, &task, 1), 0);
	if (!CHECK(!strcmp(gpu_of(ctl).mechanism, way)))
		printf("# not %s: %s\n", way, gpu_of(ctl).why_not_direct);
}

/* The driver and the module are as before for the next process. */
static void next_is_held(int ctl, const char *way)
{
	struct target t = target_busy(1);
	u32 task = attach(ctl, t.pid);

	take_off(ctl, task, way);
	CHECK(held(&t, 0));
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);
}

/* ---- while held ---- */

/* It exits: nothing blocks, nothing is restored. */
static void exits(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(2);
	u32 task = attach(ctl, t.pid);

	EQ(target_ask(&t, ASK_LONG, 0), 0);
	take_off(ctl, task, way);
	target_tell(&t, ASK_EXIT, 0);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	CHECK(driver_forgot(t.pid));
	close(t.fd);
	next_is_held(ctl, way);
	close(ctl);
}

/* Unlike with the driver's debug interface, none of this waits for the release. */
static void changes_queues(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(2), other = target_ready(1);
	u32 task = attach(ctl, t.pid);

	EQ(target_ask(&t, ASK_LONG, 0), 0);
	take_off(ctl, task, way);
	target_queue(&t, 2);
	EQ(target_ask(&t, ASK_SHORT, 2), 0);
	EQ(target_ask(&t, ASK_DESTROY, 1), 0);
	CHECK(held(&t, 2));
	EQ(mapped_of(t.pid), 0);
	/* Nor does work of another process bring it back. */
	EQ(target_ask(&other, ASK_SHORT, 0), 0);
	EQ(target_ask(&other, ASK_DONE, 0), 0);
	EQ(mapped_of(t.pid), 0);
	EQ(resume(ctl, &task, 1), 0);
	/* The driver sends the list and does not wait for it. */
	CHECK(soon_mapped(t.pid, 2));
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

static void forks(const char *way)
{
	int ctl = control(way);
	struct target t = target_busy(1);
	u32 task = attach(ctl, t.pid);
	s64 child;

	take_off(ctl, task, way);
	child = target_ask(&t, ASK_FORK, 0);
	CHECK(child > 0);
	CHECK(held(&t, 0));
	EQ(seat_of(ctl, task).state, GP_UAPI_OFF);
	EQ(resume(ctl, &task, 1), 0);
	kill((pid_t)child, SIGKILL);
	target_ends_right(&t);
	close(ctl);
}

static bool is_gone(int ctl, u32 task)
{
	for (u32 i = 0; i < 1000; i++) {
		struct gp_uapi_seat s = { .task = task };

		if (call(ctl, GP_IOC_SEAT, &s) == -ENOENT)
			return true;
		usleep(10000);
	}
	return false;
}

static void executes(const char *way)
{
	int ctl = control(way);
	struct target t = target_busy(1);
	u32 task = attach(ctl, t.pid);

	take_off(ctl, task, way);
	target_tell(&t, ASK_EXEC, 0);
	CHECK(driver_forgot(t.pid));
	CHECK(is_gone(ctl, task));
	EQ(kill(t.pid, 0), 0);		/* lives on */
	kill(t.pid, SIGKILL);
	next_is_held(ctl, way);
	close(ctl);
}

/* A debugger suspends its queue: it is on when neither wants it off. */
static void is_debugged(const char *way)
{
	int ctl = control(way);
	struct target t = target_busy(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);
	struct debugger d;

	debugger_attach(&d, &t, 0);
	for (u32 i = 0; i < 2; i++) {
		take_off(ctl, task, way);
		EQ(debugger_suspend(&d, &t, 0), 1);
		EQ(mapped_of(t.pid), 0);
		if (i) {
			EQ(resume(ctl, &task, 1), 0);
			CHECK(device_maps(t.pid, t.ring[0], false));
			EQ(debugger_resume(&d, &t, 0), 1);
		} else {
			EQ(debugger_resume(&d, &t, 0), 1);
			CHECK(device_maps(t.pid, t.ring[0], false));
			EQ(resume(ctl, &task, 1), 0);
		}
		CHECK(device_maps(t.pid, t.ring[0], true));
	}
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
	target_ends_right(&other);
	close(ctl);
}

/* ---- while being stopped, or before there is anything to stop ---- */

/* Its 400 waves are saved for a second or two, from now on. */
static void stop_slowly(int ctl, u32 task)
{
	struct gp_uapi_move m = {
		.tasks = (u64)(uintptr_t)&task, .nr_tasks = 1, .flags = GP_UAPI_NO_WAIT,
	};

	fault("slow-save:400000");
	EQ(call(ctl, GP_IOC_PREEMPT, &m), 0);
	CHECK(comes_to(ctl, task, GP_UAPI_STOPPING));
}

static void is_killed(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);

	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	stop_slowly(ctl, task);
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	fault("none");
	CHECK(driver_forgot(t.pid));
	CHECK(is_gone(ctl, task));
	close(t.fd);
	target_ends_right(&other);
	next_is_held(ctl, way);
	close(ctl);
}

/* Its queues cannot be asked for while the driver stops a process: a hold waits for that. */
static void comes_while_busy(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid), second;

	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	stop_slowly(ctl, task);
	second = attach_at_once(ctl, other.pid);
	EQ(preempt(ctl, &second, 1), 0);
	EQ(mapped_of(other.pid), 0);
	fault("none");
	EQ(resume(ctl, &second, 1), 0);
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&other);
	target_ends_right(&t);
	close(ctl);
}

static void has_no_queue(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(0);
	u32 task = attach(ctl, t.pid);

	EQ(seat_of(ctl, task).state, GP_UAPI_ABSENT);
	EQ(preempt(ctl, &task, 1), 0);		/* there is nothing to take off */
	EQ(resume(ctl, &task, 1), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_LONG, 0), 0);
	take_off(ctl, task, way);
	CHECK(held(&t, 0));
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);

	/* A hold that began before there was anything to take off. */
	t = target_ready(0);
	task = attach(ctl, t.pid);
	EQ(preempt(ctl, &task, 1), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_LONG, 0), 0);
	CHECK(comes_to(ctl, task, GP_UAPI_OFF));
	CHECK(held(&t, 0));
	EQ(resume(ctl, &task, 1), 0);
	target_ends_right(&t);
	close(ctl);
}

/* Of two processes of one task the second gets its first queue when the task is off. */
static void comes_to_one_that_is_off(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(1), late = target_ready(0);
	u32 task = attach_both(ctl, t.pid, late.pid);

	take_off(ctl, task, way);
	target_queue(&late, 0);
	EQ(target_ask(&late, ASK_LONG, 0), 0);
	for (u32 i = 0; i < LOOKS && mapped_of(late.pid); i++)
		usleep(LOOK_US);
	CHECK(held(&late, 0));
	EQ(preempt(ctl, &task, 1), 0);
	EQ(mapped_of(t.pid) + mapped_of(late.pid), 0);
	EQ(resume(ctl, &task, 1), 0);
	CHECK(soon_mapped(t.pid, 1) && soon_mapped(late.pid, 1));
	target_ends_right(&late);
	target_ends_right(&t);
	close(ctl);
}

/* A process has one address space: one debugger. */
static void is_debugged_by_evict(void)
{
	is_debugged("evict");
}

static void is_debugged_by_direct(void)
{
	is_debugged("direct");
}

BOTH(exits)
BOTH(changes_queues)
BOTH(forks)
BOTH(executes)
BOTH(is_killed)
BOTH(comes_while_busy)
BOTH(has_no_queue)
BOTH(comes_to_one_that_is_off)

const struct story edges[] = {
	{ "evict, direct: a process that exits while held is gone", exits_by_both },
	{ "evict, direct: queues created while held stay off, those destroyed go at once",
	  changes_queues_by_both },
	{ "evict, direct: a held process that forks stays held", forks_by_both },
	{ "evict, direct: a held process that executes another program is released, and lives on",
	  executes_by_both },
	{ "evict: holds nest with a debugger's suspensions, in every order", is_debugged_by_evict },
	{ "direct: holds nest with a debugger's suspensions, in every order",
	  is_debugged_by_direct },
	{ "evict, direct: a process that is killed while it is being stopped is gone",
	  is_killed_by_both },
	{ "evict, direct: a process that comes while another is being stopped: its holder is told "
	  "when it is off", comes_while_busy_by_both },
	{ "evict, direct: a process without a queue is held once it has one",
	  has_no_queue_by_both },
	{ "evict, direct: a process whose task is off is taken off with its first queue",
	  comes_to_one_that_is_off_by_both },
	{ 0 },
};
