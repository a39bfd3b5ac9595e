// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The calls of /dev/gpreempt that only read. */
#include "gp_bounds.h"
#include "gp_dev.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_target.h"

int gp_dev_version(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_uapi_version *v = &a->version;
	const struct gp_target *t;
	const struct gp_kernel_gpu *gpu;
	bool tested = true;

	*v = (struct gp_uapi_version){ .version = GP_UAPI_VERSION };
	list_for_each_entry(t, &c->targets, of_client)
		v->nr_tasks++;
	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		if (!gpu->node || gpu->gone)
			continue;
		v->nr_gpus++;
		tested &= gpu->direct_ok;
	}
	if (gp_home.sched->enabled)
		v->flags |= GP_UAPI_ENABLED;
	if (tested && (v->nr_gpus || gp_gpu_any_tested()))
		v->flags |= GP_UAPI_DIRECT_TESTED;
	strscpy(v->policy, gp_home.sched->policy->name, sizeof(v->policy));
	strscpy(v->mechanism, gp_home.way_auto ? "auto" : gp_home.way->name,
		sizeof(v->mechanism));
	return 0;
}

static u32 device_after(const struct gp_target *t, u32 from)
{
	while (from < GP_HOME_DEVICES && !(t->devices & BIT_ULL(from)))
		from++;
	return from;
}

static u32 id_of(u32 device)
{
	return device < GP_HOME_DEVICES ? gp_home.gpu[device].is.gpu_id : 0;
}

/* The caller holds home.lock. */
static int describe_seat(const struct gp_target *t, u64 now_ns, struct gp_uapi_seat *ret)
{
	u32 device = device_after(t, 0), handle = ret->task, wanted = ret->gpu_id;
	const struct gp_seat *seat;

	while (wanted && device < GP_HOME_DEVICES && id_of(device) != wanted)
		device = device_after(t, device + 1);
	if (wanted && device == GP_HOME_DEVICES)
		return -ENODEV;
	*ret = t->before;
	gp_target_sum(t, now_ns, ret);
	ret->task = handle;
	ret->state = GP_UAPI_ABSENT;
	if (device == GP_HOME_DEVICES)
		return 0;
	ret->gpu_id = id_of(device);
	ret->next_gpu_id = id_of(device_after(t, device + 1));
	seat = gp_sched_seat(gp_home.sched, t->task, device);
	if (seat) {
		ret->state = seat->state;
		ret->work = seat->work;
		ret->nr_queues = seat->queues;
	}
	return 0;
}

int gp_dev_seat(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_target *t = gp_target_find(c, a->seat.task);
	unsigned long flags;
	int err;

	if (!t)
		return -ENOENT;
	/* The look's timer skips a task without queues, so scan for queues now. */
	if (READ_ONCE(t->task) == GP_NONE)
		gp_target_refresh(t);
	spin_lock_irqsave(&gp_home.lock, flags);
	err = describe_seat(t, gp_home_now(), &a->seat);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return err;
}

static u32 gpu_flags(const struct gp_kernel_gpu *gpu)
{
	return (gpu->is.mes ? GP_UAPI_MES : 0) | (gpu->direct_ok ? GP_UAPI_DIRECT_OK : 0) |
	       (gp_kfd_isolated(gpu->node) ? GP_UAPI_ISOLATED : 0);
}

/* The caller holds home.lock. */
static void describe_gpu(const struct gp_kernel_gpu *gpu, struct gp_uapi_gpu *ret)
{
	u64 every = gp_home.sched->devices[gpu->device].look_ns;

	*ret = (struct gp_uapi_gpu){
		.index = ret->index, .gpu_id = gpu->is.gpu_id, .flags = gpu_flags(gpu),
		.compute_units = gpu->is.compute_units, .location = gpu->is.location,
		.looks = gpu->looks, .wakeups = gpu->wakeups, .decisions = gpu->decisions,
		.actions = gpu->actions, .probes = gpu->probes, .resets = gpu->nr_resets,
		.look_every_ns = every == GP_NEVER ? 0 : every, .look_ns = gpu->look_cost_ns,
	};
	if (gpu->way)
		strscpy(ret->mechanism, gpu->way->name, sizeof(ret->mechanism));
	strscpy(ret->why_not_direct, gpu->why_not_direct, sizeof(ret->why_not_direct));
}

int gp_dev_gpu(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	const struct gp_kernel_gpu *gpu;
	unsigned long flags;
	u32 i = 0;

	for (gpu = gp_home.gpu; gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++)
		if (gpu->node && !gpu->gone && i++ == a->gpu.index)
			break;
	if (gpu == gp_home.gpu + GP_HOME_DEVICES)
		return -ENODEV;
	spin_lock_irqsave(&gp_home.lock, flags);
	describe_gpu(gpu, &a->gpu);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return 0;
}
