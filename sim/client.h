/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A task from the view of its processes: requests arrive, kernels are submitted, kernels complete.
 * It does not depend on the monitor.
 */
#ifndef GP_CLIENT_H
#define GP_CLIENT_H

#include "core/hist.h"
#include "gpu.h"
#include "scenario.h"

struct gp_sim;

struct gp_request {
	u64 arrival_ns, start_ns, done_ns;	/* done 0: not yet */
	u32 next;		/* kernel to submit */
	u32 left;		/* packets not complete */
	u32 ring;
};

struct gp_client {
	struct gp_sim *sim;
	const struct gp_task_spec *spec;
	u32 number;		/* its process on every GPU, its bit in a cycle */
	u32 task;		/* the scheduler's, GP_NONE */
	u32 life;		/* how often its process has been started */
	bool alive;
	bool suspended;		/* launches nothing (an interposed library) */

	struct gp_ring **ring;	/* nr_gpus x queues, in order of the GPUs */
	u32 nr_rings;
	struct gp_ring *all_rings;	/* dead ones too */
	struct gp_rng kernel_rng;	/* closed loop */
	struct gp_rng arrival_rng;
	u64 *trace;		/* arrivals from a file */
	u64 nr_trace, next_trace;
	u64 next_ns;		/* when the next request arrives, GP_NEVER */
	u64 next_packet_ns;	/* when the last gap inside a request ends */
	u64 area_bytes;
	u64 packet_slots;	/* workgroups of a kernel that run at once */
	struct vgpu_packet shape;
	bool fills_gpu;

	struct gp_request *request;
	u32 nr_requests, room;
	u32 next_start;		/* first request that waits for the server */
	u32 in_service;
	u64 begun, ended;	/* requests, as reported by the server; see gp_client_says() */
	u64 begun_ns;		/* when the first unreported of them began, 0 */
	u32 said[GP_SCENARIO_GPUS];	/* the scheduler's queue of these requests, per GPU */
	u64 step;		/* gang: packets every rank has completed */

	u64 kernels_done;
	struct gp_hist kernel_ns;	/* closed loop: submitted until complete */
	bool found_victim;	/* a victim was on the GPU when the busy period began */
	u64 victim_on;		/* requests of such busy periods */
};

static inline u32 gp_client_pid(const struct gp_client *c)
{
	return c->number + 1;
}

/* Returns a track below its process in a picture; NULL: the process itself. */
static inline struct gp_drawing_at gp_client_at(const struct gp_client *c, const char *track)
{
	return (struct gp_drawing_at){ c->spec->name, gp_client_pid(c), track };
}

/* 0, or -errno with the engine's sentence. Nothing happens before gp_client_start(). */
int gp_client_init(struct gp_client *c, struct gp_sim *sim, const struct gp_task_spec *spec,
		   u32 number);
void gp_client_fini(struct gp_client *c);

/* Starts its process, which makes its queues and works. */
void gp_client_start(struct gp_client *c);
/* Ends its process at once. Requests in service fail. */
void gp_client_die(struct gp_client *c);

/* Implements gp_gpu.on_complete. */
void gp_client_completed(struct gp_ring *r, struct gp_kernel *k, u64 now_ns);
/* Lets the client launch again. */
void gp_client_resume(struct gp_client *c);
/* Handles a reset of its queues: up to @repeats finished kernels of each run again. */
void gp_client_repeat(struct gp_client *c, u32 gpu, u64 repeats);
/* Returns true if its server reports its work to the home, which then does not watch it. */
bool gp_client_says(const struct gp_client *c);
/* Returns true if it has requests that arrived and are not answered. */
bool gp_client_busy(const struct gp_client *c);
/* Returns true if it has a kernel that could run now, if it had @gpu to itself. */
bool gp_client_runnable(const struct gp_client *c, u32 gpu);
/* Returns the WG-ns of useful work so far on @gpu. */
u64 gp_client_work(const struct gp_client *c, u32 gpu);

#endif /* GP_CLIENT_H */
