// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a large node. Unused entries take no memory, because their pages are never touched. */
static const struct gp_limits limits = {
	.devices = GP_MAX_DEVICES, .tasks = GP_SCHEDULER_TASKS, .seats = GP_SCHEDULER_SEATS,
	.queues = 16384,
};

enum { ANSWERS = 4096 };	/* per run; the rest waits for the next */

static u64 sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* ---- settings ---- */

static int set_policy(struct gp_backend *b, const char **why)
{
	return gp_sched_set_policy(gp_scheduler_of(b)->sched, b->h->policy, b->h->now_ns, why);
}

static void set(struct gp_backend *b)
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

static int task_add(struct gp_backend *b, u64 devices, const struct gp_class *class,
			  u32 *ret, const char **why)
{
	struct gp_sched *s = gp_scheduler_of(b)->sched;
	int err = gp_task_add(s, devices, class, b->h->now_ns, ret, why);

	/* Unknown until its queues are known. */
	return err ? err : gp_task_set_unknown(s, *ret, true, b->h->now_ns);
}

static void task_del(struct gp_backend *b, u32 task)
{
	u32 i;

	for (i = 0; i < b->h->nr_processes; i++)
		if (b->h->process[i]->task == task)
			gp_queues_forget(gp_scheduler_of(b), b->h->process[i]);
	gp_occupancy_forget(gp_scheduler_of(b), task);
	gp_task_del(gp_scheduler_of(b)->sched, task, b->h->now_ns);
}

static int task_class(struct gp_backend *b, u32 task, const struct gp_class *class,
			    const char **why)
{
	return gp_task_set_class(gp_scheduler_of(b)->sched, task, class, b->h->now_ns, why);
}

static int admits(struct gp_backend *b, const struct gp_policy *policy, u32 task,
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

static void process_del(struct gp_backend *b, struct gp_gpu_process *r)
{
	gp_queues_forget(gp_scheduler_of(b), r);
}

static void reset(struct gp_backend *b)
{
	u32 d;

	for (d = 0; d < b->h->nr_gpus; d++)
		gp_device_reset(gp_scheduler_of(b)->sched, d, b->h->now_ns);
}

/* ---- queues ---- */

#define CROWDED	"it cannot be watched: too many queues of its user"

static u32 queues_of(const struct gp_decider *h, uid_t user)
{
	u32 i, j, n = 0;

	for (i = 0; i < h->nr_processes; i++)
		for (j = 0; h->process[i]->user == user && j < h->process[i]->nr_watched; j++)
			n += h->process[i]->watched[j].queue != GP_NONE;
	return n;
}

/* A user gets an eighth of all queues, half of that when few are left. Root has no limit. */
bool gp_scheduler_may_watch(struct gp_scheduler *s, struct gp_gpu_process *r)
{
	bool crowded = s->sched->queues_used >= limits.queues / 4 * 3;
	u64 now = s->base.h->now_ns;

	/* Cache the result, because it is called at each look for each remaining queue. */
	if (r->crowded && now < r->crowded_ns + GP_SEC)
		return false;
	if (s->share.user != r->user || s->share.at_ns != now) {
		s->share.user = r->user;
		s->share.at_ns = now;
		s->share.queues = queues_of(s->base.h, r->user);
	}
	r->crowded = r->user && s->share.queues >= limits.queues / (crowded ? 16 : 8);
	if (r->crowded && !r->trouble[0])
		snprintf(r->trouble, sizeof(r->trouble), CROWDED);
	if (!r->crowded && !strcmp(r->trouble, CROWDED))
		r->trouble[0] = 0;
	s->share.queues += !r->crowded;
	r->crowded_ns = now;
	return !r->crowded;
}

/* ---- by hand ---- */

static int hold(struct gp_backend *b, u32 task, u64 lease_ns)
{
	struct gp_sched *s = gp_scheduler_of(b)->sched;

	return lease_ns ? gp_sched_hold(s, task, lease_ns, b->h->now_ns) :
			  gp_sched_release(s, task, b->h->now_ns);
}

static int hint(struct gp_backend *b, u32 task, u64 at_ns, u64 until_ns)
{
	return gp_sched_hint(gp_scheduler_of(b)->sched, task, at_ns, until_ns, b->h->now_ns);
}

/* ---- looks, actions and answers ---- */

static bool is_mistrusted(struct gp_scheduler *s, struct gp_gpu_process *r)
{
	if (r->judged != s->troubles + 1) {
		r->mistrusted = s->mistrusts && s->mistrusts(s, r->user);
		r->judged = s->troubles + 1;
	}
	return r->mistrusted;
}

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
		if (task == GP_NONE || !(h->process[i]->devices & BIT_ULL(device)))
			continue;
		s->unknown[task] |= !gp_queues_look(s, h->process[i], device, &to) ||
				    is_mistrusted(s, h->process[i]) || h->process[i]->crowded;
	}
	for (i = 0; i < h->nr_processes; i++) {
		task = h->process[i]->task;
		if (task != GP_NONE && (h->process[i]->devices & BIT_ULL(device)))
			gp_task_set_unknown(s->sched, task, s->unknown[task], h->now_ns);
	}
	s->asked_ns[device] = 0;
	/* On an unwatched GPU a look only finds out whether queues are known. */
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
		/*
		 * Answers that came during this run get its present time, not the time of its
		 * begin.
		 */
		now = h->args.clock(h->args.ctx);
		h->now_ns = now > h->now_ns ? now : h->now_ns;
		/* A stray answer is of a task that has ended. */
		if (gp_sched_answer(s->sched, &answer, h->now_ns))
			h->stats.stray++;
		h->attach_due |= h->attach_later;
	}
}

