// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The scheduler in the kernel: its memory, its clock, its settings and its outputs. */
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/vmalloc.h>

#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_grace.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_rescan.h"
#include "gp_worker.h"

/* Time to the next tick while something is due, because all suitable workers may be busy. */
#define PATIENCE_NS	(10 * GP_MSEC)
/* How often to poll the reset counters, because a GPU gets no looks while its tasks are held. */
#define RESETS_EVERY_NS	(100 * GP_MSEC)

struct gp_kernel_home gp_home;

u64 gp_home_now(void)
{
	return ktime_get_ns();
}

/* ---- time ---- */

/* Wakes the workers of @devices. If all of them are in the driver, wakes an idle worker instead. */
static void wake_for(u64 devices)
{
	struct gp_kernel_gpu *gpu, *idle = NULL;
	bool found = false;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		if (!gpu->worker)
			continue;
		if (!gpu->busy)
			idle = gpu;
		if (devices & BIT_ULL(gpu->device)) {
			gp_gpu_wake(gpu);
			found |= !gpu->busy;
		}
	}
	if (!found && idle)
		gp_gpu_wake(idle);
}

static void arm_tick(u64 at_ns)
{
	if (at_ns == GP_NEVER)
		hrtimer_try_to_cancel(&gp_home.tick);
	else if (!hrtimer_is_queued(&gp_home.tick) ||
		 ktime_to_ns(hrtimer_get_expires(&gp_home.tick)) != at_ns)
		hrtimer_start(&gp_home.tick, ns_to_ktime(at_ns), HRTIMER_MODE_ABS);
}

/* True if a task is off or its place is unknown, because a reset would end that state. */
static bool reset_matters(void)
{
	const struct gp_kernel_gpu *gpu;

	if (gp_home.stats->nr_off)
		return true;
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node && !gpu->gone && gp_home.sched->devices[gpu->device].overdue)
			return true;
	return false;
}

/*
 * Returns when the scheduler wants a tick or the next poll for resets is due. Keeps an armed tick
 * that is soon enough.
 */
static u64 tick_at(u64 now_ns)
{
	u64 at = gp_sched_wake_at(gp_home.sched), ask = now_ns + RESETS_EVERY_NS;
	u64 armed = ktime_to_ns(hrtimer_get_expires(&gp_home.tick));

	if (!reset_matters() || at <= ask)
		return at;
	return hrtimer_is_queued(&gp_home.tick) && armed > now_ns && armed <= ask ? armed : ask;
}

static void ask_for_resets(void)
{
	struct gp_kernel_gpu *gpu;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node && !gpu->gone && gp_kfd_resets(gpu->node) != gpu->resets)
			gp_gpu_wake(gpu);
}

void gp_home_settle(u64 now_ns)
{
	struct gp_sched *s = gp_home.sched;
	struct gp_kernel_gpu *gpu;

	lockdep_assert_held(&gp_home.lock);
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node)
			gp_gpu_arm(gpu);
	if (gp_sched_due(s, now_ns)) {
		gp_sched_tick(s, now_ns);
		wake_for(s->dirty | s->ready);
		arm_tick(now_ns + PATIENCE_NS);
	} else {
		arm_tick(tick_at(now_ns));
	}
}

static enum hrtimer_restart tick_fires(struct hrtimer *timer)
{
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gp_sched_tick(gp_home.sched, now);
	ask_for_resets();
	gp_home_settle(now);
	gp_dev_file_wake_owed();
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
	return HRTIMER_NORESTART;
}

/* ---- handing out ---- */

/* Refuses an order that the worker never began. Its deadline has passed. */
static void displace(struct gp_kernel_gpu *gpu, u64 now_ns)
{
	struct gp_answer refused = {
		.action = gpu->order.action.id, .task = GP_NONE, .outcome = GP_REFUSED,
	};

	if (gpu->order.step)
		gp_sched_answer(gp_home.sched, &refused, now_ns);
	gpu->order.step = false;
}

static void order_step(struct gp_kernel_gpu *gpu, const struct gp_action *action, u64 now_ns)
{
	displace(gpu, now_ns);
	gpu->order.step = true;
	gpu->order.action = *action;
	gpu->order.action.tasks = gpu->order.tasks;
	memcpy(gpu->order.tasks, action->tasks,
	       (action->nr_out + action->nr_in) * sizeof(*action->tasks));
}

