// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpreempt.ko looks, decides and preempts, with the same core and policies. This backend passes
 * tasks and settings to it, and keeps a view of its state from its events and from the seats that
 * it reports.
 *
 * If the daemon ends, the module puts everything back; if the daemon is stopped, leases end in the
 * kernel. So the daemon is never busy in the sense of backend.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/kmod.h"
#include "lib/sys.h"
#include "module_private.h"

enum { EVENTS = 512 };	/* per run; the rest waits for the next */

void gp_module_trouble(struct gp_module *m, const char *what, int err)
{
	if (err)
		gp_decider_news(m->base.h, GP_NEWS_TROUBLE, NULL, "the module refuses %s: %s", what,
			     strerror(-err));
}

/* ---- the view: states ---- */

static void tell_watcher(struct gp_module *m, const struct gp_rec *rec)
{
	const struct gp_trace *watcher = &m->base.h->watcher;

	if (watcher->emit)
		watcher->emit(watcher->ctx, rec);
}

static void move(struct gp_module *m, u32 task, u32 device, u32 to)
{
	struct gp_module_seat *seat = &m->task[task]->seat[device];
	struct gp_account *a = &m->task[task]->account;
	u64 now = m->base.h->now_ns;
	const struct gp_rec rec = { .now_ns = now, .kind = GP_REC_STATE, .device = device,
				    .task = task, .arg = { seat->state, to } };

	gp_account_move(a, seat->state, to);
	a->state_ns[seat->state] += now - seat->since_ns;
	if (to == GP_STOPPING)
		seat->held_ns = now;
	if (to == GP_ON && seat->state != GP_STOPPING && now - seat->held_ns > a->longest_hold_ns)
		a->longest_hold_ns = now - seat->held_ns;
	seat->state = (u8)to;
	seat->since_ns = now;
	tell_watcher(m, &rec);
}

/* Returns the state after @from on the way to @to: ON, STOPPING, OFF, STARTING, ON. */
static u32 next(u32 from, u32 to)
{
	/* Every state leads to LOST; a refused stop or start leads straight back. */
	if (to == GP_LOST || (from == GP_STOPPING && to == GP_ON) ||
	    (from == GP_STARTING && to == GP_OFF))
		return to;
	if (from == GP_LOST)
		return to == GP_ON || to == GP_STOPPING ? GP_ON : GP_OFF;
	return from == GP_STARTING ? GP_ON : from + 1;
}

/*
 * Moves a seat to the state @to that the kernel reported, through the states that were not
 * reported.
 */
static void take_state(struct gp_module *m, u32 task, u32 device, u32 to)
{
	if (device >= m->base.h->nr_gpus || !(m->task[task]->devices & BIT_ULL(device)) ||
	    to >= GP_NR_STATES)
		return;
	while (m->task[task]->seat[device].state != to)
		move(m, task, device, next(m->task[task]->seat[device].state, to));
}

void gp_module_all_seats(struct gp_module *m, u32 task, u32 to)
{
	u32 d;

	for (d = 0; d < m->base.h->nr_gpus; d++)
		take_state(m, task, d, to);
}

/* ---- the view: numbers ---- */

/* @is: the arguments of GP_UAPI_EVENT_PREEMPTION. */
static void take_preemption(struct gp_module *m, u32 task, u32 device, const __u64 *is)
{
	struct gp_account *a = &m->task[task]->account;
	struct gp_rec rec = { .now_ns = m->base.h->now_ns, .kind = GP_REC_PARTS, .device = device,
			      .task = task };
	u64 total = 0;
	u32 i;

	for (i = 0; i < GP_PART_TOTAL; i++) {
		rec.arg[i] = is[i];
		if (is[i] == GP_PART_WITHIN)
			continue;
		gp_hist_add(&a->part[i], is[i]);
		total += is[i];
	}
	gp_hist_add(&a->part[GP_PART_TOTAL], total);
	rec.arg[GP_PART_TOTAL] = total;
	rec.arg[GP_NR_PARTS] = is[GP_PART_TOTAL];		/* victims */
	rec.arg[GP_NR_PARTS + 1] = is[GP_NR_PARTS + 1];		/* begin */
	if (device < m->base.h->nr_gpus)
		tell_watcher(m, &rec);
}

