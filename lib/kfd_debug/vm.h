/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * May a process be suspended without harm to the driver?
 *
 * Opening the driver opens all GPUs, and ROCr then acquires an address space on each. A
 * process that did so on some only must not be suspended: having stopped it on one GPU,
 * the driver (6.12 at least) takes its address space on the GPUs after that one for granted and
 * crashes. Whether there is one cannot be asked for. A queue proves it; an open render node is
 * taken for it, since whoever opens one does so to hand it to the driver.
 */
#ifndef GP_LIB_KFD_DEBUG_VM_H
#define GP_LIB_KFD_DEBUG_VM_H

#include <sys/types.h>

#include "gp_env.h"

/*
 * 1: on all GPUs behind the first on which it has a queue. 0: not on all of those.
 * -ENOENT: no such process there.
 * @kfd, @proc: directories, NULL for GP_SYSFS_KFD and /proc.
 */
int gp_process_may_be_suspended(const char *kfd, const char *proc, pid_t pid);

#endif /* GP_LIB_KFD_DEBUG_VM_H */
