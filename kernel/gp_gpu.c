// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A GPU. The module knows it from the first queue of an attached process on it until the GPU is
 * unbound or no process is attached.
 */
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_grace.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_selftest.h"
#include "gp_step.h"
#include "gp_target.h"
#include "gp_worker.h"

/* The driver resets a GPU that does not answer for this long. */
#define LAST_WAIT_MS	30000
/*
 * How long to wait for starts of other processes after the last process has died. Its queues keep
 * running until the module releases its file.
 */
#define DEATH_WAIT_MS	50

/* gpu_ids of unused GPUs that passed the self test; 0: free entry. Under home.mutex. */
static u32 tested[GP_HOME_DEVICES];

/* Returns the entry of @gpu_id, or NULL. */
static u32 *tested_at(u32 gpu_id)
{
	u32 i;

	for (i = 0; i < GP_HOME_DEVICES; i++)
		if (tested[i] == gpu_id)
			return &tested[i];
	return NULL;
}

bool gp_gpu_any_tested(void)
{
	return memchr_inv(tested, 0, sizeof(tested));
}

struct gp_kernel_gpu *gp_gpu_find(const struct kfd_node *node)
{
	struct gp_kernel_gpu *gpu;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node == node)
			return gpu;
	return NULL;
}

int gp_gpu_reserve(struct gp_kernel_gpu *gpu, u32 nr)
{
	struct gp_hot *hot, *old;
	unsigned long flags;
	u32 room;

	if (nr <= gpu->room)
		return 0;
	room = roundup_pow_of_two(nr);
	hot = kvcalloc(room, sizeof(*hot), GFP_KERNEL);
	if (!hot)
		return -ENOMEM;
	spin_lock_irqsave(&gp_home.lock, flags);
	old = gpu->hot;
	if (old)
		memcpy(hot, old, gpu->nr_hot * sizeof(*hot));
	gpu->hot = hot;
	gpu->room = room;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	kvfree(old);
	return 0;
}

/*
 * Adds a device whose place in home.gpu[] is free. A GPU that is being dropped keeps its place
 * after the scheduler has forgotten its number. The caller holds home.lock.
 */
static int add_in_free_place(u32 flags, u32 *ret)
{
	u64 taken = 0;
	u32 d;
	int err;

	do {
		err = gp_device_add(gp_home.sched, flags, ret);
		taken |= err ? 0 : BIT_ULL(*ret);
	} while (!err && gp_home.gpu[*ret].node);
	for (d = 0; d < GP_HOME_DEVICES; d++)
		if ((taken & BIT_ULL(d)) && (err || d != *ret))
			gp_device_del(gp_home.sched, d, gp_home_now());
	return err;
}

static int add_device(const struct gp_kfd_gpu *is, u32 *ret)
{
	/* Equal pointers do not prove that the work has finished, on any GPU. */
	u32 flags = is->can_probe ? GP_CAN_PROBE : 0;
	unsigned long irq;
	int err;

	spin_lock_irqsave(&gp_home.lock, irq);
	err = add_in_free_place(flags, ret);
	spin_unlock_irqrestore(&gp_home.lock, irq);
	return err;
}

static void del_device(u32 device)
{
	unsigned long irq;

	spin_lock_irqsave(&gp_home.lock, irq);
	gp_device_del(gp_home.sched, device, gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, irq);
}

static void clear(struct gp_kernel_gpu *gpu)
{
	kvfree(gpu->hot);
	kvfree(gpu->crew);
	memset(gpu, 0, sizeof(*gpu));
}

struct gp_kernel_gpu *gp_gpu_get(struct kfd_node *node)
{
	struct gp_kernel_gpu *gpu = gp_gpu_find(node);
	struct gp_kfd_gpu is;
	unsigned long flags;
	u32 device;
	int err;

