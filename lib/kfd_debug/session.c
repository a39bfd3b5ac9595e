// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/gpreempt.h"
#include "lib/gpu.h"
#include "session_inside.h"
#include "seize.h"
#include "vm.h"

/* Of one look: a queue can be new only once. */
enum { EVENTS_MAX = 2 * GP_SESSION_QUEUES, LEAVE_TRIES = 3 };

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static int call_once(const struct gp_session *s, struct gp_kfd_dbg *args)
{
	int r;

	args->pid = (u32)s->tid;
	do {
		r = ioctl(s->kfd_fd, GP_KFD_IOC_DBG, args);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

int gp_session_call(struct gp_session *s, struct gp_kfd_dbg *args)
{
	int r = call_once(s, args);

	/* A first thread that has ended has no memory any more, by which the driver looks. */
	if (r == -ESRCH) {
		pid_t tid = gp_seize_other_thread(s->pid);

		if (tid && tid != s->tid) {
			s->tid = tid;
			r = call_once(s, args);
		}
	}
	return r;
}

int gp_session_go_on(struct gp_session *s)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_SEND_EVENT, .event.exceptions = GP_SESSION_EC_RUNTIME,
	};

	return gp_session_call(s, &args);
}

static int disable(struct gp_session *s)
{
	struct gp_kfd_dbg args = { .op = GP_KFD_DBG_DISABLE };

	return gp_session_call(s, &args);
}

/* The bytes on the pipe. -EPIPE: the driver has let go of it. */
static int drain_pipe(struct gp_session *s)
{
	char bytes[256];
	int total = 0;
	ssize_t n;

	for (;;) {
		n = read(s->pipe[0], bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return -EPIPE;
		if (n < 0)
			return total;
		total += (int)n;
	}
}

static int query(struct gp_session *s, u64 *ret)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_QUERY_EVENT,
		.event.exceptions = GP_SESSION_EC_NEW | GP_SESSION_EC_RUNTIME,
	};
	int err = gp_session_call(s, &args);

	if (!err)
		*ret = args.event.exceptions;
	return err;
}

/*
 * A target that began to wait for us between our last answer and the end is asleep for
 * good: that it began is a byte on the pipe.
 */
int gp_session_leave(struct gp_session *s)
{
	u64 what;
	int err;

	drain_pipe(s);
	for (u32 i = 0; i < EVENTS_MAX && !query(s, &what); i++)
		if (what & GP_SESSION_EC_RUNTIME)
			gp_session_go_on(s);
	err = disable(s);
	s->enabled = err && err != -ESRCH && err != -EINVAL;
	if (drain_pipe(s) > 0 && gp_session_needs_poke(NULL, s->pid) == 1)
		return gp_session_poke(s->pid);
	return 0;
}

int gp_session_open(struct gp_session *s, const struct gp_session_args *args)
{
	int err;

	if (!gp_driver_saves_waves())
		return gp_fail(ENOSYS, "amdgpu.cwsr_enable=0: running waves cannot be saved; "
			       "remove it from the kernel's command line");
	if (gp_process_may_be_suspended(NULL, NULL, args->pid) == 0)
		return gp_fail(EXDEV, "process %d: has memory on some of its GPUs only: suspending "
			       "it would crash this driver", args->pid);
	*s = (struct gp_session){
		.pid = args->pid, .tid = args->pid, .start = args->start, .kfd_fd = args->kfd_fd,
		.attached = args->stay_attached, .pipe = { -1, -1 },
	};
	s->queues = calloc(GP_SESSION_QUEUES, sizeof(*s->queues));
	if (!s->queues)
		return gp_fail(ENOMEM, "no memory for a debug session");
	/* Non-blocking: the driver writes to it with locks held. */
	if (pipe2(s->pipe, O_CLOEXEC | O_NONBLOCK)) {
		err = gp_fail(errno, "no pipe for a debug session");
		free(s->queues);
		s->queues = NULL;
		return err;
	}
	err = gp_session_attach(s);
	if (err)
		gp_session_close(s);
	return err;
}

void gp_session_close(struct gp_session *s)
{
	for (u32 i = 0; s->enabled && i < LEAVE_TRIES; i++)
		gp_session_leave(s);
	if (s->attached)
		gp_unseize(s->pid);
	for (u32 i = 0; i < 2; i++)
		if (s->pipe[i] >= 0)
			close(s->pipe[i]);
	free(s->queues);
	*s = (struct gp_session){ .enabled = s->enabled, .pipe = { -1, -1 } };
}

/* A call failed: is there still a session? */
static int ended(struct gp_session *s, int err)
{
	/* EINVAL: not enabled (any more): it has exited, or become another by exec */
	if (err == -ESRCH || err == -EINVAL) {
		s->enabled = false;
		return gp_fail(ESRCH, "process %d: is gone", s->pid);
	}
	return gp_fail(-err, "process %d: the driver's debug interface: %s", s->pid,
		       strerrordesc_np(-err));
}

int gp_session_refresh(struct gp_session *s, u32 *ret_new)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_QUEUE_SNAPSHOT,
		.snapshot = {
			.clear = GP_SESSION_EC_NEW, .entries = address(s->queues),
			.count = GP_SESSION_QUEUES, .entry_bytes = sizeof(*s->queues),
		},
	};
	u32 new = 0;
	int err = gp_session_call(s, &args);

	if (err)
		return ended(s, err);
	s->nr_queues = args.snapshot.count < GP_SESSION_QUEUES ? args.snapshot.count :
								GP_SESSION_QUEUES;
	for (u32 i = 0; i < s->nr_queues; i++)
		new += !!(s->queues[i].exceptions & GP_SESSION_EC_NEW);
	if (ret_new)
		*ret_new = new;
	return 0;
}

