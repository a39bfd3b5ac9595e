// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "shim.h"
#include "tracefile.h"

#define HINT_LASTS_NS	(2 * GP_MSEC)

static void settle(struct gp_home *h);
static void worker_run(void *ctx, u64 arg);

static u64 now_of(const struct gp_home *h)
{
	return h->sim->engine.now_ns;
}

/* ---- errands: what a worker does ---- */

static void put_errand(struct gp_home *h, u32 device, const struct gp_todo *todo)
{
	struct gp_worker *w = &h->worker[device];
	struct gp_errand *e;

	if (w->nr_errands == w->room) {
		u32 room = w->room ? w->room * 2 : 8;
		struct gp_errand *errand = realloc(w->errand, room * sizeof(*errand));

		if (!errand) {
			gp_engine_fail(&h->sim->engine, -ENOMEM, "no memory for errands");
			return;
		}
		w->errand = errand;
		w->room = room;
	}
	e = &w->errand[w->nr_errands++];
	e->todo = *todo;
	e->nr_tasks = 0;
	if (todo->verb == GP_DO_SWITCH) {
		e->nr_tasks = todo->action.nr_out + todo->action.nr_in;
		memcpy(e->task, todo->action.tasks, e->nr_tasks * sizeof(e->task[0]));
	}
}

static bool take_errand(struct gp_worker *w, struct gp_errand *ret)
{
	if (!w->nr_errands)
		return false;
	*ret = w->errand[0];
	w->nr_errands--;
	memmove(w->errand, w->errand + 1, w->nr_errands * sizeof(*w->errand));
	return true;
}

/* The worker is free again: is there more? */
static void worker_free(struct gp_worker *w)
{
	w->state = GP_WORKER_BUSY;
	worker_run(w, 0);
}

static void probe_over(void *ctx, u64 task)
{
	struct gp_worker *w = ctx;
	struct gp_home *h = w->home;
	struct gp_probed probed = {
		.device = w->device, .task = (u32)task, .executing = GP_EXEC_UNKNOWN,
		.permille = GP_OCCUPANCY_UNKNOWN,
	};
	u32 waves, permille;

	if (!h->mech.base.ops->probe(&h->mech.base, w->device, (u32)task, &waves, &permille)) {
		probed.executing = waves ? GP_EXEC_YES : GP_EXEC_NO;
		probed.permille = permille;
	}
	/* -EPROTO: it died meanwhile. */
	gp_sched_probed(h->sched, &probed, now_of(h));
	worker_free(w);
}

static void do_probe(struct gp_worker *w, u32 task)
{
	struct gp_home *h = w->home;
	u64 cost = vgpu_value(&h->sim->costs.device, VGPU_PROBE_NS);

	if (h->sim->sc->monitor.placement == GP_AT_BOUND)
		cost = 0;
	h->probes++;
	h->cpu_ns += cost;
	gp_at(&h->sim->engine, now_of(h) + cost, probe_over, w, task);
}

/* Tells the scheduler that nothing came of an action it handed out. */
static void refuse(struct gp_home *h, const struct gp_errand *e)
{
	struct gp_answer answer = {
		.action = e->todo.action.id, .task = GP_NONE, .outcome = GP_REFUSED,
	};

	gp_sched_answer(h->sched, &answer, now_of(h));
}

static void do_switch(struct gp_worker *w, struct gp_errand *e)
{
	struct gp_home *h = w->home;
	int err;

	e->todo.action.tasks = e->task;
	w->action_ns = now_of(h);
	err = h->mech.base.ops->begin(&h->mech.base, &e->todo.action, now_of(h));
	if (err) {		/* a task died between the decision and the command */
		refuse(h, e);
		worker_free(w);
	}
}

static void do_errand(void *ctx, u64 arg)
{
	struct gp_worker *w = ctx;
	struct gp_errand e;

	(void)arg;
	if (!take_errand(w, &e)) {
		worker_free(w);
		return;
	}
	if (e.todo.verb == GP_DO_PROBE)
		do_probe(w, e.todo.task);
	else
		do_switch(w, &e);
}

/* ---- the worker ---- */

static void worker_wake(struct gp_worker *w)
{
	struct gp_home *h = w->home;
	struct gp_look_costs costs;

	if (w->state != GP_WORKER_ASLEEP)
		return;
	gp_look_costs(h, &h->sim->gpu[w->device], &costs);
	w->state = GP_WORKER_WAKING;
	h->wakeups++;
	h->cpu_ns += costs.wake_ns;
	gp_at(&h->sim->engine, now_of(h) + costs.wake_ns, worker_run, w, 0);
}

