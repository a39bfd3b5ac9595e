/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A bench for the simulator's mechanisms, on a virtual MI308X that three processes keep full. */
#include <stdlib.h>
#include <string.h>

#include "fixture_kinds.h"
#include "sim/mechanism.h"

struct sim_bench {
	struct bench base;
	struct gp_simmech m;
	struct gp_engine engine;
	struct gp_costs costs;
	struct gp_gpu gpu;
	struct gp_ring *ring[BENCH_TASKS];
};

static struct sim_bench *of(struct bench *b)
{
	return (struct sim_bench *)b;
}

static u64 now(struct bench *b)
{
	return of(b)->engine.now_ns;
}

static void advance(struct bench *b, u64 until_ns)
{
	struct sim_bench *s = of(b);
	struct gp_event event;

	while (!s->engine.err) {
		u64 soft = s->engine.heap.nr ? s->engine.heap.event[0].at_ns : GP_NEVER;
		u64 hard = vgpu_next_ns(s->gpu.vgpu);

		if (soft > until_ns && hard > until_ns)
			break;
		/* Hardware first, so that software of the same time sees its effects. */
		s->engine.now_ns = hard <= soft ? hard : soft;
		if (hard <= soft) {
			vgpu_advance(s->gpu.vgpu, hard);
		} else {
			gp_heap_pop(&s->engine.heap, &event);
			event.fire(event.ctx, event.arg);
		}
	}
	if (s->engine.err)
		fail_msg("%s", s->engine.why);
	s->engine.now_ns = until_ns;
}

static u64 work(struct bench *b, u32 task)
{
	vgpu_advance(of(b)->gpu.vgpu, of(b)->engine.now_ns);
	return vgpu_work_ns(of(b)->gpu.vgpu, task);
}

static void hang(struct bench *b)
{
	of(b)->gpu.faults.hang = true;
	gp_gpu_apply_faults(&of(b)->gpu);
}

static void refuse(struct bench *b, u32 task)
{
	of(b)->gpu.faults.stuck = of(b)->ring[task]->handle;
	gp_gpu_apply_faults(&of(b)->gpu);
}

static void fini(struct bench *b)
{
	struct sim_bench *s = of(b);
	u32 i;

	for (i = 0; i < BENCH_TASKS; i++)
		gp_ring_free(s->ring[i]);
	gp_gpu_fini(&s->gpu);
	gp_heap_fini(&s->engine.heap);
	free(s);
}

static void complete(struct gp_ring *r, struct gp_kernel *k, u64 now_ns)
{
	(void)r;
	(void)k;
	(void)now_ns;
}

static void ready(void *ctx)
{
	(void)ctx;
}

static void ended(void *ctx, u32 device)
{
	(void)ctx;
	(void)device;
}

static void reset(void *ctx, struct gp_gpu *gpu)
{
	(void)ctx;
	(void)gpu;
}

/* Adds a process with one kernel that fills the GPU for longer than any test. */
static void add_process(struct sim_bench *s, u32 i)
{
	struct vgpu_packet p = {
		.kind = VGPU_KERNEL, .waves = 4, .vgpr_bytes = 16384, .lds_bytes = 1024,
		.workgroups = 100 * 1000 * 1000, .workgroup_ns = 100 * GP_USEC,
	};
	u64 slots = vgpu_slots(&s->costs.device, &p);
	u64 area = vgpu_save_bytes(&s->costs.device, &p, slots) + (1 << 20);
	struct vgpu_queue_args args = { .process = i, .priority = 7, .area_bytes = area };
	struct gp_cycle cycle = { .on = BIT_ULL(i), .how = VGPU_SAVE };

	s->ring[i] = gp_ring_new(&s->gpu, NULL, area);
	s->ring[i]->process = i;
	EXPECT_EQ(gp_gpu_add_ring(&s->gpu, s->ring[i], &args), 0);
	EXPECT(gp_ring_write(s->ring[i], &p, 0));
	gp_gpu_doorbell(&s->gpu, s->ring[i]);
	gp_simmech_add_task(&s->m, i, i, 1);
	EXPECT_EQ(gp_cycle_begin(&s->gpu, &cycle), 0);
}

struct bench *fixture_sim(const struct bench_kind *kind)
{
	struct sim_bench *s = calloc(1, sizeof(*s));
	u32 i;

	s->costs.device = *vgpu_profile("mi308x");
	memcpy(s->costs.path, gp_costs_initial, sizeof(s->costs.path));
	s->gpu.on_complete = complete;
	s->gpu.on_reset = reset;
	EXPECT_EQ(gp_gpu_init(&s->gpu, &s->engine, &s->costs), 0);
	gp_simmech_init(&s->m, gp_simmech_ops(kind->arg));
	s->m.engine = &s->engine;
	s->m.costs = &s->costs;
	s->m.gpu = &s->gpu;
	s->m.nr_gpus = 1;
	s->m.ready = ready;
	s->m.ended = ended;
	for (i = 0; i < BENCH_TASKS; i++)
		add_process(s, i);
	s->base = (struct bench){
		.m = &s->m.base, .now = now, .advance = advance, .work = work, .hang = hang,
		.refuse = refuse, .fini = fini,
	};
	advance(&s->base, 50 * GP_MSEC);
	return &s->base;
}
