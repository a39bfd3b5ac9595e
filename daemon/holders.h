/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The mechanism kfd-debug: core/mechanism.h by the holders of all users (holder.h).
 *
 * The decider owns it, with one thread. Nothing here blocks but probe(), which reads sysfs: a
 * request is sent, and its reply is taken by poll() and gp_holders_next() when it is there.
 *
 * A task is one process or several (a gang): all of them stop, or none. A process may be only
 * watched, such as an online one: it is never traced; starting it is done at once, stopping it is
 * refused.
 *
 * While a task is off, the leases of its processes are renewed. A process whose holder died runs
 * again, by the driver. A call of the driver that has not returned at the deadline of its action is
 * answered with GP_TIMED_OUT, and a moment later its process is given up, so that a hostile process
 * that hangs its session stops no other task. If the driver has done the other operations of the
 * action, both come sooner.
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
 * Leaves all processes at once. True when all sessions have ended, or hang in the driver. To be
 * called until then: before that, another mechanism could not attach to the processes.
 */
bool gp_holders_leave(struct gp_holders *h);
/* Ends all holders, which resume everything. Does not wait for them. */
void gp_holders_free(struct gp_holders *h);

/* For the core. begin() and poll() never sleep; probe() reads sysfs. */
struct gp_mechanism *gp_holders_mechanism(struct gp_holders *h);

/* Readable when poll() or gp_holders_next() has something. Drained by the two of them. */
int gp_holders_fd(const struct gp_holders *h);
/* When poll() must be called though nothing was said; ~0: never. */
u64 gp_holders_wake_at(struct gp_holders *h);

/* @devices: bit per GPU it may be on. -EEXIST, -ENOMEM, -EINVAL. */
int gp_holders_task_add(struct gp_holders *h, u32 task, u64 devices);
/* Its processes are released and left. What was under way is not answered. -ENOENT. */
int gp_holders_task_del(struct gp_holders *h, u32 task);

struct gp_holders_process {
	pid_t pid;
	u64 start;		/* gp_process_start() */
	uid_t user;		/* gp_process_user(): whose holder it gets */
	bool watch_only;	/* only for probes: never traced, never stopped */
	u32 which;		/* of gp_holders_ask_kfd() alone: 0 is the newest descriptor */
};

/*
 * A process of @task. Unless it is only watched it is attached: an event says what came of
 * it. Only for processes that may be stopped and whose first compute queue is a second
 * old: the mechanism does not judge that. -ENOENT: no such task. -EEXIST: it is there. -ECANCELED:
 * the driver hung on another process of the user a short while ago.
 */
int gp_holders_process_add(struct gp_holders *h, u32 task, const struct gp_holders_process *p);
/* Leave it: its queues run, soon if they were off. Silent. -ENOENT. */
int gp_holders_process_del(struct gp_holders *h, pid_t pid);

/* A process is being attached, or one that was deleted has not been left yet. */
bool gp_holders_attaching(const struct gp_holders *h);
/*
 * The driver acts on @device, which may be until long after the deadline: a process that asks
 * the driver about that GPU sleeps until then. gp_holders_fd() is readable when it is over.
 */
bool gp_holders_acting(const struct gp_holders *h, u32 device);
/* A session of @user hangs in the driver, or its holder could not be started for a while. */
bool gp_holders_in_trouble(const struct gp_holders *h, uid_t user);
/* How often that has changed, for any user. */
u32 gp_holders_troubles(const struct gp_holders *h);

/*
 * The queues of an attached process, as its session saw them last: those destroyed since are
 * still among them. How many there are (at most @room are copied), or -ENOENT: not attached.
 */
int gp_holders_queues(const struct gp_holders *h, pid_t pid, struct kfd_queue_snapshot_entry *to,
		      u32 room);

enum gp_holders_what {
	GP_HOLDERS_ATTACHED,	/* from now on it can be stopped */
	GP_HOLDERS_NOT_ATTACHED,	/* @err as of gp_session_open(); it is forgotten */
	GP_HOLDERS_LEFT,	/* @err: -EAGAIN: runtime disabled; -ESRCH: gone; forgotten */
	GP_HOLDERS_QUEUES,	/* it has new queues; @count of them */
	GP_HOLDERS_RETAKEN,	/* it was held: they were suspended, too, @ns after the event */
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
 * The next thing that happened. Events of the same kind of one process that were not fetched yet
 * are one event, with the sum of their counts and times, so that none is lost. -EAGAIN: nothing.
 * Errors besides those of gp_session_open(): -ECONNRESET: its holder died; -ETIME: it hangs in the
 * driver; -ETIMEDOUT: its lease was not renewed in time; -EACCES: of another user.
 */
int gp_holders_next(struct gp_holders *h, struct gp_holders_event *ret);

/*
 * Ask the holder of @p->user for a pidfd and a KFD descriptor of @p, for the module. The answer
 * comes by gp_holders_next_kfd(): one, also if it was asked for again before it came. -ENOMEM.
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
	u64 runtime_ends;		/* targets that shut their runtime down */
};

struct gp_holders_stats {
	struct gp_holders_session_stats sessions;
	u64 started, died;	/* holders */
	u64 stuck;		/* sessions given up because they hung in the driver */
	u64 expired;		/* leases that ended before they were renewed */
};

void gp_holders_stats(const struct gp_holders *h, struct gp_holders_stats *ret);

#endif /* GP_DAEMON_HOLDERS_H */
