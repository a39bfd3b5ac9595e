/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libgpreempt calls gpreemptd, or reads GPUs and suspends processes without it. gpreempt(3) has an
 * example.
 *
 * Calls return 0 or -errno and never print, exit or raise a signal. gp_strerror() describes an
 * error. *ret and out-parameters are written only on success.
 *
 *	-ENOTCONN	gpreemptd is not there
 *	-EPERM		not allowed: not your process, or it would raise its class
 *	-ESRCH		no such process
 *	-EINVAL		no such class, policy, parameter; value out of bounds
 *	-EBUSY, -ENOSPC	not now; not admitted by the policy
 *	-ECANCELED	not held any more (GP_DAEMON_RENEW)
 *	-ETIMEDOUT	no answer in time
 *	-ENOSYS		the daemon does not know the call
 *	-EPROTO		what came is not an answer
 *
 * Several threads may use a handle at once; their calls wait for each other. After a restart of the
 * daemon the next call connects again. Do not use a handle across fork().
 */
#ifndef GPREEMPT_H
#define GPREEMPT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GP_CONTROL_SOCKET	"/run/gpreempt/control"

struct gp_daemon;
struct gp_events;

/*
 * Returns the sentence of this thread's last call that returned @err, or else strerror() of @err.
 * Either sign. Valid until this thread's next call.
 */
const char *gp_strerror(int err);

/*
 * Connects to the daemon. @path: NULL is GP_CONTROL_SOCKET. -ENOTCONN, -EACCES, -ENOMEM,
 * -ENAMETOOLONG.
 */
int gp_daemon_open(const char *path, struct gp_daemon **ret);
void gp_daemon_close(struct gp_daemon *daemon);
/* Sets how long a call waits for its answer, 5000 ms at first; negative: for ever. */
void gp_daemon_set_timeout(struct gp_daemon *daemon, int milliseconds);

/*
 * Calls any method of the interface (gpreempt(3) lists them) by its name, "Status" or
 * "org.gpreempt.Status". @parameters: a JSON object; NULL: none. *@ret: the answer, a JSON object,
 * which the caller gives to free(); @ret may be NULL.
 */
int gp_daemon_call(struct gp_daemon *daemon, const char *method, const char *parameters,
		   char **ret);

/* ---- the process that a call is about ---- */

struct gp_daemon_target {
	int32_t pid;		/* 0: the calling process, where that makes sense */
	uint32_t reserved;
	uint64_t start;		/* field 22 of /proc/PID/stat; 0: any process with the pid */
};

/*
 * Gives the calling process a class; NULL: the class by the configured rules. Only root and the
 * group may raise it.
 */
int gp_daemon_register(struct gp_daemon *daemon, const char *class_name);
int gp_daemon_set_class(struct gp_daemon *daemon, const struct gp_daemon_target *target,
			const char *class_name);
/* Announces work of @target (NULL: of the caller) in @in_ns. The hint expires @for_ns later. */
int gp_daemon_hint(struct gp_daemon *daemon, const struct gp_daemon_target *target,
		   uint64_t in_ns, uint64_t for_ns);

enum gp_daemon_hold_flag {
	GP_DAEMON_WAIT	= 1 << 0,	/* return when the process is off the GPU */
	GP_DAEMON_RENEW	= 1 << 1,	/* only renew a hold; -ECANCELED: it has ended */
};

/*
 * Holds a process off the GPU for at most @lease_ns. Another call renews the lease. *@granted may
 * be NULL.
 */
int gp_daemon_hold(struct gp_daemon *daemon, const struct gp_daemon_target *target,
		   uint64_t lease_ns, uint32_t flags, uint64_t *granted_ns);
int gp_daemon_release(struct gp_daemon *daemon, const struct gp_daemon_target *target);
/* Looks at the queues of @target now; NULL: of the caller. */
int gp_daemon_trigger(struct gp_daemon *daemon, const struct gp_daemon_target *target);

/* The kill switch. */
int gp_daemon_enable(struct gp_daemon *daemon);
int gp_daemon_disable(struct gp_daemon *daemon);

/* ---- reading ---- */

struct gp_daemon_status {
	char version[32];
	char policy[32];
	char mechanism[32];
	int32_t pid;
	uint32_t enabled, observe_only;	/* 0 or 1 */
	uint32_t gpus, processes, held;
	uint64_t up_ns;
	uint64_t reserved[4];
};

int gp_daemon_status(struct gp_daemon *daemon, struct gp_daemon_status *ret);

/* The state of a process. On several GPUs it is the state furthest from ON. */
enum gp_daemon_state {
	GP_DAEMON_ON, GP_DAEMON_STARTING, GP_DAEMON_STOPPING, GP_DAEMON_OFF, GP_DAEMON_LOST,
	GP_DAEMON_UNKNOWN,
};

/*
 * A process. For another user's process only pid, class_name, state and gpus are set, unless the
 * caller is root or in the group. Then uid is ~0, and everything else is 0 or "".
 */
struct gp_daemon_process {
	int32_t pid;
	uint32_t uid;
	uint64_t start;
	char name[64];
	char class_name[64];
	uint32_t state;			/* enum gp_daemon_state */
	uint32_t gpus, queues;
	uint32_t reserved0;
	uint64_t preempted;		/* times taken off */
	uint64_t on_ns, off_ns;		/* summed over its GPUs */
	uint64_t vram_bytes;
	uint64_t reserved[4];
};

