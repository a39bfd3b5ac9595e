/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The thread of a GPU, which carries out actions. */
#ifndef GP_KERNEL_WORKER_H
#define GP_KERNEL_WORKER_H

#include <linux/bitmap.h>

#include "core/sched.h"
#include "gp_bounds.h"
#include "gp_kfd.h"

struct gp_kernel_gpu;
struct gp_member;

/* The order for a worker: at most one step, and one probe per task. */
struct gp_worker_order {
	bool step;
	struct gp_action action;
	u32 tasks[GP_HOME_TASKS];
	DECLARE_BITMAP(probes, GP_HOME_TASKS);	/* tasks to probe */
};

/* Private data of the worker for the step it carries out. */
struct gp_crew {
	struct gp_worker_order order;
	struct gp_kfd_step step;
	struct gp_kfd_move move[GP_HOME_MEMBERS];
	struct gp_member *member[GP_HOME_MEMBERS];	/* of the moves; referenced */
	u32 task[GP_HOME_MEMBERS];		/* of the moves; GP_NONE: orphan or stray */
	u64 late;		/* action whose fence is late, 0: none */
	bool unsure;		/* the GPU was locked and may not match the driver's books */
	struct gp_answer unsure_of;	/* answer for unknown stops, given after a resync */
};

#define GP_LATE_TEST	(~0ull)		/* gp_crew.late: of the self test */

/* Creates the worker asleep. Start it by wake_up_process(gpu->worker) once its GPU is known. */
int gp_worker_new(struct gp_kernel_gpu *gpu);
void gp_worker_stop(struct gp_kernel_gpu *gpu);
/* The caller holds home.lock. */
void gp_gpu_wake(struct gp_kernel_gpu *gpu);
/* Waits up to @ms, or until *@unless, for the worker to have nothing left. True if done. */
bool gp_gpu_drain(struct gp_kernel_gpu *gpu, u32 ms, const bool *unless);

#endif /* GP_KERNEL_WORKER_H */