/* Asks the scheduler; what concerns another GPU is that GPU's worker's. */
static void pull_all(struct gp_home *h)
{
	struct gp_todo todo;

	while (gp_sched_pull(h->sched, now_of(h), h->tasks, &todo)) {
		u32 device = todo.verb == GP_DO_SWITCH ? todo.action.device : todo.device;

		put_errand(h, device, &todo);
	}
}

static void worker_run(void *ctx, u64 arg)
{
	struct gp_worker *w = ctx;
	struct gp_home *h = w->home;
	struct gp_look_costs costs;

	(void)arg;
	gp_look_costs(h, &h->sim->gpu[w->device], &costs);
	pull_all(h);
	if (w->nr_errands) {
		u64 decide = w->errand[0].todo.verb == GP_DO_SWITCH ? costs.decide_ns : 0;

		w->state = GP_WORKER_BUSY;
		h->cpu_ns += costs.decide_ns;
		gp_at(&h->sim->engine, now_of(h) + decide, do_errand, w, 0);
	} else {
		w->state = GP_WORKER_ASLEEP;
	}
	settle(h);
}

/* ---- timers ---- */

static void look_timer(void *ctx, u64 at)
{
	struct gp_worker *w = ctx;

	if (w->look_at_ns != at)
		return;
	w->look_at_ns = GP_NEVER;
	gp_look(w->home, &w->home->sim->gpu[w->device]);
	settle(w->home);
}

static void tick_timer(void *ctx, u64 at)
{
	struct gp_home *h = ctx;

	if (h->tick_at_ns != at)
		return;
	h->tick_at_ns = GP_NEVER;
	gp_sched_tick(h->sched, now_of(h));
	settle(h);
}

static bool is_due(const struct gp_home *h, u32 device)
{
	const struct gp_sched *s = h->sched;

	return ((s->dirty | s->ready) & BIT_ULL(device)) ||
	       s->devices[device].wake_ns <= now_of(h);
}

/* After anything the scheduler was told: who must wake, and when to look or tick next. */
static void settle(struct gp_home *h)
{
	struct gp_engine *e = &h->sim->engine;
	u64 tick = GP_NEVER;

	for (u32 d = 0; d < h->sim->nr_gpus; d++) {
		struct gp_worker *w = &h->worker[d];
		u64 look = gp_look_at(h, &h->sim->gpu[d]), wake = h->sched->devices[d].wake_ns;

		if (is_due(h, d) || w->nr_errands)
			worker_wake(w);
		if (look != GP_NEVER && look < now_of(h))
			look = now_of(h);
		if (look != w->look_at_ns && look != GP_NEVER)
			gp_at(e, look, look_timer, w, look);
		w->look_at_ns = look;
		/* A worker that is up asks by itself; deadlines are noticed without it. */
		if (wake > now_of(h) && wake < tick)
			tick = wake;
	}
	if (tick != h->tick_at_ns && tick != GP_NEVER)
		gp_at(e, tick, tick_timer, h, tick);
	h->tick_at_ns = tick;
}

/* ---- the mechanism's answers ---- */

static void answers_ready(void *ctx)
{
	struct gp_home *h = ctx;
	struct gp_answer answer;

	while (!h->mech.base.ops->poll(&h->mech.base, now_of(h), &answer)) {
		h->timed_out += answer.outcome == GP_TIMED_OUT;
		/* -EPROTO: the task died meanwhile, nobody waits for it. */
		gp_sched_answer(h->sched, &answer, now_of(h));
	}
	settle(h);
}

static void action_ended(void *ctx, u32 device)
{
	struct gp_home *h = ctx;
	struct gp_worker *w = &h->worker[device];
	char name[32];

	snprintf(name, sizeof(name), "switch on GPU %u", device);
	gp_span(&h->sim->engine, "monitor", name, w->action_ns);
	worker_free(w);
}

static void was_reset(void *ctx, u32 device, u64 processes)
{
	struct gp_home *h = ctx;
	u64 repeats = gp_cost(&h->sim->costs, GP_COST_REPEATS);

	for (; processes; processes &= processes - 1)
		gp_client_repeat(&h->sim->client[__builtin_ctzll(processes)], device, repeats);
}

/* ---- clients come and go ---- */

