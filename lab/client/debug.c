// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The debugger's calls, SMI events and the checkpoint's pause. */
#include "client.h"

#include <unistd.h>

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

int gp_debug(struct gp_client *c, pid_t pid, struct gp_kfd_dbg *args, const char *what)
{
	args->pid = (u32)pid;
	return gp_client_call(c, GP_KFD_IOC_DBG, args, what);
}

int gp_debug_enable(struct gp_client *c, pid_t pid, u64 exceptions, int fd,
		    struct gp_kfd_runtime_info *ret)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_ENABLE,
		.enable = {
			.exceptions = exceptions,
			.runtime_info = address(ret),
			.runtime_info_bytes = sizeof(*ret),
			.fd = (u32)fd,
		},
	};
	int err = gp_debug(c, pid, &args, "DBG_TRAP ENABLE");

	if (!err && pid == getpid())
		c->debugs_itself = true;
	return err;
}

int gp_debug_disable(struct gp_client *c, pid_t pid)
{
	struct gp_kfd_dbg args = { .op = GP_KFD_DBG_DISABLE };
	int err = gp_debug(c, pid, &args, "DBG_TRAP DISABLE");

	if (!err && pid == getpid())
		c->debugs_itself = false;
	return err;
}

int gp_debug_snapshot(struct gp_client *c, pid_t pid, u64 clear, struct gp_kfd_queue_entry *entries,
		      u32 room, u32 *ret_count)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_QUEUE_SNAPSHOT,
		.snapshot = {
			.clear = clear,
			.entries = address(entries),
			.count = room,
			.entry_bytes = sizeof(*entries),
		},
	};
	int err = gp_debug(c, pid, &args, "DBG_TRAP GET_QUEUE_SNAPSHOT");

	if (!err)
		*ret_count = args.snapshot.count;
	return err;
}

int gp_debug_suspend(struct gp_client *c, pid_t pid, u32 *ids, u32 nr, u32 grace)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_SUSPEND,
		.suspend = { .queue_ids = address(ids), .queues = nr, .grace = grace },
	};

	return gp_debug(c, pid, &args, "DBG_TRAP SUSPEND_QUEUES");
}

int gp_debug_resume(struct gp_client *c, pid_t pid, u32 *ids, u32 nr)
{
	struct gp_kfd_dbg args = {
		.op = GP_KFD_DBG_RESUME,
		.resume = { .queue_ids = address(ids), .queues = nr },
	};

	return gp_debug(c, pid, &args, "DBG_TRAP RESUME_QUEUES");
}

int gp_smi_open(struct gp_client *c, u64 mask)
{
	struct gp_kfd_smi args = { .gpu_id = c->node.gpu_id };
	int err = gp_client_call(c, GP_KFD_IOC_SMI, &args, "SMI_EVENTS");

	if (err)
		return err;
	if (write((int)args.fd, &mask, sizeof(mask)) != sizeof(mask)) {
		err = gp_client_fail(errno, "SMI_EVENTS: cannot subscribe to 0x%llx",
				     (unsigned long long)mask);
		close((int)args.fd);
		return err;
	}
	return (int)args.fd;
}

int gp_criu(struct gp_client *c, enum gp_kfd_criu_op op)
{
	struct gp_kfd_criu args = { .op = op };

	return gp_client_call(c, GP_KFD_IOC_CRIU, &args,
			      op == GP_KFD_CRIU_PAUSE ? "CRIU_OP PROCESS_INFO" : "CRIU_OP UNPAUSE");
}
