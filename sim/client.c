// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "request.h"
#include "sim.h"

#define RESTART_NS	(10 * GP_MSEC)	/* delay until a dead process restarts */

/* ---- submitting ---- */

void gp_client_size(const struct gp_client *c, u64 time, struct vgpu_packet *p)
{
	u64 step = c->spec->workgroup_ns;
	u64 rounds = 1, eighths;

	if (time < 100)
		time = 100;
	/*
	 * Uses whole rounds of the workgroup's time, or eighths of one, instead of a time that
	 * divides evenly. Then kernels end at few common moments, which the device handles faster,
	 * and the mean stays the same. A kernel narrower than the GPU has one round, because the
	 * workgroups of a second round would run beside the first, in the free slots.
	 */
	if (c->fills_gpu && step >= 800) {
		eighths = (time * 8 + step / 2) / step;
		rounds = time > step ? (time + step / 2) / step : 1;
		time = time > step ? rounds * step : (eighths ? eighths : 1) * step / 8;
	}
	*p = c->shape;
	p->workgroups = rounds * c->packet_slots;
	p->workgroup_ns = time / rounds;
}

void gp_client_draw(const struct gp_client *c, struct gp_rng *rng, struct vgpu_packet *p)
{
	gp_client_size(c, gp_dist_draw(&c->spec->kernel_ns, rng), p);
}

struct gp_kernel *gp_client_put(struct gp_client *c, struct gp_ring *r, const struct vgpu_packet *p)
{
	struct gp_kernel *k = gp_ring_write(r, p, c->sim->engine.now_ns);

	if (!k)
		gp_engine_fail(&c->sim->engine, -ENOMEM, "no memory for packets");
	return k;
}

void gp_client_doorbell(struct gp_client *c, struct gp_ring *r)
{
	gp_home_before_submit(&c->sim->home, c, r->gpu);
	gp_gpu_doorbell(r->gpu, r);
	gp_tally_online(c->sim, c);
	gp_home_submitted(&c->sim->home, c, r->gpu);
}

/* ---- closed loop ---- */

/* Returns how many kernels may be in a queue at a time. */
static u64 depth(const struct gp_client *c)
{
	u64 ahead = c->spec->ahead, limit = c->sim->sc->monitor.in_flight;

	if (c->sim->sc->monitor.placement == GP_AT_SHIM && !c->spec->online && limit < ahead)
		return limit;
	return ahead;
}

/* Counts queued kernels without repeats, which the program did not submit. */
static u64 queued(const struct gp_ring *r)
{
	return r->tail - r->done - r->repeats_open;
}

static void refill(struct gp_client *c, struct gp_ring *r)
{
	u64 before = r->tail;
	struct vgpu_packet p;

	while (queued(r) < depth(c) && (!c->spec->gang || r->tail < c->step + c->spec->ahead)) {
		gp_client_draw(c, &r->rng, &p);
		if (!gp_client_put(c, r, &p))
			return;
	}
	if (r->tail != before)
		gp_client_doorbell(c, r);
}

static void refill_event(void *ctx, u64 arg)
{
	struct gp_ring *r = ctx;

	(void)arg;
	if (!r->dead && !r->client->suspended)
		refill(r->client, r);
}

/* Advances the gang. A rank may run at most `ahead` steps before the slowest. */
static void advance_gang(struct gp_client *c)
{
	u64 step = ~0ull;

	for (u32 i = 0; i < c->nr_rings; i++) {
		if (c->ring[i]->done < step)
			step = c->ring[i]->done;
	}
	if (step == c->step)
		return;
	c->step = step;
	for (u32 i = 0; i < c->nr_rings; i++)
		gp_at(&c->sim->engine, c->sim->engine.now_ns, refill_event, c->ring[i], 0);
}

static void closed_completed(struct gp_ring *r, struct gp_kernel *k, u64 now_ns)
{
	struct gp_client *c = r->client;
	u64 at = now_ns + gp_dist_draw(&c->spec->gap_host, &r->rng);

	if (now_ns >= c->sim->begin_ns)
		gp_hist_add(&c->kernel_ns, now_ns - k->submit_ns);
	if (c->spec->gang) {
		advance_gang(c);
		return;
	}
	/* An interposed library gets an event, and then launches. */
	if (depth(c) < c->spec->ahead)
		at += gp_cost(&c->sim->costs, GP_COST_SHIM);
	gp_at(&c->sim->engine, at, refill_event, r, 0);
}

