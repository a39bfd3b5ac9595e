/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scheduler: a state machine without a clock, a lock or a device.
 *
 * A home (daemon, kernel module, simulator, test) tells the scheduler what it sees and
 * the time. The scheduler says what to do and when to look again. The home serialises
 * all calls. Time never goes backwards; a smaller now_ns counts as the last one.
 *
 *	for (;;) {
 *		gp_sched_look(s, device, samples, n, now);	// or gp_sched_tick()
 *		while (gp_sched_pull(s, now, tasks, &todo))
 *			carry out todo; its answers come later
 *		sleep until gp_sched_look_at(s, device) or gp_sched_wake_at(s)
 *	}
 *
 * Calls return 0 or -errno. A refused call changes nothing.
 */
#ifndef GP_SCHED_H
#define GP_SCHED_H

#include "mechanism.h"
#include "policy.h"
#include "trace.h"

enum {
	GP_MAX_DEVICES	= 64,		/* the bits of gp_task.devices */
	GP_MAX_TASKS	= 4096,
	GP_MAX_SEATS	= 16384,
	GP_MAX_QUEUES	= 65536,
};

struct gp_limits {
	u32 devices, tasks, seats, queues;
};

/* One queue as last seen. Hot: a look compares nothing else. */
struct gp_pointers {
	u64 rptr, wptr;
};

struct gp_queue {
	u32 seat;		/* GP_NONE: unused */
};

struct gp_sched {
	struct gp_limits limits;
	struct gp_pointers *pointers;	/* by queue */
	struct gp_queue *queues;
	struct gp_seat *seats;
	struct gp_task *tasks;
	struct gp_device *devices;
	u32 nr_devices;			/* one more than the highest ever used */
	u32 free_seat;
	u32 queues_used;		/* all queues below this number are in use */

	u64 now_ns;
	u64 last_action;
	u64 dirty;			/* devices with something to decide */
	u64 ready;			/* devices whose decision is not yet handed out */
	bool enabled;
	const struct gp_policy *policy;
	const char *ejected;		/* why the chosen policy was ejected, or NULL */
	u64 param[GP_NR_PARAMS];
	struct gp_trace trace;

	u64 stale_samples;		/* samples of removed queues, ignored */
	u64 ejections;
};

struct gp_sched_args {
	struct gp_limits limits;
	const struct gp_policy *policy;	/* NULL: fifo */
	struct gp_trace trace;
};

/* Bytes of memory a scheduler with @limits needs; 0 if they are out of bounds. */
u64 gp_sched_size(const struct gp_limits *limits);
/*
 * @mem: gp_sched_size() bytes, 8-byte aligned, the caller's, outliving the
 * scheduler. Starts enabled. -EINVAL: limits out of bounds.
 */
int gp_sched_init(void *mem, const struct gp_sched_args *args, struct gp_sched **ret);

/* ---- settings ---- */

/* -ERANGE: outside gp_params[]; -EINVAL: no such parameter. */
int gp_sched_set(struct gp_sched *s, enum gp_param param, u64 value);
/* Changes the policy under running tasks. -ENOSPC and *@why if it cannot admit one of them. */
int gp_sched_set_policy(struct gp_sched *s, const struct gp_policy *policy, u64 now_ns,
			const char **why);
/* @on false: releases everything and holds nothing until enabled again. */
void gp_sched_enable(struct gp_sched *s, bool on, u64 now_ns);

/* ---- devices, tasks, queues ---- */

/* -ENOSPC, -EINVAL. The lowest free number is taken. */
int gp_device_add(struct gp_sched *s, u32 flags, u32 *ret);
/* Removes @device and all seats on it. -ENOENT. */
int gp_device_del(struct gp_sched *s, u32 device, u64 now_ns);
/* The GPU was reset: forgets the action under way and makes all seats LOST. */
int gp_device_reset(struct gp_sched *s, u32 device, u64 now_ns);

/*
 * @devices: bit per device. A task arrives ON, without work.
 * -ENOSPC: limits, or not admitted (*@why is a sentence, else NULL).
 * -EINVAL: no device, unknown device, bad class.
 */
int gp_task_add(struct gp_sched *s, u64 devices, const struct gp_class *class, u64 now_ns,
		u32 *ret, const char **why);
/* Forgets @task at once, whatever was under way, and restores nothing. -ENOENT. */
int gp_task_del(struct gp_sched *s, u32 task, u64 now_ns);
int gp_task_set_class(struct gp_sched *s, u32 task, const struct gp_class *class, u64 now_ns,
		      const char **why);

