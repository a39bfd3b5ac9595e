// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "on_demand.h"
#include "shim.h"
#include "trace/tracefile.h"
#include "worker.h"

#define HINT_LASTS_NS	(2 * GP_MSEC)

static u64 now_of(const struct gp_home *h)
{
	return h->sim->engine.now_ns;
}

/* ---- clients come and go ---- */

/* Records the name of a task, because the scheduler's records have only its number. */
static void record_name(const struct gp_home *h, const struct gp_client *c)
{
	const struct gp_trace *trace = &h->sim->args->trace;
	struct gp_rec_who who = {
		.pid = gp_client_pid(c), .preemptible = c->spec->class.flags & GP_PREEMPTIBLE,
	};
	struct gp_rec rec;

	if (!trace->emit)
		return;
	snprintf(who.name, sizeof(who.name), "%s", c->spec->name);
	snprintf(who.class_name, sizeof(who.class_name), "%s",
		 c->spec->online ? "online" : "offline");
	rec = gp_rec_of_who(c->task, &who);
	rec.now_ns = now_of(h);
	trace->emit(trace->ctx, &rec);
}

/* Returns the class of a task. For other designs a server is online in any case. */
static const struct gp_class *class_of(const struct gp_home *h, const struct gp_client *c)
{
	const struct gp_class_preset *p = gp_class_presets;

	if (h->sim->sc->policy != &gp_policy_on_demand || !c->spec->online)
		return &c->spec->class;
	while (strcmp(p->name, "online"))
		p++;
	return &p->is;
}

/* Adds queues. A server that reports its work has one queue per GPU: the requests it has begun. */
static int add_queues(struct gp_home *h, struct gp_client *c)
{
	struct gp_pointers at = { c->ended, c->begun };
	int err = 0;

	if (gp_client_says(c)) {
		for (u32 g = 0; g < h->sim->nr_gpus && !err; g++) {
			if (c->spec->devices & BIT_ULL(g))
				err = gp_queue_add(h->sched, c->task, g, &at, now_of(h),
						   &c->said[g]);
		}
		return err;
	}
	at = (struct gp_pointers){ 0, 0 };
	for (u32 i = 0; i < c->nr_rings && !err; i++)
		err = gp_queue_add(h->sched, c->task, c->ring[i]->gpu->id, &at, now_of(h),
				   &c->ring[i]->queue);
	return err;
}

static void tell_scheduler(struct gp_home *h, struct gp_client *c)
{
	const char *why = NULL;
	int err = gp_task_add(h->sched, c->spec->devices, class_of(h, c), now_of(h), &c->task,
			      &why);

	if (!err) {
		record_name(h, c);
		err = add_queues(h, c);
	}
	if (err) {
		gp_engine_fail(&h->sim->engine, -EINVAL, "[%s]: the scheduler refuses it: %s",
			       c->spec->name, why ? why : strerror(-err));
		return;
	}
	gp_simmech_add_task(&h->mech, c->task, c->number, c->spec->devices);
}

void gp_home_client_came(struct gp_home *h, struct gp_client *c)
{
	/* With any monitor the driver needs a cycle to make a queue. */
	for (u32 g = 0; g < h->sim->nr_gpus; g++) {
		struct gp_cycle cycle = {
			.on = BIT_ULL(c->number), .how = VGPU_SAVE,
			.grace_ns = vgpu_value(&h->sim->costs.device, VGPU_GRACE_DEFAULT_NS),
		};

		if (!(c->spec->devices & BIT_ULL(g)))
			continue;
		if (c->spec->online)
			h->sim->gpu[g].precious |= BIT_ULL(c->number);
		gp_cycle_begin(&h->sim->gpu[g], &cycle);
	}
	if (!h->there)
		return;
	tell_scheduler(h, c);
	gp_home_settle(h);
}

void gp_home_client_went(struct gp_home *h, struct gp_client *c)
{
	if (!h->there || c->task == GP_NONE)
		return;
	gp_tally_life_over(h->sim, c->number);
	gp_task_del(h->sched, c->task, now_of(h));
	gp_simmech_del_task(&h->mech, c->task);
	c->task = GP_NONE;
	gp_home_settle(h);
}

