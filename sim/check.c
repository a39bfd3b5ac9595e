// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "check.h"

static void fail(struct gp_sim *sim, const struct gp_client *c, const char *what)
{
	gp_engine_fail(&sim->engine, -EPROTO, "at %llu ns, [%s]: %s",
		       (unsigned long long)sim->engine.now_ns, c->spec->name, what);
}

/* Checks that every requested stop and start has ended once, or is under way. */
static void check_account(struct gp_sim *sim, const struct gp_client *c)
{
	const struct gp_account *a = &sim->home.sched->tasks[c->task].account;

	if (a->stops_asked != a->stopped + a->stops_failed + a->stops_lost + a->stopping)
		fail(sim, c, "a stop was not answered exactly once");
	if (a->starts_asked != a->started + a->starts_failed + a->starts_lost + a->starting)
		fail(sim, c, "a start was not answered exactly once");
}

/* Checks that the hardware agrees with the state: a seat that is OFF has no queue mapped. */
static void check_queues(struct gp_sim *sim, const struct gp_client *c,
			 const struct gp_seat *seat)
{
	for (u32 i = 0; i < c->nr_rings; i++) {
		const struct gp_ring *r = c->ring[i];
		int state = vgpu_queue_state(r->gpu->vgpu, r->handle);

		if (r->gpu->id != seat->device)
			continue;
		if (seat->state == GP_OFF && state != VGPU_UNMAPPED && state != VGPU_ERROR)
			fail(sim, c, "is off, but a queue of it is on the GPU");
		if (seat->state == GP_ON && state == VGPU_UNMAPPED && !r->gpu->nr_cycles)
			fail(sim, c, "is on, but a queue of it is not on the GPU");
	}
}

static void check_seat(struct gp_sim *sim, const struct gp_client *c, u32 device)
{
	const struct gp_sched *s = sim->home.sched;
	const struct gp_seat *seat = gp_sched_seat(s, c->task, device);
	/* A hold ends by a start, which has its own deadline. */
	u64 lease = s->param[GP_LEASE] + s->param[GP_STOP_DEADLINE] + s->param[GP_RETRY_AFTER];

	if (!seat) {
		fail(sim, c, "has no seat on its GPU");
		return;
	}
	if (seat->state >= GP_NR_STATES || seat->work >= GP_NR_WORKS)
		fail(sim, c, "is in no state");
	if (seat->state == GP_OFF && sim->engine.now_ns - seat->held_ns > lease)
		fail(sim, c, "is held past its lease");
	check_queues(sim, c, seat);
}

/* Checks that each workgroup runs once if state is kept. A reset of the GPU kills processes. */
static void check_books(struct gp_sim *sim, const struct gp_client *c)
{
	for (const struct gp_ring *r = c->all_rings; r; r = r->next) {
		if (r->lost)
			fail(sim, c, "lost work");
		if (r->doubled && sim->sc->how != GP_BY_RESET)
			fail(sim, c, "did work twice");
	}
}

void gp_check(struct gp_sim *sim)
{
	for (u32 i = 0; i < sim->nr_clients; i++) {
		const struct gp_client *c = &sim->client[i];

		check_books(sim, c);
		if (!sim->home.there || c->task == GP_NONE)
			continue;
		check_account(sim, c);
		for (u32 g = 0; g < sim->nr_gpus; g++) {
			if (c->spec->devices & BIT_ULL(g))
				check_seat(sim, c, g);
		}
	}
}
