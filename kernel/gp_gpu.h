/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A GPU: its lifetime, the looks at its queues, its worker. */
#ifndef GP_KERNEL_GPU_H
#define GP_KERNEL_GPU_H

#include <linux/hrtimer.h>
#include <linux/wait.h>

#include "gp_bounds.h"
#include "gp_kfd.h"
#include "gp_worker.h"

struct gp_hot;
struct gp_selftest;
struct kfd_node;
struct kfd_process;
struct task_struct;

struct gp_kernel_gpu {
	struct kfd_node *node;		/* NULL: this place is free */
	bool gone;			/* being dropped: the worker only gives owed starts */
	struct gp_kfd_gpu is;
	u32 device;			/* the scheduler's number, and its place in home.gpu[] */
	u32 resets;			/* gp_kfd_resets() when last asked */

	/* looking, under home.lock */
	struct hrtimer look;
	struct gp_hot *hot;
	u32 nr_hot, room;
	u64 look_at_ns;			/* when the timer fires, or GP_NEVER */
	bool put_off;			/* gp_bounds.look_share delayed the look */
	struct gp_sample sample[GP_HOME_LOOK];

	/* the worker */
	struct task_struct *worker;
	wait_queue_head_t wake;
	bool kicked;			/* home.lock: the worker has something to do */
	bool busy;			/* home.lock: the worker is not waiting */
	bool orphans;			/* home.lock: some orphans are owed a start */
	bool strays;			/* home.lock: some strays must be stopped */
	u64 retry_ns;			/* home.lock: time of the next retry, GP_NEVER */
	u64 woken_ns;			/* home.lock: when the worker last woke */
	struct gp_selftest *test;	/* home.lock; the worker's once it has begun */
	struct gp_worker_order order;		/* under home.lock until the worker has copied it */
	struct gp_crew *crew;
	const struct gp_way *way;	/* of the last step */
	bool halted;			/* processes were stopped by halt and need unhalt */
	u32 grace;			/* in effect, 0: the driver's; home.lock */
	u32 grace_tried;		/* the last one the worker tried to set; home.lock */
	int grace_err;			/* result of gp_kfd_set_grace() for it; home.lock */
	bool direct_ok;			/* the self test has passed */
	char why_not_direct[64];

	/* counters, written under home.lock */
	u64 looks, wakeups, decisions, actions, probes, nr_resets;
	u64 look_cost_ns;		/* moving average */
};

int gp_gpu_init(void);		/* registers the listener for unbinding */
void gp_gpu_fini(void);
/*
 * Returns the GPU of @node and creates it if it is new. The caller holds home.mutex.
 * ERR_PTR(-ENOSPC, -ENOMEM).
 */
struct gp_kernel_gpu *gp_gpu_get(struct kfd_node *node);
struct gp_kernel_gpu *gp_gpu_find(const struct kfd_node *node);	/* NULL: unknown */
/* Makes room for @nr queues. The caller holds home.mutex. -ENOMEM, -ENOSPC. */
int gp_gpu_reserve(struct gp_kernel_gpu *gpu, u32 nr);
/*
 * Drops all GPUs before the caller closes the last KFD file, which keeps the driver's GPUs alive.
 * @dead: true once the process of that file has died. Takes home.mutex but releases it while it
 * waits.
 */
void gp_gpu_drop_unused(const bool *dead);
/* True if an unused GPU has passed its self test. The caller holds home.mutex. */
bool gp_gpu_any_tested(void);
/* True if no GPU was unbound since the process started. The caller holds home.mutex. */
bool gp_gpu_none_left(const struct kfd_process *process);

/* ---- gp_look.c: the caller holds home.lock ---- */

/* Sets the look's timer to the time that the scheduler wants. */
void gp_gpu_arm(struct gp_kernel_gpu *gpu);
/* Looks at the queues once, now. */
void gp_gpu_look(struct gp_kernel_gpu *gpu, u64 now_ns);
enum hrtimer_restart gp_gpu_look_fires(struct hrtimer *timer);

#endif /* GP_KERNEL_GPU_H */
