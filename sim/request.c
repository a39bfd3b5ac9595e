// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>

#include "arrivals.h"
#include "request.h"
#include "sim.h"

static void put_kernel(struct gp_client *c, u32 number)
{
	struct gp_request *q = &c->request[number];
	struct gp_ring *r = c->ring[q->ring];
	struct vgpu_packet p;
	struct gp_rng rng = c->kernel_rng;
	struct gp_kernel *k;

	/* Kernel i of request n is the same in every row. */
	rng.state += ((u64)number << 20 | q->next) * 0xd1342543de82ef95ull;
	if (c->spec->recorded)
		gp_client_size(c, c->spec->recorded[number].work_ns, &p);
	else
		gp_client_draw(c, &rng, &p);
	k = gp_client_put(c, r, &p);
	if (k)
		k->request = number;
	q->next++;
}

static void open_barrier(void *ctx, u64 index)
{
	struct gp_ring *r = ctx;
	struct gp_kernel *k = gp_ring_at(r, index);

	if (r->dead || !k)
		return;
	k->open = true;
	gp_tally_online(r->client->sim, r->client);
	gp_home_opened(&r->client->sim->home, r->client, r->gpu);
	vgpu_signal(r->gpu->vgpu, r->gpu->engine->now_ns);
}

/* Writes a barrier packet, which waits for the host. */
static void put_barrier(struct gp_client *c, u32 number)
{
	struct gp_ring *r = c->ring[c->request[number].ring];
	struct vgpu_packet p = { .kind = VGPU_BARRIER, .barrier_bit = true, .signal = r->tail };
	struct gp_kernel *k = gp_client_put(c, r, &p);

	if (!k)
		return;
	k->request = number;
	c->request[number].left++;
	gp_at(&c->sim->engine, c->sim->engine.now_ns + c->spec->barrier_host_ns, open_barrier, r,
	      k->index);
}

static void put_request(struct gp_client *c, u32 number)
{
	struct gp_request *q = &c->request[number];

	while (q->next < (c->spec->sync ? 1 : c->spec->kernels)) {
		if (c->spec->barrier_host_ns && q->next == c->spec->kernels / 2)
			put_barrier(c, number);
		put_kernel(c, number);
	}
	gp_client_doorbell(c, c->ring[q->ring]);
}

void gp_requests_start(struct gp_client *c)
{
	struct gp_engine *e = &c->sim->engine;

	while (c->alive && c->in_service < c->spec->server && c->next_start < c->nr_requests) {
		u32 number = c->next_start++;
		struct gp_request *q = &c->request[number];

		c->in_service++;
		c->begun++;
		if (!c->begun_ns)
			c->begun_ns = e->now_ns;
		q->start_ns = e->now_ns;
		q->ring = number % c->nr_rings;
		q->left = c->spec->kernels;
		if (c->in_service == 1)
			gp_home_request_begins(&c->sim->home, c);
		put_request(c, number);
	}
}

static void next_kernel(void *ctx, u64 arg)
{
	struct gp_client *c = ctx;
	u32 number = (u32)arg, life = (u32)(arg >> 32);

	if (c->life != life || !c->alive)
		return;
	put_kernel(c, number);
	gp_client_doorbell(c, c->ring[c->request[number].ring]);
}

static void request_over(void *ctx, u64 arg)
{
	struct gp_client *c = ctx;

	if (c->life != (u32)(arg >> 32))
		return;
	c->in_service--;
	c->ended++;
	gp_requests_start(c);
	if (!c->in_service)
		gp_home_request_ends(&c->sim->home, c);
}

void gp_request_completed(struct gp_client *c, struct gp_kernel *k, u64 now_ns)
{
	struct gp_request *q = &c->request[k->request];
	struct gp_drawing_at at = gp_client_at(c, "requests");
	u64 arg = (u64)c->life << 32 | k->request;
	u64 gap;

	if (!--q->left) {
		q->done_ns = now_ns;
		c->sim->due -= q->arrival_ns < c->sim->end_ns;
		gp_drawing_span(c->sim->engine.drawing, &at, "request", q->arrival_ns, now_ns);
		gp_at(&c->sim->engine, now_ns, request_over, c, arg);
	} else if (c->spec->sync && q->next < c->spec->kernels) {
		struct gp_rng rng = c->kernel_rng;

		rng.state += ((u64)k->request << 20 | q->next | 1u << 19) * 0xd1342543de82ef95ull;
		gap = gp_dist_draw(&c->spec->gap_host, &rng);
		c->next_packet_ns = now_ns + gap;
		gp_at(&c->sim->engine, now_ns + gap, next_kernel, c, arg);
	}
}

/* Returns true if a task that could be preempted holds slots where @c runs. */
static bool victim_is_on(const struct gp_client *c)
{
	const struct gp_sim *sim = c->sim;

	for (u32 i = 0; i < sim->nr_clients; i++) {
		const struct gp_client *v = &sim->client[i];

		for (u32 g = 0; v->alive && !v->spec->online && g < sim->nr_gpus; g++) {
			struct vgpu_busy busy = { 0 };

			if (c->spec->devices & v->spec->devices & BIT_ULL(g))
				vgpu_busy(sim->gpu[g].vgpu, v->number, &busy);
			if (busy.waves)
				return true;
		}
	}
	return false;
}

static int grow_requests(struct gp_client *c)
{
	u32 room = c->room ? c->room * 2 : 256;
	struct gp_request *request = realloc(c->request, room * sizeof(*request));

	if (!request)
		return -ENOMEM;
	c->request = request;
	c->room = room;
	return 0;
}

void gp_client_arrive(struct gp_client *c)
{
	u64 now = c->sim->engine.now_ns;

	if (c->nr_requests == c->room && grow_requests(c)) {
		gp_engine_fail(&c->sim->engine, -ENOMEM, "no memory for requests");
		return;
	}
	/* A request behind others shares the result of the first one. */
	if (!gp_client_busy(c))
		c->found_victim = victim_is_on(c);
	if (now >= c->sim->begin_ns && now < c->sim->end_ns)
		c->victim_on += c->found_victim;
	c->sim->due += now < c->sim->end_ns;
	c->request[c->nr_requests++] = (struct gp_request){ .arrival_ns = now };
	gp_requests_start(c);
}

bool gp_client_runnable(const struct gp_client *c, u32 gpu)
{
	for (u32 i = 0; c->alive && i < c->nr_rings; i++) {
		const struct gp_ring *r = c->ring[i];
		const struct gp_kernel *k = r->done < r->wptr ? gp_ring_at(r, r->done) : NULL;

		if (k && r->gpu->id == gpu && (k->packet.kind == VGPU_KERNEL || k->open))
			return true;
	}
	return false;
}

bool gp_client_says(const struct gp_client *c)
{
	return c->sim->sc->monitor.placement == GP_AT_REQUEST && c->spec->online &&
	       c->spec->loop != GP_LOOP_CLOSED;
}

bool gp_client_busy(const struct gp_client *c)
{
	return c->in_service || c->next_start < c->nr_requests;
}
