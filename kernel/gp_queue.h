/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A queue that gets looks. */
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

/* The data of a queue that a look reads, in one array per GPU. */
struct gp_hot {
	const u64 *write, *read;	/* pinned */
	struct gp_ring_at at;
	u32 queue;			/* the scheduler's number */
	struct gp_kernel_queue *ring;
};

/* The data of a queue that a look does not need. */
struct gp_kernel_queue {
	struct list_head of_member;	/* home.lock */
	struct gp_member *member;
	struct gp_kernel_gpu *gpu;
	u32 place;			/* index in gpu->hot, GP_NONE: gets no looks yet */
	bool found;			/* found by the scan under way */
	struct gp_pin read, write;
	struct gp_kfd_queue is;		/* the pins own its buffers */
};

/* Removes the queue from its GPU's array and from the scheduler. The caller holds home.lock. */
void gp_kernel_queue_out(struct gp_kernel_queue *ring, u64 now_ns);
/* Frees queues. May wait for the driver and the process, so the caller holds no lock. */
void gp_kernel_queue_free_all(struct list_head *rings);
/* Frees queues from a workqueue. */
void gp_kernel_queue_free_later(struct list_head *rings);
void gp_kernel_queue_free_work(struct work_struct *work);

#endif /* GP_KERNEL_QUEUE_H */
