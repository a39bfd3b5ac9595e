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
	u64 held_until_ns;	/* by hand, the whole task; not later than now: it is not */
};

/* A GPU. */
struct gp_device_view {
	bool watched;		/* its queues are looked at */
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

	/* ---- life ---- */

	/*
	 * Begins to release everything, or continues. Returns true when that is done. Only these
	 * two are called from now on. NULL: free() does it.
	 */
	bool (*retire)(struct gp_backend *b);
	/* Releases everything. Does not wait for the driver. */
	void (*free)(struct gp_backend *b);

	/* ---- settings; a new backend gets both calls ---- */

	/* decider.policy takes over. -ENOSPC: not with the present tasks; *@why may say more. */
	int (*set_policy)(struct gp_backend *b, const char **why);
	/*
	 * decider.param, .enabled or .leaving may have changed. Not enabled or leaving: releases
	 * everything and takes nothing off.
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
	 * Would @policy admit @task with @class? -ENOSPC: no. NULL: only known when it is tried
	 * (task_class(), set_policy()).
	 */
	int (*admits)(struct gp_backend *b, const struct gp_policy *policy, u32 task,
		      const struct gp_class *class, const char **why);
	/* @r leaves its task, which goes on without it. NULL: attach() notices. */
	void (*process_del)(struct gp_backend *b, struct gp_gpu_process *r);
	/* The driver reset a GPU: all seats are lost. */
	void (*reset)(struct gp_backend *b);

	/* ---- by hand ---- */

	/*
	 * Holds a task whose processes are all attached. Replaces an earlier hold. 0: releases it,
	 * attached or not.
	 */
	int (*hold)(struct gp_backend *b, u32 task, u64 lease_ns);
	/* -EINVAL: too far ahead. */
	int (*hint)(struct gp_backend *b, u32 task, u64 at_ns, u64 until_ns);
	/* Look at the queues of @device now. */
	void (*look)(struct gp_backend *b, u32 device);
	/* NULL: it needs no readers. A reader said something that descriptions.c did not take. */
	void (*heard)(struct gp_backend *b, const struct gp_readers_event *e);

	/* ---- what is due ---- */

	/* Takes what has happened, looks where a look is due, decides and carries it out. */
	void (*run)(struct gp_backend *b);
	/* Something changed outside run(): decides about it. NULL: it notices by itself. */
	void (*decide)(struct gp_backend *b);
	/* A scan of the processes has ended: queues may have come or gone. */
	void (*scanned)(struct gp_backend *b);
	/* Attaches the processes that should be attached, leaves those that should not. */
	void (*attach)(struct gp_backend *b);
	/* When to call run() though nothing can be read from @fd; GP_NEVER. NULL: never. */
	u64 (*wake_at)(struct gp_backend *b);
	/* A daemon that stops running now keeps a process off the GPU. NULL: never. */
	bool (*busy)(struct gp_backend *b);

	/* ---- reading ---- */

	/* -ENOENT: no such task, or it is not on @device. */
	int (*seat)(struct gp_backend *b, u32 task, u32 device, struct gp_seat_view *ret);
	/* Copies 50 KB. -ENOENT: no such task. */
	int (*account)(struct gp_backend *b, u32 task, struct gp_account *ret);
	void (*device)(struct gp_backend *b, u32 device, struct gp_device_view *ret);
	/* All but the mechanism. */
	void (*status)(struct gp_backend *b, struct gp_backend_status *ret);
	/* Fills in *@ret, which is zeroed, and tells the counters that only it has. NULL: none. */
	void (*counters)(struct gp_backend *b, struct gp_backend_counters *ret,
			 gp_counter_fn *tell, void *ctx);

	/* ---- recording ---- */

	/*
	 * decider.watcher gets changes of states and the parts of preemptions, decider.recorder
	 * what goes into and comes out of the scheduler that decides. Called when one of them
	 * changed.
	 */
	void (*trace)(struct gp_backend *b);
	/* Describes the scheduler that decides to decider.recorder. */
	void (*describe)(struct gp_backend *b);
	/* The number of @task in what the recorder gets; GP_NONE: not known. NULL: @task. */
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
