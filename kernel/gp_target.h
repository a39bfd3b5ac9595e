/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A task: attach, detach, and the scans for queues of its processes. */
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
	u32 task;			/* scheduler's number, GP_NONE: no queues yet; home.lock */
	u64 devices;			/* bit per device on which it has queues; home.lock */
	u64 hold_until_ns;		/* end of a hold by hand, also of later queues; home.lock */
	bool unsettled;			/* may have queues outside its task; home.lock */
	struct gp_class class;
	struct gp_uapi_seat before;	/* sums from before its devices changed */
	u32 round;			/* the last round of scans that scanned it; home.mutex */
	u32 nr_members, nr_alive;	/* home.lock */
	struct gp_member *member[];	/* NULL: dead; home.lock */
};

/* @members: from gp_member_find(); the caller puts them. The handle is in (*@ret)->handle. */
int gp_target_attach(struct gp_dev_file *client, struct gp_member *const *members, u32 nr,
		     const struct gp_class *class, struct gp_target **ret);
/* Detaches the task and frees it. Its processes are started as soon as a worker can. */
void gp_target_detach(struct gp_target *target);
/* Detaches all tasks of @client in one step. */
void gp_target_detach_all(struct gp_dev_file *client);
/* NULL: unknown or ended. */
struct gp_target *gp_target_find(const struct gp_dev_file *client, u32 handle);
/* Finds a task by the scheduler's number. NULL: gone. The caller holds home.lock. */
struct gp_target *gp_target_of_task(u32 task);
/* Adds the account so far to the sums of @to, which begin as target->before. Under home.lock. */
void gp_target_sum(const struct gp_target *target, u64 now_ns, struct gp_uapi_seat *to);
/* Removes the task from the scheduler and adds its sums to target->before. Under home.lock. */
void gp_target_untask(struct gp_target *target, u64 now_ns);
/*
 * Removes the seats of all tasks on @gpu. Owed starts become orphans'. Its queues go to @out, for
 * gp_kernel_queue_free_all(). The caller holds home.lock and home.mutex.
 */
void gp_target_leave_gpu(struct gp_kernel_gpu *gpu, u64 now_ns, struct list_head *out);

/* ---- gp_scan.c ---- */

/*
 * Lists the queues that came or went. The task's devices become those on which it has queues. The
 * caller holds home.mutex. -ENOSPC, -EINVAL: the scheduler refuses it (*@why may be a sentence).
 */
int gp_target_scan(struct gp_target *target, bool all, const char **why);
void gp_target_rescan(struct gp_target *target);
/* The same, but only for seats whose stamp has changed. */
int gp_target_refresh(struct gp_target *target);
/*
 * True if the task is not held and is on all its devices, so its devices may change. Under
 * home.lock.
 */
bool gp_target_at_rest(const struct gp_target *target, u64 now_ns);

#endif /* GP_KERNEL_TARGET_H */