/* ---- what clients do ---- */

void gp_home_before_submit(struct gp_home *h, struct gp_client *c, struct gp_gpu *g)
{
	if (h->there && h->sim->sc->monitor.phase == GP_PHASE_WORST && c->spec->online &&
	    h->sim->sc->monitor.placement != GP_AT_MANUAL)
		gp_look(h, g);
}

static void look_event(void *ctx, u64 gpu)
{
	struct gp_home *h = ctx;

	gp_look(h, &h->sim->gpu[gpu]);
	gp_home_settle(h);
}

/*
 * Returns true if a server that shares @g is at work. New packets of offline tasks must then wait.
 */
static bool is_served(const struct gp_home *h, const struct gp_gpu *g)
{
	for (u32 i = 0; i < h->sim->nr_clients; i++) {
		const struct gp_client *c = &h->sim->client[i];

		if (c->spec->online && c->in_service && (c->spec->devices & BIT_ULL(g->id)))
			return true;
	}
	return false;
}

void gp_home_submitted(struct gp_home *h, struct gp_client *c, struct gp_gpu *g)
{
	const struct gp_monitor_spec *m = &h->sim->sc->monitor;

	if (!h->there)
		return;
	if (m->placement == GP_AT_BOUND || (m->placement == GP_AT_MANUAL && c->spec->online))
		look_event(h, g->id);
	else if (m->placement == GP_AT_REQUEST && !c->spec->online && is_served(h, g))
		look_event(h, g->id);
	else if (m->placement == GP_AT_USER_EVENT && m->phase == GP_PHASE_WORST && c->spec->online)
		gp_at(&h->sim->engine, now_of(h) + gp_cost(&h->sim->costs, GP_COST_USER_EVENT),
		      look_event, h, g->id);
	else if (m->phase == GP_PHASE_WORST)
		gp_home_settle(h);
}

/* Estimates a stop before one has been measured, for a victim that fills the GPU. */
static u64 first_stop(const struct gp_home *h)
{
	const struct vgpu_facts *f = &h->sim->costs.device;
	u64 bytes = 0;

	for (u32 i = 0; i < h->sim->nr_clients; i++) {
		const struct gp_client *c = &h->sim->client[i];

		if (!c->spec->online && c->area_bytes > bytes)
			bytes = c->area_bytes;
	}
	return vgpu_value(f, VGPU_COMMAND_NS) + vgpu_value(f, VGPU_GRACE_NS) +
	       vgpu_save_ns(f, bytes) + vgpu_value(f, VGPU_RUNLIST_NS);
}

/* Gets the highest costs of a stop and a start on the GPUs of @c, as measured so far. */
static void switch_costs(const struct gp_home *h, const struct gp_client *c, u64 *stop, u64 *start)
{
	*stop = *start = 0;
	for (u32 g = 0; g < h->sim->nr_gpus; g++) {
		const struct gp_device *d = &h->sched->devices[g];

		if (!(c->spec->devices & BIT_ULL(g)))
			continue;
		if (d->stop_cost_ns > *stop)
			*stop = d->stop_cost_ns;
		if (d->start_cost_ns > *start)
			*start = d->start_cost_ns;
	}
	if (!*stop)
		*stop = first_stop(h);
}

static bool comes_within(const struct gp_home *h, u64 at_ns, u64 ns)
{
	return at_ns > now_of(h) && at_ns - now_of(h) < ns;
}

/*
 * Looks for the bound after a kernel. The bound knows the next packet of a request that has begun,
 * and with foresight the next request. It keeps the GPU if returning it would cost more.
 */
