// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The functions of a story's debugger. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "story.h"

void debugger_open(struct debugger *d)
{
	*d = (struct debugger){ 0 };
	NEED(gp_client_open(&d->c, &(struct gp_client_args){ .no_runtime = true }) == 0);
	NEED(pipe2(d->pipe, O_NONBLOCK | O_CLOEXEC) == 0);
}

int debugger_enable(struct debugger *d, pid_t pid, u64 exceptions)
{
	return gp_debug_enable(&d->c, pid, exceptions, d->pipe[1], &d->info);
}

void debugger_attach(struct debugger *d, const struct target *t, u64 exceptions)
{
	u32 queues;

	debugger_open(d);
	seize(t->pid);
	NEED(debugger_enable(d, t->pid, exceptions) == 0);
	NEED(d->info.runtime_state == DEBUG_RUNTIME_STATE_ENABLED);
	NEED(debugger_clear_new(d, t->pid, &queues) == 0);
}

int debugger_op(struct debugger *d, pid_t pid, u32 op)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = op };

	return gp_debug(&d->c, pid, &args, "DBG_TRAP");
}

int debugger_clear_new(struct debugger *d, pid_t pid, u32 *ret_queues)
{
	struct kfd_queue_snapshot_entry entries[8];

	return gp_debug_snapshot(&d->c, pid, NEW, entries, 8, ret_queues);
}

int debugger_send_runtime(struct debugger *d, pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT,
						.send_runtime_event.exception_mask = RUNTIME };

	return gp_debug(&d->c, pid, &args, "DBG_TRAP SEND_RUNTIME_EVENT");
}

int debugger_suspend(struct debugger *d, const struct target *t, u32 index)
{
	u32 id = t->queue[index];

	return gp_debug_suspend(&d->c, t->pid, &id, 1, 1);
}

int debugger_resume(struct debugger *d, const struct target *t, u32 index)
{
	u32 id = t->queue[index];

	return gp_debug_resume(&d->c, t->pid, &id, 1);
}

int debugger_bytes(struct debugger *d)
{
	char bytes[64];
	ssize_t n = read(d->pipe[0], bytes, sizeof(bytes));

	for (ssize_t i = 0; i < n; i++)
		CHECK(bytes[i] == '.');
	return n < 0 ? errno == EAGAIN ? 0 : -errno : (int)n;
}
