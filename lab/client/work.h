/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work for the GPU that verifies that it was done exactly once.
 *
 * A struct gp_work has a number of slots. Each slot has room for one synthetic kernel
 * (vgpu/kernel.h) with its completion signal, its key and its two result words. A slot can be
 * submitted to any AQL or PM4 queue, polled, checked, and reused.
 */
#ifndef GP_LAB_WORK_H
#define GP_LAB_WORK_H

#include "client.h"
#include "vgpu/kernel.h"

/* A slot as the GPU sees it. */
struct gp_work_slot {
	struct gp_amd_signal done;
	struct vgpu_kernarg arg;
	u64 count;		/* workgroups that ran */
	u64 sum;		/* of (i + 1) * key */
	u64 expect_count;
	u64 expect_sum;
	u64 pad[2];
};

static_assert(sizeof(struct gp_work_slot) == 128, "signals are 64-byte aligned");

struct gp_work_args {
	u32 slots;
	enum gp_memory memory;
	u64 workgroup_ns;	/* run time of each workgroup */
	u64 gap_ns;
	u64 seed;		/* of the keys */
};

struct gp_work {
	struct gp_lab_client *c;
	struct gp_buffer memory;
	struct vgpu_kernel *kernel;
	struct gp_work_slot *slot;	/* @slots of them */
	u32 slots;
	u64 key;
};

int gp_work_init(struct gp_work *w, struct gp_lab_client *c, const struct gp_work_args *args);
void gp_work_fini(struct gp_work *w);

/*
 * Puts slot @i on @q with its own key and rings the doorbell. -EAGAIN: the ring is full. @e: an
 * event to signal at the end, or NULL. The slot must not be in flight. On a PM4 queue no event
 * is signalled and the slot has no times.
 */
int gp_work_submit(struct gp_work *w, u32 i, struct gp_lab_queue *q, u32 workgroups, u32 waves,
		   const struct gp_lab_event *e);
/* True if slot @i has completed, by its signal. */
bool gp_work_done(const struct gp_work *w, u32 i);
/* Changes the result as if the first workgroup had run twice. gp_work_check() must find it. */
void gp_work_spoil(struct gp_work *w, u32 i);
/* 0, or -EBADMSG with a message in gp_client_error() that names the lost or doubled work. */
int gp_work_check(const struct gp_work *w, u32 i);
/* Device clock in ns when the first wave began and when the last one ended. */
u64 gp_work_start_ns(const struct gp_work *w, u32 i);
u64 gp_work_end_ns(const struct gp_work *w, u32 i);

#endif /* GP_LAB_WORK_H */