static void bound_look(void *ctx, u64 arg)
{
	struct gp_client *c = ctx;
	struct gp_home *h = &c->sim->home;
	u64 stop, start, price, until = 0;

	if (c->task == GP_NONE)
		return;
	gp_look(h, &h->sim->gpu[arg]);
	switch_costs(h, c, &stop, &start);
	price = h->sim->sc->param[GP_LATENCY_WEIGHT] * h->sched->devices[arg].added_ns;
	if (comes_within(h, c->next_packet_ns, stop + start + price))
		until = c->next_packet_ns;
	else if (h->sim->sc->monitor.hint_ahead_ns && comes_within(h, c->next_ns, stop + start))
		until = c->next_ns;
	if (until)
		gp_sched_hint(h->sched, c->task, now_of(h), until + HINT_LASTS_NS, now_of(h));
	gp_home_settle(h);
}

void gp_home_completed(struct gp_home *h, struct gp_client *c, struct gp_gpu *g)
{
	if (h->there && h->sim->sc->monitor.placement == GP_AT_BOUND && c->spec->online)
		gp_at(&h->sim->engine, now_of(h), bound_look, c, g->id);
}

void gp_home_opened(struct gp_home *h, struct gp_client *c, struct gp_gpu *g)
{
	gp_home_completed(h, c, g);
}

u64 gp_home_ahead(const struct gp_home *h, const struct gp_client *c)
{
	u64 stop, start;

	if (!h->there || h->sim->sc->monitor.placement != GP_AT_BOUND ||
	    !h->sim->sc->monitor.hint_ahead_ns)
		return h->sim->sc->monitor.hint_ahead_ns;
	/* The bound knows every arrival, so it stops victims one stop time ahead. */
	switch_costs(h, c, &stop, &start);
	return stop + stop / 8 + GP_USEC;
}

static void look_everywhere(struct gp_home *h, const struct gp_client *c)
{
	for (u32 g = 0; g < h->sim->nr_gpus; g++) {
		if (c->spec->devices & BIT_ULL(g))
			gp_at(&h->sim->engine, now_of(h), look_event, h, g);
	}
}

void gp_home_request_begins(struct gp_home *h, struct gp_client *c)
{
	if (h->sim->sc->monitor.placement == GP_AT_SHIM)
		gp_shim_request_begins(c);
	else if (h->there && h->sim->sc->monitor.placement == GP_AT_REQUEST)
		look_everywhere(h, c);
}

void gp_home_request_ends(struct gp_home *h, struct gp_client *c)
{
	if (h->sim->sc->monitor.placement == GP_AT_SHIM)
		gp_shim_request_ends(c);
	else if (h->there && h->sim->sc->monitor.placement == GP_AT_REQUEST)
		look_everywhere(h, c);
}

void gp_home_hint(struct gp_home *h, struct gp_client *c, u64 at_ns)
{
	if (!h->there || c->task == GP_NONE)
		return;
	/* A request that waits for its server writes no packet when it arrives. */
	if (h->sim->sc->monitor.placement == GP_AT_BOUND && gp_client_busy(c))
		return;
	if (h->sim->sc->policy == &gp_policy_on_demand) {
		/* The bound acts at once on the present work. */
		for (u32 g = 0; g < h->sim->nr_gpus; g++) {
			if (c->spec->devices & BIT_ULL(g))
				gp_look(h, &h->sim->gpu[g]);
		}
		gp_sched_hint(h->sched, c->task, now_of(h), at_ns + HINT_LASTS_NS, now_of(h));
	} else {
		gp_sched_hint(h->sched, c->task, at_ns, at_ns + HINT_LASTS_NS, now_of(h));
	}
	gp_home_settle(h);
}

void gp_home_device_reset(struct gp_home *h, struct gp_gpu *g)
{
	struct gp_worker *w = &h->worker[g->id];

	if (!h->there)
		return;
	gp_device_reset(h->sched, g->id, now_of(h));
	w->nr_errands = 0;
	w->state = GP_WORKER_ASLEEP;
	gp_home_settle(h);
}

/* ---- life ---- */

static void set_params(struct gp_home *h)
{
	const struct gp_scenario *sc = h->sim->sc;
	u64 interval = sc->monitor.interval_ns;

	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		gp_sched_set(h->sched, i, sc->param[i]);
	if (!interval)
		return;
	gp_sched_set(h->sched, GP_LOOK_MIN, interval);
	gp_sched_set(h->sched, GP_LOOK_MAX, interval);
	gp_sched_set(h->sched, GP_LOOK_RELAXED,
		     sc->monitor.relaxed_ns ? sc->monitor.relaxed_ns : interval);
}

