/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A virtual GPU of a run, its memory, and its driver, which does one cycle of unmapping and mapping
 * at a time.
 */
#ifndef GP_GPU_H
#define GP_GPU_H

#include "costs.h"
#include "engine.h"
#include "ring.h"

enum { GP_CYCLES = 128 };	/* that may wait */

/* Takes processes off and puts others on. Each process is a bit, with the number of its client. */
struct gp_cycle {
	u64 off, on;
	u8 how;			/* enum vgpu_how */
	bool victims_only;	/* unmap only processes that leave; others stay mapped */
	bool map_only;		/* unmap none */
	bool driver_grace;	/* the call has no grace of its own: the driver's default */
	u64 grace_ns;
	u64 pause_ns;		/* fence until RUN_LIST is on the ring */
	/* Called at the end, successful or not. The fields below are then valid. */
	void (*done)(void *ctx, const struct gp_cycle *c);
	void *ctx;

	u64 command_ns;		/* the command is on its way */
	u64 acted_ns;		/* the CP acted, the grace is over */
	u64 saved_ns;		/* the fence */
	u64 switched_ns;	/* remaining and new processes are mapped */
	u64 failed;		/* processes that did not leave and stay on */
	bool reset;		/* it never ended: the driver has reset the GPU */
};

/* Active faults. The device clears all of them at once. */
struct gp_gpu_faults {
	bool hang;		/* until the driver resets the GPU */
	bool early;
	u32 stuck;		/* a queue that does not leave, once; VGPU_MAX_QUEUES */
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
	u64 precious;		/* processes that should stay on, for the statistics */

	struct gp_cycle cycle[GP_CYCLES];	/* the first is under way */
	u32 first, nr_cycles;
	u64 cycles;		/* begun so far */
	u64 victims_left;	/* victims_only: still to unmap */
	struct vgpu_unmapped fence;

	struct gp_gpu_faults faults;
	u64 bytes_saved, waves_saved, precious_waves_saved, resets;

	/* Implemented by the client: a kernel is complete. Must not call the device. */
	void (*on_complete)(struct gp_ring *r, struct gp_kernel *k, u64 now_ns);
	/* Called after the driver has reset the GPU. Its processes are lost. */
	void (*on_reset)(void *ctx, struct gp_gpu *gpu);
	void *on_reset_ctx;
};

/* Initializes a GPU. 0, -ENOMEM, -EINVAL: the device refuses these facts. */
int gp_gpu_init(struct gp_gpu *g, struct gp_engine *e, const struct gp_costs *costs);
void gp_gpu_fini(struct gp_gpu *g);

/* Adds a queue of @r's process. 0, or the device's error. */
int gp_gpu_add_ring(struct gp_gpu *g, struct gp_ring *r, const struct vgpu_queue_args *args);
void gp_gpu_remove_ring(struct gp_gpu *g, struct gp_ring *r);
/* Publishes the written packets and rings the doorbell. */
void gp_gpu_doorbell(struct gp_gpu *g, struct gp_ring *r);

void gp_gpu_apply_faults(struct gp_gpu *g);

/* Begins a cycle after the cycles before it. 0, or -EBUSY: too many wait. */
int gp_cycle_begin(struct gp_gpu *g, const struct gp_cycle *c);
/* Called by the device (struct vgpu_world). */
void gp_cycle_fence(struct gp_gpu *g, const struct vgpu_unmapped *what);
void gp_cycle_mapped(struct gp_gpu *g);

/* Draws that something happened to the GPU. */
void gp_gpu_instant(struct gp_gpu *g, const char *what);

#endif /* GP_GPU_H */
