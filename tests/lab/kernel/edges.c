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

enum { MOMENT_US = 100000, LOOK_US = 10000, LOOKS = 4000, TURNS = 16 };

static void by_both(void (*tell)(const char *way))
{
	static const char *const ways[] = { "evict", "direct" };

	for (u32 i = 0; i < 2; i++) {
		printf("# by %s\n", ways[i]);
		tell(ways[i]);
	}
}

/* It is off, and it was @way that took it off. */
static void take_off(int ctl, u32 task, const char *way)
{
	EQ(preempt(ctl, &task, 1), 0);
	if (!CHECK(!strcmp(gpu_of(ctl).mechanism, way)))
		printf("# not %s: %s\n", way, gpu_of(ctl).why_not_direct);
}

/* The driver and the module are as before for whoever comes. */
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
	/* Nor does work of somebody else bring it back. */
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

/* Somebody debugs it and suspends its queue: it is on when neither wants it off. */
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

static void is_killed(const char *way)
{
	int ctl = control(way);
	struct target t = target_ready(1), other = target_ready(1);
	u32 task = attach(ctl, t.pid);
	struct gp_uapi_move m = {
		.tasks = (u64)(uintptr_t)&task, .nr_tasks = 1, .flags = GP_UAPI_NO_WAIT,
	};

	EQ(target_ask(&t, ASK_HUGE, 0), 0);
	NEED(runs_huge(t.pid));
	fault("slow-save:200000");		/* the better part of a second */
	EQ(call(ctl, GP_IOC_PREEMPT, &m), 0);
	usleep(MOMENT_US);
	EQ(seat_of(ctl, task).state, GP_UAPI_STOPPING);
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
	close(ctl);
}

/* ---- the reason for a hold comes, and goes away ---- */

struct pair {
	int ctl;
	struct target victim, online;
	u32 task, online_task;
};

static void set_policy(int ctl, const char *name)
{
	struct gp_uapi_name policy = { 0 };

	snprintf(policy.name, sizeof(policy.name), "%s", name);
	EQ(call(ctl, GP_IOC_SET_POLICY, &policy), 0);
}

/* On a slow machine what it had may be done already. */
static void has_work(const struct target *t)
{
	if (target_ask(t, ASK_PENDING, 0) == 0)
		EQ(target_ask(t, ASK_HUGE, 0), 0);
}

/* While both have work, the victim is taken off by itself. */
static bool is_taken_off(const struct pair *p)
{
	for (u32 i = 0; i < LOOKS; i++) {
		has_work(&p->victim);
		has_work(&p->online);
		if (seat_of(p->ctl, p->task).state == GP_UAPI_OFF)
			return true;
		usleep(LOOK_US);
	}
	return false;
}

/* The victim is off for the work of the online process, by itself. */
static struct pair held_for_online(const char *way)
{
	struct pair p = { .ctl = control(way) };

	p.victim = target_ready(1);
	p.online = target_ready(1);
	p.task = attach(p.ctl, p.victim.pid);
	p.online_task = attach_online(p.ctl, p.online.pid);
	set_param(p.ctl, "linger", 0);
	set_param(p.ctl, "small_victim", 0);
	set_param(p.ctl, "max_hold", 60000000000);
	set_param(p.ctl, "min_share", 0);
	EQ(target_ask(&p.victim, ASK_HUGE, 0), 0);
	NEED(runs_huge(p.victim.pid));
	set_policy(p.ctl, "priority");
	NEED(is_taken_off(&p));
	CHECK(!strcmp(gpu_of(p.ctl).mechanism, way));
	EQ(mapped_of(p.victim.pid), 0);
	return p;
}

static void is_released(struct pair *p)
{
	CHECK(comes_to(p->ctl, p->task, GP_UAPI_ON));
	CHECK(device_maps(p->victim.pid, p->victim.ring[0], true));
}

/* Attached before it had a queue: its first one is found, and its work preempts. */
static void online_comes_late(const char *way)
{
	struct pair p = { .ctl = control(way) };

	p.victim = target_ready(1);
	p.online = target_ready(0);
	p.task = attach(p.ctl, p.victim.pid);
	p.online_task = attach_online(p.ctl, p.online.pid);
	set_policy(p.ctl, "priority");
	set_param(p.ctl, "small_victim", 0);
	target_queue(&p.online, 0);
	CHECK(is_taken_off(&p));
	set_policy(p.ctl, "fifo");
	target_ends_right(&p.online);
	target_ends_right(&p.victim);
	close(p.ctl);
}

static u64 moves_of(const struct pair *p)
{
	struct gp_uapi_seat a = seat_of(p->ctl, p->task), b = seat_of(p->ctl, p->online_task);

	return a.stops + b.stops + a.starts + b.starts;
}

