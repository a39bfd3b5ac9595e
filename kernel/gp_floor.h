/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Measures the least cost of a preemption, for comparison. The same timer looks at the same queues
 * and wakes the same worker. The worker preempts every preemptible task and resumes it in the same
 * way, without the scheduler. Only in the lab's build (GP_FLOOR).
 */
#ifndef GP_KERNEL_FLOOR_H
#define GP_KERNEL_FLOOR_H

#include "gp_env.h"

struct gp_kernel_gpu;

#ifdef GP_FLOOR
extern bool gp_floor;		/* module parameter */
/* Replaces gp_gpu_look(). The caller holds home.lock. */
void gp_floor_look(struct gp_kernel_gpu *gpu, u64 now_ns);
/* The worker's part. */
void gp_floor_step(struct gp_kernel_gpu *gpu);
#else
#define gp_floor	false
static inline void gp_floor_look(struct gp_kernel_gpu *gpu, u64 now_ns) { }
static inline void gp_floor_step(struct gp_kernel_gpu *gpu) { }
#endif

#endif /* GP_KERNEL_FLOOR_H */