void gp_client_resume(struct gp_client *c)
{
	c->suspended = false;
	for (u32 i = 0; i < c->nr_rings; i++)
		refill(c, c->ring[i]);
}

void gp_client_repeat(struct gp_client *c, u32 gpu, u64 repeats)
{
	for (u32 i = 0; i < c->nr_rings; i++) {
		struct gp_ring *r = c->ring[i];
		u64 n = r->finished < repeats ? r->finished : repeats;

		if (r->gpu->id != gpu)
			continue;
		r->finished = 0;
		for (u64 back = 1; back <= n && back <= r->done; back++) {
			const struct gp_kernel *old = gp_ring_at(r, r->done - back);
			struct vgpu_packet p;
			struct gp_kernel *k;

			if (!old || old->packet.kind != VGPU_KERNEL || old->repeat)
				continue;
			p = old->packet;
			k = gp_client_put(c, r, &p);
			if (!k)
				return;
			k->repeat = true;
			r->repeats_open++;
		}
		gp_gpu_doorbell(r->gpu, r);
	}
}

void gp_client_completed(struct gp_ring *r, struct gp_kernel *k, u64 now_ns)
{
	struct gp_client *c = r->client;

	if (now_ns >= c->sim->begin_ns && now_ns < c->sim->end_ns &&
	    k->packet.kind == VGPU_KERNEL && !k->repeat)
		c->kernels_done++;
	if (k->repeat)
		r->repeats_open--;
	else if (k->request != GP_NO_REQUEST)
		gp_request_completed(c, k, now_ns);
	else
		closed_completed(r, k, now_ns);
	gp_tally_online(c->sim, c);
	gp_home_completed(&c->sim->home, c, r->gpu);
}

/* ---- life ---- */

static int make_ring(struct gp_client *c, struct gp_gpu *g, u32 slot)
{
	const struct gp_task_spec *t = c->spec;
	const struct gp_scenario *sc = c->sim->sc;
	struct vgpu_queue_args args = {
		.process = c->number, .priority = t->queue_priority, .area_bytes = c->area_bytes,
		.cu_first = t->cu_first, .cu_count = t->cu_count,
	};
	struct gp_ring *r = gp_ring_new(g, c, c->area_bytes);
	char stream[GP_SCENARIO_NAME + 32];

	if (!r)
		return -ENOMEM;
	r->process = c->number;
	r->next = c->all_rings;
	c->all_rings = r;
	snprintf(stream, sizeof(stream), "%s queue %u life %u", t->name, slot, c->life);
	gp_rng_init(&r->rng, c->sim->args->seed, stream);
	if (sc->by_role)
		args.priority = t->online ? 15 : 7;
	if (sc->online_cus) {
		u64 cus = vgpu_value(&c->sim->costs.device, VGPU_XCCS) *
			  vgpu_value(&c->sim->costs.device, VGPU_CUS_PER_XCC);

		args.cu_first = t->online ? 0 : sc->online_cus;
		args.cu_count = t->online ? sc->online_cus : (u32)cus - sc->online_cus;
	}
	c->ring[slot] = r;
	return gp_gpu_add_ring(g, r, &args);
}

static void restart(void *ctx, u64 life)
{
	struct gp_client *c = ctx;

	if (c->life == life && !c->alive)
		gp_client_start(c);
}