/*
 * @unknown: the home cannot read the task's pointers. Its seats then count as busy (GP_UNKNOWN):
 * a policy may hold them, never holds another task for them, and ignores their hints. Samples
 * are taken, and decide what the work is once the task is known again. -ENOENT.
 *
 * Leaving out samples is no substitute. A task that was pending would seem to starve and preempt
 * others, and a task that was idle could never be stopped.
 */
int gp_task_set_unknown(struct gp_sched *s, u32 task, bool unknown, u64 now_ns);

/* -ENOSPC, -ENOENT (no such task there). Pointers start equal to (@rptr, @wptr). */
int gp_queue_add(struct gp_sched *s, u32 task, u32 device, const struct gp_pointers *at,
		 u64 now_ns, u32 *ret);
int gp_queue_del(struct gp_sched *s, u32 queue, u64 now_ns);

/* ---- what the home sees ---- */

enum gp_sample_flag {
	GP_AT_BARRIER	= 1 << 0,	/* the packet at the read pointer is a barrier */
};

/* The pointers only count up. The home removes units and wrap-around (core/ring.h). */
struct gp_sample {
	u32 queue;
	u32 flags;		/* enum gp_sample_flag */
	u64 rptr, wptr;
	u64 visible_ns;		/* when the write pointer moved, 0 if not known */
};

/*
 * One look at @device. Samples of queues that did not move may be left out;
 * samples of queues that are gone are counted and ignored. -ENOENT: no such
 * device.
 */
int gp_sched_look(struct gp_sched *s, u32 device, const struct gp_sample *samples, u32 nr,
		  u64 now_ns);
/*
 * True if gp_sched_pull() has something to decide. A home that looks where it must not
 * decide (a timer callback) wakes its worker only then.
 */
bool gp_sched_due(const struct gp_sched *s, u64 now_ns);

/*
 * The answer to GP_DO_PROBE. Read the counters, then the pointers (a look), then
 * answer. In another order, work that arrives in between is taken for none.
 */
struct gp_probed {
	u32 device, task;
	u32 executing;		/* enum gp_executing */
	u32 permille;		/* of the slots; GP_OCCUPANCY_UNKNOWN */
};
int gp_sched_probed(struct gp_sched *s, const struct gp_probed *probed, u64 now_ns);

/*
 * Ends an action for one task or for all tasks left. -EPROTO: the scheduler does not
 * wait for this answer (answered already, or never asked). An answer after the
 * deadline brings a LOST task back.
 */
int gp_sched_answer(struct gp_sched *s, const struct gp_answer *answer, u64 now_ns);

/* Work of @task is expected at about @at_ns; the hint expires at @until_ns. */
int gp_sched_hint(struct gp_sched *s, u32 task, u64 at_ns, u64 until_ns, u64 now_ns);
/* Holds or releases by hand. A hold ends by itself after @lease_ns at the latest. */
int gp_sched_hold(struct gp_sched *s, u32 task, u64 lease_ns, u64 now_ns);
int gp_sched_release(struct gp_sched *s, u32 task, u64 now_ns);

/* Time passed. */
void gp_sched_tick(struct gp_sched *s, u64 now_ns);

/* ---- what to do ---- */

enum gp_verb { GP_DO_SWITCH, GP_DO_PROBE };

struct gp_todo {
	u32 verb;		/* enum gp_verb */
	struct gp_action action;	/* GP_DO_SWITCH */
	u32 device, task;	/* GP_DO_PROBE: true if the task executes there. */
};

/*
 * Returns the next thing to do, if any. action.tasks points to @tasks, which has room for
 * limits.tasks numbers; NULL: the caller does not need them. An action handed out is under
 * way until it is answered or its deadline passes.
 */
bool gp_sched_pull(struct gp_sched *s, u64 now_ns, u32 *tasks, struct gp_todo *ret);

/* When to look at @device next, at the latest; GP_NEVER: not at all. */
u64 gp_sched_look_at(const struct gp_sched *s, u32 device);
/* When to call gp_sched_tick() at the latest. */
u64 gp_sched_wake_at(const struct gp_sched *s);

/* ---- reading ---- */

/* NULL if there is none. */
const struct gp_seat *gp_sched_seat(const struct gp_sched *s, u32 task, u32 device);
/* The account of @task up to @now_ns, running states included. -ENOENT. */
int gp_sched_account(const struct gp_sched *s, u32 task, u64 now_ns, struct gp_account *ret);
/* The same without the histograms in @part, which are 50 KB. */
int gp_sched_sums(const struct gp_sched *s, u32 task, u64 now_ns, struct gp_account *ret);

#endif /* GP_SCHED_H */