/* Reads what no event reports: work, arrivals, waiting; and states if events were dropped. */
static void read_seat(struct gp_module *m, u32 task, u32 device)
{
	struct gp_module_task *t = m->task[task];
	struct gp_uapi_seat is = { .task = t->handle, .gpu_id = m->base.h->gpu[device].gpu_id };

	if (gp_kmod_call(m->base.fd, GP_IOC_SEAT, &is))
		return;
	if (m->missed)
		take_state(m, task, device, is.state);
	if (is.work <= GP_UNKNOWN)
		t->seat[device].work = (u8)is.work;
	t->account.arrivals = is.arrivals;
	t->account.preempted_others = is.preempted_others;
	t->account.waiting_ns = is.waiting_ns;
}

static void module_scanned(struct gp_backend *b)
{
	struct gp_module *m = gp_module_of(b);
	u32 task, d;

	for (task = 0; task < GP_MODULE_TASKS; task++)
		for (d = 0; m->task[task] && m->task[task]->handle && d < b->h->nr_gpus; d++)
			if (m->task[task]->devices & BIT_ULL(d))
				read_seat(m, task, d);
	m->missed = false;
}

/* ---- settings ---- */

static int module_set_policy(struct gp_backend *b, const char **why)
{
	int err = gp_kmod_set_policy(b->fd, b->h->policy->name);

	*why = err == -ENOSPC ? "the module does not admit the present tasks" : NULL;
	if (err)
		return err;
	gp_module_of(b)->policy = b->h->policy;
	gp_module_of(b)->ejected = NULL;
	return 0;
}

/* The module has its own bounds for parameters. A refused parameter keeps its value. */
static void module_set(struct gp_backend *b)
{
	struct gp_module *m = gp_module_of(b);
	struct gp_decider *h = b->h;
	u32 i;
	int err;

	for (i = 0; i < GP_NR_PARAMS; i++) {
		if (m->param[i] == h->param[i])
			continue;
		err = gp_kmod_set_param(b->fd, gp_params[i].name, h->param[i]);
		gp_module_trouble(m, gp_params[i].name, err);
		if (err && m->param[i] != GP_NEVER)
			h->param[i] = m->param[i];
		m->param[i] = h->param[i];
	}
	gp_module_trouble(m, "the switch", gp_kmod_enable(b->fd, h->enabled && !h->leaving));
}

/* ---- tasks ---- */

static int module_task_add(struct gp_backend *b, u64 devices, const struct gp_class *class,
			   u32 *ret, const char **why)
{
	struct gp_module_task *t = calloc(1, sizeof(*t));
	u32 i, d;

	*why = NULL;
	for (i = 0; i < GP_MODULE_TASKS && gp_module_of(b)->task[i]; i++)
		;
	if (!t || i == GP_MODULE_TASKS) {
		free(t);
		return -ENOSPC;
	}
	t->devices = devices;
	t->class = *class;
	t->number = GP_NONE;
	for (d = 0; d < b->h->nr_gpus; d++)
		t->seat[d].since_ns = b->h->now_ns;
	gp_module_of(b)->task[i] = t;
	*ret = i;
	return 0;
}

static void module_task_del(struct gp_backend *b, u32 task)
{
	gp_module_drop_fetches(gp_module_of(b), task);
	gp_module_detach(gp_module_of(b), gp_module_of(b)->task[task]);
	free(gp_module_of(b)->task[task]);
	gp_module_of(b)->task[task] = NULL;
}

static int module_task_class(struct gp_backend *b, u32 task, const struct gp_class *class,
			     const char **why)
{
	struct gp_module_task *t = gp_module_of(b)->task[task];
	int err = t->handle ? gp_kmod_set_class(b->fd, t->handle, class) : 0;

	*why = err ? gp_module_why_not(err) : NULL;
	if (err)
		return err;
	t->class = *class;
	if (!(class->flags & GP_PREEMPTIBLE))
		t->held_until_ns = 0;
	return 0;
}

static void module_reset(struct gp_backend *b)
{
	u32 task;

	for (task = 0; task < GP_MODULE_TASKS; task++)
		if (gp_module_of(b)->task[task])
			gp_module_all_seats(gp_module_of(b), task, GP_LOST);
}

/* ---- by hand ---- */

