/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scheduler's home in the kernel: GPUs are its devices, attached tasks its tasks.
 *
 *	timer of a GPU ----- look: loads pointers, tells the scheduler ---- due? wake
 *	worker of a GPU ---- decides (pulls), carries out, answers            |
 *	timer of the home -- time passed: leases, deadlines, turns ---------- wake
 *	ioctl, death, close  tell the scheduler ------------------------------'
 *
 * Locks, outermost first:
 *
 *	home.mutex	attach, detach, settings, rescans, arrival and removal of GPUs: who changes
 *			what there is. Sleeps. Never taken by a worker while the driver has it, nor
 *			by the notifier of a dying process.
 *	home.lock	the scheduler and all that timers and workers share: a spinlock taken with
 *			interrupts off. Nothing of the driver, no user memory, no allocation below
 *			it. What is loaded under it is pinned.
 *	client.lock	a client's ring of events; inside home.lock.
 *
 * A worker holds none of them while it is in the driver. It owns gp_seat_k.owes: nobody else touches
 * the driver's counters.
 *
 *	gp_home.c	the scheduler, its lock, time, handing out what is to be done
 *	gp_gpu.c	a GPU: its look, its worker, its life
 *	gp_target.c	a task: its processes, their death, their queues
 *	gp_client.c	an open descriptor: what it attached, its events
 *	gp_dev.c	/dev/gpreempt: calls and their arguments
 *	gp_main.c	load and unload, parameters
 *	gp_kfd.c	the stock driver
 *	gp_pin.c	words of other processes
 *	gp_trace.h	tracepoints gpreempt:*
 */
#ifndef GP_KERNEL_HOME_H
#define GP_KERNEL_HOME_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/sched.h"
#include "gp_kfd.h"
#include "gp_pin.h"
#include "uapi/gpreempt.h"

enum {
	GP_HOME_DEVICES	= GP_UAPI_GPUS,
	GP_HOME_TASKS	= GP_UAPI_TASKS,
	GP_HOME_SEATS	= 1024,
	GP_HOME_QUEUES	= 4096,
	GP_HOME_LOOK	= 256,		/* samples of one look; the rest is in the next */
};

struct gp_client;
struct gp_target;

/* A queue that is looked at. In its GPU's array, so that a look is one walk. */
struct gp_ring {
	struct gp_pin read, write;	/* the hot words */
	u64 seen_read, seen_write;	/* as loaded */
	u64 rptr, wptr;			/* as told to the scheduler: they only count up */
	u32 queue;			/* the scheduler's */
	u32 kind;			/* enum gp_kfd_ring */
	u32 id;				/* the driver's */
	u32 ring_bytes;
	u64 ring_base;
	u64 stuck_since_ns;		/* pending and not moving; 0: no */
	u64 head_known;			/* rptr whose packet was read, ~0: none */
	bool at_barrier;		/* that packet */
	struct gp_member *member;
};

/* One process of a task on one GPU: what the worker moves. */
struct gp_seat_k {
	struct kfd_process_device *pdd;
	bool owes;		/* off by us: one start is owed. The worker's. */
	u64 stamp;		/* of its queues when they were last listed */
};

/*
 * A process of a task. Referenced by its target, and by who is about to use its file; the last
 * one lets go of the file. Dead means: never read again, never restored.
 */
struct gp_member {
	struct kref ref;
	struct gp_target *target;
	struct file *file;		/* NULL once let go */
	struct kfd_process *process;
	struct mm_struct *mm;		/* by mmgrab */
	struct pid *pid;
	struct mmu_notifier notifier;
	bool dead;
	struct gp_seat_k seat[GP_HOME_DEVICES];	/* by device; .pdd NULL: not there */
	struct work_struct reap;	/* of a dead one */
};

/* A task, from attach to detach or the death of its last process. */
struct gp_target {
	struct list_head of_home;
	struct list_head of_client;
	struct gp_client *client;
	u32 handle;
	u32 task;			/* the scheduler's, GP_NONE: no queues yet */
	u64 devices;			/* bit per device it sits on */
	struct gp_class class;
	struct gp_account before;	/* as other tasks, before its devices changed */
	u32 nr_members, nr_alive;
	struct gp_member **member;
};

/* What a worker was told to do; at most one step and one probe per GPU at a time. */
struct gp_order {
	bool step;
	struct gp_action action;
	u32 tasks[GP_HOME_TASKS];
	u64 probes[GP_HOME_TASKS / 64];	/* tasks to ask for, by number */
};

struct gp_gpu {
	struct kfd_node *node;		/* NULL: place free, or the GPU is gone */
	struct gp_kfd_gpu is;
	u32 device;			/* the scheduler's number, and its place in home.gpu[] */
	u32 resets;			/* gp_kfd_resets() when last asked */

	/* looking, under home.lock */
	struct hrtimer look;
	struct gp_ring *ring;		/* GP_HOME_QUEUES of them, those in use first */
	u32 nr_rings;
	bool heads_wanted;		/* somebody is stuck: the worker reads its packet */
	bool rescan_wanted;		/* queues came or went */

