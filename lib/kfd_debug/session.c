// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/gpreempt.h"
#include "lib/gpu.h"
#include "lib/sys.h"
#include "seize.h"
#include "vm.h"

/* The events of a session: new queues, and a runtime that is enabled or disabled. */
#define EC_NEW		KFD_EC_MASK(EC_QUEUE_NEW)
#define EC_RUNTIME	KFD_EC_MASK(EC_PROCESS_RUNTIME)

/* EVENTS_MAX is per call; a queue can be new only once. */
enum { EVENTS_MAX = 2 * GP_SESSION_QUEUES, LEAVE_TRIES = 3, THREAD_TRIES = 100 };

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

static int call_once(const struct gp_session *s, struct kfd_ioctl_dbg_trap_args *args)
{
	int r;

	args->pid = (u32)s->tid;
	do {
		r = gp_sys->ioctl(s->kfd_fd, AMDKFD_IOC_DBG_TRAP, args);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

/* Calls the driver. Returns its result, or -errno. */
static int call(struct gp_session *s, struct kfd_ioctl_dbg_trap_args *args)
{
	int r = call_once(s, args);

	/*
	 * A first thread that has ended has no memory map, by which the driver finds the process.
	 * So name another thread, which may end before the call, too.
	 */
	for (u32 i = 0; r == -ESRCH && i < THREAD_TRIES; i++) {
		pid_t tid = gp_seize_other_thread(s->pid);

		if (!tid || tid == s->tid)
			break;
		s->tid = tid;
		r = call_once(s, args);
	}
	return r;
}

/*
 * Tells a target that waits for its debugger to continue. Called in advance, the target never
 * waits.
 */
static int go_on(struct gp_session *s)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT,
		.send_runtime_event.exception_mask = EC_RUNTIME,
	};

	return call(s, &args);
}

static int disable(struct gp_session *s)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_DISABLE };

	return call(s, &args);
}

/* Drains the pipe. Returns how many bytes it had. -EPIPE: the driver has closed its end. */
static int drain_pipe(struct gp_session *s)
{
	char bytes[256];
	int total = 0;
	ssize_t n;

	for (;;) {
		n = gp_sys->read(s->pipe[0], bytes, sizeof(bytes));
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
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT,
		.query_debug_event.exception_mask = EC_NEW | EC_RUNTIME,
	};
	int err = call(s, &args);

	if (!err)
		*ret = args.query_debug_event.exception_mask;
	return err;
}

/* Ends the session, so that everything runs. -errno: the driver did not end it. */
static int leave(struct gp_session *s)
{
	u64 what;
	int err = 0;

	drain_pipe(s);
	for (u32 i = 0; i < EVENTS_MAX && !query(s, &what); i++)
		if (what & EC_RUNTIME)
			go_on(s);
	for (u32 i = 0; s->enabled && i < LEAVE_TRIES; i++) {
		err = disable(s);
		/* EINVAL: it has ended before */
		s->enabled = err && err != -ESRCH && err != -EINVAL;
	}
	return s->enabled ? err : 0;
}

/*
 * Wakes a target after leave(). If it began to wait for its debugger between the last go_on() and
 * the end, it would sleep for ever. A byte on the pipe shows that it began. -EPERM: its first
 * thread sleeps in the driver and is traced by a thread of this process, so gp_unseize() wakes it.
 */
static int wake_late(struct gp_session *s)
{
	if (drain_pipe(s) > 0 && gp_session_needs_poke(NULL, s->pid) == 1)
		return gp_session_poke(s->pid);
	return 0;
}

int gp_session_close(struct gp_session *s)
{
	int err = 0;

	if (s->enabled) {
		err = leave(s);
		wake_late(s);
	}
	if (s->attached)
		gp_unseize(s->pid);
	for (u32 i = 0; i < 2; i++)
		if (s->pipe[i] >= 0)
			close(s->pipe[i]);
	free(s->queues);
	*s = (struct gp_session){ .enabled = s->enabled, .pipe = { -1, -1 } };
	return err;
}

/* Handles a failed call: finds out whether the session still exists. */
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
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT,
		.queue_snapshot = {
			.exception_mask = EC_NEW, .snapshot_buf_ptr = address(s->queues),
			.num_queues = GP_SESSION_QUEUES, .entry_size = sizeof(*s->queues),
		},
	};
	u32 new = 0;
	int err = call(s, &args);

	if (err)
		return ended(s, err);
	s->stale = false;
	s->nr_queues = args.queue_snapshot.num_queues < GP_SESSION_QUEUES ?
			       args.queue_snapshot.num_queues :
			       GP_SESSION_QUEUES;
	for (u32 i = 0; i < s->nr_queues; i++)
		new += !!(s->queues[i].exception_status & EC_NEW);
	if (ret_new)
		*ret_new = new;
	return 0;
}