void gp_client_start(struct gp_client *c)
{
	struct gp_sim *sim = c->sim;
	u32 slot = 0;
	int err = 0;

	c->life++;
	c->nr_rings = 0;
	c->step = 0;
	for (u32 g = 0; g < sim->nr_gpus && !err; g++) {
		for (u32 i = 0; (c->spec->devices & BIT_ULL(g)) && i < c->spec->queues && !err; i++)
			err = make_ring(c, &sim->gpu[g], slot++);
	}
	c->nr_rings = slot;
	if (err) {
		gp_engine_fail(&sim->engine, -EINVAL, "[%s]: the device has no room for its queues",
			       c->spec->name);
		return;
	}
	c->alive = true;
	gp_home_client_came(&sim->home, c);
	if (c->spec->loop == GP_LOOP_CLOSED) {
		for (u32 i = 0; i < c->nr_rings; i++)
			refill(c, c->ring[i]);
	} else if (c->life == 1) {
		gp_arrivals_begin(c);
	} else {
		gp_requests_start(c);
	}
}

void gp_client_die(struct gp_client *c)
{
	struct gp_sim *sim = c->sim;
	struct gp_drawing_at at;

	if (!c->alive)
		return;
	c->alive = false;
	at = gp_client_at(c, NULL);
	gp_drawing_instant(sim->engine.drawing, &at, "died", sim->engine.now_ns);
	for (u32 i = 0; i < c->nr_rings; i++)
		gp_gpu_remove_ring(c->ring[i]->gpu, c->ring[i]);
	c->in_service = 0;
	c->ended = c->begun;
	c->begun_ns = 0;
	gp_tally_online(sim, c);
	gp_home_client_went(&sim->home, c);
	if (!c->spec->stop_ns || sim->engine.now_ns < c->spec->stop_ns)
		gp_at(&sim->engine, sim->engine.now_ns + RESTART_NS, restart, c, c->life);
}

u64 gp_client_work(const struct gp_client *c, u32 gpu)
{
	struct vgpu *v = c->sim->gpu[gpu].vgpu;
	u64 work, repeated = 0;

	if (!(c->spec->devices & BIT_ULL(gpu)))
		return 0;
	/* All events until now have happened, so this only sets the device's time. */
	vgpu_advance(v, c->sim->engine.now_ns);
	work = vgpu_work_ns(v, c->number);
	for (const struct gp_ring *r = c->all_rings; r; r = r->next)
		repeated += r->gpu->id == gpu ? r->repeated_ns : 0;
	return work > repeated ? work - repeated : 0;
}

/* Returns the size of a full save of its waves, and a little more for the headers. */
static u64 area_for(const struct gp_client *c)
{
	u64 slots = vgpu_slots(&c->sim->costs.device, &c->shape);

	return vgpu_save_bytes(&c->sim->costs.device, &c->shape, slots) + (1 << 20);
}

int gp_client_init(struct gp_client *c, struct gp_sim *sim, const struct gp_task_spec *t,
		   u32 number)
{
	u64 slots;

	c->sim = sim;
	c->spec = t;
	c->number = number;
	c->task = GP_NONE;
	c->shape = (struct vgpu_packet){
		.kind = VGPU_KERNEL, .barrier_bit = true, .waves = (u16)t->waves,
		.vgpr_bytes = t->vgpr_bytes, .lds_bytes = t->lds_bytes, .gap_ns = t->gap_device_ns,
		.workgroups = 1, .workgroup_ns = 1,
	};
	slots = vgpu_slots(&sim->costs.device, &c->shape);
	if (!slots) {
		gp_engine_fail(&sim->engine, -EINVAL, "[%s]: a workgroup does not fit on a CU",
			       t->name);
		return -EINVAL;
	}
	c->packet_slots = t->slots_divisor ? slots / t->slots_divisor : t->slots;
	if (!c->packet_slots)
		c->packet_slots = 1;
	c->fills_gpu = c->packet_slots >= slots;
	c->area_bytes = area_for(c);
	c->ring = calloc((u64)t->queues * sim->nr_gpus, sizeof(*c->ring));
	if (!c->ring)
		return -ENOMEM;
	gp_rng_init(&c->kernel_rng, sim->args->seed ^ 0x6b65726e656cull, t->name);
	return gp_arrivals_init(c);
}

void gp_client_fini(struct gp_client *c)
{
	while (c->all_rings) {
		struct gp_ring *next = c->all_rings->next;

		gp_ring_free(c->all_rings);
		c->all_rings = next;
	}
	free(c->ring);
	free(c->request);
	free(c->trace);
}
