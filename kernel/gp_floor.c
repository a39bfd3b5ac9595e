// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See gp_floor.h. */
#ifdef GP_FLOOR

#include <linux/module.h>

#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_floor.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_step.h"
#include "gp_target.h"
#include "gp_worker.h"

#define EVERY_NS	(50 * GP_USEC)

bool gp_floor;
module_param_named(floor, gp_floor, bool, 0644);
MODULE_PARM_DESC(floor, "no scheduler: whoever is critical preempts whoever is preemptible (lab)");

static u64 seen_ns;		/* time of the last look that saw an arrival; home.lock */

void gp_floor_look(struct gp_kernel_gpu *gpu, u64 now_ns)
{
	struct gp_hot *hot = gpu->hot, *end = hot + gpu->nr_hot;
	bool arrived = false;

	for (; hot < end; hot++) {
		const struct gp_target *t = hot->ring->member->target;
		u64 write = READ_ONCE(*hot->write), before = hot->at.wptr, read;

		if (gp_ring_quiet(&hot->at, write))
			continue;
		read = READ_ONCE(*hot->read);
		if (gp_ring_same(&hot->at, read, write) || !gp_ring_take(&hot->at, read, write))
			continue;
		arrived |= before != hot->at.wptr && t && (t->class.flags & GP_LATENCY_CRITICAL);
	}
	if (arrived && !gpu->busy) {
		seen_ns = now_ns;
		gp_gpu_wake(gpu);
	}
	gpu->look_at_ns = now_ns + EVERY_NS;
	hrtimer_start(&gpu->look, ns_to_ktime(gpu->look_at_ns), HRTIMER_MODE_ABS);
}

/* Sends the event that the scheduler would send for a preemption. The caller holds home.lock. */
static void tell(const struct gp_kernel_gpu *gpu, u64 seen)
{
	const struct gp_kfd_times *times = &gpu->crew->step.times;
	u64 acted = times->acted_ns ? times->acted_ns : times->command_ns;
	struct gp_uapi_event event = {
		.time_ns = times->switched_ns, .kind = GP_UAPI_EVENT_PREEMPTION,
		.gpu_id = gpu->is.gpu_id,
	};

	event.arg[GP_PART_DECIDE] = times->command_ns - seen;
	event.arg[GP_PART_COMMAND] = acted - times->command_ns;
	event.arg[GP_PART_SAVE] = times->saved_ns - acted;
	event.arg[GP_PART_SWITCH] = times->switched_ns - times->saved_ns;
	gp_dev_file_tell(&event, NULL);
}

/* The caller holds home.lock. */
static void add_all(struct gp_kernel_gpu *gpu)
{
	u32 task;

	for (task = 0; task < GP_HOME_TASKS; task++) {
		const struct gp_target *t = gp_target_of_task(task);

		if (t && (t->class.flags & GP_PREEMPTIBLE))
			gp_step_add(gpu, task, true);
	}
}

void gp_floor_step(struct gp_kernel_gpu *gpu)
{
	unsigned long flags;
	u64 seen;
	u32 i;

	gp_step_begin(gpu, GP_SEC);
	spin_lock_irqsave(&gp_home.lock, flags);
	seen = seen_ns;
	seen_ns = 0;
	if (seen)
		add_all(gpu);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	if (!seen)
		return;

	gp_step_move(gpu, gp_step_way(gpu));
	spin_lock_irqsave(&gp_home.lock, flags);
	tell(gpu, seen);
	spin_unlock_irqrestore(&gp_home.lock, flags);

	for (i = 0; i < gpu->crew->step.nr; i++)
		gpu->crew->move[i].out = false;
	gp_step_move(gpu, &gp_way_evict);
	spin_lock_irqsave(&gp_home.lock, flags);
	gp_step_book(gpu);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	gp_step_let_go(gpu->crew);
}

#endif /* GP_FLOOR */
