/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A backend decides which tasks are on the GPUs and takes the others off. The daemon uses one at a
 * time:
 *
 *	backend_none	the scheduler of core/ decides; nothing is carried out
 *	backend_debug	the scheduler of core/ decides; the driver's debug interface carries it out
 *	backend_module	gpreempt.ko decides and carries it out; the backend keeps a view of that
 *
 * The daemon's main thread makes every call. No call waits, except where its contract says so.
 * Times are decider.now_ns. A task is a process or a gang (tasks.c); the backend numbers its tasks.
 * Functions that return int return 0 or -errno; then nothing has changed.
 */
#ifndef GP_DAEMON_BACKEND_H
#define GP_DAEMON_BACKEND_H

#include "core/sched.h"

struct gp_decider;
struct gp_readers_event;
struct gp_gpu_process;
struct gp_backend;

/* A task on a GPU. */
struct gp_seat_view {
	u32 state;		/* enum gp_state */
	u32 work;		/* enum gp_work */
	u64 since_ns;		/* in this state */
	u64 held_until_ns;	/* end of the hold by hand of the whole task; past: not held */
};

/* A GPU. */
struct gp_device_view {
	bool watched;		/* the scheduler looks at its queues */
	u32 cause;		/* the task its last action was taken for; GP_NONE: not known */
};

struct gp_backend_status {
	const char *mechanism;	/* "none", "kfd-debug", "kmod" */
	const struct gp_policy *policy;	/* in effect; fifo after an ejection */
	const char *ejected;	/* why the policy was ejected, or NULL */
	u64 ejections;
	u64 stale_samples;
};

struct gp_backend_counters {
	u64 attaches, attach_failures, detaches;
	u64 suspends, resumes, suspend_failures;
	u64 late;		/* stops that ended after their deadline, and were undone */
	u64 retakes, retake_ns_max, retake_ns_sum;	/* new queues of held processes */
	u64 runtime_ends;
};

typedef void gp_counter_fn(void *ctx, const char *name, u64 value);

struct gp_backend_ops {
	const char *name;	/* of the mechanism, as users see it */
	bool preempts;		/* false: every action is refused, attach() is NULL */
	u32 tasks;		/* most tasks that fit; tasks.c gives each user a part */

	/* ---- life ---- */

	/*
	 * Begins or continues to release everything. Returns true when all is released. After the
	 * first call the daemon calls only retire() and free(). NULL: free() releases everything.
	 */
	bool (*retire)(struct gp_backend *b);
	/* Releases everything. Does not wait for the driver. */
	void (*free)(struct gp_backend *b);

	/* ---- settings; a new backend gets both calls ---- */

	/*
	 * Switches to decider.policy. -ENOSPC: it does not admit the present tasks; *@why may say
	 * more.
	 */
	int (*set_policy)(struct gp_backend *b, const char **why);
	/*
	 * Applies decider.param, .enabled and .leaving. If not enabled or leaving, the backend
	 * releases everything and takes nothing off. A parameter that it refuses gets its old value
	 * back.
	 */
	void (*set)(struct gp_backend *b);

	/* ---- tasks ---- */

	/* @devices: bit per GPU. -ENOSPC: not admitted; *@why may be a sentence. */
	int (*task_add)(struct gp_backend *b, u64 devices, const struct gp_class *class, u32 *ret,
			const char **why);
	/* The task ends; its processes still name it. Releases them if they are off. */
	void (*task_del)(struct gp_backend *b, u32 task);
	int (*task_class)(struct gp_backend *b, u32 task, const struct gp_class *class,
			  const char **why);
	/*
	 * Checks whether @policy would admit @task with @class. -ENOSPC: it would not. NULL: only
	 * task_class() and set_policy() find out.
	 */
	int (*admits)(struct gp_backend *b, const struct gp_policy *policy, u32 task,
		      const struct gp_class *class, const char **why);
	/* Removes @r from its task, which continues without it. NULL: attach() notices. */
	void (*process_del)(struct gp_backend *b, struct gp_gpu_process *r);
	/* Marks all seats as LOST after the driver reset a GPU. */
	void (*reset)(struct gp_backend *b);