/*
 * Returns true if a look without moved pointers can change a decision. It can only for a task that
 * is not known to starve, or that the policy asks about. Readers report moved pointers.
 */
static bool judges(const struct gp_sched *s, const struct gp_device *d)
{
	u32 at;

	for (at = d->active; at != GP_NONE; at = s->seats[at].next_active)
		if (s->seats[at].work == GP_PENDING && (!s->seats[at].starved || s->seats[at].ask))
			return true;
	return false;
}

/* Returns when to look at @device: as the scheduler wants, or for a recorder. */
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

static void decide(struct gp_backend *b)
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

static void run(struct gp_backend *b)
{
	take_answers(gp_scheduler_of(b));
	decide(b);
	if (gp_occupancy_run(gp_scheduler_of(b)))
		decide(b);
}

static u64 wake_at(struct gp_backend *b)
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

static bool busy(struct gp_backend *b)
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

static int seat(struct gp_backend *b, u32 task, u32 device, struct gp_seat_view *ret)
{
	const struct gp_sched *s = gp_scheduler_of(b)->sched;
	const struct gp_seat *seat = gp_sched_seat(s, task, device);

	if (!seat)
		return -ENOENT;
	*ret = (struct gp_seat_view){ seat->state, seat->work, seat->since_ns,
				      s->tasks[task].manual_until_ns };
	return 0;
}

static int account(struct gp_backend *b, u32 task, struct gp_account *ret)
{
	return gp_sched_sums(gp_scheduler_of(b)->sched, task, b->h->now_ns, ret);
}

static const struct gp_hist *parts(struct gp_backend *b, u32 task)
{
	return gp_scheduler_of(b)->sched->tasks[task].account.part;
}

static void device(struct gp_backend *b, u32 device, struct gp_device_view *ret)
{
	const struct gp_sched *s = gp_scheduler_of(b)->sched;
	u32 seat = s->devices[device].action_cause;

	ret->watched = gp_sched_look_at(s, device) != GP_NEVER;
	ret->cause = seat == GP_NONE ? GP_NONE : s->seats[seat].task;
}

static void status(struct gp_backend *b, struct gp_backend_status *ret)
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

/* Called from inside the scheduler, so it must not call the scheduler. */
static void emit(void *ctx, const struct gp_rec *rec)
{
	const struct gp_decider *h = ((struct gp_scheduler *)ctx)->base.h;

	if (h->watcher.emit)
		h->watcher.emit(h->watcher.ctx, rec);
	if (h->recorder.emit)
		record(ctx, rec);
}

static void trace(struct gp_backend *b)
{
	bool wanted = b->h->watcher.emit || b->h->recorder.emit;

	gp_scheduler_of(b)->sched->trace = (struct gp_trace){ wanted ? emit : NULL, b };
}

static void describe(struct gp_backend *b)
{
	const struct gp_trace to = { record, b };

	gp_trace_describe(gp_scheduler_of(b)->sched, &to);
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
		trace(&s->base);
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

/* ---- the backend that carries nothing out ---- */

static void none_free(struct gp_backend *b)
{
	gp_scheduler_fini(gp_scheduler_of(b));
	free(b);
}

const struct gp_backend_ops gp_scheduler_ops = {
	.name		= "none",
	.tasks		= GP_SCHEDULER_TASKS,
	.free		= none_free,
	.set_policy	= set_policy,
	.set		= set,
	.task_add	= task_add,
	.task_del	= task_del,
	.task_class	= task_class,
	.admits		= admits,
	.process_del	= process_del,
	.reset		= reset,
	.hold		= hold,
	.hint		= hint,
	.look		= gp_scheduler_look,
	.heard		= gp_queues_heard,
	.run		= run,
	.decide		= decide,
	.scanned	= gp_queues_refresh,
	.wake_at	= wake_at,
	.busy		= busy,
	.seat		= seat,
	.account	= account,
	.parts		= parts,
	.device		= device,
	.status		= status,
	.trace		= trace,
	.describe	= describe,
};

int gp_backend_none(struct gp_decider *h, struct gp_backend **ret, char *why)
{
	struct gp_scheduler *s = calloc(1, sizeof(*s));
	int err = s ? gp_scheduler_init(s, h, NULL) : -ENOMEM;

	if (err) {
		snprintf(why, GP_DECIDER_WHY, "out of memory");
		if (s)
			none_free(&s->base);
		return err;
	}
	s->base.ops = &gp_scheduler_ops;
	*ret = &s->base;
	return 0;
}