	lockdep_assert_held(&gp_home.mutex);
	if (gpu)
		return gpu;
	gp_kfd_describe(node, &is);
	err = add_device(&is, &device);
	if (err)
		return ERR_PTR(err);
	gpu = &gp_home.gpu[device];
	gpu->is = is;
	gpu->device = device;
	gpu->resets = gp_kfd_resets(node);
	gpu->direct_ok = tested_at(is.gpu_id);
	if (gpu->direct_ok)
		*tested_at(is.gpu_id) = 0;
	gpu->look_at_ns = GP_NEVER;
	gpu->retry_ns = GP_NEVER;
	hrtimer_init(&gpu->look, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	gpu->look.function = gp_gpu_look_fires;
	init_waitqueue_head(&gpu->wake);
	gpu->crew = kvzalloc(sizeof(*gpu->crew), GFP_KERNEL);
	err = gpu->crew ? gp_worker_new(gpu) : -ENOMEM;
	if (err) {
		del_device(device);
		clear(gpu);
		return ERR_PTR(err);
	}
	spin_lock_irqsave(&gp_home.lock, flags);
	gpu->node = node;
	gp_dev_file_record_gpu(gpu);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_process(gpu->worker);
	gp_grace_wake();
	return gpu;
}

/* Waits until the worker has started every process again. @dead: see drop(). */
static void drain(struct gp_kernel_gpu *gpu, const bool *dead)
{
	if (gp_gpu_drain(gpu, LAST_WAIT_MS, dead))
		return;
	/* Closing the file makes the driver map all others again, so do not wait longer. */
	if (dead && READ_ONCE(*dead) && gp_gpu_drain(gpu, DEATH_WAIT_MS, NULL))
		return;
	pr_warn("gpreempt: GPU %u does not answer; it is left as it is\n", gpu->is.gpu_id);
}

/*
 * The caller holds home.mutex. The function releases it while it waits for the GPU and takes it
 * again. Meanwhile gpu->gone reserves the GPU's place and stops other callers from dropping the
 * GPU. @dead is NULL, or true once the process whose file the caller keeps open has died. That
 * shortens the wait.
 */
static void drop(struct gp_kernel_gpu *gpu, const bool *dead)
{
	struct kfd_node *node = gpu->node;
	unsigned long flags;
	LIST_HEAD(out);
	u64 now;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	gpu->gone = true;
	gp_target_leave_gpu(gpu, now, &out);
	gp_device_del(gp_home.sched, gpu->device, now);
	gp_home_settle(now);
	if (gpu->grace)
		gp_gpu_wake(gpu);	/* the worker restores the driver's grace */
	spin_unlock_irqrestore(&gp_home.lock, flags);
	mutex_unlock(&gp_home.mutex);

	drain(gpu, dead);
	gp_worker_stop(gpu);
	gp_step_end_halt(gpu);
	gp_selftest_cancel(gpu);
	hrtimer_cancel(&gpu->look);
	/* Free the queues now, because the driver frees the memory that they pin. */
	gp_kernel_queue_free_all(&out);

	mutex_lock(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	gp_member_forget_gpu(gpu);
	gpu->node = NULL;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_kfd_forget(node);
	clear(gpu);
	wake_up_all(&gp_home.moved);
}

void gp_gpu_drop_unused(const bool *dead)
{
	struct gp_kernel_gpu *gpu;

	mutex_lock(&gp_home.mutex);
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		if (!gpu->node || gpu->gone || READ_ONCE(gp_home.nr_files))
			continue;
		if (gpu->direct_ok && tested_at(0))
			*tested_at(0) = gpu->is.gpu_id;
		drop(gpu, dead);
	}
	mutex_unlock(&gp_home.mutex);
}

static void removed(struct gp_kernel_gpu *gpu)
{
	struct gp_uapi_event event = { .time_ns = gp_home_now(), .gpu_id = gpu->is.gpu_id,
				       .kind = GP_UAPI_EVENT_REMOVED };
	unsigned long flags;

	drop(gpu, NULL);
	spin_lock_irqsave(&gp_home.lock, flags);
	gp_home.stats->removals++;
	gp_dev_file_tell(&event, NULL);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
}

/*
 * A process keeps its seats on a GPU that is unbound, and they point to memory that the driver
 * frees. gp_member_forget_device() marks the seats of attached processes. A process that attaches
 * later must have started after the GPU was unbound.
 */
static const struct device *leaving;	/* home.mutex; CLOCK_BOOTTIME, GP_NEVER: unbinding */
static u64 left_ns;			/* home.mutex; CLOCK_BOOTTIME, GP_NEVER: not yet */

bool gp_gpu_none_left(const struct kfd_process *process)
{
	lockdep_assert_held(&gp_home.mutex);
	return gp_kfd_lead(process)->start_boottime > left_ns;
}

/* True if a GPU of @dev (NULL: of any device) is still known or being dropped. */
static bool any_left(const struct device *dev)
{
	const struct gp_kernel_gpu *gpu;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (READ_ONCE(gpu->node) && (!dev || READ_ONCE(gpu->is.dev) == dev))
			return true;
	return false;
}

/* True if the worker of another GPU still references a process that left the home. */
static bool any_unreaped(void)
{
	unsigned long flags;
	bool any;

	spin_lock_irqsave(&gp_home.lock, flags);
	any = gp_home.nr_files != gp_home.nr_members;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return any;
}

static void leaves(const struct device *dev)
{
	struct gp_kernel_gpu *gpu;

	mutex_lock(&gp_home.mutex);
	leaving = dev;
	left_ns = GP_NEVER;
	memset(tested, 0, sizeof(tested));
	gp_member_forget_device(dev);
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node && !gpu->gone && gpu->is.dev == dev)
			removed(gpu);
	mutex_unlock(&gp_home.mutex);
	/* Another thread may be dropping the GPU. */
	wait_event(gp_home.moved, !any_left(dev));
	/* Processes and queues that ended just before may still pin memory of the GPU. */
	wait_event(gp_home.moved, !any_unreaped());
	flush_workqueue(gp_home.reapers);
}

static void left(const struct device *dev)
{
	mutex_lock(&gp_home.mutex);
	if (leaving == dev) {
		leaving = NULL;
		left_ns = ktime_get_boottime_ns();
	}
	mutex_unlock(&gp_home.mutex);
}

static int bus_changes(struct notifier_block *block, unsigned long what, void *data)
{
	const struct device *dev = data;

	if (what == BUS_NOTIFY_UNBIND_DRIVER && !strcmp(dev->driver->name, "amdgpu"))
		leaves(dev);
	else if (what == BUS_NOTIFY_UNBOUND_DRIVER)
		left(dev);
	return NOTIFY_DONE;
}

static struct notifier_block bus_listener = { .notifier_call = bus_changes };

int gp_gpu_init(void)
{
	return bus_register_notifier(&pci_bus_type, &bus_listener);
}

void gp_gpu_fini(void)
{
	struct gp_kernel_gpu *gpu;

	mutex_lock(&gp_home.mutex);
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node && !gpu->gone)
			drop(gpu, NULL);
	mutex_unlock(&gp_home.mutex);
	wait_event(gp_home.moved, !any_left(NULL));
	/* Unregister last, because unbinding a GPU must wait until the module has dropped it. */
	bus_unregister_notifier(&pci_bus_type, &bus_listener);
}
