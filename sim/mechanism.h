/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The mechanisms of the simulator. Each turns an action into cycles (gpu.h), at the cost of a real
 * machine.
 *
 *	evict	one cycle for all of them, through the driver's own gate
 *	direct	stops unmap the victims only; starts are as evict. Oversubscribed: evict
 *	debug	one ioctl and one cycle per process, then control stacks are copied
 *	halt	stop_sched and start_sched: a cycle in two calls, the driver's own grace
 *	drain	victims' waves run out, none are saved
 *	reset	victims' waves are killed; their kernels start anew (REEF)
 */
#ifndef GP_SIM_MECHANISM_H
#define GP_SIM_MECHANISM_H

#include "core/mechanism.h"
#include "core/sched.h"
#include "gpu.h"

enum {
	GP_SIMMECH_TASKS   = 256,	/* numbers of tasks it knows */
	GP_SIMMECH_ACTIONS = 8,		/* per device: one under way, others overdue */
	GP_SIMMECH_ANSWERS = 1024,
};

struct gp_simmech;

/* An action that has begun. */
struct gp_simmech_action {
	struct gp_simmech *mech;
	u64 id;			/* 0: free */
	u32 device;
	u64 deadline_ns;
	bool late;		/* timed out, but not ended on the device */
	u32 nr_out, nr_in;
	u32 task[GP_SIMMECH_TASKS];
	u32 next;		/* debug: task of the next cycle */
	u64 failed;		/* processes */
	struct gp_cycle cycle;	/* of the last one, for its times */
	u64 stops_command_ns, stops_acted_ns;	/* of the first one */
};

struct gp_simmech {
	struct gp_mechanism base;
	struct gp_engine *engine;
	const struct gp_costs *costs;
	struct gp_gpu *gpu;
	u32 nr_gpus;
	bool grace_default;
	u32 process_of[GP_SIMMECH_TASKS];	/* GP_NONE: no such task */
	u64 on_device[GP_SIMMECH_TASKS];	/* bit per device */

	/* Called when an answer can be polled. */
	void (*ready)(void *ctx);
	/* Called when the driver call of an action has returned. */
	void (*ended)(void *ctx, u32 device);
	/* Called after a reset of these processes' queues on @device. NULL: not called. */
	void (*was_reset)(void *ctx, u32 device, u64 processes);
	void *ctx;

	struct gp_simmech_action action[GP_SCENARIO_GPUS][GP_SIMMECH_ACTIONS];
	struct gp_answer answer[GP_SIMMECH_ANSWERS];
	u32 first_answer, nr_answers;
	u64 cpu_ns;		/* waited for fences, which is polling */
};

/* Returns the table for enum gp_how; NULL for GP_BY_NONE. */
const struct gp_mechanism_ops *gp_simmech_ops(enum gp_how how);
void gp_simmech_init(struct gp_simmech *m, const struct gp_mechanism_ops *ops);
/* Adds a task of the scheduler, which is process @process on the GPUs @devices; or removes it. */
void gp_simmech_add_task(struct gp_simmech *m, u32 task, u32 process, u64 devices);
void gp_simmech_del_task(struct gp_simmech *m, u32 task);

#endif /* GP_SIM_MECHANISM_H */
