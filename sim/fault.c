// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "fault.h"

static const struct gp_fault_spec *spec_of(const struct gp_sim *sim, u64 number)
{
	return &sim->sc->fault[number];
}

/* Returns the client of a fault; the first offline one if it names none. */
static struct gp_client *target(struct gp_sim *sim, const struct gp_fault_spec *f)
{
	const struct gp_task_spec *task = f->task[0] ? gp_scenario_task(sim->sc, f->task) : NULL;

	for (u32 i = 0; i < sim->nr_clients; i++) {
		if (task ? sim->client[i].spec == task : !sim->client[i].spec->online)
			return &sim->client[i];
	}
	return NULL;
}

static void end_fault(void *ctx, u64 number)
{
	struct gp_sim *sim = ctx;
	const struct gp_fault_spec *f = spec_of(sim, number);

	for (u32 g = 0; g < sim->nr_gpus; g++) {
		if (f->kind == GP_FAULT_SLOW_SAVE)
			sim->gpu[g].faults.slow = 1;
		else
			sim->gpu[g].faults.early = false;
		gp_gpu_apply_faults(&sim->gpu[g]);
	}
}

static void fault_devices(struct gp_sim *sim, const struct gp_fault_spec *f)
{
	for (u32 g = 0; g < sim->nr_gpus; g++) {
		struct gp_gpu_faults *faults = &sim->gpu[g].faults;

		if (f->kind == GP_FAULT_HANG)
			faults->hang = true;
		else if (f->kind == GP_FAULT_SLOW_SAVE)
			faults->slow = f->factor;
		else
			faults->early = true;
		gp_gpu_apply_faults(&sim->gpu[g]);
	}
}

static void fault_client(struct gp_client *c, const struct gp_fault_spec *f)
{
	if (!c || !c->alive)
		return;
	switch (f->kind) {
	case GP_FAULT_PREEMPT_FAILED:
		c->ring[0]->gpu->faults.stuck = c->ring[0]->handle;
		gp_gpu_apply_faults(c->ring[0]->gpu);
		break;
	case GP_FAULT_AREA_TOO_SMALL:	/* the memory behind it has gone */
		for (u32 i = 0; i < c->nr_rings; i++)
			c->ring[i]->area_bytes = 16;
		break;
	default:
		gp_client_die(c);
	}
}

static void fire(void *ctx, u64 number)
{
	struct gp_sim *sim = ctx;
	const struct gp_fault_spec *f = spec_of(sim, number);
	u64 now = sim->engine.now_ns, wait = f->every_ns;

	gp_instant(&sim->engine, "faults", f->name);
	if (f->kind == GP_FAULT_HANG || f->kind == GP_FAULT_SLOW_SAVE ||
	    f->kind == GP_FAULT_EARLY_RPTR) {
		fault_devices(sim, f);
		if (f->for_ns)
			gp_at(&sim->engine, now + f->for_ns, end_fault, sim, number);
	} else {
		fault_client(target(sim, f), f);
	}
	if (wait && f->random)
		wait = gp_rng_exponential(&sim->fault_rng, wait) + 1;
	if (wait)
		gp_at(&sim->engine, now + wait, fire, sim, number);
}

void gp_faults_begin(struct gp_sim *sim)
{
	gp_rng_init(&sim->fault_rng, sim->args->seed, "faults");
	for (u32 i = 0; i < sim->sc->nr_faults; i++)
		gp_at(&sim->engine, spec_of(sim, i)->at_ns, fire, sim, i);
}
