/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A debug session of one process. With it an unmodified kernel lets another process take queues off
 * the GPU.
 *
 * Attaching needs ptrace for a moment only. A new thread seizes the target, enables the session and
 * ends, which detaches the target. From then on the driver knows this process as the debugger. A
 * target with a single thread is stopped while the session is enabled, because it must not end
 * meanwhile. If an older driver accepts only the tracer, the session is marked as attached. Then
 * every call must come from the thread that opened it, and gp_session_wait_stops() must be called
 * often, because each signal stops the target.
 *
 * The target must not depend on this process being alive. While a debugger has it, its runtime
 * sleeps in hsa_shut_down until the debugger lets it continue. The session does that in advance, at
 * attach, and the driver remembers it (so the target may not wait for the next debugger). A target
 * whose runtime is not enabled is detached at once. When this process dies, the driver resumes
 * every queue, but a hostile user can delay that.
 *
 * A session has no lock, so only one thread at a time may use it. The functions sleep in the
 * driver, up to its preemption timeout (9 s) when a GPU hangs. 0 or -errno; gp_strerror() has the
 * sentence.
 */
#ifndef GP_LIB_KFD_DEBUG_SESSION_H
#define GP_LIB_KFD_DEBUG_SESSION_H

#include <sys/types.h>

#include "gp_env.h"
#include "uapi/kfd.h"

enum { GP_SESSION_QUEUES = GP_KFD_DBG_QUEUE_MAX };

struct gp_session {
	pid_t pid;
	pid_t tid;		/* named to the driver: another thread if the first has ended */
	u64 start;		/* detects a reused pid */
	int kfd_fd;
	int pipe[2];		/* [0] becomes readable when gp_session_events() has something */
	bool enabled;
	bool attached;		/* the session needs ptrace for its whole life */
	bool vms_proven;	/* all of its queues may be suspended, also those to come (vm.h) */
	bool suspended;		/* SUSPEND was called since everything was resumed */
	bool unheard;		/* new queues not yet reported by gp_session_events() */
	bool stale;		/* an id in @queues may belong to a newer queue */
	u32 nr_queues;		/* as last seen by gp_session_refresh() */
	struct kfd_queue_snapshot_entry *queues; /* newest first; room for GP_SESSION_QUEUES */
};

struct gp_session_args {
	int kfd_fd;		/* of this process, open as long as the session */
	pid_t pid;
	u64 start;		/* gp_process_start(); 0: any process with this pid */
	bool stay_attached;	/* for tests: behave as with an older driver */
};

/*
 * Attaches. On failure there is no session and the target is as it was.
 * -EAGAIN	its runtime is not enabled yet: come back later
 * -EOPNOTSUPP	it has queues and its runtime is not enabled: an old ROCm, it never will be
 * -EALREADY	a debugger has it (rocgdb, another daemon)
 * -ESRCH	it is gone, has become another, or has not opened the driver
 * -ECHILD	its first thread has ended, and the others run
 * -EPERM	it may not be traced (Yama, another user, a container)
 * -ENOSYS	the driver has no debug interface, no hardware scheduler, or does not save waves
 * -EXDEV	it has GPUs open on which it has no memory: the driver would crash (vm.h)
 * -EMFILE ...	whether the driver would crash is not known
 * -ENOMEM	no memory, or no thread can be started
 * -EBUSY	the driver could not activate it (an older GPU debugs one process at a time)
 */
int gp_session_open(struct gp_session *s, const struct gp_session_args *args);

/*
 * Resumes everything and detaches. If the session has ended it only frees. -errno: the driver
 * refused, so queues may be off until this process ends. @enabled says so, also after
 * gp_session_open() failed.
 */
int gp_session_close(struct gp_session *s);

/*
 * Reads the present queues into s->queues. New ones can be suspended from here on. @ret_new: how
 * many were new. -ESRCH: the target is gone, the session has ended.
 */
int gp_session_refresh(struct gp_session *s, u32 *ret_new);

/* The result of a call on a set of queues. */
struct gp_session_done {
	u32 asked, done;
	u32 vanished;		/* destroyed in between, or being destroyed: nothing to hold */
	u64 command_ns;		/* CLOCK_MONOTONIC around the driver's call */
	u64 done_ns;
};

/*
 * Suspends every known queue of the target on @gpu_id (0: on all) in one call. @grace: 1..255
 * thousand GPU clocks. All or nothing: if the hardware fails for one (-EIO), the others are
 * resumed. Queues that are being destroyed are skipped. -ESRCH: gone. -EINVAL: bad grace. -EXDEV,
 * -ENOENT, -EMFILE and the like: the driver would crash, or that is not known; nothing is off.
 * -EPERM, -EREMOTEIO: its runtime is disabled by now, or putting back failed; queues may be off
 * until gp_session_close().
 */
int gp_session_suspend(struct gp_session *s, u32 gpu_id, u32 grace, struct gp_session_done *ret);
/* Resumes the queues. A queue that was not off counts as done. */
int gp_session_resume(struct gp_session *s, u32 gpu_id, struct gp_session_done *ret);
/*
 * Resumes every queue of @pid without its session, which may hang in another thread. Returns how
 * many, or -errno. -EPERM: this process does not debug it, or the driver accepts only the tracer.
 */
int gp_session_rescue(int kfd_fd, pid_t pid);

enum gp_session_event {
	GP_SESSION_NEW_QUEUES	= 1 << 0,	/* refresh and, if it is held, suspend again */
	GP_SESSION_OTHER	= 1 << 1,	/* queues destroyed: refresh when convenient */
	/*
	 * Its runtime is being disabled (hsa_shut_down) or enabled. All its queues run again, and
	 * it does not wait. Close the session, and attach again later.
	 */
	GP_SESSION_RUNTIME	= 1 << 2,
	GP_SESSION_GONE		= 1 << 3,	/* it has ended: close */
};

/* Returns a mask of the events since the last call, or -errno. Never sleeps for events. */
int gp_session_events(struct gp_session *s);

/* Continues the target after signals. Only for an attached session, by its thread. */
void gp_session_wait_stops(struct gp_session *s);

/*
 * Wakes a process that sleeps in enabling or disabling its runtime because its debugger
 * died: the call returns EINTR and the runtime asks again. Harmless for all others: a
 * thread is interrupted as by a stop and a continue. -ESRCH, -EPERM, -ETIMEDOUT.
 */
int gp_session_poke(pid_t pid);
/* Returns 1 if a thread of @pid sleeps there, 0 if not, or -errno. */
int gp_session_needs_poke(const char *proc, pid_t pid);

#endif /* GP_LIB_KFD_DEBUG_SESSION_H */
