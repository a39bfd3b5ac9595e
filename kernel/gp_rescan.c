// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Decides when queues are scanned (gp_scan.c). A stamp can miss a change, and a process without
 * queues gets no looks. So scans run periodically while one attached task could get in the way of
 * another, or a task is held by hand.
 */
#include "gp_dev_file.h"
#include "gp_home.h"
#include "gp_rescan.h"
#include "gp_target.h"

enum { SCAN_EVERY_MS = 100 };

void gp_scan_soon(u32 ms)
{
	mod_delayed_work(system_wq, &gp_home.rescan, msecs_to_jiffies(ms));
}

void gp_scan_in_time(void)
{
	queue_delayed_work(system_wq, &gp_home.rescan, msecs_to_jiffies(SCAN_EVERY_MS));
}

/*
 * A scheduler with two tasks on one GPU. It is used to ask the policy whether a new queue of one
 * task could change a decision about the other. If so, periodic scans must detect new queues.
 */
static struct gp_sched *trial;
static void *trial_memory;

static bool rivals(const struct gp_policy *policy, const struct gp_target *a,
		   const struct gp_target *b)
{
	trial->tasks[0].class = a->class;
	trial->tasks[1].class = b->class;
	return policy->watch(trial, &trial->devices[0]);
}

/* A hold by hand includes every queue that the task gets later. */
static bool anybody_held(void)
{
	struct gp_target *t;

	list_for_each_entry(t, &gp_home.targets, of_home)
		if (READ_ONCE(t->hold_until_ns) > gp_home_now())
			return true;
	return false;
}

static bool could_matter(void)
{
	/* The policy may be ejected meanwhile. */
	const struct gp_policy *policy = READ_ONCE(gp_home.sched->policy);
	struct gp_target *a, *b;

	if (!gp_home.sched->enabled)
		return false;
	if (anybody_held())
		return true;
	if (!policy->watch)
		return false;
	list_for_each_entry(a, &gp_home.targets, of_home) {
		b = a;
		list_for_each_entry_continue(b, &gp_home.targets, of_home)
			if (rivals(policy, a, b))
				return true;
	}
	return false;
}

int gp_scan_init(void)
{
	static const struct gp_limits two = { .devices = 1, .tasks = 2, .seats = 2, .queues = 1 };
	struct gp_sched_args args = { .limits = two };
	struct gp_class class = { .weight = 1 };
	const char *why;
	u32 i, ret;
	int err;

	trial_memory = kvzalloc(gp_sched_size(&two), GFP_KERNEL);
	if (!trial_memory)
		return -ENOMEM;
	err = gp_sched_init(trial_memory, &args, &trial);
	if (!err)
		err = gp_device_add(trial, 0, &ret);
	for (i = 0; i < 2 && !err; i++)
		err = gp_task_add(trial, 1, &class, 0, &ret, &why);
	if (err)
		gp_scan_fini();
	return err;
}

void gp_scan_fini(void)
{
	kvfree(trial_memory);
	trial_memory = NULL;
}

static void bury(void)
{
	struct gp_target *t, *next;

	list_for_each_entry_safe(t, next, &gp_home.targets, of_home)
		if (!READ_ONCE(t->nr_alive))
			gp_target_detach(t);
}

/* A task that this round has not scanned yet, or NULL. */
static struct gp_target *unscanned(u32 round)
{
	struct gp_target *t;

	list_for_each_entry(t, &gp_home.targets, of_home)
		if (t->round != round)
			return t;
	return NULL;
}

/* Releases home.mutex between two tasks, so that control calls wait for the scan of one at most. */
void gp_scan_work(struct work_struct *work)
{
	static u32 round;	/* only this work uses it, and it runs once at a time */
	struct gp_target *t;

	round++;
	mutex_lock(&gp_home.mutex);
	bury();
	while ((t = unscanned(round))) {
		t->round = round;
		gp_target_rescan(t);
		mutex_unlock(&gp_home.mutex);
		cond_resched();
		mutex_lock(&gp_home.mutex);
	}
	if (could_matter())
		gp_scan_in_time();
	mutex_unlock(&gp_home.mutex);
}
