/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The mechanism kfd-debug: implements core/mechanism.h with the holders of all users (holder.h).
 *
 * The decider owns it, with one thread. Nothing here blocks except probe(), which reads sysfs. A
 * request is sent, and poll() and gp_holders_next() return its reply when it arrives.
 *
 * A task is one process or several (a gang), which stop together or not at all. A process may be
 * only watched, such as an online one. It is never traced, a start of it succeeds at once, and a
 * stop of it is refused.
 *
 * While a task is off, the leases of its processes are renewed. If a holder dies, the driver
 * resumes its processes. A call of the driver that has not returned at the deadline of its action
 * is answered with GP_TIMED_OUT. A moment later its session is abandoned, so that a hostile process
 * that hangs its session blocks no other task. Both happen sooner if the driver has done the other
 * operations of the action.
 *
 * Times are CLOCK_MONOTONIC ns, and so must be the owner's now_ns.
 */
#ifndef GP_DAEMON_HOLDERS_H
#define GP_DAEMON_HOLDERS_H

#include <sys/types.h>

#include "core/mechanism.h"

struct gp_holders;
struct kfd_queue_snapshot_entry;

struct gp_holders_gpu {
	u32 gpu_id;
	u32 cus;		/* gp_gpu_info; for the permille of a probe */
};

struct gp_holders_args {
	const struct gp_holders_gpu *gpus;	/* their index is the core's device */
	u32 nr_gpus;
	u32 grace;		/* 1..255; 0: 1 */
	u64 attach_interval_ns;	/* between two attaches, and between two detaches; 0: 10 ms */
	u64 lease_ns;		/* of a hold, until it is renewed; 0: 1 s */
	const char *kfd_root;	/* sysfs, of the probe; NULL: GP_SYSFS_KFD */
	bool stay_attached;	/* struct gp_session_args; for tests */
	u64 (*clock)(void *ctx);	/* NULL: CLOCK_MONOTONIC */
	void *ctx;
};

/* Owns GP_ROLE_HOLDER of children.h until it is freed. -EINVAL, -ENOMEM, -EMFILE. */
int gp_holders_alloc(const struct gp_holders_args *args, struct gp_holders **ret);
/*
 * Detaches all processes at once. Returns true when all sessions have ended or hang in the driver.
 * Call it until then, because another mechanism cannot attach to the processes before.
 */
bool gp_holders_leave(struct gp_holders *h);
/* Ends all holders, which resume everything. Does not wait for them. */
void gp_holders_free(struct gp_holders *h);

/* For the core. begin() and poll() never sleep; probe() reads sysfs. */
struct gp_mechanism *gp_holders_mechanism(struct gp_holders *h);

/*
 * Returns a descriptor that is readable when poll() or gp_holders_next() has something. These two
 * drain it.
 */
int gp_holders_fd(const struct gp_holders *h);
/* Returns when to call poll() even if the descriptor is not readable; ~0: never. */
u64 gp_holders_wake_at(struct gp_holders *h);

/* Adds a task. @devices: bit per GPU it may be on. -EEXIST, -ENOMEM, -EINVAL. */
int gp_holders_task_add(struct gp_holders *h, u32 task, u64 devices);
/*
 * Removes a task: releases and detaches its processes. Pending operations get no answer. -ENOENT.
 */
int gp_holders_task_del(struct gp_holders *h, u32 task);

struct gp_holders_process {
	pid_t pid;
	u64 start;		/* gp_process_start() */
	uid_t user;		/* gp_process_user(): whose holder it gets */
	bool watch_only;	/* only for probes: never traced, never stopped */
	u32 which;		/* of gp_holders_ask_kfd() alone: 0 is the newest descriptor */
};

/*
 * Adds a process to @task, and attaches it unless it is only watched. An event has the result of
 * the attach. The caller makes sure that the process may be stopped and that its first compute
 * queue is a second old. -ENOENT: no such task. -EEXIST: already added. -ECANCELED: the driver hung
 * on another process of the user a short while ago.
 */
