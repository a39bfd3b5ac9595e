// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests, with one task, what mechanism `direct` assumes of a GPU's firmware. UNMAP_QUEUES by PASID
 * must remove all compute queues of the task from the hardware's slots, and the firmware must not
 * map them again by itself. The worker runs the test, because only the worker may move processes.
 */
#include <linux/delay.h>

#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_selftest.h"
#include "gp_step.h"
#include "gp_target.h"
#include "gp_worker.h"

#define FENCE_NS	(100 * GP_MSEC)
#define ROUNDS_MS	20		/* time in which wrong firmware would map again */

/* Counts the queues of the step's processes that are in hardware slots; -errno. */
static int mapped(const struct gp_crew *crew)
{
	int sum = 0, nr;
	u32 i;

	for (i = 0; i < crew->step.nr; i++) {
		nr = gp_kfd_mapped(crew->move[i].seat);
		if (nr < 0)
			return nr;
		sum += nr;
	}
	return sum;
}

static int fails(struct gp_selftest *t, int err, const char *why)
{
	strscpy(t->why, why, t->size);
	return err;
}

/* Checks that the stopped queues are off and stay off. */
static int judge(const struct gp_crew *crew, struct gp_selftest *t)
{
	int nr = mapped(crew);

	if (nr < 0)
		return fails(t, -EBUSY, "the driver does not show what is in the hardware's slots");
	if (nr)
		return fails(t, -EPROTO, "UNMAP_QUEUES by PASID left queues in the hardware");
	msleep(ROUNDS_MS);
	if (mapped(crew))
		return fails(t, -EPROTO, "the firmware mapped the queues again by itself");
	return 0;
}

static int stop(struct gp_kernel_gpu *gpu, struct gp_selftest *t)
{
	struct gp_kfd_step *step = &gpu->crew->step;
	int err;

	if (!step->nr)
		return fails(t, -EBUSY, "the task has no queues there, or is off already");
	/* If no queue is in a slot now, the test would prove nothing. */
	if (mapped(gpu->crew) <= 0)
		return fails(t, -EBUSY, "none of its queues is in the hardware's slots");
	err = gp_way_direct.can(step);
	if (!err)
		err = gp_way_direct.move(step);
	if (err == -ETIME) {
		gpu->crew->late = GP_LATE_TEST;
		return fails(t, -EPROTO, "the fence behind UNMAP_QUEUES by PASID did not come");
	}
	if (err)
		return fails(t, -EBUSY, step->why_not);
	return judge(gpu->crew, t);
}

void gp_selftest_run(struct gp_kernel_gpu *gpu)
{
	const struct gp_target *target;
	struct gp_selftest *t;
	unsigned long flags;
	u32 i;

	gp_step_begin(gpu, FENCE_NS);
	spin_lock_irqsave(&gp_home.lock, flags);
	t = gpu->test;
	target = t ? gp_target_of_task(t->task) : NULL;
	/* The task may be detached and its number reused, so compare the handles. */
	if (target && target->handle == t->handle)
		gp_step_add(gpu, t->task, true);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (!t)
		return;

	t->err = stop(gpu, t);
	for (i = 0; i < gpu->crew->step.nr; i++)
		gpu->crew->move[i].out = false;
	gp_step_move(gpu, &gp_way_evict);

	spin_lock_irqsave(&gp_home.lock, flags);
	gp_step_book(gpu);
	for (i = 0; i < gpu->crew->step.nr; i++)
		if (gpu->crew->move[i].owes)
			gp_member_orphan(gpu->crew->member[i], gpu);
	if (t->err != -EBUSY)
		gpu->direct_ok = !t->err;
	gpu->test = NULL;
	t->done = true;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_step_let_go(gpu->crew);
	wake_up_all(&gp_home.moved);
}

/* True if the task is on the GPU and no action is moving it. The caller holds home.lock. */
static bool at_rest(const struct gp_kernel_gpu *gpu, const struct gp_target *target)
{
	const struct gp_seat *seat = gp_sched_seat(gp_home.sched, target->task, gpu->device);

	return seat && seat->state == GP_ON && !gp_home.sched->devices[gpu->device].action;
}

int gp_selftest_begin(struct gp_kernel_gpu *gpu, const struct gp_target *target,
		      struct gp_selftest *test)
{
	unsigned long flags;
	bool begun;

	lockdep_assert_held(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	begun = !gpu->gone && !gpu->test && at_rest(gpu, target);
	if (begun) {
		test->task = target->task;
		test->handle = target->handle;
		gpu->test = test;
		gp_gpu_wake(gpu);
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return begun ? 0 : fails(test, -EBUSY, "the task is not on that GPU, or just being moved");
}

int gp_selftest_wait(struct gp_selftest *test)
{
	wait_event(gp_home.moved, READ_ONCE(test->done));
	/* The worker writes the result before it releases home.lock. */
	spin_lock_irq(&gp_home.lock);
	spin_unlock_irq(&gp_home.lock);
	return test->err;
}

void gp_selftest_cancel(struct gp_kernel_gpu *gpu)
{
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	if (gpu->test) {
		gpu->test->err = fails(gpu->test, -ENODEV, "the GPU is gone");
		gpu->test->done = true;
		gpu->test = NULL;
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
}
