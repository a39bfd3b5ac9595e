// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/kmod.h"
#include "mirror.h"

enum { EVENTS = 4096 };	/* of one run; the rest waits for the next */

#define AGAIN_NS	(1 * GP_SEC)

/* A task of the home's scheduler in the kernel. */
struct task {
	u32 handle;		/* 0: not attached */
	u32 nr;
	pid_t pid[GP_UAPI_MEMBERS];
	u64 again_ns;		/* not to be tried again before */
};

struct kernel {
	struct gp_doer base;	/* first */
	struct gp_home *h;
	int fd;
	bool missed;		/* events had no room: states are to be read */
	const struct gp_uapi_stats *stats;	/* the module's; NULL: cannot be had */
	u64 attaches, failures, detaches;
	struct task task[GP_MAX_TASKS];
};

static struct kernel *of(const struct gp_home *h)
{
	return (struct kernel *)h->doer;
}

static void trouble(struct kernel *k, const char *what, int err)
{
	if (err)
		gp_home_news(k->h, GP_NEWS_TROUBLE, NULL, "the module refuses %s: %s", what,
			     strerror(-err));
}

/* ---- to the kernel: what the home's scheduler is told ---- */

static void forward_hold(struct kernel *k, const struct gp_rec *rec)
{
	struct gp_kmod_move move = { .tasks = &k->task[rec->task].handle, .nr = 1 };

	if (!k->task[rec->task].handle)
		return;
	if (rec->kind == GP_REC_RELEASE) {
		trouble(k, "to let it back", gp_kmod_resume(k->fd, &move, NULL));
		return;
	}
	move.lease_ns = rec->arg[0];
	trouble(k, "to hold it", gp_kmod_preempt(k->fd, &move, NULL));
}

static void forward_hint(struct kernel *k, const struct gp_rec *rec)
{
	u64 now = k->h->now_ns, at = rec->arg[0], until = rec->arg[1];

	if (k->task[rec->task].handle && until > at)
		trouble(k, "a hint", gp_kmod_hint(k->fd, k->task[rec->task].handle,
						  at > now ? at - now : 0, until - at));
}

static void forward_class(struct kernel *k, const struct gp_rec *rec)
{
	const struct gp_class class = {
		.priority = (u32)rec->arg[1], .weight = (u32)rec->arg[2],
		.flags = (u32)rec->arg[3], .period_ns = rec->arg[4], .budget_ns = rec->arg[5],
		.deadline_ns = rec->arg[6],
	};

	if (k->task[rec->task].handle)
		trouble(k, "a class", gp_kmod_set_class(k->fd, k->task[rec->task].handle, &class));
}

/* The module has bounds of its own: what is beyond them is not set. */
static void forward_param(struct kernel *k, u32 param, u64 value)
{
	int err = gp_kmod_set_param(k->fd, gp_params[param].name, value);

	trouble(k, gp_params[param].name, err);
}

/* From inside the home's scheduler: never calls it. */
static void forward(void *ctx, const struct gp_rec *rec)
{
	struct kernel *k = ctx;

	switch (rec->kind) {
	case GP_REC_HOLD:
	case GP_REC_RELEASE:
		forward_hold(k, rec);
		break;
	case GP_REC_HINT:
		forward_hint(k, rec);
		break;
	case GP_REC_TASK_CLASS:
		forward_class(k, rec);
		break;
	case GP_REC_ENABLE:
		trouble(k, "the switch", gp_kmod_enable(k->fd, rec->arg[0]));
		break;
	case GP_REC_POLICY:
		trouble(k, "the policy",
			gp_kmod_set_policy(k->fd, k->h->sched->policy->name));
		break;
	case GP_REC_PARAM:
		forward_param(k, (u32)rec->arg[0], rec->arg[1]);
		break;
	}
	if (k->h->watcher.emit)
		k->h->watcher.emit(k->h->watcher.ctx, rec);
}

/* ---- tasks ---- */

static int kernel_task_del(struct gp_doer *d, u32 task)
{
	struct kernel *k = (struct kernel *)d;

	if (k->task[task].handle) {
		gp_kmod_detach(k->fd, k->task[task].handle);
		k->detaches++;
	}
	k->task[task] = (struct task){ 0 };
	return 0;
}

