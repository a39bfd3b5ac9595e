/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A queue that is looked at. */
#ifndef GP_KERNEL_QUEUE_H
#define GP_KERNEL_QUEUE_H

#include <linux/list.h>

#include "core/ring.h"
#include "gp_kfd.h"
#include "gp_pin.h"

struct gp_kernel_gpu;
struct gp_kernel_queue;
struct gp_member;
struct work_struct;

/* What a look touches of a queue: one behind the other in its GPU's array. */
struct gp_hot {
	const u64 *write, *read;	/* pinned */
	struct gp_ring_at at;
	u32 queue;			/* the scheduler's */
	struct gp_kernel_queue *ring;
};

/* A queue that is looked at: all that a look does not need. */
struct gp_kernel_queue {
	struct list_head of_member;	/* home.lock */
	struct gp_member *member;
	struct gp_kernel_gpu *gpu;
	u32 place;			/* in gpu->hot, GP_NONE: not looked at yet */
	bool found;			/* by the scan under way */
	struct gp_pin read, write;
	struct gp_kfd_queue is;		/* its BOs are the pins' */
};

/* Out of its GPU's array and of the scheduler, under home.lock. */
void gp_kernel_queue_out(struct gp_kernel_queue *ring, u64 now_ns);
/* May wait for the driver and the process, so no lock is held. */
void gp_kernel_queue_free_all(struct list_head *rings);
/* Frees them from a workqueue. */
void gp_kernel_queue_free_later(struct list_head *rings);
void gp_kernel_queue_free_work(struct work_struct *work);

#endif /* GP_KERNEL_QUEUE_H */
