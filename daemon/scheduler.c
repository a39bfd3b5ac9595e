// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "scheduler.h"

#include <stdlib.h>

/* Room for a large node; the memory of what is not used is never touched. */
static const struct gp_limits limits = {
	.devices = GP_MAX_DEVICES, .tasks = 1024, .seats = GP_SCHEDULER_SEATS, .queues = 16384,
};

enum { ANSWERS = 4096 };	/* of one run; the rest waits for the next */

static u64 sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* ---- life ---- */

int gp_scheduler_init(struct gp_scheduler *s, struct gp_decider *h, struct gp_mechanism *mechanism)
{
	struct gp_sched_args args = { .limits = limits };
	u32 i, device;
	int err;

	s->base.h = h;
	s->base.fd = -1;
	s->mechanism = mechanism;
	s->memory = calloc(1, gp_sched_size(&limits));
	s->samples = calloc(limits.queues, sizeof(*s->samples));
	s->tasks = calloc(limits.tasks, sizeof(*s->tasks));
	s->probe = calloc(GP_SCHEDULER_PROBES, sizeof(*s->probe));
	s->unknown = calloc(limits.tasks, sizeof(*s->unknown));
	if (!s->memory || !s->samples || !s->tasks || !s->probe || !s->unknown)
		return -ENOMEM;
	err = gp_sched_init(s->memory, &args, &s->sched);
	for (i = 0; !err && i < h->nr_gpus; i++)
		err = gp_device_add(s->sched, GP_CAN_PROBE, &device);
	if (!err)
		gp_scheduler_trace(&s->base);
	return err;
}

void gp_scheduler_fini(struct gp_scheduler *s)
{
	free(s->memory);
	free(s->samples);
	free(s->tasks);
	free(s->probe);
	free(s->unknown);
}

/* ---- settings ---- */

int gp_scheduler_set_policy(struct gp_backend *b, const char **why)
{
	return gp_sched_set_policy(gp_scheduler_of(b)->sched, b->h->policy, b->h->now_ns, why);
}

void gp_scheduler_set(struct gp_backend *b)
{
	struct gp_sched *s = gp_scheduler_of(b)->sched;
	bool on = b->h->enabled && !b->h->leaving;
	u32 i;

	for (i = 0; i < GP_NR_PARAMS; i++)
		if (s->param[i] != b->h->param[i])
			gp_sched_set(s, (enum gp_param)i, b->h->param[i]);
	if (s->enabled != on)
		gp_sched_enable(s, on, b->h->now_ns);
}

/* ---- tasks ---- */

int gp_scheduler_task_add(struct gp_backend *b, u64 devices, const struct gp_class *class,
			  u32 *ret, const char **why)
{
	struct gp_sched *s = gp_scheduler_of(b)->sched;
	int err = gp_task_add(s, devices, class, b->h->now_ns, ret, why);

	/* Until its queues are. */
	return err ? err : gp_task_set_unknown(s, *ret, true, b->h->now_ns);
}

void gp_scheduler_task_del(struct gp_backend *b, u32 task)
{
	u32 i;

	for (i = 0; i < b->h->nr_processes; i++)
		if (b->h->process[i]->task == task)
			gp_queues_forget(gp_scheduler_of(b), b->h->process[i]);
	gp_occupancy_forget(gp_scheduler_of(b), task);
	gp_task_del(gp_scheduler_of(b)->sched, task, b->h->now_ns);
}

int gp_scheduler_task_class(struct gp_backend *b, u32 task, const struct gp_class *class,
			    const char **why)
{
	return gp_task_set_class(gp_scheduler_of(b)->sched, task, class, b->h->now_ns, why);
}

int gp_scheduler_admits(struct gp_backend *b, const struct gp_policy *policy, u32 task,
			const struct gp_class *class, const char **why)
{
	const struct gp_sched *s = gp_scheduler_of(b)->sched;
	int err = 0;
	u32 d;

	for (d = 0; !err && policy->admit && d < b->h->nr_gpus; d++)
		if (s->tasks[task].devices & BIT_ULL(d))
			err = policy->admit(s, d, task, class, why);
	return err;
}

void gp_scheduler_process_del(struct gp_backend *b, struct gp_gpu_process *r)
{
	gp_queues_forget(gp_scheduler_of(b), r);
}

void gp_scheduler_reset(struct gp_backend *b)
{
	u32 d;

	for (d = 0; d < b->h->nr_gpus; d++)
		gp_device_reset(gp_scheduler_of(b)->sched, d, b->h->now_ns);
}

