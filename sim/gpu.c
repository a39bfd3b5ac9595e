// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/* ---- the device's way to the outside ---- */

static struct gp_ring *ring_of(void *ctx, u32 queue)
{
	return ((struct gp_gpu *)ctx)->ring[queue];
}

static int world_fetch(void *ctx, u32 queue, u64 index, struct vgpu_packet *ret)
{
	struct gp_kernel *k = gp_ring_at(ring_of(ctx, queue), index);

	if (!k)
		return -EINVAL;
	*ret = k->packet;
	return 0;
}

static u64 world_wptr(void *ctx, u32 queue)
{
	return ring_of(ctx, queue)->wptr;
}

static void world_rptr(void *ctx, u32 queue, u64 value, u64 now_ns)
{
	(void)now_ns;
	ring_of(ctx, queue)->rptr = value;
}

static void world_complete(void *ctx, u32 queue, u64 index, u64 now_ns)
{
	struct gp_gpu *g = ctx;
	struct gp_ring *r = ring_of(ctx, queue);
	struct gp_kernel *k = gp_ring_complete(r, index);

	if (k)
		g->on_complete(r, k, now_ns);
	else
		gp_engine_fail(g->engine, -EPROTO, "packet %llu of queue %u completed twice",
			       (unsigned long long)index, queue);
}

static void world_launch(void *ctx, u32 queue, u64 index, u64 now_ns)
{
	(void)ctx;
	(void)queue;
	(void)index;
	(void)now_ns;
}

static void world_add(void *ctx, u32 queue, u64 address, u64 value)
{
	gp_ring_add(ring_of(ctx, queue), address, value);
}

/* The packet of a barrier names its signal. */
static bool world_signalled(void *ctx, u32 queue, u64 signal)
{
	struct gp_kernel *k = gp_ring_at(ring_of(ctx, queue), signal);

	return !k || k->open;
}

static int world_area_write(void *ctx, u32 queue, u64 offset, const void *from, u32 n)
{
	return gp_ring_area_write(ring_of(ctx, queue), offset, from, n);
}

static int world_area_read(void *ctx, u32 queue, u64 offset, void *to, u32 n)
{
	return gp_ring_area_read(ring_of(ctx, queue), offset, to, n);
}

static void world_unmapped(void *ctx, const struct vgpu_unmapped *what)
{
	gp_cycle_fence(ctx, what);
}

static void world_mapped(void *ctx, u64 ticket, u64 now_ns)
{
	(void)ticket;
	(void)now_ns;
	gp_cycle_mapped(ctx);
}

void gp_gpu_instant(struct gp_gpu *g, const char *what)
{
	char track[16];

	snprintf(track, sizeof(track), "GPU %u", g->id);
	gp_instant(g->engine, track, what);
}

static void world_report(void *ctx, u32 queue, const char *what)
{
	struct gp_gpu *g = ctx;

	(void)queue;
	gp_gpu_instant(g, what);
}

static const struct vgpu_world world = {
	.fetch = world_fetch,
	.wptr = world_wptr,
	.rptr = world_rptr,
	.complete = world_complete,
	.launch = world_launch,
	.add = world_add,
	.signalled = world_signalled,
	.area_write = world_area_write,
	.area_read = world_area_read,
	.unmapped = world_unmapped,
	.mapped = world_mapped,
	.report = world_report,
};

/* ---- life ---- */

int gp_gpu_init(struct gp_gpu *g, struct gp_engine *e, const struct gp_costs *costs)
{
	int err;

	g->engine = e;
	g->costs = costs;
	g->faults = (struct gp_gpu_faults){ .stuck = VGPU_MAX_QUEUES, .slow = 1 };
	g->mem = calloc(1, vgpu_size(&costs->device));
	if (!g->mem)
		return -ENOMEM;
	err = vgpu_init(g->mem, &costs->device, &world, g, &g->vgpu);
	if (err)
		g->vgpu = NULL;
	return err;
}

void gp_gpu_fini(struct gp_gpu *g)
{
	free(g->mem);
	g->mem = NULL;
}

int gp_gpu_add_ring(struct gp_gpu *g, struct gp_ring *r, const struct vgpu_queue_args *args)
{
	int err = vgpu_queue_create(g->vgpu, args, &r->handle);

	if (err)
		return err;
	g->ring[r->handle] = r;
	if (r->handle >= g->nr_rings)
		g->nr_rings = r->handle + 1;
	return 0;
}

void gp_gpu_remove_ring(struct gp_gpu *g, struct gp_ring *r)
{
	r->dead = true;
	vgpu_queue_destroy(g->vgpu, r->handle, g->engine->now_ns);
	g->ring[r->handle] = NULL;
}

void gp_gpu_doorbell(struct gp_gpu *g, struct gp_ring *r)
{
	gp_ring_publish(r, g->engine->now_ns);
	vgpu_doorbell(g->vgpu, r->handle, g->engine->now_ns);
}

void gp_gpu_apply_faults(struct gp_gpu *g)
{
	const struct gp_gpu_faults *f = &g->faults;

	vgpu_fault(g->vgpu, VGPU_FAULT_NONE, 0);
	if (f->hang)
		vgpu_fault(g->vgpu, VGPU_FAULT_HANG, 0);
	if (f->early)
		vgpu_fault(g->vgpu, VGPU_FAULT_RPTR_EARLY, 0);
	if (f->stuck != VGPU_MAX_QUEUES)
		vgpu_fault(g->vgpu, VGPU_FAULT_PREEMPT, f->stuck);
	vgpu_fault(g->vgpu, VGPU_FAULT_SLOW_SAVE, f->slow);
}
