// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "worker.h"

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

/* Marks the worker as free, and begins its next errand. */
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
	gp_look(h, &h->sim->gpu[w->device]);
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

/* Tells the scheduler that an action failed. */
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

/* Asks the scheduler. Actions on another GPU go to the worker of that GPU. */
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
	gp_home_settle(h);
}

/* ---- timers ---- */

static void look_timer(void *ctx, u64 at)
{
	struct gp_worker *w = ctx;

	if (w->look_at_ns != at)
		return;
	w->look_at_ns = GP_NEVER;
	gp_look(w->home, &w->home->sim->gpu[w->device]);
	gp_home_settle(w->home);
}

static void tick_timer(void *ctx, u64 at)
{
	struct gp_home *h = ctx;

	if (h->tick_at_ns != at)
		return;
	h->tick_at_ns = GP_NEVER;
	gp_sched_tick(h->sched, now_of(h));
	gp_home_settle(h);
}

static bool is_due(const struct gp_home *h, u32 device)
{
	const struct gp_sched *s = h->sched;

	return ((s->dirty | s->ready) & BIT_ULL(device)) ||
	       s->devices[device].wake_ns <= now_of(h);
}

/* Called after any call of the scheduler: wakes workers and sets the timers. */
void gp_home_settle(struct gp_home *h)
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
		/* A worker that is awake asks by itself, and the tick handles deadlines. */
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
		/* -EPROTO: the task died meanwhile, no answer is awaited. */
		gp_sched_answer(h->sched, &answer, now_of(h));
	}
	gp_home_settle(h);
}

static void action_ended(void *ctx, u32 device)
{
	struct gp_home *h = ctx;
	struct gp_worker *w = &h->worker[device];
	char track[32];

	snprintf(track, sizeof(track), "monitor of GPU %u", device);
	gp_span(&h->sim->engine, track, "switch", w->action_ns);
	worker_free(w);
}

static void was_reset(void *ctx, u32 device, u64 processes)
{
	struct gp_home *h = ctx;
	u64 repeats = gp_cost(&h->sim->costs, GP_COST_REPEATS);

	for (; processes; processes &= processes - 1)
		gp_client_repeat(&h->sim->client[__builtin_ctzll(processes)], device, repeats);
}

void gp_worker_serve(struct gp_home *h)
{
	h->mech.ready = answers_ready;
	h->mech.ended = action_ended;
	h->mech.was_reset = was_reset;
	h->mech.ctx = h;
}
