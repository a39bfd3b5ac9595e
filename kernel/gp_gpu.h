/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A GPU: its life, looking at its queues, its worker. */
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
	struct kfd_node *node;		/* NULL: place free */
	bool gone;			/* only what is owed is still given back */
	struct gp_kfd_gpu is;
	u32 device;			/* the scheduler's number, and its place in home.gpu[] */
	u32 resets;			/* gp_kfd_resets() when last asked */

	/* looking, under home.lock */
	struct hrtimer look;
	struct gp_hot *hot;
	u32 nr_hot, room;
	u64 look_at_ns;			/* what the timer is armed for, GP_NEVER */
	bool put_off;			/* to then, by gp_bounds.look_share */
	struct gp_sample sample[GP_HOME_LOOK];

	/* the worker */
	struct task_struct *worker;
	wait_queue_head_t wake;
	bool kicked;			/* home.lock: there is something to do */
	bool busy;			/* home.lock: not waiting */
	bool orphans;			/* home.lock: starts are owed */
	bool strays;			/* home.lock: stops are */
	u64 retry_ns;			/* home.lock: not before, GP_NEVER */
	u64 woken_ns;			/* home.lock: when it last began to work */
	struct gp_selftest *test;	/* home.lock; the worker's once it has begun */
	struct gp_worker_order order;		/* under home.lock until the worker has copied it */
	struct gp_crew *crew;
	const struct gp_way *way;	/* of the last step */
	bool halted;			/* who is off is so by halt, and comes back by it */
	u32 grace;			/* in effect, 0: the driver's; home.lock */
	u32 grace_tried;		/* the last one the worker tried to set; home.lock */
	int grace_err;			/* what gp_kfd_set_grace() said to it; home.lock */
	bool direct_ok;			/* the self test has passed */
	char why_not_direct[64];

	/* counters, written under home.lock */
	u64 looks, wakeups, decisions, actions, probes, nr_resets;
	u64 look_cost_ns;		/* moving average */
};

int gp_gpu_init(void);		/* listens for unbinding */
void gp_gpu_fini(void);
/* The GPU of @node, made on first use. With home.mutex. ERR_PTR(-ENOSPC, -ENOMEM). */
struct gp_kernel_gpu *gp_gpu_get(struct kfd_node *node);
struct gp_kernel_gpu *gp_gpu_find(const struct kfd_node *node);	/* NULL: not known */
/* Room for @nr queues. With home.mutex. -ENOMEM, -ENOSPC. */
int gp_gpu_reserve(struct gp_kernel_gpu *gpu, u32 nr);
/*
 * Drops all GPUs when the caller is about to close the last KFD file, which keeps them there.
 * @dead: whether the process of that file has died. Takes home.mutex, but not while it waits.
 */
void gp_gpu_drop_unused(const bool *dead);
/* Has one passed its self test that nobody uses now? With home.mutex. */
bool gp_gpu_any_tested(void);
/* Were all GPUs that the process has seats on there ever since? With home.mutex. */
bool gp_gpu_none_left(const struct kfd_process *process);

/* ---- gp_look.c: under home.lock ---- */

/* The look's timer is as the scheduler wants it. */
void gp_gpu_arm(struct gp_kernel_gpu *gpu);
/* One look now. */
void gp_gpu_look(struct gp_kernel_gpu *gpu, u64 now_ns);
enum hrtimer_restart gp_gpu_look_fires(struct hrtimer *timer);

#endif /* GP_KERNEL_GPU_H */
