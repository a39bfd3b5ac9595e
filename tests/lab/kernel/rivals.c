// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The reason for a hold comes, and goes away: what gpreempt.ko does by itself for online work. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

enum { LOOK_US = 10000, LOOKS = 4000, TURNS = 16 };

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

/* The module stops asking which processes have come. */
static void switch_off_and_on(int ctl)
{
	struct gp_uapi_task on = { .task = 0 };

	EQ(call(ctl, GP_IOC_ENABLE, &on), 0);
	usleep(300000);
	on.task = 1;
	EQ(call(ctl, GP_IOC_ENABLE, &on), 0);
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
	if (!strcmp(way, "evict"))
		switch_off_and_on(p.ctl);
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
 * Two take turns: the one that goes out and the one that comes in share a cycle of the driver's.
 * Beside a third: alone on the GPU, even the driver's own calls would make one cycle of it.
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

BOTH(online_comes_late)
BOTH(online_dies)
BOTH(settings_change)

const struct story rivals[] = {
	{ "evict, direct: an online process with its first queue after it was attached preempts",
	  online_comes_late_by_both },
	{ "evict: two processes that take turns change places in one cycle of the driver", turns },
	{ "evict, direct: online work that dies while it has the GPU gives it back",
	  online_dies_by_both },
	{ "evict, direct: a process held for online work is released, and held again, when a class "
	  "or the policy changes", settings_change_by_both },
	{ 0 },
};