static void tell_scheduler(struct gp_home *h, struct gp_client *c)
{
	struct gp_pointers at = { 0, 0 };
	const char *why = NULL;
	int err = gp_task_add(h->sched, c->spec->devices, &c->spec->class, now_of(h), &c->task,
			      &why);

	for (u32 i = 0; i < c->nr_rings && !err; i++)
		err = gp_queue_add(h->sched, c->task, c->ring[i]->gpu->id, &at, now_of(h),
				   &c->ring[i]->queue);
	if (err) {
		gp_engine_fail(&h->sim->engine, -EINVAL, "[%s]: the scheduler refuses it: %s",
			       c->spec->name, why ? why : strerror(-err));
		return;
	}
	gp_simmech_add_task(&h->mech, c->task, c->number, c->spec->devices);
}

void gp_home_client_came(struct gp_home *h, struct gp_client *c)
{
	/* Making a queue is a cycle of the driver's, whoever watches. */
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
	settle(h);
}

void gp_home_client_went(struct gp_home *h, struct gp_client *c)
{
	if (!h->there || c->task == GP_NONE)
		return;
	gp_tally_life_over(h->sim, c->number);
	gp_task_del(h->sched, c->task, now_of(h));
	gp_simmech_del_task(&h->mech, c->task);
	c->task = GP_NONE;
	settle(h);
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
	settle(h);
}

void gp_home_submitted(struct gp_home *h, struct gp_client *c, struct gp_gpu *g)
{
	const struct gp_monitor_spec *m = &h->sim->sc->monitor;

	if (!h->there)
		return;
	if (m->placement == GP_AT_BOUND || (m->placement == GP_AT_MANUAL && c->spec->online))
		look_event(h, g->id);
	else if (m->placement == GP_AT_USER_EVENT && m->phase == GP_PHASE_WORST && c->spec->online)
		gp_at(&h->sim->engine,
		      now_of(h) + gp_cost(&h->sim->costs, GP_COST_USER_EVENT), look_event, h, g->id);
	else if (m->phase == GP_PHASE_WORST)
		settle(h);
}

void gp_home_completed(struct gp_home *h, struct gp_client *c, struct gp_gpu *g)
{
	if (h->there && h->sim->sc->monitor.placement == GP_AT_BOUND && c->spec->online)
		gp_at(&h->sim->engine, now_of(h), look_event, h, g->id);
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
	gp_sched_hint(h->sched, c->task, at_ns, at_ns + HINT_LASTS_NS, now_of(h));
	settle(h);
}

void gp_home_device_reset(struct gp_home *h, struct gp_gpu *g)
{
	struct gp_worker *w = &h->worker[g->id];

	if (!h->there)
		return;
	gp_device_reset(h->sched, g->id, now_of(h));
	w->nr_errands = 0;
	w->state = GP_WORKER_ASLEEP;
	settle(h);
}

/* ---- life ---- */

/* A monitor with a fixed interval cannot judge what happens between two looks. */
static void set_params(struct gp_home *h)
{
	const struct gp_scenario *sc = h->sim->sc;
	u64 interval = sc->monitor.interval_ns;

	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		gp_sched_set(h->sched, i, sc->param[i]);
	if (sc->monitor.placement == GP_AT_REQUEST)
		interval = GP_SEC;
	if (!interval)
		return;
	gp_sched_set(h->sched, GP_LOOK_MIN, interval);
	gp_sched_set(h->sched, GP_LOOK_MAX, interval);
	gp_sched_set(h->sched, GP_LOOK_RELAXED,
		     sc->monitor.relaxed_ns ? sc->monitor.relaxed_ns : interval);
	if (interval * 4 > sc->param[GP_STALL_AFTER])
		gp_sched_set(h->sched, GP_STALL_AFTER, interval * 4);
	if (interval * 4 > sc->param[GP_BARRIER_AFTER])
		gp_sched_set(h->sched, GP_BARRIER_AFTER, interval * 4);
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
		.policy = sim->sc->policy,
	};
	int err;

	if (sim->args->trace) {
		gp_tracefile_begin(sim->args->trace);
		args.trace = (struct gp_trace){ gp_tracefile_emit, sim->args->trace };
	}
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

int gp_home_init(struct gp_home *h, struct gp_sim *sim)
{
	const struct gp_mechanism_ops *ops = gp_simmech_ops(sim->sc->how);

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
	h->mech.ready = answers_ready;
	h->mech.ended = action_ended;
	h->mech.was_reset = was_reset;
	h->mech.ctx = h;
	return make_scheduler(h);
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
