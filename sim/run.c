// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>

#include "check.h"
#include "copies.h"
#include "fault.h"
#include "sim.h"

/* Time to wait for requests that are under way at the end of the measured part. */
#define OVERTIME_NS	GP_SEC

static void start_client(void *ctx, u64 arg)
{
	(void)arg;
	gp_client_start(ctx);
}

static void stop_client(void *ctx, u64 arg)
{
	(void)arg;
	gp_client_die(ctx);
}

/* Ends every process that uses the GPU, after its reset. */
static void gpu_was_reset(void *ctx, struct gp_gpu *g)
{
	struct gp_sim *sim = ctx;

	gp_home_device_reset(&sim->home, g);
	for (u32 i = 0; i < sim->nr_clients; i++) {
		if (sim->client[i].spec->devices & BIT_ULL(g->id))
			gp_client_die(&sim->client[i]);
	}
}

static bool takes_part(const struct gp_scenario *sc, const struct gp_task_spec *t)
{
	return sc->only == GP_ONLY_ALL || t->online == (sc->only == GP_ONLY_ONLINE);
}

/* A task keeps its number in every row, so that its random numbers stay the same. */
static int make_clients(struct gp_sim *sim)
{
	const struct gp_scenario *sc = sim->sc;
	int err = 0;

	sim->client = calloc(sc->nr_tasks, sizeof(*sim->client));
	if (!sim->client)
		return -ENOMEM;
	for (u32 i = 0; i < sc->nr_tasks && !err; i++) {
		if (takes_part(sc, &sc->task[i])) {
			u32 number = sim->nr_clients++;

			err = gp_client_init(&sim->client[number], sim, &sc->task[i], number);
		}
	}
	return err;
}

static int make_gpus(struct gp_sim *sim)
{
	int err = 0;

	sim->gpu = calloc(sim->sc->gpus, sizeof(*sim->gpu));
	if (!sim->gpu)
		return -ENOMEM;
	for (u32 i = 0; i < sim->sc->gpus && !err; i++) {
		struct gp_gpu *g = &sim->gpu[i];

		g->id = i;
		g->exclusive = sim->sc->exclusive;
		g->on_complete = gp_client_completed;
		g->on_reset = gpu_was_reset;
		g->on_reset_ctx = sim;
		err = gp_gpu_init(g, &sim->engine, &sim->costs);
		sim->nr_gpus++;
	}
	if (err == -EINVAL)
		gp_engine_fail(&sim->engine, err, "the virtual GPU refuses these facts");
	return err;
}

/*
 * Refuses settings that would have no effect. Not done while a scenario is read, because keys are
 * set one by one.
 */
static int check_settings(struct gp_sim *sim)
{
	const struct gp_scenario *sc = sim->sc;
	u64 cus = vgpu_value(&sim->costs.device, VGPU_XCCS) *
		  vgpu_value(&sim->costs.device, VGPU_CUS_PER_XCC);

	if (sc->online_cus >= cus)
		gp_engine_fail(&sim->engine, -EINVAL, "[gpu] online_cus: there are %llu CUs",
			       (unsigned long long)cus);
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		const struct gp_task_spec *t = &sc->task[i];

		if (t->stop_ns && t->stop_ns <= t->start_ns)
			gp_engine_fail(&sim->engine, -EINVAL, "[%s] stop: not after start",
				       t->name);
		if (t->cu_first && !t->cu_count)
			gp_engine_fail(&sim->engine, -EINVAL, "[%s] cu.first: needs cu.count",
				       t->name);
	}
	for (u32 i = 0; i < sc->nr_faults; i++) {
		const struct gp_fault_spec *f = &sc->fault[i];

		if (f->for_ns && f->kind != GP_FAULT_SLOW_SAVE && f->kind != GP_FAULT_EARLY_RPTR)
			gp_engine_fail(&sim->engine, -EINVAL,
				       "[%s] for: only slow-save and early-rptr end by themselves",
				       f->name);
	}
	return sim->engine.err;
}