static u32 collect(const struct gp_session *s, u32 gpu_id, u32 *ids)
{
	u32 nr = 0;

	for (u32 i = 0; i < s->nr_queues; i++)
		if (!gpu_id || s->queues[i].gpu_id == gpu_id)
			ids[nr++] = s->queues[i].queue_id;
	return nr;
}

/* How a call marked the ids. */
struct marks {
	u32 good, invalid, failed;
};

static struct marks read_marks(const u32 *ids, u32 nr)
{
	struct marks m = { 0 };

	for (u32 i = 0; i < nr; i++) {
		if (ids[i] & GP_KFD_DBG_QUEUE_ERROR)
			m.failed++;
		else if (ids[i] & GP_KFD_DBG_QUEUE_INVALID)
			m.invalid++;
		else
			m.good++;
	}
	return m;
}

static int resume_ids(struct gp_session *s, u32 *ids, u32 nr)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_RESUME,
		.resume = { .queue_ids = address(ids), .queues = nr },
	};

	return gp_session_call(s, &args);
}

static int suspend_round(struct gp_session *s, u32 gpu_id, u32 grace, u32 *ids,
			 struct gp_session_done *done)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_SUSPEND,
		.suspend = { .queue_ids = address(ids), .grace = grace },
	};
	struct marks marks;
	int r;

	args.suspend.queues = collect(s, gpu_id, ids);
	done->asked = args.suspend.queues;
	done->done = done->vanished = 0;
	if (!done->asked)
		return 0;
	if (!done->command_ns)
		done->command_ns = monotonic_ns();
	r = gp_session_call(s, &args);
	done->done_ns = monotonic_ns();
	if (r < 0)
		return r;
	marks = read_marks(ids, done->asked);
	done->done = marks.good;
	done->vanished = marks.invalid;
	return marks.failed ? -EIO : 0;
}

int gp_session_suspend(struct gp_session *s, u32 gpu_id, u32 grace, struct gp_session_done *ret)
{
	struct gp_session_done done = { 0 };
	u32 ids[GP_SESSION_QUEUES], nr;
	int err;

	if (!grace || grace > GP_KFD_GRACE_MAX)
		return gp_fail(EINVAL, "a grace of %u: 1 to %u", grace, GP_KFD_GRACE_MAX);
	err = suspend_round(s, gpu_id, grace, ids, &done);
	/* Unknown ones have been destroyed, or created anew with the same id: look again. */
	if (!err && done.vanished) {
		err = gp_session_refresh(s, NULL);
		if (!err)
			err = suspend_round(s, gpu_id, grace, ids, &done);
	}
	if (err) {
		/* The driver holds those that failed for suspended too. */
		nr = collect(s, gpu_id, ids);
		resume_ids(s, ids, nr);
	}
	if (err == -EIO)
		return gp_fail(EIO, "process %d: the GPU did not let go of a queue", s->pid);
	if (err)
		return ended(s, err);
	*ret = done;
	return 0;
}

int gp_session_resume(struct gp_session *s, u32 gpu_id, struct gp_session_done *ret)
{
	struct gp_session_done done = { 0 };
	u32 ids[GP_SESSION_QUEUES];
	struct marks marks;
	int r;

	done.asked = collect(s, gpu_id, ids);
	if (!done.asked) {
		*ret = done;
		return 0;
	}
	done.command_ns = monotonic_ns();
	r = gpu_id ? resume_ids(s, ids, done.asked) : resume_ids(s, NULL, 0);
	done.done_ns = monotonic_ns();
	if (r < 0)
		return ended(s, r);
	marks = read_marks(ids, done.asked);
	if (gpu_id && marks.failed)
		return gp_fail(EIO, "process %d: the GPU did not take a queue", s->pid);
	done.done = gpu_id ? marks.good : (u32)r;
	done.vanished = gpu_id ? marks.invalid : 0;
	*ret = done;
	return 0;
}

int gp_session_events(struct gp_session *s)
{
	int mask = 0, err;
	u64 what;

	if (s->pipe[0] < 0 || drain_pipe(s) == -EPIPE) {
		s->enabled = false;
		return GP_SESSION_GONE;
	}
	for (u32 i = 0; i < EVENTS_MAX; i++) {
		err = query(s, &what);
		if (err == -EAGAIN)
			break;
		if (err)
			return ended(s, err) == -ESRCH ? mask | GP_SESSION_GONE : err;
		if (what & GP_SESSION_EC_NEW)
			mask |= GP_SESSION_NEW_QUEUES;
		if (what & GP_SESSION_EC_RUNTIME) {
			mask |= GP_SESSION_RUNTIME;
			gp_session_go_on(s);
		}
		if (what & ~(GP_SESSION_EC_NEW | GP_SESSION_EC_RUNTIME))
			mask |= GP_SESSION_OTHER;
	}
	return mask;
}

void gp_session_wait_stops(struct gp_session *s)
{
	if (s->attached && gp_seize_wait(s->pid) == -ESRCH)
		s->attached = false;
}
