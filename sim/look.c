// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "look.h"

static u64 fact(const struct gp_home *h, enum vgpu_fact_id id)
{
	return vgpu_value(&h->sim->costs.device, id);
}

static u32 processes_on(const struct gp_gpu *g, u32 *queues)
{
	u64 processes = 0;

	*queues = 0;
	for (u32 i = 0; i < g->nr_rings; i++) {
		if (!g->ring[i])
			continue;
		++*queues;
		processes |= BIT_ULL(g->ring[i]->process);
	}
	return (u32)__builtin_popcountll(processes);
}

void gp_look_costs(const struct gp_home *h, const struct gp_gpu *g, struct gp_look_costs *ret)
{
	const struct gp_costs *costs = &h->sim->costs;
	u32 queues, processes;

	*ret = (struct gp_look_costs){
		.cpu_ns = fact(h, VGPU_LOOK_NS),
		.wake_ns = fact(h, VGPU_WAKE_NS),
		.decide_ns = fact(h, VGPU_DECIDE_NS),
	};
	switch (h->sim->sc->monitor.placement) {
	case GP_AT_DAEMON:	/* one thread that wakes, reads and decides */
		processes = processes_on(g, &queues);
		ret->delay_ns = gp_cost(costs, GP_COST_DAEMON_WAKE);
		ret->wake_ns = processes * gp_cost(costs, GP_COST_DAEMON_READ);
		ret->cpu_ns = ret->wake_ns + gp_cost(costs, GP_COST_IOCTL);
		break;
	case GP_AT_USER_POLL:	/* an ioctl per queue, and one to act */
		processes_on(g, &queues);
		ret->wake_ns = gp_cost(costs, GP_COST_IOCTL);
		ret->cpu_ns = queues * gp_cost(costs, GP_COST_IOCTL);
		ret->decide_ns = 0;
		break;
	case GP_AT_USER_EVENT:
		ret->wake_ns = gp_cost(costs, GP_COST_IOCTL);
		ret->decide_ns = 0;
		break;
	case GP_AT_REQUEST:	/* the server itself calls */
		ret->cpu_ns = 0;
		ret->wake_ns = 0;
		break;
	case GP_AT_BOUND:
		*ret = (struct gp_look_costs){ 0 };
		break;
	}
}

/* Returns the write pointer that this home sees. */
static u64 known_wptr(const struct gp_home *h, const struct gp_ring *r)
{
	u64 delay = gp_cost(&h->sim->costs, GP_COST_USER_EVENT);
	const struct gp_kernel *head = r->done < r->wptr ? gp_ring_at(r, r->done) : NULL;

	/* Packets behind a closed barrier cannot use the GPU. */
	if (h->sim->sc->monitor.placement == GP_AT_BOUND && head &&
	    head->packet.kind == VGPU_BARRIER && !head->open)
		return r->done;

	if (h->sim->sc->monitor.placement == GP_AT_USER_EVENT && r->client->spec->online &&
	    r->visible_ns && h->sim->engine.now_ns <= r->visible_ns + delay)
		return r->seen_wptr;
	return r->wptr;
}

/* Returns the read pointer, at most the write pointer that the home has seen. */
static u64 known_rptr(const struct gp_home *h, const struct gp_ring *r, u64 wptr)
{
	u64 rptr = h->sim->sc->monitor.placement == GP_AT_BOUND ? r->done : r->rptr;

	return rptr < wptr ? rptr : wptr;
}

/* Samples the reports of servers on @g as queues of requests. */
static u32 sample_servers(struct gp_home *h, const struct gp_gpu *g)
{
	u32 nr = 0;

	for (u32 i = 0; i < h->sim->nr_clients; i++) {
		struct gp_client *c = &h->sim->client[i];

		if (c->task == GP_NONE || !gp_client_says(c) ||
		    !(c->spec->devices & BIT_ULL(g->id)))
			continue;
		h->sample[nr++] = (struct gp_sample){
			.queue = c->said[g->id], .rptr = c->ended, .wptr = c->begun,
			.visible_ns = c->begun_ns,
		};
		c->begun_ns = 0;
	}
	return nr;
}

static u32 sample_all(struct gp_home *h, struct gp_gpu *g)
{
	u32 nr = sample_servers(h, g);

	for (u32 i = 0; i < g->nr_rings; i++) {
		struct gp_ring *r = g->ring[i];
		const struct gp_kernel *head;
		struct gp_sample *s;

		if (!r || r->queue == GP_NONE)
			continue;
		s = &h->sample[nr++];
		s->queue = r->queue;
		s->wptr = known_wptr(h, r);
		s->rptr = known_rptr(h, r, s->wptr);
		s->visible_ns = r->visible_ns;
		head = s->rptr < s->wptr ? gp_ring_at(r, s->rptr) : NULL;
		s->flags = head && head->packet.kind == VGPU_BARRIER ? GP_AT_BARRIER : 0;
		if (s->wptr == r->wptr)
			r->visible_ns = 0;
		r->seen_wptr = s->wptr;
	}
	return nr;
}

/* Draws waves at every look, because the scheduler probes only if needed. */
static void draw_waves(const struct gp_home *h, const struct gp_gpu *g)
{
	for (u32 i = 0; i < h->sim->nr_clients; i++) {
		const struct gp_client *c = &h->sim->client[i];
		struct gp_rec rec = { .now_ns = h->sim->engine.now_ns, .kind = GP_REC_PROBED,
				      .device = g->id, .task = c->task };
		struct vgpu_busy busy;

		if (c->task == GP_NONE || !(c->spec->devices & BIT_ULL(g->id)))
			continue;
		vgpu_busy(g->vgpu, c->number, &busy);
		rec.probed.executing = GP_EXEC_YES;
		rec.probed.permille = busy.permille;
		gp_drawing_take(h->sim->engine.drawing, &rec);
	}
}

void gp_look(struct gp_home *h, struct gp_gpu *g)
{
	struct gp_look_costs costs;
	u32 nr = sample_all(h, g);

	gp_look_costs(h, g, &costs);
	h->looks++;
	h->cpu_ns += costs.cpu_ns;
	gp_sched_look(h->sched, g->id, h->sample, nr, h->sim->engine.now_ns);
	if (h->sim->engine.drawing)
		draw_waves(h, g);
}

u64 gp_look_at(const struct gp_home *h, const struct gp_gpu *g)
{
	struct gp_look_costs costs;
	u64 at;

	if (h->sim->sc->monitor.placement == GP_AT_REQUEST)
		return GP_NEVER;
	at = gp_sched_look_at(h->sched, g->id);
	if (at == GP_NEVER)
		return at;
	gp_look_costs(h, g, &costs);
	return at + costs.delay_ns;
}