	/* the worker */
	struct task_struct *worker;
	wait_queue_head_t wake;
	bool busy;			/* in the driver */
	struct gp_order order;		/* under home.lock until the worker has copied it */
	struct list_head orphans;	/* detached seats that are owed a start */
	const struct gp_way *way;	/* of the last step */
	bool direct_ok;			/* the self test has passed */
	char why_not_direct[64];

	/* counters, written under home.lock */
	u64 looks, wakeups, decisions, actions, probes, nr_resets;
	u64 look_cost_ns;		/* moving average */
};

struct gp_home {
	struct mutex mutex;
	spinlock_t lock;
	struct gp_sched *sched;
	void *memory;
	struct hrtimer tick;
	struct gp_gpu gpu[GP_HOME_DEVICES];
	struct list_head targets;
	struct list_head clients;
	u32 last_handle;
	const struct gp_way *way;	/* wanted */
	bool way_auto;
	u32 grace;
	struct gp_uapi_stats *stats;	/* the page that is mapped */
	wait_queue_head_t moved;	/* a seat reached another state */
	struct delayed_work rescan;
};

extern struct gp_home gp_home;		/* there is one machine */

/* Bounds that no caller can exceed: module parameters (gp_main.c). */
struct gp_bounds {
	uint look_min_us;	/* never look more often */
	uint look_share;	/* permille of a processor that looking may take, per GPU */
	uint lease_max_ms;
	uint stop_deadline_ms;
	bool allow_direct;	/* `direct` although its self test has not run here */
};
extern struct gp_bounds gp_bounds;

/* ---- gp_home.c ---- */

int gp_home_init(void);
/* No client is left. Everything is back on the GPUs when it returns. */
void gp_home_fini(void);
/* CLOCK_MONOTONIC, never backwards. */
u64 gp_home_now(void);
/*
 * After anything was told to the scheduler, under home.lock: arms the timers anew and wakes the
 * workers if something is due.
 */
void gp_home_settle(u64 now_ns);
/* What is due, handed out to the GPUs' orders. Under home.lock; workers and callers of ioctls. */
void gp_home_hand_out(u64 now_ns);
/* As after loading: fifo, default parameters, evict. With home.mutex. */
void gp_home_reset_settings(void);

/* With home.mutex; -errno as in uapi/gpreempt.h. */
int gp_home_set_policy(const char *name);
int gp_home_set_param(const char *name, u64 value);
int gp_home_set_mechanism(const char *name, u32 grace);
void gp_home_enable(bool on);

/* ---- gp_gpu.c ---- */

int gp_gpu_init(void);		/* listens for unbinding */
void gp_gpu_fini(void);
/* The GPU of @node, made on first use. With home.mutex. ERR_PTR(-ENOSPC, -ENOMEM). */
struct gp_gpu *gp_gpu_get(struct kfd_node *node);
/* Under home.lock: the look's timer is as the scheduler wants it. */
void gp_gpu_arm(struct gp_gpu *gpu, u64 now_ns);
/* One look now. Under home.lock. */
void gp_gpu_look(struct gp_gpu *gpu, u64 now_ns);
void gp_gpu_wake(struct gp_gpu *gpu);
/* With home.mutex: waits until its worker is out of the driver and has nothing left to do. */
void gp_gpu_drain(struct gp_gpu *gpu);
/* `direct`'s assumptions, by stopping and starting @target once. With home.mutex. */
int gp_gpu_selftest(struct gp_gpu *gpu, struct gp_target *target, char *why, size_t size);

/* ---- gp_target.c: with home.mutex ---- */

/* @members: what user space gave. The handle is in *@ret. */
int gp_target_attach(struct gp_client *client, const struct gp_uapi_member *members, u32 nr,
		     const struct gp_class *class, struct gp_target **ret);
/* It is on the GPUs again, or will be as soon as a worker can; then forgotten. */
void gp_target_detach(struct gp_target *target);
struct gp_target *gp_target_find(const struct gp_client *client, u32 handle);
/* Queues that came or went are followed; its devices are those with queues. */
void gp_target_rescan(struct gp_target *target);
/* By the scheduler's number, under home.lock; NULL: gone. */
struct gp_target *gp_target_of_task(u32 task);
/* Everything on @gpu is forgotten: it is gone. */
void gp_target_forget_gpu(struct gp_gpu *gpu);
void gp_member_put(struct gp_member *member);

/* ---- gp_client.c ---- */

/* To every client that wants it (GP_UAPI_EVENTS: only the target's own). Under home.lock. */
void gp_client_tell(const struct gp_uapi_event *event, const struct gp_target *target);
/* The scheduler's trace: to those who record, to tracepoints, to statistics, and as events. */
void gp_client_trace(void *ctx, const struct gp_rec *rec);

/* ---- gp_dev.c ---- */

int gp_dev_init(void);
void gp_dev_fini(void);

#endif /* GP_KERNEL_HOME_H */
