/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The thread of a GPU that carries out what was decided. */
#ifndef GP_KERNEL_WORKER_H
#define GP_KERNEL_WORKER_H

#include <linux/bitmap.h>

#include "core/sched.h"
#include "gp_bounds.h"
#include "gp_kfd.h"

struct gp_kernel_gpu;
struct gp_member;

/* What a worker was told to do; at most one step and one probe per task at a time. */
struct gp_worker_order {
	bool step;
	struct gp_action action;
	u32 tasks[GP_HOME_TASKS];
	DECLARE_BITMAP(probes, GP_HOME_TASKS);	/* tasks to ask for */
};

/* The worker's own, for the step it carries out. */
struct gp_crew {
	struct gp_worker_order order;
	struct gp_kfd_step step;
	struct gp_kfd_move move[GP_HOME_MEMBERS];
	struct gp_member *member[GP_HOME_MEMBERS];	/* of the moves, referenced */
	u32 task[GP_HOME_MEMBERS];		/* of the moves; GP_NONE: an orphan */
	u64 late;		/* action whose fence is still awaited, 0: none */
	bool unsure;		/* the GPU was locked: it may not be as the driver believes it is */
	struct gp_answer unsure_of;	/* what is then said of stops that nobody knows of now */
};

#define GP_LATE_TEST	(~0ull)		/* gp_crew.late: of the self test */

/* It sleeps, whoever wakes it, until its GPU is known: wake_up_process(gpu->worker). */
int gp_worker_new(struct gp_kernel_gpu *gpu);
void gp_worker_stop(struct gp_kernel_gpu *gpu);
/* Under home.lock. */
void gp_gpu_wake(struct gp_kernel_gpu *gpu);
/* Waits until the worker has nothing left to do or to retry; at most @ms, or until *@unless. */
bool gp_gpu_drain(struct gp_kernel_gpu *gpu, u32 ms, const bool *unless);

#endif /* GP_KERNEL_WORKER_H */
