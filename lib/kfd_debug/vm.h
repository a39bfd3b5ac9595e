/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Finds out whether a process can be suspended without a crash of the driver.
 *
 * Opening the driver opens all GPUs, and ROCr then acquires an address space (VM) on each. A
 * process that acquired it on some GPUs only must not be suspended: after the driver (6.12 at
 * least) has stopped queues on one GPU, it uses the VM of every GPU behind that one without a check
 * and crashes. Any user can build such a process.
 *
 * A VM is never taken back while the process lives. It is proven in two ways:
 * - A queue exists on that GPU.
 * - An open render node has the PASID of the process, which only AMDKFD_IOC_ACQUIRE_VM gives to it.
 *   Such a file proves a VM on some GPU, because the driver does not check that the file belongs to
 *   the GPU that is named with it. But each file proves another one. So the files are counted.
 *
 * The files are read by the process that suspends, because only a reading right before the call has
 * no race, and it has the ptrace rights that /proc/PID/fd needs. The driver writes their text. It
 * reads no memory of the process for that, but waits for a lock of its VM, like SUSPEND itself. So
 * a hostile process can make the reading hang, and a holder reads in the thread of the session.
 */
#ifndef GP_LIB_KFD_DEBUG_VM_H
#define GP_LIB_KFD_DEBUG_VM_H

#include <sys/types.h>

#include "gp_env.h"

struct gp_vm_args {
	const char *kfd, *proc;	/* directories, NULL for GP_SYSFS_KFD and /proc */
	pid_t pid;
	pid_t tid;		/* a thread of it that lives; 0: the first */
	const u32 *queued;	/* gpu_id of each queue that it has */
	u32 nr_queued;
	u32 gpu_id;		/* on which queues are to be suspended; 0: on all */
};

/*
 * Returns 1 if the process may be suspended. *@ret_always: also with any other queues, until it
 * ends. 0: the driver would crash. -ENOENT: the process has not opened the driver. Any other error:
 * not known, so it must not be suspended.
 */
int gp_vm_may_suspend(const struct gp_vm_args *args, bool *ret_always);

#endif /* GP_LIB_KFD_DEBUG_VM_H */
