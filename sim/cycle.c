// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Cycles: UNMAP_QUEUES, fence, RUN_LIST. The driver's lock lets one happen at a
 * time, so others wait.
 *
 *	full:		unmap all ---> fence --pause--> RUN_LIST ---> mapped
 *	victims only:	unmap one ---> fence ---> ... next victim ... ---> last fence
 *	map only:				       RUN_LIST ---> mapped
 *
 * A process that does not leave is put back as a whole, so its other queues are mapped again. A
 * cycle that never ends is ended by a reset of the GPU.
 *
 * The device calls gp_cycle_fence() and gp_cycle_mapped(), which must not call it back. They only
 * record the time, and an event does the rest.
 */
#include "gpu.h"
#include "scenario.h"

static void begin_first(struct gp_gpu *g);
static void send_run_list(void *ctx, u64 number);

static struct gp_cycle *current(struct gp_gpu *g)
{
	return &g->cycle[g->first];
}

/* Returns true if the cycle of an event is still under way. */
static bool is_current(const struct gp_gpu *g, u64 number)
{
	return g->nr_cycles && g->cycles == number;
}

static void finish(struct gp_gpu *g)
{
	struct gp_cycle c = *current(g);

	g->first = (g->first + 1) % GP_CYCLES;
	g->nr_cycles--;
	if (c.done)
		c.done(c.ctx, &c);
	if (g->nr_cycles)
		begin_first(g);
}

static void unmap(struct gp_gpu *g, enum vgpu_whom whom, u32 id)
{
	struct gp_cycle *c = current(g);
	int err = vgpu_unmap(g->vgpu, &(struct vgpu_unmap_args){ whom, id, c->how, c->grace_ns },
			     g->engine->now_ns, NULL);

	if (err)
		gp_engine_fail(g->engine, -EPROTO, "the device refused an unmap: %d", err);
}

/* Unmaps the next victim of a cycle that does not touch the other processes. */
static void unmap_next_victim(struct gp_gpu *g)
{
	u32 process = (u32)__builtin_ctzll(g->victims_left);

	g->victims_left &= g->victims_left - 1;
	unmap(g, VGPU_PROCESS, process);
}

/* Returns the processes with a queue that is still on, although it should leave. */
static u64 still_on(const struct gp_gpu *g, u64 processes)
{
	u64 on = 0;

	for (u32 i = 0; i < g->nr_rings; i++) {
		const struct gp_ring *r = g->ring[i];
		u32 process = r ? r->process : 0;

		if (r && (processes & BIT_ULL(process)) &&
		    vgpu_queue_state(g->vgpu, i) == VGPU_MAPPED)
			on |= BIT_ULL(process);
	}
	return on;
}

/* Records that a queue did not leave. A fault causes that once. */
static void note_failed(struct gp_gpu *g)
{
	struct gp_cycle *c = current(g);

	c->failed |= still_on(g, c->off & ~g->victims_left);
	if (g->faults.stuck != VGPU_MAX_QUEUES) {
		g->faults.stuck = VGPU_MAX_QUEUES;
		gp_gpu_apply_faults(g);
	}
}

/* Continues the cycle after all fences. */
static void unmapped(struct gp_gpu *g)
{
	struct gp_cycle *c = current(g);

	g->allowed |= c->failed;
	g->mapped &= c->victims_only ? ~c->off : 0;
	if (c->victims_only && !c->failed && !c->on) {
		c->switched_ns = c->saved_ns;
		finish(g);
	} else if (c->victims_only) {
		/* A queue must be mapped, and there is no partial map. */
		c->victims_only = false;
		c->off &= ~c->failed;
		c->how = VGPU_SAVE;
		unmap(g, VGPU_ALL, 0);
	} else {
		gp_at(g->engine, g->engine->now_ns + c->pause_ns, send_run_list, g, g->cycles);
	}
}

static void fence_seen(void *ctx, u64 number)
{
	struct gp_gpu *g = ctx;
	struct gp_cycle *c = current(g);

	if (!is_current(g, number))
		return;
	if (!c->acted_ns)
		c->acted_ns = g->fence.save_at;
	if (!c->saved_ns || c->victims_only)
		c->saved_ns = g->fence.done_at;
	g->bytes_saved += g->fence.bytes;
	g->waves_saved += g->fence.waves;
	if (g->fence.failed)
		note_failed(g);
	if (c->victims_only && g->victims_left)
		unmap_next_victim(g);
	else
		unmapped(g);
}