int gp_module_hold(struct gp_backend *b, u32 task, u64 lease_ns)
{
	struct gp_module_task *t = gp_module_of(b)->task[task];
	const struct gp_kmod_move move = { .tasks = &t->handle, .nr = 1, .lease_ns = lease_ns };
	int err = lease_ns ? -ENOENT : 0;

	if (t->handle)
		err = lease_ns ? gp_kmod_preempt(b->fd, &move, NULL) :
				 gp_kmod_resume(b->fd, &move, NULL);
	if (!err || !lease_ns)
		t->held_until_ns = lease_ns ? b->h->now_ns + lease_ns : 0;
	return err;
}

/* A hint for a task that is not attached yet is dropped. */
static int module_hint(struct gp_backend *b, u32 task, u64 at_ns, u64 until_ns)
{
	u64 in = at_ns > b->h->now_ns ? at_ns - b->h->now_ns : 0;
	u32 handle = gp_module_of(b)->task[task]->handle;

	return handle ? gp_kmod_hint(b->fd, handle, in, until_ns - at_ns) : 0;
}

static void module_look(struct gp_backend *b, u32 device)
{
	(void)device;
	gp_kmod_trigger(b->fd, GP_UAPI_ALL);
}

/* ---- recording: inputs and outputs of the kernel's scheduler ---- */

static_assert(sizeof(struct gp_rec) == sizeof(struct gp_uapi_event), "records come as events");

/* The task of process @pid has @number in the kernel's records. */
static void number_task(struct gp_module *m, pid_t pid, u32 number)
{
	const struct gp_gpu_process *r = gp_decider_find(m->base.h,
							 &(struct gp_process_id){ .pid = pid });

	if (r && r->task != GP_NONE)
		m->task[r->task]->number = number;
}

static void take_record(struct gp_module *m, const struct gp_uapi_event *e)
{
	struct gp_decider *h = m->base.h;
	struct gp_rec rec;
	u32 device;

	if (e->kind == GP_UAPI_EVENT_DROPPED)
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "%llu records of the kernel were dropped",
			     (unsigned long long)e->arg[0]);
	if (e->kind >= GP_UAPI_EVENT_FIRST)
		return;
	memcpy(&rec, e, sizeof(rec));
	if (rec.kind == GP_REC_NAME)
		number_task(m, (pid_t)rec.queue, rec.task);
	if (rec.kind == GP_REC_DEVICE_ADD) {
		device = gp_decider_device(h, (u32)rec.arg[1]);
		rec.arg[1] = device == GP_NONE ? rec.device : h->gpu[device].index;
	}
	if (h->recorder.emit)
		h->recorder.emit(h->recorder.ctx, &rec);
}

static void take_records(struct gp_module *m)
{
	struct gp_uapi_event e;
	u32 i;

	for (i = 0; i < EVENTS && m->record_fd >= 0 && !gp_kmod_next(m->record_fd, &e); i++)
		take_record(m, &e);
}

static void stop_recording(struct gp_module *m)
{
	if (m->record_fd >= 0)
		close(m->record_fd);
	m->record_fd = -1;
}

static void module_trace(struct gp_backend *b)
{
	if (!b->h->recorder.emit)
		stop_recording(gp_module_of(b));
}

/* Resubscribing drops unread events, so records have a descriptor of their own. */
static int open_records(struct gp_module *m)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_BACKEND };

	if (m->record_fd >= 0)
		return 0;
	m->record_fd = gp_kmod_open(m->base.h->args.kmod, NULL);
	if (m->record_fd < 0)
		return m->record_fd;
	return gp_sys->epoll_ctl(m->base.h->epoll, EPOLL_CTL_ADD, m->record_fd, &e) ? -errno : 0;
}

/* A new subscription begins with a description. */
static void module_describe(struct gp_backend *b)
{
	int err;

	take_records(gp_module_of(b));
	err = open_records(gp_module_of(b));
	if (!err)
		err = gp_kmod_subscribe(gp_module_of(b)->record_fd, GP_UAPI_TRACE, -1);
	gp_module_trouble(gp_module_of(b), "to be recorded", err);
	if (err)
		stop_recording(gp_module_of(b));
}

static u32 module_record_task(struct gp_backend *b, u32 task)
{
	return gp_module_of(b)->task[task]->number;
}

/* ---- what is due ---- */

