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
 *			what there is. Sleeps. Never taken by a worker, nor by the notifier of a
 *			dying process. Every control call takes it, so its holder never waits
 *			for a process or a GPU (README.md has the table).
 *	home.lock	the scheduler and all that timers and workers share: a spinlock taken with
 *			interrupts off. Nothing of the driver, no user memory, no allocation below
 *			it. What is loaded under it is pinned.
 *	client.lock	a client's ring of events; inside home.lock.
 *
 * A worker holds none of them while it is in the driver. It owns gp_seat_k.owes: nobody else
 * touches the driver's counters.
 *
 * A file and, where others use it, a header of the same name per noun:
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
	u32 nr_files;			/* lock: of members that are, or were until now */
	struct gp_target *of_task[GP_HOME_TASKS];	/* lock */
	u32 tasks[GP_HOME_TASKS];	/* lock: of the action that is handed out */
	struct list_head clients;
	bool hushed;			/* lock: whoever is told something is woken later */
	bool owed;			/* lock: somebody is to be woken */
	u32 last_handle;
	const struct gp_way *way;	/* wanted */
	bool way_auto;
	u32 grace;
	struct gp_uapi_stats *stats;	/* the page that is mapped */
	wait_queue_head_t moved;	/* a seat reached another state */
	struct delayed_work rescan;
	u64 next_scan_ns;		/* lock: the timer asks for none before */
	struct workqueue_struct *reapers;	/* free members and rings */
	struct workqueue_struct *putters;	/* run mmput(), which may wait for the process */
	struct list_head spent;		/* lock: rings that wait to be freed */
	struct work_struct free_spent;
};

extern struct gp_kernel_home gp_home;		/* there is one machine */

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
/* What is due, handed out to the GPUs' orders. Under home.lock; workers. */
void gp_home_hand_out(u64 now_ns);
/* As after loading: fifo, default parameters, evict. With home.mutex. */
void gp_home_reset_settings(void);

/* With home.mutex; -errno as in uapi/gpreempt.h. */
int gp_home_set_policy(const char *name);
int gp_home_set_param(const char *name, u64 value);
void gp_home_enable(bool on);
/* Takes home.mutex, waits for all GPUs without it. Restores everything if that fails. */
int gp_home_set_mechanism(const char *name, u32 grace);

#endif /* GP_KERNEL_HOME_H */
