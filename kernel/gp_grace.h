/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The grace period that each worker sets on its GPU. */
#ifndef GP_KERNEL_GRACE_H
#define GP_KERNEL_GRACE_H

#include "gp_env.h"

struct gp_kernel_gpu;

/* Wakes the workers of GPUs on which home.grace is not set. */
void gp_grace_wake(void);
/* The worker sets home.grace on its GPU. */
void gp_grace_apply(struct gp_kernel_gpu *gpu);
/*
 * Waits at most 50 ms for all workers. The caller holds no lock. -EINTR, -EAGAIN (a GPU does not
 * answer), or the result of gp_kfd_set_grace() on one GPU.
 */
int gp_grace_wait(u32 grace);

#endif /* GP_KERNEL_GRACE_H */
