/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Has a process memory on every GPU that it has open?
 *
 * Opening the driver opens all GPUs, and ROCr then acquires an address space on each. A
 * process that did so on some only must not be suspended: having stopped it on one GPU,
 * the driver (6.12 at least) takes its address space on the GPUs after that one for granted and
 * crashes. Which GPUs it has acquired shows in the render nodes it has open.
 */
#ifndef GP_LIB_VM_H
#define GP_LIB_VM_H

#include <sys/types.h>

#include "gp_env.h"

/*
 * 1: on all of them, or it has only one. 0: not on all. -ENOENT: no such process there.
 * @kfd, @proc: directories, NULL for GP_SYSFS_KFD and /proc.
 */
int gp_process_has_every_vm(const char *kfd, const char *proc, pid_t pid);

#endif /* GP_LIB_VM_H */
