/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scheduler's home in the kernel. GPUs are its devices and attached tasks are its tasks.
 *
 *	timer of a GPU		looks: loads pointers, passes changes to the scheduler
 *	timer of the home	passes the time to the scheduler: leases, deadlines, turns
 *	ioctl, death, close	pass their input to the scheduler
 *	worker of a GPU		wakes when something is due; decides (pulls), carries out, answers
 *
 * Locks, outermost first:
 *
 *	home.mutex	serializes attach, detach, settings, rescans, arrival and removal of GPUs.
 *			Its holder may sleep. Workers and the notifier of a dying process never take
 *			it. Every control call takes it, so its holder never waits for a process or
 *			a GPU (README.md has the table).
 *	home.lock	protects the scheduler and all data shared by timers and workers. A spinlock
 *			taken with interrupts off. Its holder calls no function of the driver,
 *			touches no user memory and allocates nothing. It loads pinned words only.
 *	client.lock	protects a client's ring of events. Inside home.lock.
 *
 * A worker holds none of these locks while it is in the driver. Only the worker changes
 * gp_seat_k.owes and the driver's eviction counters.
 *
 * Each file has a header of the same name if other files use it:
 *
 *	gp_home		the scheduler, its lock, time, settings, handing out what is due
 *	gp_bounds.h	room, and the bounds that are module parameters
 *	gp_gpu		a GPU: its life, its removal
 *	gp_look.c	looks at the queues of a GPU, from the timer (gp_gpu.h)
 *	gp_worker	the thread of a GPU, which carries out what was decided
 *	gp_step		one step of a worker: which processes move, which way, the outcome
 *	gp_grace	the grace period, set on each GPU by its worker
 *	gp_selftest	tests what `direct` assumes on a GPU
 *	gp_target	a task: attach, detach
 *	gp_member	a process of a task: its identity, its death
 *	gp_queue.h	a queue that is looked at
 *	gp_scan.c	follows queues that came or went (gp_target.h, gp_queue.h)
 *	gp_rescan	decides when queues are scanned
 *	gp_dev_file	an open descriptor: the tasks it attached, its events
 *	gp_dev		/dev/gpreempt: its calls; gp_dev_read.c: those that only read
 *	gp_move.c	suspends and resumes tasks by hand (gp_dev.h)
 *	gp_main.c	load and unload, parameters
 *	gp_kfd		the stock driver
 *	gp_pin		pinned words of other processes
 *	gp_trace	tracepoints gpreempt:*, events and statistics from the scheduler's records
 *	gp_floor	measures the least cost of a preemption; only in the lab's build
 */
#ifndef GP_KERNEL_HOME_H
#define GP_KERNEL_HOME_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/sched.h"
#include "gp_bounds.h"
#include "gp_gpu.h"
#include "uapi/gpreempt.h"

struct gp_target;
struct gp_way;

struct gp_kernel_home {
	struct mutex mutex;
	spinlock_t lock;
	struct gp_sched *sched;
	void *memory;
	struct hrtimer tick;
	struct gp_kernel_gpu gpu[GP_HOME_DEVICES];
	struct list_head targets;	/* mutex */
	struct list_head members;	/* lock */
	u32 nr_targets;			/* mutex */
	u32 nr_members;			/* lock */
	u32 nr_files;			/* lock: members, and former ones not yet reaped */
	struct gp_target *of_task[GP_HOME_TASKS];	/* lock */
	u32 tasks[GP_HOME_TASKS];	/* lock: of the action being handed out */
	struct list_head clients;
	bool hushed;			/* lock: defer the wakeups of clients */
	bool owed;			/* lock: some client has a deferred wakeup */
	u32 last_handle;
	const struct gp_way *way;	/* set by SET_MECHANISM */
	bool way_auto;
	u32 grace;
	struct gp_uapi_stats *stats;	/* the page that is mapped */
	wait_queue_head_t moved;	/* woken when a seat changes its state */
	struct delayed_work rescan;
	u64 next_scan_ns;		/* lock: no scan by the look's timer before */
	struct workqueue_struct *reapers;	/* free members and rings */
	struct workqueue_struct *putters;	/* run mmput(), which may wait for a process */
	struct list_head spent;		/* lock: rings waiting to be freed */
	struct work_struct free_spent;
};

extern struct gp_kernel_home gp_home;		/* the only instance */

int gp_home_init(void);
/* Call this when no client is left. On return every process is back on its GPU. */
void gp_home_fini(void);
/* CLOCK_MONOTONIC; never goes backwards. */
u64 gp_home_now(void);
/*
 * Arms the timers and wakes the workers if something is due. Call this after every input to the
 * scheduler. The caller holds home.lock.
 */
void gp_home_settle(u64 now_ns);
/* Copies due actions and probes to the GPUs' orders. Workers only, under home.lock. */
void gp_home_hand_out(u64 now_ns);
/* Restores the settings after loading (fifo, default parameters, evict). Under home.mutex. */
void gp_home_reset_settings(void);

/* The caller holds home.mutex. Returns -errno as described in uapi/gpreempt.h. */
int gp_home_set_policy(const char *name);
int gp_home_set_param(const char *name, u64 value);
void gp_home_enable(bool on);
/* Takes home.mutex, then waits for all GPUs without it. Restores the old settings on failure. */
int gp_home_set_mechanism(const char *name, u32 grace);

#endif /* GP_KERNEL_HOME_H */
