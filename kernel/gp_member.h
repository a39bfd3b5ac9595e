/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A process of a task: who it is, what is owed to it, its death. */
#ifndef GP_KERNEL_MEMBER_H
#define GP_KERNEL_MEMBER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/workqueue.h>

#include "gp_bounds.h"
#include "uapi/gpreempt.h"

struct gp_kernel_gpu;
struct gp_target;
struct kfd_process;
struct kfd_process_device;

/* One process of a task on one GPU: what the worker moves. Under home.lock. */
struct gp_seat_k {
	struct kfd_process_device *pdd;	/* NULL: no queue was ever seen there */
	bool owes;		/* off by us: one start is owed. Only the worker changes it. */
	bool moving;		/* the worker has it in the driver */
	bool orphan;		/* a start is owed and no action of the scheduler will give it */
	u32 queues;		/* when they were last listed; those not looked at too */
	u64 stamp;		/* of them then */
};

/*
 * A process of a task. Referenced by the home while it is attached or owed a start, and by who is
 * about to use its file; the last one lets go of the file. Dead means: never read again, never
 * restored.
 */
struct gp_member {
	struct kref ref;
	struct list_head of_home;	/* home.lock; empty: only users are left */
	struct gp_target *target;	/* home.lock; NULL: detached */
	struct list_head rings;		/* home.lock; changed with home.mutex or by its end */
	struct file *file;
	struct kfd_process *process;
	struct mm_struct *mm;		/* by mmgrab */
	struct pid *pid;
	struct mmu_notifier notifier;
	bool notified;			/* the notifier is registered */
	bool counted;			/* in home.nr_files; home.lock */
	bool dead;			/* home.lock */
	struct gp_seat_k seat[GP_HOME_DEVICES];	/* by device */
	u64 gone;			/* the driver's seats whose GPU is no more; home.mutex */
	bool unasked;			/* the driver was busy: it may have more; home.mutex */
	struct work_struct reap, put_mm;
};

/*
 * Makes a member of the process that the caller names; private to the call until it joins a task.
 * May wait for the process, so no lock is held. -errno as for GP_IOC_ATTACH; -EAGAIN: the process
 * kept its memory locked until @until_ns. gp_member_put() it.
 */
int gp_member_find(const struct gp_uapi_member *who, u64 until_ns, struct gp_member **ret);
/* One more of @target, unless it has ended since. With home.mutex. -errno as for GP_IOC_ATTACH. */
int gp_member_join(struct gp_member *member, struct gp_target *target);
void gp_member_put(struct gp_member *member);
/* Its file's owner is not attached any more; stays while it is owed a start. Under home.lock. */
void gp_member_leave(struct gp_member *member);
/* Whatever was known of it on @gpu. Under home.lock. */
void gp_member_forget_gpu(struct gp_kernel_gpu *gpu);
/* Nobody's seat on a GPU of @dev is touched any more, whether we know it or not. home.mutex. */
void gp_member_forget_device(const struct device *dev);
/* A start that is owed to @member there and that no action of the scheduler gives. home.lock. */
void gp_member_orphan(struct gp_member *member, struct gp_kernel_gpu *gpu);
/* Leaves the home if nothing keeps it there. Under home.lock. */
void gp_member_settle(struct gp_member *member);

#endif /* GP_KERNEL_MEMBER_H */