/* ---- attaching ---- */

static int count_queues(struct gp_session *s, u32 *ret)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT,
		.queue_snapshot.entry_size = sizeof(struct kfd_queue_snapshot_entry),
	};
	int err = call(s, &args);

	if (!err)
		*ret = args.queue_snapshot.num_queues;
	return err;
}

struct enabling {
	struct gp_session *s;
	u32 state;		/* of its runtime */
};

static int enable(void *ctx)
{
	struct enabling *e = ctx;
	struct kfd_runtime_info info = { 0 };
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_ENABLE,
		.enable = {
			.exception_mask = EC_NEW | EC_RUNTIME,
			.rinfo_ptr = (u64)(uintptr_t)&info,
			.rinfo_size = sizeof(info), .dbg_fd = (u32)e->s->pipe[1],
		},
	};
	int err = call(e->s, &args);

	e->state = info.runtime_state;
	return err;
}

/*
 * Enables the session without a crash of the driver. If the call names the traced thread, the
 * driver creates a GPU process for it, and crashes if that thread ends meanwhile
 * (kfd_create_process). If the call names @other, the driver only looks the process up. A process
 * without another thread is stopped during the call, so that it cannot end.
 */
static int enable_safely(struct enabling *e, pid_t other)
{
	int err;

	if (!other)
		return gp_seize_while_stopped(e->s->pid, enable, e);
	e->s->tid = other;
	err = enable(e);
	e->s->tid = e->s->pid;
	return err;
}

/*
 * Checks whether a debugger has the process already. ENABLE must not be used for that, because the
 * driver takes its caller for the debugger even if it refuses.
 */
static int ask_if_free(struct gp_session *s)
{
	u32 queues;
	int err = count_queues(s, &queues);

	switch (err) {
	case 0:
		return gp_fail(EALREADY, "process %d: a debugger has it already", s->pid);
	case -EINVAL:
		return 0;
	case -ENOTTY:
		return gp_fail(ENOSYS, "the driver has no debug interface: Linux 6.5 or newer");
	case -ESRCH:
		return gp_fail(ESRCH, "process %d: has no GPU open", s->pid);
	}
	return gp_fail(-err, "process %d: the driver's debug interface: %s", s->pid,
		       strerrordesc_np(-err));
}

static int enable_if_ready(struct gp_session *s, pid_t other)
{
	struct enabling e = { .s = s };
	u32 queues = 0;
	int err = enable_safely(&e, other);

	if (err == -ETIMEDOUT)
		return gp_fail(EAGAIN, "process %d: its only thread does not stop", s->pid);
	if (err == -EINVAL)
		return gp_fail(ENOSYS, "the driver runs without its hardware scheduler");
	if (err)
		return gp_fail(-err, "process %d: cannot be debugged: %s", s->pid,
			       strerrordesc_np(-err));
	s->enabled = true;
	if (e.state == DEBUG_RUNTIME_STATE_ENABLED) {
		/* Called in advance, so that the target never waits for its debugger. */
		go_on(s);
		return 0;
	}
	count_queues(s, &queues);
	/* The end of this process would also end the session, but not wake the target. */
	leave(s);
	if (wake_late(s) == -EPERM)
		gp_unseize(s->pid);
	if (e.state != DEBUG_RUNTIME_STATE_DISABLED)
		return gp_fail(EBUSY, "process %d: the driver cannot debug it now", s->pid);
	if (queues)
		return gp_fail(EOPNOTSUPP, "process %d: its ROCm never enables the debug runtime",
			       s->pid);
	return gp_fail(EAGAIN, "process %d: its runtime is not ready yet", s->pid);
}

static int seize_and_enable(struct gp_session *s)
{
	/* Look before tracing. A process that has lost its other threads by then is ending. */
	pid_t other = gp_seize_other_thread(s->pid);
	int err = gp_seize(s->pid, s->start);

	switch (err) {
	case 0:
		break;
	case -EALREADY:
		return gp_fail(EALREADY, "process %d: a debugger has it already", s->pid);
	case -ESRCH:
		return gp_fail(ESRCH, "process %d: is gone", s->pid);
	default:
		return gp_fail(-err, "process %d: cannot be traced: %s", s->pid,
			       strerrordesc_np(-err));
	}
	err = ask_if_free(s);
	if (!err)
		err = enable_if_ready(s, other);
	if (err && s->attached)
		gp_unseize(s->pid);
	return err;
}

/* Keeps the sentence about a failure, which belongs to a thread that ends. */
struct attach {
	struct gp_session *s;
	char why[256];
};

