/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A task: attach, detach, and following the queues of its processes. */
#ifndef GP_KERNEL_TARGET_H
#define GP_KERNEL_TARGET_H

#include <linux/list.h>

#include "core/sched.h"
#include "uapi/gpreempt.h"

struct gp_dev_file;
struct gp_kernel_gpu;
struct gp_member;

/* A task, from attach to detach or the death of its last process. */
struct gp_target {
	struct list_head of_home;	/* home.mutex */
	struct list_head of_client;	/* home.mutex */
	struct gp_dev_file *client;
	u32 handle;
	u32 task;			/* the scheduler's, GP_NONE: no queues yet; home.lock */
	u64 devices;			/* bit per device it sits on; home.lock */
	u64 hold_until_ns;		/* by hand, with every queue it gets; home.lock */
	bool unsettled;			/* it may have queues its task does not cover; home.lock */
	struct gp_class class;
	struct gp_uapi_seat before;	/* as other tasks, before its devices changed: its sums */
	u32 round;			/* the last round of scans that scanned it; home.mutex */
	u32 nr_members, nr_alive;	/* home.lock */
	struct gp_member *member[];	/* NULL: dead; home.lock */
};

/* @members: from gp_member_find(); the caller puts them. The handle is in (*@ret)->handle. */
int gp_target_attach(struct gp_dev_file *client, struct gp_member *const *members, u32 nr,
		     const struct gp_class *class, struct gp_target **ret);
/* It is on the GPUs again, or will be as soon as a worker can; then forgotten. */
void gp_target_detach(struct gp_target *target);
/* All of @client, in one step. */
void gp_target_detach_all(struct gp_dev_file *client);
/* NULL: none, or ended. */
struct gp_target *gp_target_find(const struct gp_dev_file *client, u32 handle);
/* By the scheduler's number, under home.lock; NULL: gone. */
struct gp_target *gp_target_of_task(u32 task);
/* Adds what it has got so far to the sums of @to, which begin with target->before. home.lock. */
void gp_target_sum(const struct gp_target *target, u64 now_ns, struct gp_uapi_seat *to);
/* It is no task of the scheduler any more; its sums go to target->before. Under home.lock. */
void gp_target_untask(struct gp_target *target, u64 now_ns);
/*
 * No task has a seat on @gpu any more; starts that are owed are orphans'. The rings that were
 * looked at there go to @out, for gp_kernel_queue_free_all(). Under home.lock and mutex.
 */
void gp_target_leave_gpu(struct gp_kernel_gpu *gpu, u64 now_ns, struct list_head *out);

/* ---- gp_scan.c ---- */

/*
 * Queues that came or went are followed; its devices are those with queues. With home.mutex.
 * -ENOSPC, -EINVAL: the scheduler does not take it (*@why may be a sentence).
 */
int gp_target_scan(struct gp_target *target, bool all, const char **why);
void gp_target_rescan(struct gp_target *target);
/* The same, where a stamp says that something changed. */
int gp_target_refresh(struct gp_target *target);
/* Nobody holds it, and it is nowhere but on: its devices may change. Under home.lock. */
bool gp_target_at_rest(const struct gp_target *target, u64 now_ns);

#endif /* GP_KERNEL_TARGET_H */