int gp_sim_init(struct gp_sim *sim, const struct gp_scenario *sc, const struct gp_run_args *args)
{
	int err;

	sim->sc = sc;
	sim->args = args;
	sim->engine.drawing = args->drawing;
	sim->begin_ns = sc->warmup_ns;
	sim->end_ns = sc->warmup_ns + sc->length_ns;
	err = gp_costs_of(sc, &sim->costs);
	if (!err)
		err = check_settings(sim);
	if (!err)
		err = make_gpus(sim);
	if (!err)
		err = gp_home_init(&sim->home, sim);
	if (!err)
		err = make_clients(sim);
	if (err)
		return err;
	gp_tally_begin(sim);
	gp_faults_begin(sim);
	for (u32 i = 0; i < sim->nr_clients; i++) {
		struct gp_client *c = &sim->client[i];

		gp_at(&sim->engine, c->spec->start_ns, start_client, c, 0);
		if (c->spec->stop_ns)
			gp_at(&sim->engine, c->spec->stop_ns, stop_client, c, 0);
	}
	return 0;
}

/* Returns the time of the next event, and its GPU; NULL: an event of the engine. */
static u64 next_moment(const struct gp_sim *sim, struct gp_gpu **gpu)
{
	u64 at = sim->engine.heap.nr ? sim->engine.heap.event[0].at_ns : GP_NEVER;

	*gpu = NULL;
	for (u32 i = 0; i < sim->nr_gpus; i++) {
		u64 next = vgpu_next_ns(sim->gpu[i].vgpu);

		/* Hardware first, so that software of the same moment sees its effects. */
		if (next != VGPU_NEVER && (next < at || (next == at && !*gpu))) {
			at = next;
			*gpu = &sim->gpu[i];
		}
	}
	return at;
}

bool gp_sim_step(struct gp_sim *sim, u64 until_ns)
{
	struct gp_engine *e = &sim->engine;
	struct gp_event event;
	struct gp_gpu *gpu;
	u64 at = next_moment(sim, &gpu);

	if (e->err || at > until_ns)
		return false;
	e->now_ns = at;
	if (gpu) {
		vgpu_advance(gpu->vgpu, at);
	} else {
		gp_heap_pop(&e->heap, &event);
		event.fire(event.ctx, event.arg);
	}
	if (sim->args->invariants)
		gp_check(sim);
	return !e->err;
}

static void run_all(struct gp_sim *sim)
{
	u64 overtime = sim->sc->length_ns < OVERTIME_NS ? sim->sc->length_ns : OVERTIME_NS;

	while (gp_sim_step(sim, sim->end_ns))
		;
	while (sim->due && gp_sim_step(sim, sim->end_ns + overtime))
		;
}

void gp_sim_fini(struct gp_sim *sim)
{
	for (u32 i = 0; i < sim->nr_clients; i++)
		gp_client_fini(&sim->client[i]);
	for (u32 i = 0; i < sim->nr_gpus; i++)
		gp_gpu_fini(&sim->gpu[i]);
	gp_home_fini(&sim->home);
	gp_heap_fini(&sim->engine.heap);
	free(sim->client);
	free(sim->gpu);
}

static int run(const struct gp_scenario *scenario, const struct gp_run_args *args,
	       struct gp_result *ret, char *why, size_t why_size)
{
	struct gp_sim *sim = calloc(1, sizeof(*sim));
	int err;

	if (!sim)
		return -ENOMEM;
	err = gp_sim_init(sim, scenario, args);
	if (!err)
		run_all(sim);
	if (!err)
		err = sim->engine.err;
	if (!err)
		err = gp_tally_result(sim, ret);
	if (err)
		snprintf(why, why_size, "%s", sim->engine.why[0] ? sim->engine.why :
						"out of memory or out of bounds");
	gp_sim_fini(sim);
	free(sim);
	return err;
}

int gp_run(const struct gp_scenario *scenario, const struct gp_run_args *args,
	   struct gp_result *ret, char *why, size_t why_size)
{
	struct gp_scenario *all;
	int err;

	if (!gp_has_copies(scenario))
		return run(scenario, args, ret, why, why_size);
	all = malloc(sizeof(*all));
	if (!all)
		return -ENOMEM;
	*all = *scenario;
	err = gp_make_copies(all, why, why_size);
	if (!err)
		err = run(all, args, ret, why, why_size);
	free(all);
	return err;
}