static u32 by_handle(const struct gp_module *m, u32 handle)
{
	u32 task;

	for (task = 0; handle && task < GP_MODULE_TASKS; task++)
		if (m->task[task] && m->task[task]->handle == handle)
			return task;
	return GP_NONE;
}

static void take_event(struct gp_module *m, const struct gp_uapi_event *e)
{
	struct gp_decider *h = m->base.h;
	u32 task = by_handle(m, e->task), device = gp_decider_device(h, e->gpu_id);

	switch (e->kind) {
	case GP_UAPI_EVENT_STATE:
		if (task != GP_NONE)
			take_state(m, task, device, (u32)e->arg[1]);
		break;
	case GP_UAPI_EVENT_PREEMPTION:
		if (task != GP_NONE)
			take_preemption(m, task, device, e->arg);
		break;
	case GP_UAPI_EVENT_QUEUES:
	case GP_UAPI_EVENT_REMOVED:
		h->scan_at_ns = h->now_ns;
		break;
	case GP_UAPI_EVENT_EJECTED:
		m->policy = &gp_policy_fifo;
		m->ejected = "the policy broke its contract in the kernel";
		m->ejections++;
		break;
	case GP_UAPI_EVENT_DROPPED:
		/* Read states only in that case, because unread events would repeat them. */
		m->missed = true;
		break;
	}
}

static void module_run(struct gp_backend *b)
{
	struct gp_uapi_event e;
	u32 i;

	for (i = 0; i < EVENTS && !gp_kmod_next(b->fd, &e); i++)
		take_event(gp_module_of(b), &e);
	take_records(gp_module_of(b));
	gp_module_take_descriptors(gp_module_of(b));
	if (gp_module_of(b)->missed && i < EVENTS)
		module_scanned(b);
}

static u64 module_wake_at(struct gp_backend *b)
{
	u64 at = gp_holders_wake_at(gp_module_of(b)->holders);
	u64 until = gp_module_fetch_until(gp_module_of(b));

	return at < until ? at : until;
}

/* ---- reading ---- */

static int module_seat_view(struct gp_backend *b, u32 task, u32 device, struct gp_seat_view *ret)
{
	const struct gp_module_task *t = gp_module_of(b)->task[task];

	if (device >= b->h->nr_gpus || !(t->devices & BIT_ULL(device)))
		return -ENOENT;
	*ret = (struct gp_seat_view){ t->seat[device].state, t->seat[device].work,
				      t->seat[device].since_ns, t->held_until_ns };
	return 0;
}

static int module_account(struct gp_backend *b, u32 task, struct gp_account *ret)
{
	const struct gp_module_task *t = gp_module_of(b)->task[task];
	u32 d;

	memcpy(ret, &t->account, offsetof(struct gp_account, part));
	for (d = 0; d < b->h->nr_gpus; d++)
		if (t->devices & BIT_ULL(d))
			ret->state_ns[t->seat[d].state] += b->h->now_ns - t->seat[d].since_ns;
	return 0;
}

static const struct gp_hist *module_parts(struct gp_backend *b, u32 task)
{
	return gp_module_of(b)->task[task]->account.part;
}

/* The module's events do not say why a task was stopped. */
static void module_device(struct gp_backend *b, u32 device, struct gp_device_view *ret)
{
	u32 i;

	*ret = (struct gp_device_view){ .cause = GP_NONE };
	for (i = 0; i < GP_UAPI_GPUS; i++) {
		struct gp_uapi_gpu gpu = { .index = i };

		if (gp_kmod_call(b->fd, GP_IOC_GPU, &gpu))
			break;
		if (gpu.gpu_id == b->h->gpu[device].gpu_id)
			ret->watched = gpu.look_every_ns;
	}
}

static void module_status(struct gp_backend *b, struct gp_backend_status *ret)
{
	const struct gp_module *m = gp_module_of(b);

	*ret = (struct gp_backend_status){ .policy = m->policy, .ejected = m->ejected,
					   .ejections = m->ejections };
}