/* ---- by hand ---- */

int gp_scheduler_hold(struct gp_backend *b, u32 task, u64 lease_ns)
{
	struct gp_sched *s = gp_scheduler_of(b)->sched;

	return lease_ns ? gp_sched_hold(s, task, lease_ns, b->h->now_ns) :
			  gp_sched_release(s, task, b->h->now_ns);
}

int gp_scheduler_hint(struct gp_backend *b, u32 task, u64 at_ns, u64 until_ns)
{
	return gp_sched_hint(gp_scheduler_of(b)->sched, task, at_ns, until_ns, b->h->now_ns);
}

/* ---- looks, actions and answers ---- */

void gp_scheduler_look(struct gp_backend *b, u32 device)
{
	struct gp_scheduler *s = gp_scheduler_of(b);
	struct gp_decider *h = b->h;
	u64 began = h->args.clock(h->args.ctx), took;
	struct gp_samples to = { s->samples, 0, limits.queues };
	u32 i, task;

	for (i = 0; i < limits.tasks; i++)
		s->unknown[i] = false;
	for (i = 0; i < h->nr_processes; i++) {
		task = h->process[i]->task;
		if (task != GP_NONE && (h->process[i]->devices & BIT_ULL(device)))
			s->unknown[task] |= !gp_queues_look(s, h->process[i], device, &to);
	}
	for (i = 0; i < h->nr_processes; i++) {
		task = h->process[i]->task;
		if (task != GP_NONE && (h->process[i]->devices & BIT_ULL(device)))
			gp_task_set_unknown(s->sched, task, s->unknown[task], h->now_ns);
	}
	s->asked_ns[device] = 0;
	/* On a GPU that is not watched a look only says whether queues are known. */
	h->stats.looks += s->sched->devices[device].look_ns != GP_NEVER || h->recorder.emit;
	took = h->args.clock(h->args.ctx) - began;
	if (took > h->stats.look_ns_max)
		h->stats.look_ns_max = took;
	gp_sched_look(s->sched, device, to.at, to.nr, h->now_ns);
}

static void begin(struct gp_scheduler *s, const struct gp_action *action)
{
	struct gp_answer refused = { .action = action->id, .task = GP_NONE,
				     .outcome = GP_REFUSED };
	struct gp_decider *h = s->base.h;

	if (action->nr_out && h->args.holding)
		h->args.holding(h->args.ctx);
	if (s->mechanism && !s->mechanism->ops->begin(s->mechanism, action, h->now_ns))
		return;
	h->stats.refused++;
	gp_sched_answer(s->sched, &refused, h->now_ns);
}

static void take_answers(struct gp_scheduler *s)
{
	struct gp_mechanism *m = s->mechanism;
	struct gp_decider *h = s->base.h;
	struct gp_answer answer;
	u64 now;
	u32 i;

	for (i = 0; m && i < ANSWERS && !m->ops->poll(m, h->now_ns, &answer); i++) {
		/* What came during this run did not happen before it. */
		now = h->args.clock(h->args.ctx);
		h->now_ns = now > h->now_ns ? now : h->now_ns;
		/* The task of a stray answer has ended. */
		if (gp_sched_answer(s->sched, &answer, h->now_ns))
			h->stats.stray++;
		h->attach_due |= h->attach_later;
	}
}

/*
 * Would a look at which no pointer has moved change anything? Only for a task that is not known to
 * starve, or that the policy asks about. Readers say when a pointer moves.
 */
static bool judges(const struct gp_sched *s, const struct gp_device *d)
{
	u32 at;

	for (at = d->active; at != GP_NONE; at = s->seats[at].next_active)
		if (s->seats[at].work == GP_PENDING && (!s->seats[at].starved || s->seats[at].ask))
			return true;
	return false;
}

/* When @device is to be looked at: as the scheduler wants it, or for a recorder. */
static u64 look_at(const struct gp_scheduler *s, u32 device)
{
	const struct gp_device *d = &s->sched->devices[device];
	u64 at = judges(s->sched, d) ? gp_sched_look_at(s->sched, device) : GP_NEVER;

	if (s->base.h->recorder.emit && d->nr_seats)
		at = sooner(at, d->looked_ns + s->sched->param[GP_LOOK_RELAXED]);
	if (at == GP_NEVER || !s->asked_ns[device])
		return at;
	return s->asked_ns[device] + sooner(d->look_ns, s->sched->param[GP_LOOK_RELAXED]);
}

