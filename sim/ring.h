/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A queue as memory: packets, read and write pointer, results, save area. The
 * device sees nothing else of a process.
 *
 * It also checks results: each kernel's two result words must be the sum over its workgroups, each
 * exactly once.
 */
#ifndef GP_RING_H
#define GP_RING_H

#include "rng.h"
#include "vgpu/vgpu.h"

enum { GP_NO_REQUEST = 0xffffffffu };

struct gp_kernel {
	struct vgpu_packet packet;
	u64 index;		/* of the packet; guards against a slot used anew */
	u64 count, sum;		/* the result words */
	u64 submit_ns;
	u32 request;		/* of the client, GP_NO_REQUEST */
	bool repeat;		/* done before, done again: not useful work */
	bool complete;
	bool open;		/* a barrier the host has opened */
};

struct gp_gpu;
struct gp_client;

struct gp_ring {
	struct gp_gpu *gpu;
	struct gp_client *client;
	u32 process;		/* its number on the device: the client's */
	u32 handle;		/* the device's */
	u32 queue;		/* the scheduler's */
	bool dead;		/* its process is gone; the memory stays until the run ends */

	struct gp_kernel *kernel;
	u64 size;		/* a power of two */
	u64 tail;		/* packets written */
	u64 wptr;		/* packets published by a doorbell */
	u64 rptr;		/* as the device last said */
	u64 done;		/* packets complete */
	u64 visible_ns;		/* first doorbell not looked at yet, 0 */
	u64 seen_wptr;		/* in the last sample */

	u8 *area;
	u64 area_bytes, area_room;

	u64 lost, doubled;	/* workgroups */
	u64 repeated_ns;	/* WG-ns of kernels that were repeats */
	u64 finished;		/* kernels complete since the last reset */
	u64 repeats_open;	/* repeats not complete */
	struct gp_rng rng;	/* of a closed loop's kernels */
	struct gp_ring *next;	/* of the client, dead ones too */
};

/* NULL: no memory. */
struct gp_ring *gp_ring_new(struct gp_gpu *gpu, struct gp_client *client, u64 area_bytes);
void gp_ring_free(struct gp_ring *r);

/* Writes a packet, which is visible after gp_ring_publish(). NULL: no memory. */
struct gp_kernel *gp_ring_write(struct gp_ring *r, const struct vgpu_packet *p, u64 now_ns);
/* Moves the write pointer over all written packets. */
void gp_ring_publish(struct gp_ring *r, u64 now_ns);
/* Returns the kernel at @index, or NULL if its slot was reused. */
struct gp_kernel *gp_ring_at(const struct gp_ring *r, u64 index);

/* Called by the device (struct vgpu_world). */
void gp_ring_add(struct gp_ring *r, u64 address, u64 value);
/* Completes a packet. NULL: there is no such packet. */
struct gp_kernel *gp_ring_complete(struct gp_ring *r, u64 index);
int gp_ring_area_write(struct gp_ring *r, u64 offset, const void *from, u32 n);
int gp_ring_area_read(struct gp_ring *r, u64 offset, void *to, u32 n);

/* Called at the end. Checks that kernels under way do not have more results than workgroups. */
void gp_ring_close_books(struct gp_ring *r);

#endif /* GP_RING_H */