static int attach(void *ctx)
{
	struct attach *a = ctx;
	int err = seize_and_enable(a->s);

	if (err)
		snprintf(a->why, sizeof(a->why), "%s", gp_strerror(err));
	return err;
}

/* Attaches, and reads the queues. Returns as gp_session_open(). */
static int attach_session(struct gp_session *s)
{
	struct attach a = { .s = s };
	int err;

	err = s->attached ? attach(&a) : gp_seize_briefly(attach, &a);
	if (err && a.why[0])
		gp_fail(-err, "%s", a.why);
	/*
	 * From now on the driver has the only writing end, so the pipe closes when the session
	 * ends.
	 */
	close(s->pipe[1]);
	s->pipe[1] = -1;
	if (err)
		return err;
	err = gp_session_refresh(s, NULL);
	if (err == -EPERM && !s->attached) {
		/* The driver accepts only the tracer. */
		err = gp_seize(s->pid, s->start);
		s->attached = !err;
		if (!err)
			err = gp_session_refresh(s, NULL);
	}
	return err;
}

/*
 * Checks that the queues on @gpu_id (0: on all) may be suspended (vm.h). Returns 0 or the reason
 * against it. Reads /proc of the target until all its VMs are proven. That can wait for a lock of
 * the target's VM, as every call of the driver can. So it counts as time in the driver.
 */
static int judge(struct gp_session *s, u32 gpu_id)
{
	u32 queued[GP_SESSION_QUEUES];
	struct gp_vm_args args = {
		.pid = s->pid, .tid = s->tid, .queued = queued, .nr_queued = s->nr_queues,
		.gpu_id = gpu_id,
	};
	int r;

	if (s->vms_proven)
		return 0;
	for (u32 i = 0; i < s->nr_queues; i++)
		queued[i] = s->queues[i].gpu_id;
	r = gp_vm_may_suspend(&args, &s->vms_proven);
	if (r < 0)
		return gp_fail(-r, "process %d: its memory on its GPUs is not known: %s", s->pid,
			       strerrordesc_np(-r));
	return r ? 0 : gp_fail(EXDEV, "process %d: has memory on some of its GPUs only: "
			       "suspending it would crash this driver", s->pid);
}

int gp_session_open(struct gp_session *s, const struct gp_session_args *args)
{
	int err;

	if (!gp_driver_saves_waves())
		return gp_fail(ENOSYS, "amdgpu.cwsr_enable=0: running waves cannot be saved; "
			       "remove it from the kernel's command line");
	*s = (struct gp_session){
		.pid = args->pid, .tid = args->pid, .start = args->start, .kfd_fd = args->kfd_fd,
		.attached = args->stay_attached, .pipe = { -1, -1 },
	};
	s->queues = calloc(GP_SESSION_QUEUES, sizeof(*s->queues));
	if (!s->queues)
		return gp_fail(ENOMEM, "no memory for a debug session");
	/* Non-blocking, because the driver writes to it with locks held. */
	if (gp_sys->pipe2(s->pipe, O_CLOEXEC | O_NONBLOCK)) {
		err = gp_fail(errno, "no pipe for a debug session");
		free(s->queues);
		s->queues = NULL;
		return err;
	}
	err = attach_session(s);
	if (!err)
		err = judge(s, 0);
	if (err == -ENOENT)
		err = gp_fail(ESRCH, "process %d: has no GPU open", s->pid);
	if (err)
		gp_session_close(s);
	return err;
}

/* ---- suspending and resuming ---- */

static u32 collect(const struct gp_session *s, u32 gpu_id, u32 *ids)
{
	u32 nr = 0;

	for (u32 i = 0; i < s->nr_queues; i++)
		if (!gpu_id || s->queues[i].gpu_id == gpu_id)
			ids[nr++] = s->queues[i].queue_id;
	return nr;
}

/* Counts how a call marked the ids. */
struct marks {
	u32 good, invalid, failed;
};

static struct marks read_marks(const u32 *ids, u32 nr)
{
	struct marks m = { 0 };

	for (u32 i = 0; i < nr; i++) {
		if (ids[i] & KFD_DBG_QUEUE_ERROR_MASK)
			m.failed++;
		else if (ids[i] & KFD_DBG_QUEUE_INVALID_MASK)
			m.invalid++;
		else
			m.good++;
	}
	return m;
}

static int resume_ids(struct gp_session *s, u32 *ids, u32 nr)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_RESUME_QUEUES,
		.resume_queues = { .queue_array_ptr = address(ids), .num_queues = nr },
	};

	return call(s, &args);
}

/*
 * Refreshes. The driver clears its marks of new queues, so the next gp_session_events() reports
 * them.
 */
