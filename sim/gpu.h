/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A virtual GPU of a run, the memory it reaches, and the driver's side of it: one
 * cycle of unmapping and mapping at a time.
 */
#ifndef GP_GPU_H
#define GP_GPU_H

#include "costs.h"
#include "engine.h"
#include "ring.h"

enum { GP_CYCLES = 128 };	/* that may wait */

/* Take processes off, put others on. A process is a bit; its number is its client's. */
struct gp_cycle {
	u64 off, on;
	u8 how;			/* enum vgpu_how */
	bool victims_only;	/* unmap only those that go; the others stay as they are */
	bool map_only;		/* unmap none */
	bool driver_grace;	/* the call has no grace of its own: the driver's default */
	u64 grace_ns;
	u64 pause_ns;		/* fence until RUN_LIST is on the ring */
	/* It is over, whatever came of it; the fields below are filled in. */
	void (*done)(void *ctx, const struct gp_cycle *c);
	void *ctx;

	u64 command_ns;		/* the command is on its way */
	u64 acted_ns;		/* the CP acted, the grace is over */
	u64 saved_ns;		/* the fence */
	u64 switched_ns;	/* those who stay or come are mapped */
	u64 failed;		/* processes that would not leave: they stay on */
	bool reset;		/* it never ended: the driver has reset the GPU */
};

/* Faults that are on; the device forgets all of them at once. */
struct gp_gpu_faults {
	bool hang;		/* until the driver resets the GPU */
	bool early;
	u32 stuck;		/* a queue that will not leave, once; VGPU_MAX_QUEUES */
	u64 slow;		/* saves take so many times as long */
};

struct gp_gpu {
	struct gp_engine *engine;
	const struct gp_costs *costs;
	struct vgpu *vgpu;
	void *mem;
	u32 id;
	bool exclusive;
	struct gp_ring *ring[VGPU_MAX_QUEUES];	/* by handle */
	u32 nr_rings;		/* handles in use are below this */

	u64 allowed;		/* processes that may be on */
	u64 mapped;		/* processes on the runlist, as far as the driver knows */
	u64 precious;		/* processes that are not to go off, for the statistics */

	struct gp_cycle cycle[GP_CYCLES];	/* the first is under way */
	u32 first, nr_cycles;
	u64 cycles;		/* begun so far */
	u64 victims_left;	/* victims_only: still to unmap */
	struct vgpu_unmapped fence;

	struct gp_gpu_faults faults;
	u64 bytes_saved, waves_saved, precious_waves_saved, resets;

	/* The client's: a kernel is complete. Must not call the device. */
	void (*on_complete)(struct gp_ring *r, struct gp_kernel *k, u64 now_ns);
	/* The driver has reset the GPU: its processes are lost. */
	void (*on_reset)(void *ctx, struct gp_gpu *gpu);
	void *on_reset_ctx;
};

/* 0, -ENOMEM, -EINVAL: the device refuses these facts. */
int gp_gpu_init(struct gp_gpu *g, struct gp_engine *e, const struct gp_costs *costs);
void gp_gpu_fini(struct gp_gpu *g);

/* A queue of @r's process. 0, or the device's error. */
int gp_gpu_add_ring(struct gp_gpu *g, struct gp_ring *r, const struct vgpu_queue_args *args);
void gp_gpu_remove_ring(struct gp_gpu *g, struct gp_ring *r);
/* Publish what was written and ring the doorbell. */
void gp_gpu_doorbell(struct gp_gpu *g, struct gp_ring *r);

void gp_gpu_apply_faults(struct gp_gpu *g);

/* Begins as soon as those before it are done. 0, or -EBUSY: too many wait. */
int gp_cycle_begin(struct gp_gpu *g, const struct gp_cycle *c);
/* The world's calls. */
void gp_cycle_fence(struct gp_gpu *g, const struct vgpu_unmapped *what);
void gp_cycle_mapped(struct gp_gpu *g);

/* Draws that something happened to the GPU. */
void gp_gpu_instant(struct gp_gpu *g, const char *what);

#endif /* GP_GPU_H */
