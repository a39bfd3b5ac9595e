// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "shim.h"
#include "sim.h"

/* Returns true if an online task that shares a GPU with @c is at work. */
static bool must_wait(const struct gp_client *c)
{
	const struct gp_sim *sim = c->sim;

	for (u32 i = 0; i < sim->nr_clients; i++) {
		const struct gp_client *o = &sim->client[i];

		if (o->spec->online && o->in_service && (o->spec->devices & c->spec->devices))
			return true;
	}
	return false;
}

/* Handles a message that has arrived, by the present state. */
static void message(void *ctx, u64 suspend)
{
	struct gp_client *online = ctx;
	struct gp_sim *sim = online->sim;

	for (u32 i = 0; i < sim->nr_clients; i++) {
		struct gp_client *c = &sim->client[i];

		if (c->spec->online || !c->alive || !(c->spec->devices & online->spec->devices))
			continue;
		if (suspend)
			c->suspended = true;
		else if (c->suspended && !must_wait(c))
			gp_client_resume(c);
	}
}

void gp_shim_request_begins(struct gp_client *online)
{
	struct gp_sim *sim = online->sim;

	gp_at(&sim->engine, sim->engine.now_ns + gp_cost(&sim->costs, GP_COST_SHIM), message,
	      online, true);
}

void gp_shim_request_ends(struct gp_client *online)
{
	struct gp_sim *sim = online->sim;

	gp_at(&sim->engine, sim->engine.now_ns + gp_cost(&sim->costs, GP_COST_SHIM), message,
	      online, false);
}