	/* ---- by hand ---- */

	/*
	 * Holds a task whose processes are all attached. Replaces an earlier hold. 0: releases it,
	 * attached or not.
	 */
	int (*hold)(struct gp_backend *b, u32 task, u64 lease_ns);
	/* Announces work of a task. -EINVAL: too far ahead. */
	int (*hint)(struct gp_backend *b, u32 task, u64 at_ns, u64 until_ns);
	/* Looks at the queues of @device now. */
	void (*look)(struct gp_backend *b, u32 device);
	/*
	 * Takes an event of the readers that descriptions.c did not take. NULL: the backend needs
	 * no readers.
	 */
	void (*heard)(struct gp_backend *b, const struct gp_readers_event *e);

	/* ---- what is due ---- */

	/* Takes new events, looks where a look is due, decides and carries the decisions out. */
	void (*run)(struct gp_backend *b);
	/*
	 * Decides again after a change outside run(). NULL: the backend notices changes by itself.
	 */
	void (*decide)(struct gp_backend *b);
	/* Called after a scan of the processes, because queues may have come or gone. */
	void (*scanned)(struct gp_backend *b);
	/* Attaches the processes that should be attached and detaches the others. */
	void (*attach)(struct gp_backend *b);
	/* Returns when to call run() even if @fd is not readable, or GP_NEVER. NULL: never. */
	u64 (*wake_at)(struct gp_backend *b);
	/*
	 * Returns true if a process would stay off the GPU if the daemon stopped now. NULL: never.
	 */
	bool (*busy)(struct gp_backend *b);

	/* ---- reading ---- */

	/* -ENOENT: no such task, or it is not on @device. */
	int (*seat)(struct gp_backend *b, u32 task, u32 device, struct gp_seat_view *ret);
	/* Fills in all but @part. -ENOENT: no such task. */
	int (*account)(struct gp_backend *b, u32 task, struct gp_account *ret);
	/* Returns gp_account.part of a task. */
	const struct gp_hist *(*parts)(struct gp_backend *b, u32 task);
	void (*device)(struct gp_backend *b, u32 device, struct gp_device_view *ret);
	/* Fills in all but the mechanism. */
	void (*status)(struct gp_backend *b, struct gp_backend_status *ret);
	/*
	 * Fills in *@ret, which is zeroed. Passes the counters that only this backend has to @tell.
	 * NULL: no counters.
	 */
	void (*counters)(struct gp_backend *b, struct gp_backend_counters *ret,
			 gp_counter_fn *tell, void *ctx);

	/* ---- recording ---- */

	/*
	 * Called when decider.watcher or decider.recorder changed. The watcher gets changes of
	 * states and the parts of preemptions. The recorder gets the inputs and outputs of the
	 * scheduler that decides.
	 */
	void (*trace)(struct gp_backend *b);
	/* Describes the scheduler that decides to decider.recorder. */
	void (*describe)(struct gp_backend *b);
	/*
	 * Returns the number of @task in the records, or GP_NONE if not known. NULL: it is @task.
	 */
	u32 (*record_task)(struct gp_backend *b, u32 task);
};

struct gp_backend {
	const struct gp_backend_ops *ops;
	struct gp_decider *h;
	int fd;			/* readable: run() has something to do; -1: never */
	struct gp_backend *next;	/* in decider.retired */
};

/*
 * 0, or -errno and a sentence in @why (GP_DECIDER_WHY bytes). The module backend returns -ENOENT if
 * the module is not loaded.
 */
int gp_backend_none(struct gp_decider *h, struct gp_backend **ret, char *why);
int gp_backend_debug(struct gp_decider *h, struct gp_backend **ret, char *why);
int gp_backend_module(struct gp_decider *h, struct gp_backend **ret, char *why);

#endif /* GP_DAEMON_BACKEND_H */
