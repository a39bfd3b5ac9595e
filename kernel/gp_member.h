/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A process of a task: its identity, the starts it is owed, its death. */
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

/* One process of a task on one GPU. The worker moves it. Under home.lock. */
struct gp_seat_k {
	struct kfd_process_device *pdd;	/* NULL: it never had a queue there */
	bool owes;		/* stopped, so one start is owed; only the worker changes it */
	bool moving;		/* the worker is moving it in the driver */
	bool orphan;		/* owed a start that no action of the scheduler gives */
	u32 queues;		/* number at the last scan, with those that get no looks */
	u64 stamp;		/* gp_kfd_queues_stamp() at the last scan */
};

/*
 * A process of a task. The home references it while it is attached or owed a start. Code that uses
 * its file takes a reference too. Dropping the last reference releases the file. A dead member is
 * never read again and never restored.
 */
struct gp_member {
	struct kref ref;
	struct list_head of_home;	/* home.lock; empty: it left the home */
	struct gp_target *target;	/* home.lock; NULL: detached */
	struct list_head rings;		/* home.lock; changed with home.mutex or by its death */
	struct file *file;
	struct kfd_process *process;
	struct mm_struct *mm;		/* referenced by mmgrab() */
	struct pid *pid;
	struct mmu_notifier notifier;
	bool notified;			/* the notifier is registered */
	bool counted;			/* in home.nr_files; home.lock */
	bool dead;			/* home.lock */
	struct gp_seat_k seat[GP_HOME_DEVICES];	/* by device */
	u64 gone;			/* bit per seat whose GPU was unbound; home.mutex */
	bool unasked;			/* driver was busy, so the scan is incomplete; home.mutex */
	struct work_struct reap, put_mm;
};

/*
 * Makes a member of the process that the caller names. It is private to the call until it joins a
 * task. May wait for the process, so the caller holds no lock. -errno as for GP_IOC_ATTACH;
 * -EAGAIN: the process kept its memory locked until @until_ns. Release it by gp_member_put().
 */
int gp_member_find(const struct gp_uapi_member *who, u64 until_ns, struct gp_member **ret);
/*
 * Adds @member to @target unless it has ended. The caller holds home.mutex. -errno as for
 * GP_IOC_ATTACH.
 */
int gp_member_join(struct gp_member *member, struct gp_target *target);
void gp_member_put(struct gp_member *member);
/* Detaches the process. It stays in the home while it is owed a start. Under home.lock. */
void gp_member_leave(struct gp_member *member);
/* Forgets all state of processes on @gpu. The caller holds home.lock. */
void gp_member_forget_gpu(struct gp_kernel_gpu *gpu);
/*
 * Marks the seats on a GPU of @dev so that they are never used again, even if the module does not
 * know the GPU. The caller holds home.mutex.
 */
void gp_member_forget_device(const struct device *dev);
/* Marks the member as owed a start on @gpu that no action gives. The caller holds home.lock. */
void gp_member_orphan(struct gp_member *member, struct gp_kernel_gpu *gpu);
/* Removes the member from the home if nothing keeps it there. The caller holds home.lock. */
void gp_member_settle(struct gp_member *member);

#endif /* GP_KERNEL_MEMBER_H */