/* The two take some turns, and are both on again: whether less cycles than moves were needed. */
static bool turns_share_cycles(const struct pair *p)
{
	struct device_counts start = device_counts();
	u64 before = moves_of(p), moves, cycles;

	set_policy(p->ctl, "fair");
	do {
		has_work(&p->victim);
		has_work(&p->online);
		usleep(LOOK_US);
	} while (moves_of(p) - before < TURNS);
	set_policy(p->ctl, "fifo");
	CHECK(comes_to(p->ctl, p->task, GP_UAPI_ON));
	CHECK(comes_to(p->ctl, p->online_task, GP_UAPI_ON));
	moves = moves_of(p) - before;
	cycles = device_counts().unmap - start.unmap;
	EQ(device_counts().run_list - start.run_list, cycles);
	printf("# %llu moves in %llu cycles\n", (unsigned long long)moves,
	       (unsigned long long)cycles);
	return cycles < moves;
}

/*
 * Two take turns: who goes out and who comes in share a cycle of the driver's. Beside a third:
 * with nobody else on the GPU even the driver's own calls would make one cycle of it.
 */
static void turns(void)
{
	struct pair p = { .ctl = control("evict") };
	struct target third = target_ready(1);
	bool shared = false;

	p.victim = target_ready(1);
	p.online = target_ready(1);
	p.task = attach(p.ctl, p.victim.pid);
	p.online_task = attach(p.ctl, p.online.pid);
	set_param(p.ctl, "slice", 50000000);
	/* Who runs out of work on a slow machine goes, and comes back, alone. */
	for (u32 i = 0; i < 5 && !shared; i++)
		shared = turns_share_cycles(&p);
	CHECK(shared);
	CHECK(seat_of(p.ctl, p.task).stops && seat_of(p.ctl, p.online_task).stops);
	target_ends_right(&third);
	target_ends_right(&p.online);
	target_ends_right(&p.victim);
	close(p.ctl);
}

static void online_dies(const char *way)
{
	struct pair p = held_for_online(way);

	kill(p.online.pid, SIGKILL);
	EQ(waitpid(p.online.pid, NULL, 0), p.online.pid);
	is_released(&p);
	target_ends_right(&p.victim);
	close(p.ctl);
}

static void settings_change(const char *way)
{
	struct pair p = held_for_online(way);
	struct gp_uapi_set_class s = {
		.task = p.online_task, .class = { .weight = 1, .flags = GP_UAPI_PREEMPTIBLE },
	};

	EQ(call(p.ctl, GP_IOC_SET_CLASS, &s), 0);
	is_released(&p);
	s.class = (struct gp_uapi_class){
		.priority = 10, .weight = 1, .flags = GP_UAPI_LATENCY_CRITICAL,
	};
	EQ(call(p.ctl, GP_IOC_SET_CLASS, &s), 0);
	CHECK(is_taken_off(&p));
	set_policy(p.ctl, "fifo");
	is_released(&p);
	set_policy(p.ctl, "priority");
	CHECK(is_taken_off(&p));
	set_policy(p.ctl, "fifo");
	target_ends_right(&p.online);
	target_ends_right(&p.victim);
	close(p.ctl);
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

#define BOTH(name)	static void name##_by_both(void) { by_both(name); }
BOTH(exits)
BOTH(changes_queues)
BOTH(forks)
BOTH(executes)
BOTH(is_killed)
BOTH(has_no_queue)
BOTH(online_comes_late)
BOTH(online_dies)
BOTH(settings_change)

const struct story edges[] = {
	{ "evict, direct: a process that exits while held is gone", exits_by_both },
	{ "evict, direct: queues created while held stay off, those destroyed go at once",
	  changes_queues_by_both },
	{ "evict, direct: a held process that forks stays held", forks_by_both },
	{ "evict, direct: a held process that executes another program is let go, and lives on",
	  executes_by_both },
	{ "evict: holds nest with a debugger's suspensions, in every order", is_debugged_by_evict },
	{ "direct: holds nest with a debugger's suspensions, in every order",
	  is_debugged_by_direct },
	{ "evict, direct: a process that is killed while it is being stopped is gone",
	  is_killed_by_both },
	{ "evict, direct: a process without a queue is held once it has one",
	  has_no_queue_by_both },
	{ "evict, direct: an online process with its first queue after it was attached preempts",
	  online_comes_late_by_both },
	{ "evict: two who take turns change places in one cycle of the driver", turns },
	{ "evict, direct: online work that dies while it has the GPU gives it back",
	  online_dies_by_both },
	{ "evict, direct: who is held for online work is let back, and held again, when a class or "
	  "the policy changes", settings_change_by_both },
	{ 0 },
};
