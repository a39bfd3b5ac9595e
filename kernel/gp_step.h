/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One step of a worker: which processes move, in which way, and the outcome. */
#ifndef GP_KERNEL_STEP_H
#define GP_KERNEL_STEP_H

#include "gp_env.h"

struct gp_crew;
struct gp_kernel_gpu;
struct gp_member;
struct gp_way;

/* The order of calls: begin, add tasks (home.lock), move, book (home.lock), let go. */
void gp_step_begin(struct gp_kernel_gpu *gpu, u64 patience_ns);
/* Adds the processes of @task that have to move in that direction. */
void gp_step_add(struct gp_kernel_gpu *gpu, u32 task, bool out);
/* Selects the way. gp_step_move() blocks until the GPU answers or the driver gives up. */
const struct gp_way *gp_step_way(struct gp_kernel_gpu *gpu);
int gp_step_move(struct gp_kernel_gpu *gpu, const struct gp_way *way);
void gp_step_book(struct gp_kernel_gpu *gpu);
void gp_step_let_go(struct gp_crew *crew);

/* Carries out the step of crew->order and answers. */
void gp_step_action(struct gp_kernel_gpu *gpu);
/* Gives every start that is owed outside of actions. Returns false if some are left. */
bool gp_step_orphans(struct gp_kernel_gpu *gpu);
/*
 * True if the member's first queue there came while its task was off, so that the member still
 * runs. The caller holds home.lock.
 */
bool gp_step_is_stray(const struct gp_kernel_gpu *gpu, const struct gp_member *member);
/* Stops all strays. */
void gp_step_strays(struct gp_kernel_gpu *gpu);
/* After a reset, informs the scheduler and forgets owed starts. The caller holds home.lock. */
bool gp_step_reset(struct gp_kernel_gpu *gpu, u64 now_ns);
/* Checks whether a late fence has arrived. */
void gp_step_late(struct gp_kernel_gpu *gpu);
/* Ends a halt if the processes that caused it have died, so that the others go on. */
void gp_step_end_halt(struct gp_kernel_gpu *gpu);
/* After the GPU was locked for a while, makes the hardware match the driver's books. */
void gp_step_resync(struct gp_kernel_gpu *gpu);

#endif /* GP_KERNEL_STEP_H */