/* Its task is attached anew, without it, by the next tend. */
static int kernel_process_del(struct gp_doer *d, pid_t pid)
{
	(void)d;
	(void)pid;
	return 0;
}

/* The processes of @task, as they are now. */
static u32 members_of(const struct gp_home *h, u32 task, struct gp_kmod_process *to)
{
	u32 i, n = 0;

	for (i = 0; i < h->nr_residents && n < GP_UAPI_MEMBERS; i++)
		if (h->resident[i]->task == task)
			to[n++] = (struct gp_kmod_process){ h->resident[i]->pid,
							    h->resident[i]->start };
	return n;
}

static bool same_members(const struct task *t, const struct gp_kmod_process *p, u32 nr)
{
	u32 i;

	if (!t->handle || t->nr != nr)
		return false;
	for (i = 0; i < nr; i++)
		if (t->pid[i] != p[i].pid)
			return false;
	return true;
}

static const char *why_not(int err)
{
	switch (err) {
	case -EEXIST:
		return "somebody else has attached it to the module";
	case -EXDEV:
	case -EBADF:
		return "it has no descriptor of the driver that is its own";
	case -EPERM:
		return "it may not be traced, so its descriptor cannot be had";
	case -ENOSPC:
		return "the module does not admit it";
	case -EOPNOTSUPP:
		return "the driver is not the one the module was built for";
	case -ENODEV:
		return "a GPU was unbound since it began";
	default:
		return strerror(-err);
	}
}

static void gripped(struct gp_home *h, u32 task, int err)
{
	u32 i;

	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];

		if (r->task != task)
			continue;
		r->grip = err ? GP_GRIP_NONE : GP_GRIP_HAS;
		if (!err) {
			h->stats.attached++;
			r->trouble[0] = 0;
			gp_home_news(h, GP_NEWS_PROCESS, r, "is the kernel's from now on");
		} else if (err != -ESRCH && strcmp(r->trouble, why_not(err))) {
			h->stats.attach_failed++;
			snprintf(r->trouble, sizeof(r->trouble), "%s", why_not(err));
			gp_home_news(h, GP_NEWS_TROUBLE, r, "cannot be preempted: %s", r->trouble);
		}
		/* What can be stopped, and what is known of that, is the class's. */
		gp_job_settle(h, r);
	}
}

/* A hold that waited for it to be attached, or was let go when it was attached anew. */
static void hold_again(struct gp_home *h, u32 task)
{
	u64 until = h->sched->tasks[task].manual_until_ns;
	u64 lease = until > h->now_ns ? until - h->now_ns : 0;
	const struct gp_resident *r = NULL;
	u32 i;

	for (i = 0; i < h->nr_residents && !r; i++)
		if (h->resident[i]->task == task)
			r = h->resident[i];
	if (!r)
		return;
	if (r->lease_ns && h->now_ns < r->lease_until_ns)
		lease = r->lease_ns;
	if (lease)
		gp_sched_hold(h->sched, task, lease, h->now_ns);
	gp_job_lease(h, r, 0, 0);
}

/* What was attached or left a moment ago is on the GPU. */
static void show_on(struct kernel *k, u32 task)
{
	u32 d;

	for (d = 0; d < k->h->nr_gpus; d++)
		gp_mirror_state(k->h->sched, task, d, GP_ON);
}

static void attach(struct kernel *k, u32 task, const struct gp_kmod_process *p, u32 nr)
{
	struct gp_home *h = k->h;
	struct task *t = &k->task[task];
	u32 i;
	int err;

	if (h->now_ns < t->again_ns)
		return;
	kernel_task_del(&k->base, task);
	/* As the scheduler knows it; what it may do is told once it is there. */
	err = gp_kmod_attach(k->fd, p, nr, &h->sched->tasks[task].class, &t->handle);
	t->again_ns = err ? h->now_ns + AGAIN_NS : 0;
	k->attaches += !err;
	k->failures += !!err;
	t->nr = nr;
	for (i = 0; i < nr; i++)
		t->pid[i] = p[i].pid;
	show_on(k, task);
	gripped(h, task, err);
	if (!err)
		hold_again(h, task);
}

