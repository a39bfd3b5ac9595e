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
 *	gp_home.c	the scheduler, its lock, time, settings, handing out what is to be done
 *	gp_gpu.c	a GPU: its life, its removal
 *	gp_look.c	looking at queues, from the timer
 *	gp_worker.c	who carries out what was decided about a GPU
 *	gp_step.c	one step of it: which processes, which way, what became of them
 *	gp_grace.c	the grace period, set on each GPU by its worker
 *	gp_selftest.c	what `direct` assumes, tried out on a GPU
 *	gp_target.c	a task: attach, detach
 *	gp_member.c	a process of a task: who it is, its death
 *	gp_scan.c	queues of a task that came or went
 *	gp_rescan.c	when they are looked for
 *	gp_dev_file.c	an open descriptor: what it attached, its events
 *	gp_dev.c	/dev/gpreempt: calls and their arguments
 *	gp_dev_read.c	those of them that only read
 *	gp_move.c	taking tasks off and letting them back by hand
 *	gp_main.c	load and unload, parameters
 *	gp_kfd.c	the stock driver
 *	gp_pin.c	words of other processes
 *	gp_floor.[ch]	what a preemption costs at least (the lab's build only)
 *	gp_trace.[ch]	what the scheduler says: tracepoints gpreempt:*, events, statistics
 */
#ifndef GP_KERNEL_HOME_H
#define GP_KERNEL_HOME_H

#include <linux/bitmap.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/ring.h"
#include "core/sched.h"
#include "gp_kfd.h"
#include "gp_pin.h"
#include "uapi/gpreempt.h"

enum {
	GP_HOME_DEVICES	= GP_UAPI_GPUS,
	GP_HOME_TASKS	= GP_UAPI_TASKS,
	GP_HOME_SEATS	= 1024,
	GP_HOME_QUEUES	= 4096,
	GP_HOME_MEMBERS	= 1024,		/* processes of all tasks */
	GP_HOME_LOOK	= 64,		/* samples told at once */
};

struct gp_dev_file;
struct gp_kernel_gpu;
struct gp_target;

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

/* What a worker was told to do; at most one step and one probe per task at a time. */
struct gp_worker_order {
	bool step;
	struct gp_action action;
	u32 tasks[GP_HOME_TASKS];
	DECLARE_BITMAP(probes, GP_HOME_TASKS);	/* tasks to ask for */
};

/* The worker's own, for the step it carries out. */
struct gp_crew {
	struct gp_worker_order order;
	struct gp_kfd_step step;
	struct gp_kfd_move move[GP_HOME_MEMBERS];
	struct gp_member *member[GP_HOME_MEMBERS];	/* of the moves, referenced */
	u32 task[GP_HOME_MEMBERS];		/* of the moves; GP_NONE: an orphan */
	u64 late;		/* action whose fence is still awaited, 0: none */
	bool unsure;		/* the GPU was locked: it may not be as the driver believes it is */
	struct gp_answer unsure_of;	/* what is then said of stops that nobody knows of now */
};

#define GP_LATE_TEST	(~0ull)		/* gp_crew.late: of the self test */

/* The self test that a caller waits for. */
struct gp_selftest {
	u32 task, handle;
	int err;
	char *why;
	size_t size;
	bool done;
};

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

/* ---- gp_grace.c ---- */

/* Wakes the workers of GPUs on which home.grace is not set. */
void gp_grace_wake(void);
/* The worker sets home.grace on its GPU. */
void gp_grace_apply(struct gp_kernel_gpu *gpu);
/*
 * Waits for all workers, 50 ms at most; no lock held. -EINTR, -EAGAIN: a GPU does not answer, or
 * what gp_kfd_set_grace() said on one GPU.
 */
int gp_grace_wait(u32 grace);

/* ---- gp_gpu.c ---- */

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

/* ---- gp_selftest.c ---- */

/* `direct`'s assumptions, by stopping and starting @target once. With home.mutex. -EBUSY. */
int gp_selftest_begin(struct gp_kernel_gpu *gpu, const struct gp_target *target,
		      struct gp_selftest *test);
/* Waits until the worker has finished the test; no lock held. */
int gp_selftest_wait(struct gp_selftest *test);
/* Fails a test that is waiting for a worker which has ended. */
void gp_selftest_cancel(struct gp_kernel_gpu *gpu);
/* The worker's half. */
void gp_selftest_run(struct gp_kernel_gpu *gpu);

/* ---- gp_look.c: under home.lock ---- */

/* The look's timer is as the scheduler wants it. */
void gp_gpu_arm(struct gp_kernel_gpu *gpu);
/* One look now. */
void gp_gpu_look(struct gp_kernel_gpu *gpu, u64 now_ns);
enum hrtimer_restart gp_gpu_look_fires(struct hrtimer *timer);

/* ---- gp_worker.c ---- */

/* It sleeps, whoever wakes it, until its GPU is known: wake_up_process(gpu->worker). */
int gp_worker_new(struct gp_kernel_gpu *gpu);
void gp_worker_stop(struct gp_kernel_gpu *gpu);
/* Under home.lock. */
void gp_gpu_wake(struct gp_kernel_gpu *gpu);
/* Waits until the worker has nothing left to do or to retry; at most @ms, or until *@unless. */
bool gp_gpu_drain(struct gp_kernel_gpu *gpu, u32 ms, const bool *unless);

/* ---- gp_step.c: the worker ---- */

/* A step is begun, gets its tasks under home.lock, is moved, booked under home.lock, let go. */
void gp_step_begin(struct gp_kernel_gpu *gpu, u64 patience_ns);
/* The processes of @task that have to move in that direction. */
void gp_step_add(struct gp_kernel_gpu *gpu, u32 task, bool out);
/* In the driver: this may take as long as the GPU and the driver take. */
const struct gp_way *gp_step_way(struct gp_kernel_gpu *gpu);
int gp_step_move(struct gp_kernel_gpu *gpu, const struct gp_way *way);
void gp_step_book(struct gp_kernel_gpu *gpu);
void gp_step_let_go(struct gp_crew *crew);

/* Carries out crew->order's step, and answers. */
void gp_step_action(struct gp_kernel_gpu *gpu);
/* Gives every start that is owed outside of actions; false: some are left. */
bool gp_step_orphans(struct gp_kernel_gpu *gpu);
/* Its first queue there came when its task was off: nobody has taken it off. Under home.lock. */
bool gp_step_is_stray(const struct gp_kernel_gpu *gpu, const struct gp_member *member);
/* All of those are taken off. */
void gp_step_strays(struct gp_kernel_gpu *gpu);
/* The GPU was reset: the scheduler hears of it, nobody is owed anything. Under home.lock. */
bool gp_step_reset(struct gp_kernel_gpu *gpu, u64 now_ns);
/* Has a fence come after all? */
void gp_step_late(struct gp_kernel_gpu *gpu);
/* Who had the whole GPU halted may have died: then the others go on. */
void gp_step_end_halt(struct gp_kernel_gpu *gpu);
/* The GPU was locked for a while: it is made to be as the driver believes it is. */
void gp_step_resync(struct gp_kernel_gpu *gpu);

/* ---- gp_target.c: with home.mutex ---- */

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

/* ---- gp_member.c ---- */

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
/* Out of its GPU's array and of the scheduler, under home.lock. */
void gp_kernel_queue_out(struct gp_kernel_queue *ring, u64 now_ns);
/* May wait for the driver and the process, so no lock is held. */
void gp_kernel_queue_free_all(struct list_head *rings);
/* Frees them from a workqueue. */
void gp_kernel_queue_free_later(struct list_head *rings);
void gp_kernel_queue_free_work(struct work_struct *work);

/* ---- gp_rescan.c ---- */

int gp_scan_init(void);
void gp_scan_fini(void);
void gp_scan_work(struct work_struct *work);
/* When the next periodic scan is wanted. With home.mutex or after a change. */
void gp_scan_soon(u32 ms);
/* The next one comes as they do while they matter, unless it comes sooner. */
void gp_scan_in_time(void);

/* ---- gp_dev_file.c ---- */

/* To every client that wants it (GP_UAPI_EVENTS: only the target's own). Under home.lock. */
void gp_dev_file_tell(const struct gp_uapi_event *event, const struct gp_target *target);
/* Those who were told something while it was hushed. Under home.lock. */
void gp_dev_file_wake_owed(void);

/* ---- gp_trace.c ---- */

/*
 * The scheduler's trace: to those who record, to tracepoints, as events, and to those statistics
 * that follow from it: nr_tasks, nr_off, decisions, stopped, started, refused, lost, late,
 * ejections and the parts. The others are counted by who does it.
 */
void gp_dev_file_trace(void *ctx, const struct gp_rec *rec);

/* ---- gp_dev.c ---- */

int gp_dev_init(void);
void gp_dev_fini(void);

#endif /* GP_KERNEL_HOME_H */
