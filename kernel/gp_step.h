/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One step of a worker: which processes move, by which way, and what became of them. */
#ifndef GP_KERNEL_STEP_H
#define GP_KERNEL_STEP_H

#include "gp_env.h"

struct gp_crew;
struct gp_kernel_gpu;
struct gp_member;
struct gp_way;

/* A step is begun, gets its tasks under home.lock, is moved, booked under home.lock, let go. */
void gp_step_begin(struct gp_kernel_gpu *gpu, u64 patience_ns);
/* The processes of @task that have to move in that direction. */
void gp_step_add(struct gp_kernel_gpu *gpu, u32 task, bool out);
/* In the driver: this may take as long as the GPU and the driver take. */
const struct gp_way *gp_step_way(struct gp_kernel_gpu *gpu);
int gp_step_move(struct gp_kernel_gpu *gpu, const struct gp_way *way);
void gp_step_book(struct gp_kernel_gpu *gpu);
void gp_step_let_go(struct gp_crew *crew);

/* Carries out crew->order's step, and answers. */
void gp_step_action(struct gp_kernel_gpu *gpu);
/* Gives every start that is owed outside of actions; false: some are left. */
bool gp_step_orphans(struct gp_kernel_gpu *gpu);
/* Its first queue there came when its task was off: nobody has taken it off. Under home.lock. */
bool gp_step_is_stray(const struct gp_kernel_gpu *gpu, const struct gp_member *member);
/* All of those are taken off. */
void gp_step_strays(struct gp_kernel_gpu *gpu);
/* The GPU was reset: the scheduler hears of it, nobody is owed anything. Under home.lock. */
bool gp_step_reset(struct gp_kernel_gpu *gpu, u64 now_ns);
/* Has a fence come after all? */
void gp_step_late(struct gp_kernel_gpu *gpu);
/* Who had the whole GPU halted may have died: then the others go on. */
void gp_step_end_halt(struct gp_kernel_gpu *gpu);
/* The GPU was locked for a while: it is made to be as the driver believes it is. */
void gp_step_resync(struct gp_kernel_gpu *gpu);

#endif /* GP_KERNEL_STEP_H */
