// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The debugger's calls, SMI events and the checkpoint's pause. */
#include "client.h"

#include <unistd.h>

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

int gp_debug(struct gp_lab_client *c, pid_t pid, struct kfd_ioctl_dbg_trap_args *args,
	     const char *what)
{
	args->pid = (u32)pid;
	return gp_client_call(c, AMDKFD_IOC_DBG_TRAP, args, what);
}

int gp_debug_enable(struct gp_lab_client *c, pid_t pid, u64 exceptions, int fd,
		    struct kfd_runtime_info *ret)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_ENABLE,
		.enable = {
			.exception_mask = exceptions,
			.rinfo_ptr = address(ret),
			.rinfo_size = sizeof(*ret),
			.dbg_fd = (u32)fd,
		},
	};
	int err = gp_debug(c, pid, &args, "DBG_TRAP ENABLE");

	if (!err && pid == getpid())
		c->debugs_itself = true;
	return err;
}

int gp_debug_disable(struct gp_lab_client *c, pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_DISABLE };
	int err = gp_debug(c, pid, &args, "DBG_TRAP DISABLE");

	if (!err && pid == getpid())
		c->debugs_itself = false;
	return err;
}

int gp_debug_snapshot(struct gp_lab_client *c, pid_t pid, u64 clear,
		      struct kfd_queue_snapshot_entry *entries, u32 room, u32 *ret_count)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT,
		.queue_snapshot = {
			.exception_mask = clear,
			.snapshot_buf_ptr = address(entries),
			.num_queues = room,
			.entry_size = sizeof(*entries),
		},
	};
	int err = gp_debug(c, pid, &args, "DBG_TRAP GET_QUEUE_SNAPSHOT");

	if (!err)
		*ret_count = args.queue_snapshot.num_queues;
	return err;
}

int gp_debug_suspend(struct gp_lab_client *c, pid_t pid, u32 *ids, u32 nr, u32 grace)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_SUSPEND_QUEUES,
		.suspend_queues = { .queue_array_ptr = address(ids),
				    .num_queues = nr,
				    .grace_period = grace },
	};

	return gp_debug(c, pid, &args, "DBG_TRAP SUSPEND_QUEUES");
}

int gp_debug_resume(struct gp_lab_client *c, pid_t pid, u32 *ids, u32 nr)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_RESUME_QUEUES,
		.resume_queues = { .queue_array_ptr = address(ids), .num_queues = nr },
	};

	return gp_debug(c, pid, &args, "DBG_TRAP RESUME_QUEUES");
}

int gp_smi_open(struct gp_lab_client *c, u64 mask)
{
	struct kfd_ioctl_smi_events_args args = { .gpuid = c->node.gpu_id };
	int err = gp_client_call(c, AMDKFD_IOC_SMI_EVENTS, &args, "SMI_EVENTS");

	if (err)
		return err;
	if (write((int)args.anon_fd, &mask, sizeof(mask)) != sizeof(mask)) {
		err = gp_client_fail(errno, "SMI_EVENTS: cannot subscribe to 0x%llx",
				     (unsigned long long)mask);
		close((int)args.anon_fd);
		return err;
	}
	return (int)args.anon_fd;
}

int gp_criu(struct gp_lab_client *c, enum kfd_criu_op op)
{
	struct kfd_ioctl_criu_args args = { .op = op };

	return gp_client_call(c, AMDKFD_IOC_CRIU_OP, &args,
			      op == KFD_CRIU_OP_PROCESS_INFO ? "CRIU_OP PROCESS_INFO" :
							       "CRIU_OP UNPAUSE");
}
