// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A task, from attach to detach: processes that are on the GPUs together or not at all. */
#include <linux/slab.h>

#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_rescan.h"
#include "gp_target.h"

struct gp_target *gp_target_of_task(u32 task)
{
	return task < GP_HOME_TASKS ? gp_home.of_task[task] : NULL;
}

struct gp_target *gp_target_find(const struct gp_dev_file *client, u32 handle)
{
	struct gp_target *t;

	list_for_each_entry(t, &client->targets, of_client)
		if (t->handle == handle && READ_ONCE(t->nr_alive))
			return t;
	return NULL;
}

/* Adds up fields in place, because an account has 50 KB of histograms. */
void gp_target_sum(const struct gp_target *t, u64 now_ns, struct gp_uapi_seat *to)
{
	const struct gp_sched *s = gp_home.sched;
	const struct gp_account *a;
	u64 state_ns[GP_NR_STATES];
	u32 at;

	if (t->task == GP_NONE)
		return;
	a = &s->tasks[t->task].account;
	to->stops += a->stopped;
	to->starts += a->started;
	to->lost += a->stops_lost + a->starts_lost;
	to->refused += a->stops_failed + a->starts_failed;
	to->late += a->late;
	to->arrivals += a->arrivals;
	to->preempted_others += a->preempted_others;
	to->waiting_ns += a->waiting_ns;
	to->longest_hold_ns = max(to->longest_hold_ns, a->longest_hold_ns);
	memcpy(state_ns, a->state_ns, sizeof(state_ns));
	for (at = s->tasks[t->task].seats; at != GP_NONE; at = s->seats[at].next_of_task)
		state_ns[s->seats[at].state] += now_ns - s->seats[at].since_ns;
	to->on_ns += state_ns[GP_ON];
	to->off_ns += state_ns[GP_OFF];
}

void gp_target_untask(struct gp_target *t, u64 now_ns)
{
	if (t->task == GP_NONE)
		return;
	gp_target_sum(t, now_ns, &t->before);
	gp_task_del(gp_home.sched, t->task, now_ns);
	gp_home.of_task[t->task] = NULL;
	t->task = GP_NONE;
	t->devices = 0;
}

/* Removes the task from the scheduler and detaches its members. The caller holds home.lock. */
static void part(struct gp_target *t, u64 now_ns)
{
	u32 i;

	gp_target_untask(t, now_ns);
	for (i = 0; i < t->nr_members; i++) {
		struct gp_member *m = t->member[i];

		t->member[i] = NULL;
		if (m)
			gp_member_leave(m);
	}
	t->nr_alive = 0;
}

static void forget(struct gp_target *t)
{
	list_del(&t->of_home);
	list_del(&t->of_client);
	gp_home.nr_targets--;
	kfree(t);
}

void gp_target_detach(struct gp_target *t)
{
	unsigned long flags;
	u64 now;

	lockdep_assert_held(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	part(t, now);
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
	forget(t);
}

void gp_target_detach_all(struct gp_dev_file *client)
{
	struct gp_target *t, *next;
	unsigned long flags;
	u64 now;

	lockdep_assert_held(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	list_for_each_entry(t, &client->targets, of_client)
		part(t, now);
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
	list_for_each_entry_safe(t, next, &client->targets, of_client)
		forget(t);
}

static u32 new_handle(void)
{
	const struct gp_target *t;
	bool taken;

	do {
		if (!++gp_home.last_handle || gp_home.last_handle == GP_UAPI_ALL)
			gp_home.last_handle = 1;
		taken = false;
		list_for_each_entry(t, &gp_home.targets, of_home)
			taken |= t->handle == gp_home.last_handle;
	} while (taken);
	return gp_home.last_handle;
}

/* Processes that have died meanwhile are left out. */
static int take_members(struct gp_target *t, struct gp_member *const *members, u32 nr)
{
	u32 i;
	int err;

	for (i = 0; i < nr; i++) {
		err = gp_member_join(members[i], t);
		if (err)
			return err;
	}
	return READ_ONCE(t->nr_alive) ? 0 : -ESRCH;
}

int gp_target_attach(struct gp_dev_file *client, struct gp_member *const *members, u32 nr,
		     const struct gp_class *class, struct gp_target **ret)
{
	struct gp_target *t;
	const char *why = gp_class_wrong(class);
	int err;

	lockdep_assert_held(&gp_home.mutex);
	if (why)
		return -EINVAL;
	if (gp_home.nr_targets == GP_HOME_TASKS)
		return -ENOSPC;
	t = kzalloc(struct_size(t, member, nr), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->client = client;
	t->task = GP_NONE;
	t->class = *class;
	t->handle = new_handle();
	list_add_tail(&t->of_home, &gp_home.targets);
	list_add_tail(&t->of_client, &client->targets);
	gp_home.nr_targets++;

	err = take_members(t, members, nr);
	if (!err)
		err = gp_target_scan(t, true, &why);
	if (err) {
		gp_target_detach(t);
		return err;
	}
	gp_scan_soon(0);
	*ret = t;
	return 0;
}

static void member_leaves(struct gp_member *m, struct gp_kernel_gpu *gpu, u64 now_ns,
			  struct list_head *out)
{
	struct gp_seat_k *seat = &m->seat[gpu->device];
	struct gp_kernel_queue *ring, *next;

	list_for_each_entry_safe(ring, next, &m->rings, of_member) {
		if (ring->gpu != gpu)
			continue;
		gp_kernel_queue_out(ring, now_ns);
		list_move_tail(&ring->of_member, out);
	}
	seat->queues = 0;
	if (seat->owes)
		gp_member_orphan(m, gpu);
}

void gp_target_leave_gpu(struct gp_kernel_gpu *gpu, u64 now_ns, struct list_head *out)
{
	struct gp_member *m;
	struct gp_target *t;

	list_for_each_entry(m, &gp_home.members, of_home)
		member_leaves(m, gpu, now_ns, out);
	list_for_each_entry(t, &gp_home.targets, of_home) {
		t->devices &= ~BIT_ULL(gpu->device);
		if (!t->devices)
			gp_target_untask(t, now_ns);
	}
}
