/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a preemption costs at least, for comparison: the same timer looks at the same queues and
 * wakes the same worker, which takes everybody off who may be, and puts them on again, by the
 * same way, without asking the scheduler. Only in the lab's build (GP_FLOOR).
 */
#ifndef GP_KERNEL_FLOOR_H
#define GP_KERNEL_FLOOR_H

#include "gp_env.h"

struct gp_kernel_gpu;

#ifdef GP_FLOOR
extern bool gp_floor;		/* module parameter */
/* In place of a look, under home.lock. */
void gp_floor_look(struct gp_kernel_gpu *gpu, u64 now_ns);
/* The worker's half. */
void gp_floor_step(struct gp_kernel_gpu *gpu);
#else
#define gp_floor	false
static inline void gp_floor_look(struct gp_kernel_gpu *gpu, u64 now_ns) { }
static inline void gp_floor_step(struct gp_kernel_gpu *gpu) { }
#endif

#endif /* GP_KERNEL_FLOOR_H */
