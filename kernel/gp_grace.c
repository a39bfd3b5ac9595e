// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The grace period of running waves (gp_kfd_set_grace()). A caller sets it for the machine
 * (home.grace); the worker of each GPU sets it there, because the driver's lock of a GPU can be
 * held for as long as the GPU takes.
 */
#include "gp_bounds.h"
#include "gp_gpu.h"
#include "gp_grace.h"
#include "gp_home.h"
#include "gp_worker.h"

/* A caller waits so long for the GPUs, at most. A driver's call about a hung GPU takes seconds. */
#define WAIT_MS		50

/* Under home.lock. A GPU that is being dropped gets the driver's own grace back. */
static u32 wanted(const struct gp_kernel_gpu *gpu)
{
	return gpu->gone ? 0 : gp_home.grace;
}

/* Under home.lock. */
static bool is_asked(const struct gp_kernel_gpu *gpu)
{
	return !gpu->node || gpu->gone || gpu->grace_tried == gp_home.grace;
}

void gp_grace_wake(void)
{
	struct gp_kernel_gpu *gpu;
	unsigned long flags;

	spin_lock_irqsave(&gp_home.lock, flags);
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		/* A GPU that refused it before may accept it now. */
		if (gpu->grace_err)
			gpu->grace_tried = GP_NONE;
		gpu->grace_err = 0;
		if (!is_asked(gpu))
			gp_gpu_wake(gpu);
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

void gp_grace_apply(struct gp_kernel_gpu *gpu)
{
	unsigned long flags;
	u32 grace;
	int err;

	spin_lock_irqsave(&gp_home.lock, flags);
	/* Another one may be wanted when the driver has answered. */
	while ((grace = wanted(gpu)) != gpu->grace_tried) {
		spin_unlock_irqrestore(&gp_home.lock, flags);
		err = grace == gpu->grace ? 0 : gp_kfd_set_grace(gpu->node, grace);
		spin_lock_irqsave(&gp_home.lock, flags);
		gpu->grace_tried = grace;
		gpu->grace_err = err;
		if (!err)
			gpu->grace = grace;
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

/* 1: every GPU has @grace, or a later call wants another one. 0: not yet. -errno: a GPU refused. */
static int result(u32 grace)
{
	const struct gp_kernel_gpu *gpu;
	unsigned long flags;
	bool all = true;
	int err = 0;

	spin_lock_irqsave(&gp_home.lock, flags);
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		if (!gpu->node || gpu->gone)
			continue;
		all &= is_asked(gpu);
		if (gpu->grace_tried == grace && gpu->grace_err)
			err = gpu->grace_err;
	}
	all |= gp_home.grace != grace;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return err ? err : all;
}

int gp_grace_wait(u32 grace)
{
	long left;
	int is = 0;

	left = wait_event_interruptible_timeout(gp_home.moved, (is = result(grace)) != 0,
						msecs_to_jiffies(WAIT_MS));
	if (left < 0)
		return -EINTR;
	return is < 0 ? is : left ? 0 : -EAGAIN;
}