/* The statistics page covers the whole machine, because the kernel has one scheduler. */
static void module_counters(struct gp_backend *b, struct gp_backend_counters *ret,
			    gp_counter_fn *tell, void *ctx)
{
	const struct gp_uapi_stats *s = gp_module_of(b)->stats;

	ret->attaches = gp_module_of(b)->attaches;
	ret->attach_failures = gp_module_of(b)->failures;
	ret->detaches = gp_module_of(b)->detaches;
	if (!s)
		return;
	ret->suspends = s->stopped;
	ret->resumes = s->started;
	ret->suspend_failures = s->refused;
	ret->late = s->late;
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

/* ---- life ---- */

/* Closing the descriptor releases everything that is still attached. */
static void module_free(struct gp_backend *b)
{
	struct gp_module *m = gp_module_of(b);
	u32 i;

	stop_recording(m);
	gp_module_drop_fetches(m, GP_NONE);
	gp_holders_free(m->holders);
	if (m->stats)
		munmap((void *)m->stats, (size_t)sysconf(_SC_PAGESIZE));
	close(b->fd);
	for (i = 0; i < GP_MODULE_TASKS; i++)
		free(m->task[i]);
	free(m);
}

static const struct gp_backend_ops module_ops = {
	.name		= "kmod",
	.preempts	= true,
	.tasks		= GP_UAPI_TASKS,
	.free		= module_free,
	.set_policy	= module_set_policy,
	.set		= module_set,
	.task_add	= module_task_add,
	.task_del	= module_task_del,
	.task_class	= module_task_class,
	.reset		= module_reset,
	.hold		= gp_module_hold,
	.hint		= module_hint,
	.look		= module_look,
	.run		= module_run,
	.scanned	= module_scanned,
	.attach		= gp_module_attach,
	.wake_at	= module_wake_at,
	.seat		= module_seat_view,
	.account	= module_account,
	.parts		= module_parts,
	.device		= module_device,
	.status		= module_status,
	.counters	= module_counters,
	.trace		= module_trace,
	.describe	= module_describe,
	.record_task	= module_record_task,
};

/* Starts the holders, which have the right to fetch descriptors. Their sessions are not used. */
static int start_holders(struct gp_module *m, struct gp_decider *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_BACKEND };
	struct gp_holders_gpu gpus[GP_GPUS_MAX];
	const struct gp_holders_args args = { .gpus = gpus, .nr_gpus = h->nr_gpus };
	u32 i;
	int err;

	for (i = 0; i < h->nr_gpus; i++)
		gpus[i] = (struct gp_holders_gpu){ h->gpu[i].gpu_id, h->gpu[i].cus };
	err = gp_holders_alloc(&args, &m->holders);
	if (!err && gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, gp_holders_fd(m->holders), &e))
		err = -errno;
	return err;
}

static int start(struct gp_module *m, struct gp_decider *h)
{
	int err = start_holders(m, h);

	if (err)
		return err;

	/* A GPU that refuses the grace period keeps the driver's. */
	err = gp_kmod_set_mechanism(m->base.fd, "auto", h->config->daemon.grace);
	if (err)
		err = gp_kmod_set_mechanism(m->base.fd, "auto", 0);
	return err ? err : gp_kmod_subscribe(m->base.fd, GP_UAPI_EVENTS, -1);
}

int gp_backend_module(struct gp_decider *h, struct gp_backend **ret, char *why)
{
	struct gp_uapi_version version = { 0 };
	struct gp_module *m;
	int err, fd;

	fd = gp_kmod_open(h->args.kmod, &version);
	if (fd == -EPROTO)
		snprintf(why, GP_DECIDER_WHY, "the module gpreempt speaks version %u, not %d; "
			 "build it again (gpreempt module)", version.version, GP_UAPI_VERSION);
	else if (fd < 0)
		snprintf(why, GP_DECIDER_WHY, "%s: %s", h->args.kmod, strerror(-fd));
	if (fd < 0)
		return fd;
	m = calloc(1, sizeof(*m));
	if (!m) {
		close(fd);
		snprintf(why, GP_DECIDER_WHY, "out of memory");
		return -ENOMEM;
	}
	m->base = (struct gp_backend){ .ops = &module_ops, .h = h, .fd = fd };
	m->record_fd = -1;
	memset(m->param, 0xff, sizeof(m->param));
	err = start(m, h);
	if (err) {
		snprintf(why, GP_DECIDER_WHY, "the module gpreempt refuses: %s", strerror(-err));
		module_free(&m->base);
		return err;
	}
	m->stats = gp_kmod_stats(fd);
	*ret = &m->base;
	return 0;
}