/* *@ret: @count of them, which the caller gives to free(). */
int gp_daemon_list(struct gp_daemon *daemon, struct gp_daemon_process **ret, size_t *count);

/* ---- events ---- */

struct gp_daemon_event {
	uint64_t at_ns;			/* CLOCK_MONOTONIC */
	uint64_t start;			/* of the process, 0 */
	int32_t pid;			/* 0: of no process */
	int32_t cause_pid;		/* the process for which it was done, 0 */
	int32_t gpu;			/* -1: of no GPU */
	uint32_t lost;			/* events dropped before this one */
	uint32_t state;			/* enum gp_daemon_state */
	uint32_t reserved0;
	char kind[16];
	char class_name[64];
	char what[128];			/* a sentence */
	uint64_t reserved[4];
};

/*
 * Subscribes to events on a new connection. One thread at a time may use it. @kinds: NULL or a list
 * such as "state,hold,trouble".
 */
int gp_daemon_subscribe(struct gp_daemon *daemon, const char *kinds, struct gp_events **ret);
/* Returns a descriptor that is readable when gp_events_next() may have an event. */
int gp_events_fd(const struct gp_events *events);
/*
 * Gets the next event. Never waits. -EAGAIN: none; -ENOTCONN: the daemon is gone, so close @events.
 */
int gp_events_next(struct gp_events *events, struct gp_daemon_event *ret);
void gp_events_close(struct gp_events *events);

/* ---- without the daemon: GPUs and processes of this machine ---- */

struct gp_local;

/* @kfd, @proc: NULL is /sys/class/kfd/kfd and /proc. The driver need not be there yet. */
int gp_local_open(const char *kfd, const char *proc, struct gp_local **ret);
void gp_local_close(struct gp_local *local);

struct gp_local_gpu {
	uint32_t index;			/* from 0, in the order of the driver's nodes */
	uint32_t gpu_id;		/* as the driver calls it */
	uint32_t node, render_minor;
	uint32_t partition, partitions;	/* of its card */
	uint32_t xccs, compute_units;
	uint32_t gfx_version;		/* 90402 is gfx942 */
	uint32_t reserved0;
	uint64_t vram_bytes;		/* 0: not known */
	char bdf[24];
	char gfx[16];
	uint64_t reserved[4];
};

/*
 * *@ret: @count GPUs, which the caller gives to free(). -ENODEV: no driver. The next two calls
 * return arrays in the same way.
 */
int gp_local_gpus(struct gp_local *local, struct gp_local_gpu **ret, size_t *count);

struct gp_local_process {
	int32_t pid;
	uint32_t uid;			/* ~0: not known */
	uint64_t start;
	uint32_t queues, gpus;
	uint64_t vram_bytes, evicted_ms;	/* summed over its GPUs */
	char name[64];
	uint64_t reserved[4];
};

/* Lists every visible process that has the driver open. */
int gp_local_processes(struct gp_local *local, struct gp_local_process **ret, size_t *count);

struct gp_local_queue {
	uint32_t id, gpu_id;
	uint32_t type;			/* 0 compute, 1 SDMA, 4 SDMA between cards */
	uint32_t ring_bytes;
	uint64_t reserved[2];
};

/* Lists the queues of one process. -ESRCH: it does not have the driver open. */
int gp_local_queues(struct gp_local *local, int32_t pid, struct gp_local_queue **ret,
		    size_t *count);

/*
 * ---- without the daemon: suspend and resume all queues of a process ----
 *
 * Uses the debug interface of the driver. The caller must have the right to trace the process, its
 * runtime must enable debugging, and no other debugger may have it (the daemon is one while it
 * preempts the process). When the session is closed or its owner dies, all its queues run. Calls
 * sleep in the driver.
 */
struct gp_suspender;

/*
 * @target->pid is required. -EAGAIN: its runtime is not up yet; -EOPNOTSUPP: it never will be (an
 * old ROCm); -ENOSYS: the driver does not support it; -EALREADY: it is being debugged; -ESRCH;
 * -EPERM.
 */
int gp_suspender_open(const struct gp_daemon_target *target, struct gp_suspender **ret);
void gp_suspender_close(struct gp_suspender *suspender);
/*
 * @gpu_id: 0 is all. @grace: 1..255 thousand GPU clocks. *@queues, if not NULL: number of queues.
 */
int gp_suspender_suspend(struct gp_suspender *suspender, uint32_t gpu_id, uint32_t grace,
			 uint32_t *queues);
int gp_suspender_resume(struct gp_suspender *suspender, uint32_t gpu_id, uint32_t *queues);

enum gp_suspender_event {
	GP_SUSPENDER_NEW_QUEUES	= 1 << 0,	/* they run: suspend again */
	GP_SUSPENDER_CHANGED	= 1 << 1,	/* queues were destroyed */
	GP_SUSPENDER_ENDED	= 1 << 2,	/* ended or all its queues run: close */
};

/* Returns a descriptor that is readable when gp_suspender_events() has events. */
int gp_suspender_fd(const struct gp_suspender *suspender);
/* Returns a mask of the events since the last call, or -errno. Never waits. */
int gp_suspender_events(struct gp_suspender *suspender);

#ifdef __cplusplus
}
#endif

#endif /* GPREEMPT_H */
