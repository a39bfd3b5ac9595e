// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The worker of a GPU decides (pulls), carries out actions on its GPU, and answers. It is a thread
 * of ordinary priority. The driver yields the processor while it waits for the GPU, and with a
 * real-time thread no other thread would run.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>

#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_floor.h"
#include "gp_gpu.h"
#include "gp_grace.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_selftest.h"
#include "gp_step.h"
#include "gp_target.h"
#include "gp_worker.h"

/* Time between two tries of an owed start, or two checks of a late fence or a locked GPU. */
#define AGAIN_NS	(10 * GP_MSEC)

void gp_gpu_wake(struct gp_kernel_gpu *gpu)
{
	lockdep_assert_held(&gp_home.lock);
	if (gpu->kicked || !gpu->worker)
		return;
	gpu->kicked = true;
	wake_up(&gpu->wake);
}

/* ---- probes ---- */

/* Counts the waves of all processes of @task. -errno: unknown. */
static int count_waves(struct gp_kernel_gpu *gpu, u32 task, u32 *ret)
{
	struct gp_crew *crew = gpu->crew;
	struct gp_target *t;
	u32 i, nr = 0, waves;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&gp_home.lock, flags);
	t = gp_target_of_task(task);
	for (i = 0; t && i < t->nr_members; i++) {
		struct gp_member *m = t->member[i];

		if (!m || !m->seat[gpu->device].pdd)
			continue;
		kref_get(&m->ref);
		crew->member[nr++] = m;
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);

	*ret = 0;
	for (i = 0; i < nr; i++) {
		waves = 0;
		if (!err)
			err = gp_kfd_waves(crew->member[i]->seat[gpu->device].pdd, &waves);
		*ret += waves;
		gp_member_put(crew->member[i]);
	}
	return err;
}

/* Reads the counters, then the pointers, then answers, so that work in between is not missed. */
static void probe(struct gp_kernel_gpu *gpu, u32 task)
{
	struct gp_probed probed = { .device = gpu->device, .task = task,
				    .executing = GP_EXEC_UNKNOWN,
				    .permille = GP_OCCUPANCY_UNKNOWN };
	unsigned long flags;
	u32 waves;
	u64 now;

	if (!gpu->gone && !count_waves(gpu, task, &waves)) {
		probed.executing = waves ? GP_EXEC_YES : GP_EXEC_NO;
		if (gpu->is.wave_slots)
			probed.permille = min_t(u64, 1000ull * waves / gpu->is.wave_slots, 1000);
	}
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gp_gpu_look(gpu, now);
	gp_sched_probed(gp_home.sched, &probed, now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

static void probe_all(struct gp_kernel_gpu *gpu)
{
	u32 task;

	for_each_set_bit(task, gpu->crew->order.probes, GP_HOME_TASKS)
		probe(gpu, task);
}

/* ---- lifetime ---- */

/*
 * Decides and takes the order for this GPU. False: nothing to do. Defers the wakeups of clients,
 * because a woken client could get the processor before the command is given. Clients are woken
 * after the command or by the next tick.
 */
static bool take_order(struct gp_kernel_gpu *gpu)
{
	struct gp_worker_order *order = &gpu->crew->order;
	unsigned long flags;
	bool any;
	u64 now;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gpu->kicked = false;
	gpu->busy = true;
	gpu->woken_ns = now;
	gpu->wakeups++;
	gp_home.stats->wakeups++;
	gp_home.hushed = true;
	gpu->decisions += gp_sched_due(gp_home.sched, now);
	gp_step_reset(gpu, now);
	gp_home_hand_out(now);
	*order = gpu->order;
	order->action.tasks = order->tasks;
	gpu->order.step = false;
	bitmap_zero(gpu->order.probes, GP_HOME_TASKS);
	any = order->step || !bitmap_empty(order->probes, GP_HOME_TASKS) || gpu->orphans;
	gpu->kicked = false;		/* set by this worker for the order it just took */
	gp_home_settle(now);
	gp_home.hushed = false;
	if (!order->step)
		gp_dev_file_wake_owed();
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return any;
}

/* Schedules a retry for anything that is left. */
static void done(struct gp_kernel_gpu *gpu, bool orphans_left)
{
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gpu->busy = false;
	if (now - gpu->woken_ns > gp_home.stats->worker_ns_max)
		gp_home.stats->worker_ns_max = now - gpu->woken_ns;
	gpu->retry_ns = orphans_left || gpu->crew->late || gpu->crew->unsure ? now + AGAIN_NS :
									     GP_NEVER;
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
}

static void work(struct gp_kernel_gpu *gpu)
{
	u32 resets = gpu->resets;
	bool left = false;

	if (gp_floor)
		gp_floor_step(gpu);
	take_order(gpu);
	gp_grace_apply(gpu);
	if (gpu->crew->order.step)
		gp_step_action(gpu);
	if (READ_ONCE(gpu->strays))
		gp_step_strays(gpu);
	if (READ_ONCE(gpu->orphans))
		left = !gp_step_orphans(gpu);
	if (gpu->crew->late)
		gp_step_late(gpu);
	if (gpu->crew->unsure)
		gp_step_resync(gpu);
	if (READ_ONCE(gpu->test))
		gp_selftest_run(gpu);
	probe_all(gpu);
	if (gpu->resets != resets && !gpu->gone)
		gp_kfd_unhalt(gpu->node);
	gp_step_end_halt(gpu);
	done(gpu, left);
}

static bool wanted(const struct gp_kernel_gpu *gpu)
{
	return READ_ONCE(gpu->kicked) || kthread_should_stop();
}

static void wait(struct gp_kernel_gpu *gpu)
{
	u64 now = gp_home_now(), at = READ_ONCE(gpu->retry_ns);

	if (at == GP_NEVER)
		wait_event_freezable(gpu->wake, wanted(gpu));
	else if (at > now)
		wait_event_freezable_timeout(gpu->wake, wanted(gpu),
					     nsecs_to_jiffies(at - now) + 1);
}

static int run(void *data)
{
	struct gp_kernel_gpu *gpu = data;

	set_freezable();
	while (!kthread_should_stop()) {
		wait(gpu);
		if (kthread_should_stop())
			break;
		work(gpu);
	}
	return 0;
}

int gp_worker_new(struct gp_kernel_gpu *gpu)
{
	struct task_struct *worker = kthread_create(run, gpu, "gpreempt/%u", gpu->device);

	if (IS_ERR(worker))
		return PTR_ERR(worker);
	gpu->worker = worker;
	return 0;
}

void gp_worker_stop(struct gp_kernel_gpu *gpu)
{
	struct task_struct *worker = gpu->worker;
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	gpu->worker = NULL;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (worker)
		kthread_stop(worker);
}

/* A late fence or a locked GPU counts as not done, because some processes may be off. */
static bool is_done(const struct gp_kernel_gpu *gpu)
{
	unsigned long flags;
	bool is;

	spin_lock_irqsave(&gp_home.lock, flags);
	is = !gpu->busy && !gpu->kicked && !gpu->orphans && gpu->retry_ns == GP_NEVER;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return is;
}

bool gp_gpu_drain(struct gp_kernel_gpu *gpu, u32 ms, const bool *unless)
{
	wait_event_timeout(gp_home.moved, is_done(gpu) || (unless && READ_ONCE(*unless)),
			   msecs_to_jiffies(ms));
	return is_done(gpu);
}