static u32 device_flags(const struct gp_home *h)
{
	const struct gp_scenario *sc = h->sim->sc;
	u64 rptr_at = vgpu_value(&h->sim->costs.device, VGPU_RPTR_AT);

	if (sc->monitor.trusts_rptr || sc->monitor.placement == GP_AT_BOUND)
		return GP_RPTR_IS_COMPLETION | (sc->monitor.trusts_rptr ? 0 : GP_CAN_PROBE);
	return (rptr_at == VGPU_RPTR_AT_COMPLETION ? GP_RPTR_IS_COMPLETION : 0) | GP_CAN_PROBE;
}

static int make_scheduler(struct gp_home *h)
{
	const struct gp_sim *sim = h->sim;
	struct gp_sched_args args = {
		.limits = { .devices = sim->nr_gpus, .tasks = GP_SIMMECH_TASKS,
			    .seats = GP_SIMMECH_TASKS * sim->nr_gpus,
			    .queues = VGPU_MAX_QUEUES * sim->nr_gpus },
		.policy = sim->sc->policy, .trace = sim->args->trace,
	};
	int err;

	h->mem = calloc(1, gp_sched_size(&args.limits));
	h->sample = calloc(VGPU_MAX_QUEUES, sizeof(*h->sample));
	h->tasks = calloc(GP_SIMMECH_TASKS, sizeof(*h->tasks));
	if (!h->mem || !h->sample || !h->tasks)
		return -ENOMEM;
	err = gp_sched_init(h->mem, &args, &h->sched);
	if (err)
		return err;
	set_params(h);
	for (u32 i = 0; i < sim->nr_gpus && !err; i++) {
		u32 id;

		err = gp_device_add(h->sched, device_flags(h), &id);
	}
	return err;
}

/* Shifts the phase of the monitor, whose period is independent of the clients. */
static void shift_phase(struct gp_home *h)
{
	u64 period = h->sched->param[GP_LOOK_MAX];
	struct gp_rng rng;

	gp_rng_init(&rng, h->sim->args->seed, "phase of the monitor");
	for (u32 g = 0; g < h->sim->nr_gpus; g++)
		gp_at(&h->sim->engine, gp_rng_below(&rng, period), look_event, h, g);
}

int gp_home_init(struct gp_home *h, struct gp_sim *sim)
{
	const struct gp_mechanism_ops *ops = gp_simmech_ops(sim->sc->how);
	int err;

	h->sim = sim;
	h->tick_at_ns = GP_NEVER;
	for (u32 i = 0; i < GP_SCENARIO_GPUS; i++)
		h->worker[i] = (struct gp_worker){
			.home = h, .device = i, .look_at_ns = GP_NEVER,
		};
	h->there = sim->sc->monitor.placement != GP_AT_NONE &&
		   sim->sc->monitor.placement != GP_AT_SHIM && ops;
	if (!h->there)
		return 0;
	if (gp_mechanism_check(ops))
		return -EINVAL;
	gp_simmech_init(&h->mech, ops);
	h->mech.engine = &sim->engine;
	h->mech.costs = &sim->costs;
	h->mech.gpu = sim->gpu;
	h->mech.nr_gpus = sim->nr_gpus;
	h->mech.grace_default = sim->sc->grace_default;
	gp_worker_serve(h);
	err = make_scheduler(h);
	if (!err)
		shift_phase(h);
	return err;
}

void gp_home_fini(struct gp_home *h)
{
	for (u32 i = 0; i < GP_SCENARIO_GPUS; i++)
		free(h->worker[i].errand);
	free(h->mem);
	free(h->sample);
	free(h->tasks);
}

u64 gp_home_cpu_ns(const struct gp_home *h)
{
	return h->cpu_ns + h->mech.cpu_ns;
}