static int refresh_unheard(struct gp_session *s)
{
	u32 new = 0;
	int err = gp_session_refresh(s, &new);

	s->unheard |= new > 0;
	return err;
}

static int suspend_round(struct gp_session *s, u32 gpu_id, u32 grace, u32 *ids,
			 struct gp_session_done *done)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_SUSPEND_QUEUES,
		.suspend_queues = { .queue_array_ptr = address(ids), .grace_period = grace },
	};
	struct marks marks;
	int r = s->stale ? refresh_unheard(s) : 0;

	if (r)
		return r;
	args.suspend_queues.num_queues = collect(s, gpu_id, ids);
	done->asked = args.suspend_queues.num_queues;
	done->done = done->vanished = 0;
	if (!done->asked)
		return 0;
	r = judge(s, gpu_id);
	if (r)
		return r;
	if (!done->command_ns)
		done->command_ns = gp_sys->monotonic_ns();
	s->suspended = true;
	r = call(s, &args);
	done->done_ns = gp_sys->monotonic_ns();
	if (r < 0)
		return ended(s, r);
	marks = read_marks(ids, done->asked);
	done->done = marks.good;
	done->vanished = marks.invalid;
	return marks.failed ? gp_fail(EIO, "process %d: the GPU did not let go of a queue",
				      s->pid) : 0;
}

/*
 * Undoes a suspend that failed with @err. The driver counts queues that failed as suspended, too.
 */
static int undo_suspend(struct gp_session *s, u32 gpu_id, int err)
{
	u32 ids[GP_SESSION_QUEUES], nr = collect(s, gpu_id, ids);
	int r = nr && s->enabled ? resume_ids(s, ids, nr) : 0;

	if (r == -ESRCH || r == -EINVAL)
		return ended(s, r);
	if (r == -EPERM && err == -EPERM)
		return err;
	if (r < 0 || read_marks(ids, nr).failed)
		return gp_fail(EREMOTEIO, "process %d: cannot be resumed after a failed suspend",
			       s->pid);
	return err;
}

int gp_session_suspend(struct gp_session *s, u32 gpu_id, u32 grace, struct gp_session_done *ret)
{
	struct gp_session_done done = { 0 };
	u32 ids[GP_SESSION_QUEUES];
	int err;

	if (!grace || grace > GP_KFD_GRACE_MAX)
		return gp_fail(EINVAL, "a grace of %u: 1 to %u", grace, GP_KFD_GRACE_MAX);
	err = suspend_round(s, gpu_id, grace, ids, &done);
	/* Unknown queues were destroyed, or recreated with the same id, so refresh. */
	if (!err && done.vanished) {
		err = refresh_unheard(s);
		if (!err)
			err = suspend_round(s, gpu_id, grace, ids, &done);
	}
	if (err)
		return undo_suspend(s, gpu_id, err);
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
	/* A suspended queue may be missing in the last snapshot. */
	if (!done.asked && (gpu_id || !s->suspended)) {
		*ret = done;
		return 0;
	}
	done.command_ns = gp_sys->monotonic_ns();
	r = gpu_id ? resume_ids(s, ids, done.asked) : resume_ids(s, NULL, 0);
	done.done_ns = gp_sys->monotonic_ns();
	if (r < 0)
		return ended(s, r);
	if (!gpu_id)
		s->suspended = false;
	marks = read_marks(ids, done.asked);
	if (gpu_id && marks.failed)
		return gp_fail(EIO, "process %d: the GPU did not take a queue", s->pid);
	done.done = gpu_id ? marks.good : (u32)r;
	done.vanished = gpu_id ? marks.invalid : 0;
	*ret = done;
	return 0;
}

int gp_session_rescue(int kfd_fd, pid_t pid)
{
	struct gp_session s = { .pid = pid, .tid = pid, .kfd_fd = kfd_fd };

	return resume_ids(&s, NULL, 0);
}

int gp_session_events(struct gp_session *s)
{
	int mask = s->unheard ? GP_SESSION_NEW_QUEUES : 0, err;
	u64 what;

	s->unheard = false;
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
		if (what & EC_NEW) {
			mask |= GP_SESSION_NEW_QUEUES;
			s->stale = true;
		}
		if (what & EC_RUNTIME) {
			mask |= GP_SESSION_RUNTIME;
			go_on(s);
		}
		if (what & ~(EC_NEW | EC_RUNTIME))
			mask |= GP_SESSION_OTHER;
	}
	return mask;
}

void gp_session_wait_stops(struct gp_session *s)
{
	if (s->attached && gp_seize_wait(s->pid) == -ESRCH)
		s->attached = false;
}
