// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The grace period of running waves (gp_kfd_set_grace()). A caller sets it for the machine
 * (home.grace). The worker of each GPU sets it on its GPU, because a GPU that does not answer
 * blocks the driver's lock of that GPU.
 */
#include "gp_bounds.h"
#include "gp_gpu.h"
#include "gp_grace.h"
#include "gp_home.h"
#include "gp_worker.h"

/* Longest time that a caller waits for the GPUs. A driver call on a hung GPU takes seconds. */
#define WAIT_MS		50

/* A GPU that is being dropped gets the driver's own grace back. The caller holds home.lock. */
static u32 wanted(const struct gp_kernel_gpu *gpu)
{
	return gpu->gone ? 0 : gp_home.grace;
}

/* True if the worker has tried to set home.grace. The caller holds home.lock. */
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
		/* Retry, because a GPU that refused this grace before may accept it now. */
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
	/* A caller may set another grace while the driver is working. */
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

/*
 * Returns 1 if every GPU has @grace or a later call has set another one, 0 if some are pending, or
 * the -errno of a GPU that refused.
 */
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