int gp_holders_process_add(struct gp_holders *h, u32 task, const struct gp_holders_process *p);
/*
 * Detaches a process. Its queues run, after a moment if they were off. No event follows. -ENOENT.
 */
int gp_holders_process_del(struct gp_holders *h, pid_t pid);

/* Returns true while a process is being attached, or a deleted one is not yet detached. */
bool gp_holders_attaching(const struct gp_holders *h);
/*
 * Returns true while the driver acts on @device, possibly until long after the deadline. A process
 * that asks the driver about that GPU sleeps until the action ends. gp_holders_fd() is readable
 * then.
 */
bool gp_holders_acting(const struct gp_holders *h, u32 device);
/*
 * Returns true if a session of @user hangs in the driver, or its holder could not be started for a
 * while.
 */
bool gp_holders_in_trouble(const struct gp_holders *h, uid_t user);
/* Counts the changes of gp_holders_in_trouble(), for all users. */
u32 gp_holders_troubles(const struct gp_holders *h);

/*
 * Copies at most @room queues of an attached process, as its session saw them last. That may
 * include destroyed queues. Returns how many there are, or -ENOENT: not attached.
 */
int gp_holders_queues(const struct gp_holders *h, pid_t pid, struct kfd_queue_snapshot_entry *to,
		      u32 room);

enum gp_holders_what {
	GP_HOLDERS_ATTACHED,	/* from now on it can be stopped */
	GP_HOLDERS_NOT_ATTACHED,	/* @err of gp_session_open(); the process is removed */
	GP_HOLDERS_LEFT,	/* removed; @err -EAGAIN: runtime disabled, -ESRCH: gone */
	GP_HOLDERS_QUEUES,	/* it has new queues; @count of them */
	GP_HOLDERS_RETAKEN,	/* new queues of a held process were suspended, after @ns */
	GP_HOLDERS_WHATS,
};

struct gp_holders_event {
	u32 what;		/* enum gp_holders_what */
	u32 task;
	pid_t pid;
	int err;
	u32 count;
	u64 ns;
};

/*
 * Fetches the next event. Pending events of the same kind of one process are merged into one, with
 * the sum of their counts and times, so that none is lost. -EAGAIN: no event. Errors besides those
 * of gp_session_open(): -ECONNRESET: the holder died; -ETIME: the session hangs in the driver;
 * -ETIMEDOUT: the lease was not renewed in time; -EACCES: a process of another user.
 */
int gp_holders_next(struct gp_holders *h, struct gp_holders_event *ret);

/*
 * Asks the holder of @p->user for a pidfd and a KFD descriptor of @p, for the module.
 * gp_holders_next_kfd() returns the answer. A second request before the answer gets no answer of
 * its own. -ENOMEM.
 */
int gp_holders_ask_kfd(struct gp_holders *h, const struct gp_holders_process *p);

struct gp_holders_kfd {
	pid_t pid;
	u64 start;
	int err;		/* 0, or as above (-ETIME: no answer); then no descriptors */
	int pidfd, kfd_fd;	/* the caller's */
	u32 count;		/* KFD descriptors that the process has */
};

/* -EAGAIN: no answer yet. */
int gp_holders_next_kfd(struct gp_holders *h, struct gp_holders_kfd *ret);

struct gp_holders_session_stats {
	u64 attaches, attach_failures, detaches;
	u64 suspends, resumes;		/* driver calls that worked */
	u64 suspend_failures;		/* undone */
	u64 late;			/* stops that ended after their deadline, and were undone */
	u64 retakes;			/* new queues of held processes, taken off again */
	u64 retake_ns_max, retake_ns_sum;
	u64 runtime_ends;		/* targets that disabled their runtime */
};

struct gp_holders_stats {
	struct gp_holders_session_stats sessions;
	u64 started, died;	/* holders */
	u64 stuck;		/* sessions abandoned because they hung in the driver */
	u64 expired;		/* leases that ended before they were renewed */
};

void gp_holders_stats(const struct gp_holders *h, struct gp_holders_stats *ret);

#endif /* GP_DAEMON_HOLDERS_H */