void gp_home_hand_out(u64 now_ns)
{
	struct gp_sched *s = gp_home.sched;
	struct gp_kernel_gpu *gpu;
	struct gp_todo todo;

	while (gp_sched_pull(s, now_ns, gp_home.tasks, &todo)) {
		if (todo.verb == GP_DO_SWITCH) {
			gpu = &gp_home.gpu[todo.action.device];
			order_step(gpu, &todo.action, now_ns);
			gpu->actions++;
			gp_home.stats->actions++;
		} else {
			gpu = &gp_home.gpu[todo.device];
			__set_bit(todo.task, gpu->order.probes);
			gpu->probes++;
			gp_home.stats->probes++;
		}
		gp_gpu_wake(gpu);
	}
}

/* ---- settings ---- */

static bool anybody_off(void)
{
	const struct gp_member *m;
	u32 d;

	list_for_each_entry(m, &gp_home.members, of_home)
		for (d = 0; d < GP_HOME_DEVICES; d++)
			if (m->seat[d].owes || m->seat[d].moving)
				return true;
	return false;
}

int gp_home_set_policy(const char *name)
{
	const struct gp_policy *policy = gp_policy_find(name);
	const char *why;
	unsigned long flags;
	int err;

	if (!policy)
		return -ENOENT;
	/* halt stops every process, not only the chosen ones, so no policy may preempt by it. */
	if (gp_home.way == &gp_way_halt && policy != &gp_policy_fifo)
		return -EBUSY;
	spin_lock_irqsave(&gp_home.lock, flags);
	err = gp_sched_set_policy(gp_home.sched, policy, gp_home_now(), &why);
	gp_home_settle(gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_scan_soon(0);
	return err;
}

/* The module's parameters limit what a caller may set. */
static bool within_bounds(u32 param, u64 value)
{
	switch (param) {
	case GP_LEASE:
	case GP_MAX_HOLD:
		return value <= gp_bounds.lease_max_ms * GP_MSEC;
	case GP_STOP_DEADLINE:
		return value <= gp_bounds.stop_deadline_ms * GP_MSEC;
	case GP_LOOK_MIN:
		return value >= gp_bounds.look_min_us * GP_USEC;
	}
	return true;
}

static int set_param(u32 param, u64 value)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&gp_home.lock, flags);
	err = gp_sched_set(gp_home.sched, param, value);
	gp_home_settle(gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return err;
}

int gp_home_set_param(const char *name, u64 value)
{
	u32 i;

	for (i = 0; i < GP_NR_PARAMS; i++)
		if (!strcmp(gp_params[i].name, name))
			return within_bounds(i, value) ? set_param(i, value) : -ERANGE;
	return -ENOENT;
}

static const struct gp_way *find_way(const char *name)
{
	static const struct gp_way *const ways[] = {
		&gp_way_evict, &gp_way_direct, &gp_way_halt,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i]->name, name))
			return ways[i];
	return strcmp(name, "auto") ? NULL : &gp_way_direct;
}

/* What SET_MECHANISM changes, and restores if a GPU refuses it. */
struct mechanism {
	const struct gp_way *way;
	bool by_test;
	u32 grace;
};

static bool is_set(const struct mechanism *m)
{
	return gp_home.way == m->way && gp_home.way_auto == m->by_test && gp_home.grace == m->grace;
}

/* The caller holds home.mutex. Returns the old settings. The workers set the grace later. */
static struct mechanism set(const struct mechanism *m)
{
	struct mechanism old;
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	old = (struct mechanism){ gp_home.way, gp_home.way_auto, gp_home.grace };
	gp_home.way = m->way;
	gp_home.way_auto = m->by_test;
	gp_home.grace = m->grace;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_grace_wake();
	return old;
}

/* The caller holds home.mutex. */
static int check(const struct mechanism *m)
{
	unsigned long flags;
	bool off;

	if (m->way == &gp_way_halt && gp_home.sched->policy != &gp_policy_fifo)
		return -EBUSY;
	spin_lock_irqsave(&gp_home.lock, flags);
	off = anybody_off();
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (off && m->way != gp_home.way)
		return -EBUSY;
	return 0;
}

/* Restores @old unless a later call has set something else. */
static void give_back(const struct mechanism *refused, const struct mechanism *old)
{
	mutex_lock(&gp_home.mutex);
	if (is_set(refused))
		set(old);
	mutex_unlock(&gp_home.mutex);
}