void gp_cycle_fence(struct gp_gpu *g, const struct vgpu_unmapped *what)
{
	g->fence = *what;
	gp_at(g->engine, what->done_at, fence_seen, g, g->cycles);
}

static void mapped_seen(void *ctx, u64 number)
{
	struct gp_gpu *g = ctx;

	if (!is_current(g, number))
		return;
	current(g)->switched_ns = g->engine->now_ns;
	finish(g);
}

void gp_cycle_mapped(struct gp_gpu *g)
{
	gp_at(g->engine, g->engine->now_ns, mapped_seen, g, g->cycles);
}

static void send_run_list(void *ctx, u64 number)
{
	struct gp_gpu *g = ctx;
	u32 list[VGPU_MAX_QUEUES], nr = 0;
	int err;

	if (!is_current(g, number))
		return;
	g->mapped = 0;
	for (u32 i = 0; i < g->nr_rings; i++) {
		if (!g->ring[i] || !(g->allowed & BIT_ULL(g->ring[i]->process)))
			continue;
		list[nr++] = i;
		g->mapped |= BIT_ULL(g->ring[i]->process);
	}
	if (!nr) {	/* the driver sends no empty list */
		mapped_seen(g, number);
		return;
	}
	err = vgpu_map(g->vgpu, &(struct vgpu_runlist){ list, nr, g->exclusive },
		       g->engine->now_ns, NULL);
	if (err)
		gp_engine_fail(g->engine, -EPROTO, "the device refused a map: %d", err);
}

/* Counts waves that will be saved although their process should stay, for the statistics. */
static void count_precious(void *ctx, u64 number)
{
	struct gp_gpu *g = ctx;
	struct vgpu_busy busy;

	if (!is_current(g, number))
		return;
	for (u64 left = g->precious & ~current(g)->off; left; left &= left - 1) {
		vgpu_busy(g->vgpu, (u32)__builtin_ctzll(left), &busy);
		g->precious_waves_saved += busy.waves;
	}
}

static void watchdog(void *ctx, u64 number)
{
	struct gp_gpu *g = ctx;

	if (!is_current(g, number))
		return;
	g->faults.hang = false;
	gp_gpu_apply_faults(g);
	vgpu_gpu_reset(g->vgpu, g->engine->now_ns);
	g->resets++;
	g->mapped = 0;
	current(g)->reset = true;
	gp_gpu_instant(g, "reset by the driver");
	g->on_reset(g->on_reset_ctx, g);
	finish(g);
}

static void begin_first(struct gp_gpu *g)
{
	struct gp_cycle *c = current(g);
	u64 command = vgpu_value(&g->costs->device, VGPU_COMMAND_NS);
	u64 now = g->engine->now_ns, acted = now + command + c->grace_ns;

	g->cycles++;
	g->fence = (struct vgpu_unmapped){ 0 };
	g->allowed = (g->allowed & ~c->off) | c->on;
	c->command_ns = now;
	gp_at(g->engine, now + vgpu_value(&g->costs->device, VGPU_PREEMPT_TIMEOUT_NS), watchdog, g,
	      g->cycles);
	g->victims_left = c->off & g->mapped;
	if (c->map_only || !g->mapped) {
		c->acted_ns = c->saved_ns = now;
		send_run_list(g, g->cycles);
	} else if (c->victims_only && g->victims_left) {
		unmap_next_victim(g);
	} else {
		c->victims_only = false;
		g->victims_left = 0;
		if (acted)
			gp_at(g->engine, acted - 1, count_precious, g, g->cycles);
		unmap(g, VGPU_ALL, 0);
	}
}

int gp_cycle_begin(struct gp_gpu *g, const struct gp_cycle *c)
{
	if (g->nr_cycles == GP_CYCLES)
		return -EBUSY;
	g->cycle[(g->first + g->nr_cycles++) % GP_CYCLES] = *c;
	if (g->nr_cycles == 1)
		begin_first(g);
	return 0;
}