static void leave_all(struct kernel *k)
{
	u32 task, i;

	for (task = 0; task < k->h->sched->limits.tasks; task++) {
		if (k->task[task].handle)
			show_on(k, task);
		kernel_task_del(&k->base, task);
	}
	for (i = 0; i < k->h->nr_residents; i++)
		k->h->resident[i]->grip = GP_GRIP_NONE;
}

void gp_kernel_tend(struct gp_home *h)
{
	struct kernel *k = of(h);
	struct gp_kmod_process p[GP_UAPI_MEMBERS];
	u32 i, nr;

	if (h->leaving) {
		leave_all(k);
		return;
	}
	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];

		if (r->task == GP_NONE || r->lost || !gp_job_first(h, i))
			continue;
		nr = members_of(h, r->task, p);
		if (!same_members(&k->task[r->task], p, nr))
			attach(k, r->task, p, nr);
	}
}

/* ---- from the kernel ---- */

static u32 by_handle(const struct kernel *k, u32 handle)
{
	u32 task;

	for (task = 0; handle && task < k->h->sched->limits.tasks; task++)
		if (k->task[task].handle == handle)
			return task;
	return GP_NONE;
}

static void take_event(struct kernel *k, const struct gp_uapi_event *e)
{
	struct gp_home *h = k->h;
	u32 task = by_handle(k, e->task);

	if (e->kind == GP_UAPI_EVENT_EJECTED)
		gp_mirror_ejected(h->sched);
	/* States are read only then: otherwise what was read would be told once more. */
	if (e->kind == GP_UAPI_EVENT_DROPPED)
		k->missed = true;
	if (e->kind == GP_UAPI_EVENT_QUEUES || e->kind == GP_UAPI_EVENT_REMOVED)
		h->scan_at_ns = h->now_ns;
	if (task == GP_NONE)
		return;
	if (e->kind == GP_UAPI_EVENT_STATE)
		gp_mirror_state(h->sched, task, gp_rings_device(h, e->gpu_id), (u32)e->arg[1]);
	else if (e->kind == GP_UAPI_EVENT_PREEMPTION)
		gp_mirror_preemption(h->sched, task, gp_rings_device(h, e->gpu_id), e->arg);
}

void gp_kernel_take(struct gp_home *h)
{
	struct kernel *k = of(h);
	struct gp_uapi_event e;
	u32 i;

	gp_sched_tick(h->sched, h->now_ns);
	for (i = 0; i < EVENTS && !gp_kmod_next(k->fd, &e); i++)
		take_event(k, &e);
	gp_kernel_take_records(h);
	if (k->missed && i < EVENTS)
		gp_kernel_refresh(h);
}

void gp_kernel_refresh(struct gp_home *h)
{
	struct kernel *k = of(h);
	u32 task, d;

	for (task = 0; task < h->sched->limits.tasks; task++) {
		for (d = 0; k->task[task].handle && d < h->nr_gpus; d++) {
			struct gp_uapi_seat seat = {
				.task = k->task[task].handle, .gpu_id = h->gpu[d].gpu_id,
			};

			if (gp_kmod_call(k->fd, GP_IOC_SEAT, &seat))
				continue;
			if (k->missed)
				gp_mirror_state(h->sched, task, d, seat.state);
			gp_mirror_seat(h->sched, task, d, &seat);
		}
	}
	k->missed = false;
}

void gp_kernel_trigger(struct gp_home *h)
{
	gp_kmod_trigger(of(h)->fd, GP_UAPI_ALL);
}

/* ---- life ---- */

static void kernel_free(struct gp_doer *d)
{
	struct kernel *k = (struct kernel *)d;

	gp_kernel_record(k->h, false);
	k->h->sched->trace = k->h->watcher;
	if (k->stats)
		munmap((void *)k->stats, (size_t)sysconf(_SC_PAGESIZE));
	close(k->fd);
	free(k);
}