void gp_scheduler_decide(struct gp_backend *b)
{
	struct gp_scheduler *s = gp_scheduler_of(b);
	struct gp_todo todo;
	u32 d;

	for (d = 0; d < b->h->nr_gpus; d++)
		if (look_at(s, d) <= b->h->now_ns && gp_queues_looked(s, d))
			gp_scheduler_look(b, d);
	while (gp_sched_pull(s->sched, b->h->now_ns, s->tasks, &todo)) {
		if (todo.verb == GP_DO_SWITCH)
			begin(s, &todo.action);
		else
			gp_occupancy_ask(s, todo.device, todo.task);
	}
	gp_queues_set_intervals(s);
}

void gp_scheduler_run(struct gp_backend *b)
{
	take_answers(gp_scheduler_of(b));
	gp_scheduler_decide(b);
	if (gp_occupancy_run(gp_scheduler_of(b)))
		gp_scheduler_decide(b);
}

u64 gp_scheduler_wake_at(struct gp_backend *b)
{
	struct gp_scheduler *s = gp_scheduler_of(b);
	u64 at = gp_sched_wake_at(s->sched);
	u32 d;

	if (gp_occupancy_due(s))
		return b->h->now_ns;
	for (d = 0; d < b->h->nr_gpus; d++)
		at = sooner(at, look_at(s, d));
	return at;
}

bool gp_scheduler_busy(struct gp_backend *b)
{
	struct gp_decider *h = b->h;
	u32 i;

	for (i = 0; i < h->nr_processes; i++)
		if (h->process[i]->attachment == GP_ATTACHING || !gp_tasks_at_rest(h,
		    h->process[i]))
			return true;
	for (i = 0; i < h->nr_gpus; i++)
		if (gp_sched_look_at(gp_scheduler_of(b)->sched, i) != GP_NEVER)
			return true;
	return false;
}

/* ---- reading ---- */

int gp_scheduler_seat(struct gp_backend *b, u32 task, u32 device, struct gp_seat_view *ret)
{
	const struct gp_sched *s = gp_scheduler_of(b)->sched;
	const struct gp_seat *seat = gp_sched_seat(s, task, device);

	if (!seat)
		return -ENOENT;
	*ret = (struct gp_seat_view){ seat->state, seat->work, seat->since_ns,
				      s->tasks[task].manual_until_ns };
	return 0;
}

int gp_scheduler_account(struct gp_backend *b, u32 task, struct gp_account *ret)
{
	return gp_sched_account(gp_scheduler_of(b)->sched, task, b->h->now_ns, ret);
}

void gp_scheduler_device(struct gp_backend *b, u32 device, struct gp_device_view *ret)
{
	const struct gp_sched *s = gp_scheduler_of(b)->sched;
	u32 seat = s->devices[device].action_cause;

	ret->watched = gp_sched_look_at(s, device) != GP_NEVER;
	ret->cause = seat == GP_NONE ? GP_NONE : s->seats[seat].task;
}

void gp_scheduler_status(struct gp_backend *b, struct gp_backend_status *ret)
{
	const struct gp_sched *s = gp_scheduler_of(b)->sched;

	*ret = (struct gp_backend_status){ .policy = s->policy, .ejected = s->ejected,
					   .ejections = s->ejections,
					   .stale_samples = s->stale_samples };
}

/* ---- recording ---- */

/* The scheduler numbers devices; a recording numbers GPUs. */
static void record(void *ctx, const struct gp_rec *rec)
{
	const struct gp_decider *h = ((struct gp_scheduler *)ctx)->base.h;
	struct gp_rec as = *rec;

	if (as.kind == GP_REC_DEVICE_ADD && as.device < h->nr_gpus)
		as.arg[1] = h->gpu[as.device].index;
	h->recorder.emit(h->recorder.ctx, &as);
}

/* Called by the scheduler, which must not be called from here. */
static void emit(void *ctx, const struct gp_rec *rec)
{
	const struct gp_decider *h = ((struct gp_scheduler *)ctx)->base.h;

	if (h->watcher.emit)
		h->watcher.emit(h->watcher.ctx, rec);
	if (h->recorder.emit)
		record(ctx, rec);
}

void gp_scheduler_trace(struct gp_backend *b)
{
	bool wanted = b->h->watcher.emit || b->h->recorder.emit;

	gp_scheduler_of(b)->sched->trace = (struct gp_trace){ wanted ? emit : NULL, b };
}

void gp_scheduler_describe(struct gp_backend *b)
{
	const struct gp_trace to = { record, b };

	gp_trace_describe(gp_scheduler_of(b)->sched, &to);
}