int gp_home_set_mechanism(const char *name, u32 grace)
{
	struct mechanism m = { find_way(name), !strcmp(name, "auto"), grace }, old;
	int err;

	if (!m.way)
		return -ENOENT;
	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	err = check(&m);
	if (!err)
		old = set(&m);
	mutex_unlock(&gp_home.mutex);
	if (err)
		return err;
	err = gp_grace_wait(grace);
	if (err)
		give_back(&m, &old);
	return err;
}

void gp_home_enable(bool on)
{
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	gp_sched_enable(gp_home.sched, on, gp_home_now());
	gp_home_settle(gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, flags);
	/* There were no scans while the scheduler was off, so look for new queues now. */
	gp_scan_soon(0);
}

static void default_params(void)
{
	u64 lease = gp_bounds.lease_max_ms * GP_MSEC;
	u32 i;

	for (i = 0; i < GP_NR_PARAMS; i++) {
		u64 value = gp_params[i].initial;

		if (!within_bounds(i, value))
			value = i == GP_LOOK_MIN ? gp_bounds.look_min_us * GP_USEC :
				i == GP_STOP_DEADLINE ? gp_bounds.stop_deadline_ms * GP_MSEC :
				lease;
		set_param(i, clamp(value, gp_params[i].min, gp_params[i].max));
	}
}

void gp_home_reset_settings(void)
{
	/* Stopped processes are started again by the way that stopped them (gp_gpu.halted). */
	set(&(struct mechanism){ &gp_way_evict, false, 0 });
	gp_home_set_policy("fifo");
	gp_home_enable(true);
	default_params();
}

/* ---- life ---- */

static const struct gp_limits limits = {
	.devices = GP_HOME_DEVICES, .tasks = GP_HOME_TASKS, .seats = GP_HOME_SEATS,
	.queues = GP_HOME_QUEUES,
};

int gp_home_init(void)
{
	struct gp_sched_args args = { .limits = limits, .trace = { .emit = gp_dev_file_trace } };
	struct gp_kernel_home *h = &gp_home;
	int err = -ENOMEM;

	mutex_init(&h->mutex);
	spin_lock_init(&h->lock);
	INIT_LIST_HEAD(&h->targets);
	INIT_LIST_HEAD(&h->members);
	INIT_LIST_HEAD(&h->clients);
	INIT_LIST_HEAD(&h->spent);
	INIT_WORK(&h->free_spent, gp_kernel_queue_free_work);
	init_waitqueue_head(&h->moved);
	INIT_DELAYED_WORK(&h->rescan, gp_scan_work);
	hrtimer_init(&h->tick, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	h->tick.function = tick_fires;
	h->way = &gp_way_evict;

	h->stats = (struct gp_uapi_stats *)get_zeroed_page(GFP_KERNEL);
	h->memory = vzalloc(gp_sched_size(&limits));
	h->reapers = alloc_workqueue("gpreempt", WQ_UNBOUND, 0);
	/*
	 * A process that holds its KFD mutex while it exits blocks one worker. Others must not
	 * wait.
	 */
	h->putters = alloc_workqueue("gpreempt_mm", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!h->stats || !h->memory || !h->reapers || !h->putters || gp_scan_init())
		goto failed;
	h->stats->version = GP_UAPI_VERSION;
	h->stats->bytes = sizeof(*h->stats);
	err = gp_sched_init(h->memory, &args, &h->sched);
	if (err)
		goto failed;
	default_params();
	return 0;

failed:
	gp_scan_fini();
	if (h->putters)
		destroy_workqueue(h->putters);
	if (h->reapers)
		destroy_workqueue(h->reapers);
	vfree(h->memory);
	free_page((unsigned long)h->stats);
	return err;
}

void gp_home_fini(void)
{
	struct gp_kernel_home *h = &gp_home;

	/* All GPUs are gone, so no process is owed a start. */
	cancel_delayed_work_sync(&h->rescan);
	hrtimer_cancel(&h->tick);
	/* Destroy putters first, because a putter may drop the last reference to a member. */
	destroy_workqueue(h->putters);
	destroy_workqueue(h->reapers);
	/* An exiting process may still run our notifier, which takes home.lock. */
	mmu_notifier_synchronize();
	WARN_ON(!list_empty(&h->members));
	gp_scan_fini();
	vfree(h->memory);
	free_page((unsigned long)h->stats);
}
