/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The mechanisms of gpreempt.ko as core/mechanism.h has them, for a core that decides in user
 * space: PREEMPT and RESUME without waiting, and events that tell the end. The module's own policy
 * must be fifo meanwhile. The conformance test needs it; the daemon lets the module decide.
 *
 * Times are CLOCK_MONOTONIC ns, and so must be the owner's now_ns.
 */
#ifndef LAB_MECHANISM_KMOD_H
#define LAB_MECHANISM_KMOD_H

#include "core/mechanism.h"
#include "lib/kmod.h"

struct gp_kmodm;

struct gp_kmodm_args {
	const char *path;	/* NULL: GP_KMOD_DEVICE */
	const char *way;	/* "evict", "direct", "halt", "auto" */
	const u32 *gpu_ids;	/* their index is the core's device */
	u32 nr_gpus;
};

/* -errno of gp_kmod_open(), gp_kmod_set_mechanism(); -ENOMEM. */
int gp_kmodm_alloc(const struct gp_kmodm_args *args, struct gp_kmodm **ret);
/* Closes the descriptor: the module restores everything. */
void gp_kmodm_free(struct gp_kmodm *m);

struct gp_mechanism *gp_kmodm_mechanism(struct gp_kmodm *m);
/* Readable when poll() may have something. */
int gp_kmodm_fd(const struct gp_kmodm *m);
/* Something was asked and is not answered. */
bool gp_kmodm_busy(const struct gp_kmodm *m);

/* The core's @task is these processes. -errno of gp_kmod_attach(), -EEXIST, -ENOSPC. */
int gp_kmodm_task_add(struct gp_kmodm *m, u32 task, const struct gp_process_id *processes,
		      u32 nr);
/* -ENOENT. */
int gp_kmodm_task_del(struct gp_kmodm *m, u32 task);
/* Its handle; 0: none. */
u32 gp_kmodm_handle(const struct gp_kmodm *m, u32 task);

#endif /* LAB_MECHANISM_KMOD_H */
