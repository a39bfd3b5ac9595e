/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The mechanism kfd-debug: core/mechanism.h by debug sessions (kfd_debug.h).
 *
 * One thread per GPU makes the driver's calls, which sleep; whoever owns the mechanism
 * (one thread) only asks, polls and reads events. A GPU that hangs stops its own
 * thread and those that hold a process which is on both.
 *
 * A task is one process or several (a gang). A process may be only watched, such as the
 * online one: it is never traced; starting it is done at once, stopping it is refused.
 *
 * Times are CLOCK_MONOTONIC ns, and so must be the owner's now_ns.
 */
#ifndef GP_LIB_MECHANISM_KFD_DEBUG_H
#define GP_LIB_MECHANISM_KFD_DEBUG_H

#include <sys/types.h>

#include "core/mechanism.h"

struct gp_kfdm;

struct gp_kfdm_gpu {
	u32 gpu_id;
	u32 cus;		/* gp_gpu_info; for the permille of a probe */
};

struct gp_kfdm_args {
	int kfd_fd;		/* /dev/kfd, opened by this process, outliving the mechanism */
	const struct gp_kfdm_gpu *gpus;	/* their index is the core's device */
	u32 nr_gpus;
	u32 grace;		/* 1..255; 0: 1 */
	u64 attach_interval_ns;	/* attaches and detaches are at least so far apart; 0: 10 ms */
	const char *kfd_root;	/* sysfs, of the probe; NULL: GP_SYSFS_KFD */
	bool stay_attached;	/* struct gp_session_args */
};

/* -EINVAL, -ENOMEM, or of making threads. */
int gp_kfdm_alloc(const struct gp_kfdm_args *args, struct gp_kfdm **ret);
/*
 * Releases everything, waits for the threads and frees. A thread inside a driver that hangs
 * is waited for: the driver ends that after 9 s.
 */
void gp_kfdm_free(struct gp_kfdm *m);

/* For the core. begin() and poll() never sleep; probe() reads sysfs. */
struct gp_mechanism *gp_kfdm_mechanism(struct gp_kfdm *m);

/* Readable when poll() or gp_kfdm_next() has something. Drained by the two of them. */
int gp_kfdm_fd(const struct gp_kfdm *m);
/* When poll() must be called though nothing was said (a deadline); ~0: never. */
u64 gp_kfdm_wake_at(struct gp_kfdm *m);

/* @devices: bit per GPU it may be on. -EEXIST, -ENOMEM. */
int gp_kfdm_task_add(struct gp_kfdm *m, u32 task, u64 devices);
/* Its processes are released and left. What was under way is not answered. -ENOENT. */
int gp_kfdm_task_del(struct gp_kfdm *m, u32 task);
struct gp_kfdm_process {
	pid_t pid;
	u64 start;		/* gp_process_start() */
	bool watch_only;	/* only for probes: never traced, never stopped */
};

/*
 * A process of @task. Unless it is only watched it is attached: an event says what came of
 * it. Only for processes that may be stopped and whose first compute queue is a second
 * old: the mechanism does not judge that. -ENOENT: no such task. -EEXIST: it is there.
 */
int gp_kfdm_process_add(struct gp_kfdm *m, u32 task, const struct gp_kfdm_process *process);
/* Leave it: its queues run, soon if they were off. Silent. -ENOENT. */
int gp_kfdm_process_del(struct gp_kfdm *m, pid_t pid);
/*
 * Somebody is being attached to, perhaps one that was deleted meanwhile: with a single thread it
 * is stopped for that moment. Or one that was deleted is still off.
 */
bool gp_kfdm_attaching(struct gp_kfdm *m);

/*
 * An action is under way on @device, until the driver has done with it, which may be long after its
 * deadline: whoever asks the driver about that GPU, or about whom it stops, sleeps until then.
 * gp_kfdm_fd() is readable when it is over.
 */
bool gp_kfdm_acting(struct gp_kfdm *m, u32 device);

struct gp_kfd_queue_entry;

/*
 * The queues of an attached process, as its session saw them last: those destroyed since are
 * still among them. Never sleeps. How many there are (at most @room are copied), or -ENOENT:
 * not attached; -EAGAIN: its thread is in a call of the driver.
 */
int gp_kfdm_queues(struct gp_kfdm *m, pid_t pid, struct gp_kfd_queue_entry *to, u32 room);

enum gp_kfdm_what {
	GP_KFDM_ATTACHED,	/* from now on it can be stopped */
	GP_KFDM_NOT_ATTACHED,	/* @err as of gp_session_open(); it is forgotten */
	GP_KFDM_LEFT,		/* @err: -EAGAIN: runtime disabled; -ESRCH: gone; forgotten */
	GP_KFDM_QUEUES,		/* it has new queues; @count of them */
	GP_KFDM_RETAKEN,	/* it was held: they were taken off again, @ns after the event */
};

struct gp_kfdm_event {
	u32 what;		/* enum gp_kfdm_what */
	u32 task;
	pid_t pid;
	int err;
	u32 count;
	u64 ns;
};

/* The next thing that happened. -EAGAIN: nothing. */
int gp_kfdm_next(struct gp_kfdm *m, struct gp_kfdm_event *ret);

struct gp_kfdm_stats {
	u64 attaches, attach_failures, detaches;
	u64 suspends, resumes;		/* driver calls that worked */
	u64 suspend_failures;		/* undone */
	u64 late;			/* stops that ended after their deadline, and were undone */
	u64 retakes;			/* new queues of held processes, taken off again */
	u64 retake_ns_max, retake_ns_sum;
	u64 runtime_ends;		/* targets that shut their runtime down */
	u64 events_dropped;		/* nobody read them */
};

void gp_kfdm_stats(struct gp_kfdm *m, struct gp_kfdm_stats *ret);

#endif /* GP_LIB_MECHANISM_KFD_DEBUG_H */
