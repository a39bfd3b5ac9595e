// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How a debug session begins. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/gpreempt.h"
#include "session_inside.h"
#include "seize.h"

static int count_queues(struct gp_session *s, u32 *ret)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_QUEUE_SNAPSHOT,
		.snapshot.entry_bytes = sizeof(struct gp_kfd_queue_entry),
	};
	int err = gp_session_call(s, &args);

	if (!err)
		*ret = args.snapshot.count;
	return err;
}

struct enabling {
	struct gp_session *s;
	u32 state;		/* of its runtime */
};

static int enable(void *ctx)
{
	struct enabling *e = ctx;
	struct gp_kfd_runtime_info info = { 0 };
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_ENABLE,
		.enable = {
			.exceptions = GP_SESSION_EC_NEW | GP_SESSION_EC_RUNTIME,
			.runtime_info = (u64)(uintptr_t)&info,
			.runtime_info_bytes = sizeof(info), .fd = (u32)e->s->pipe[1],
		},
	};
	int err = gp_session_call(e->s, &args);

	e->state = info.state;
	return err;
}

/*
 * Told of the thread that we trace, the driver would make it a process of the GPU's, and crashes if
 * that thread ends meanwhile (kfd_create_process). Told of @other it looks the process up.
 * One that has no other is stopped for that moment, so that it cannot end.
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
 * Whether a debugger has it already. To ask ENABLE would be wrong: the driver takes the
 * asker for the debugger from then on, even if it refuses.
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
	if (e.state == GP_KFD_RUNTIME_ON) {
		/* In advance, so that it never waits for us. */
		gp_session_go_on(s);
		return 0;
	}
	count_queues(s, &queues);
	/* Our end would let go of it too, but not wake it. */
	if (gp_session_leave(s) == -EPERM)
		gp_unseize(s->pid);
	if (e.state != GP_KFD_RUNTIME_OFF)
		return gp_fail(EBUSY, "process %d: the driver cannot debug it now", s->pid);
	if (queues)
		return gp_fail(EOPNOTSUPP, "process %d: its ROCm never enables the debug runtime",
			       s->pid);
	return gp_fail(EAGAIN, "process %d: its runtime is not ready yet", s->pid);
}

static int seize_and_enable(struct gp_session *s)
{
	/* Before it is traced: one that has lost its others by then is ending. */
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

/* The sentence about a failure is its thread's, which ends. */
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

int gp_session_attach(struct gp_session *s)
{
	struct attach a = { .s = s };
	int err;

	err = s->attached ? attach(&a) : gp_seize_briefly(attach, &a);
	if (err && a.why[0])
		gp_fail(-err, "%s", a.why);
	/* From now on the driver has the only writing end: its end is the session's. */
	close(s->pipe[1]);
	s->pipe[1] = -1;
	if (err)
		return err;
	err = gp_session_refresh(s, NULL);
	if (err == -EPERM && !s->attached) {
		/* A driver that insists on its tracer. */
		err = gp_seize(s->pid, s->start);
		s->attached = !err;
		if (!err)
			err = gp_session_refresh(s, NULL);
	}
	return err;
}