/* Of the machine: there is one scheduler in the kernel. */
static void kernel_stats(struct gp_doer *d, struct gp_kfdm_stats *ret)
{
	const struct kernel *k = (struct kernel *)d;

	*ret = (struct gp_kfdm_stats){
		.attaches = k->attaches, .attach_failures = k->failures, .detaches = k->detaches,
	};
	if (!k->stats)
		return;
	ret->suspends = k->stats->stopped;
	ret->resumes = k->stats->started;
	ret->suspend_failures = k->stats->refused;
	ret->late = k->stats->late;
}

static void kernel_counters(struct gp_doer *d, void (*tell)(void *ctx, const char *name, u64 value),
			    void *ctx)
{
	const struct gp_uapi_stats *s = ((struct kernel *)d)->stats;

	if (!s)
		return;
	tell(ctx, "kernel_looks", s->looks);
	tell(ctx, "kernel_looks_put_off", s->looks_put_off);
	tell(ctx, "kernel_wakeups", s->wakeups);
	tell(ctx, "kernel_decisions", s->decisions);
	tell(ctx, "kernel_actions", s->actions);
	tell(ctx, "kernel_probes", s->probes);
	tell(ctx, "kernel_evict_cycles", s->evict_cycles);
	tell(ctx, "kernel_direct_stops", s->direct_stops);
	tell(ctx, "kernel_direct_refused", s->direct_refused);
	tell(ctx, "kernel_deaths", s->deaths);
	tell(ctx, "kernel_events_dropped", s->events_dropped);
	tell(ctx, "kernel_look_ns_max", s->look_ns_max);
	tell(ctx, "kernel_worker_ns_max", s->worker_ns_max);
}

static const struct gp_doer_ops kernel_ops = {
	.name		= "kmod",
	.attaches	= true,
	.decides	= true,
	.free		= kernel_free,
	.task_del	= kernel_task_del,
	.process_del	= kernel_process_del,
	.stats		= kernel_stats,
	.counters	= kernel_counters,
};

/* The module is as the home's scheduler is. */
static int settle(struct kernel *k)
{
	const struct gp_sched *s = k->h->sched;
	u32 i;
	int err;

	/* A GPU that cannot be told a grace period keeps the driver's. */
	err = gp_kmod_set_mechanism(k->fd, "auto", k->h->config->daemon.grace);
	if (err)
		err = gp_kmod_set_mechanism(k->fd, "auto", 0);
	if (!err)
		err = gp_kmod_set_policy(k->fd, s->policy->name);
	if (!err)
		err = gp_kmod_enable(k->fd, s->enabled);
	if (!err)
		err = gp_kmod_subscribe(k->fd, GP_UAPI_EVENTS, -1);
	for (i = 0; !err && i < GP_NR_PARAMS; i++)
		forward_param(k, i, s->param[i]);
	return err;
}

int gp_kernel_open(struct gp_home *h, struct gp_doer **ret, char *why)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct gp_uapi_version version = { 0 };
	int err = -ENOMEM;

	snprintf(why, GP_HOME_WHY, "out of memory");
	if (!k)
		return err;
	k->h = h;
	k->fd = err = gp_kmod_open(h->args.kmod, &version);
	if (err == -EPROTO)
		snprintf(why, GP_HOME_WHY, "the module gpreempt speaks version %u, not %d; build "
			 "it again (gpreempt module)", version.version, GP_UAPI_VERSION);
	else if (err < 0)
		snprintf(why, GP_HOME_WHY, "%s: %s", h->args.kmod, strerror(-err));
	else
		err = settle(k);
	if (err) {
		if (k->fd >= 0) {
			snprintf(why, GP_HOME_WHY, "the module gpreempt refuses: %s",
				 strerror(-err));
			close(k->fd);
		}
		free(k);
		return err;
	}
	k->base = (struct gp_doer){ .ops = &kernel_ops, .fd = k->fd };
	/* It is never asked: nobody pulls actions out of our scheduler. */
	k->base.mechanism = gp_doer_none()->mechanism;
	k->stats = gp_kmod_stats(k->fd);
	h->sched->trace = (struct gp_trace){ .emit = forward, .ctx = k };
	*ret = &k->base;
	return 0;
}
