// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The scheduler of core/ decides; the driver's debug interface (kfd-debug) carries it out.
 *
 * A process is attached only if another process may preempt it. The scheduler sees it as
 * preemptible only while it is attached. So the scheduler does not repeatedly try to stop a process
 * that cannot be stopped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holders.h"
#include "lib/sys.h"
#include "scheduler.h"
#include "uapi/kfd.h"

enum { EVENTS = 1024 };		/* per run; the rest waits for the next */

/* Delay before the next attach of a process, by the result of the last one. */
#define SOON_NS		(1 * GP_SEC)
#define LATER_NS	(10 * GP_SEC)
#define RARELY_NS	(60 * GP_SEC)
/* From a new queue to the scan that finds it. */
#define SCAN_NS		(2 * GP_MSEC)

struct debug {
	struct gp_scheduler s;	/* first */
	struct gp_holders *holders;
};

static struct gp_holders *holders(struct gp_backend *b)
{
	return ((struct debug *)b)->holders;
}

/* ---- tasks ---- */

static int debug_task_add(struct gp_backend *b, u64 devices, const struct gp_class *class,
			  u32 *ret, const char **why)
{
	int err = gp_scheduler_ops.task_add(b, devices, class, ret, why);

	if (err)
		return err;
	err = gp_holders_task_add(holders(b), *ret, devices);
	if (err)
		gp_scheduler_ops.task_del(b, *ret);
	return err;
}

static void debug_task_del(struct gp_backend *b, u32 task)
{
	/* The mechanism first, so that it releases the processes before the number is reused. */
	gp_holders_task_del(holders(b), task);
	gp_scheduler_ops.task_del(b, task);
}

static void debug_process_del(struct gp_backend *b, struct gp_gpu_process *r)
{
	if (r->attachment != GP_NOT_ATTACHED)
		gp_holders_process_del(holders(b), r->pid);
	gp_scheduler_ops.process_del(b, r);
}

/* ---- attaching ---- */

/* The tasks on each GPU. */
struct task_counts {
	u32 tasks[GP_MAX_DEVICES];
	u32 highest[GP_MAX_DEVICES];	/* priority */
};

static void count_tasks(const struct gp_decider *h, struct task_counts *c)
{
	u32 i, d;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];
		bool first = r->task != GP_NONE && gp_tasks_first(h, i);

		for (d = 0; r->task != GP_NONE && d < h->nr_gpus; d++) {
			if (!(r->devices & BIT_ULL(d)))
				continue;
			c->tasks[d] += first;
			if (r->class.is.priority > c->highest[d])
				c->highest[d] = r->class.is.priority;
		}
	}
}

static bool in_the_way(const struct gp_decider *h, const struct gp_gpu_process *r,
		       const struct task_counts *c)
{
	bool strict = gp_scheduler_of(h->backend)->sched->policy == &gp_policy_priority;
	u32 d;

	if (r->lease_ns)
		return true;
	for (d = 0; d < h->nr_gpus; d++) {
		if (!(r->devices & BIT_ULL(d)))
			continue;
		if (strict ? c->highest[d] > r->class.is.priority : c->tasks[d] > 1)
			return true;
	}
	return false;
}

static bool old_enough(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	return r->computes_ns && h->now_ns >= r->computes_ns + h->config->daemon.attach_after_ns;
}

/*
 * Records when the first compute queue of a process was seen. Later queues do not change that. In a
 * gang any queue counts, because a gang that is not attached as a whole cannot be preempted.
 */
static void note_queues(struct gp_gpu_process *r)
{
	u32 i;

	for (i = 0; !r->computes_ns && i < r->nr_queues; i++)
		if (r->gang[0] || r->queues[i].type == GP_PROCESS_COMPUTE)
			r->computes_ns = r->queues[i].seen_ns;
}

static bool may_be_attached(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	return gp_decider_acts(h) && r->task != GP_NONE && !r->lost &&
	       (r->class.is.flags & GP_PREEMPTIBLE);
}

static bool is_shortage(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -EMFILE || err == -ENFILE;
}

static u64 ask_again_after(int err)
{
	if (is_shortage(err))
		return SOON_NS;
	switch (err) {
	case -EAGAIN:
	case -ESRCH:
	case -ECONNRESET:
	case -ETIMEDOUT:
	case -ECANCELED:
		return SOON_NS;
	case -EALREADY:
	case -EBUSY:
		return LATER_NS;
	default:
		return RARELY_NS;
	}
}

static const char *why_not(int err)
{
	switch (err) {
	case -EAGAIN:
		return "its runtime is not enabled yet";
	case -EOPNOTSUPP:
		return "its ROCm never enables the debug runtime (older than 5.7 or so)";
	case -ENOSYS:
		return "the driver has no debug interface (before Linux 6.5), no hardware "
		       "scheduler, or does not save running waves (amdgpu.cwsr_enable=0)";
	case -EALREADY:
		return "a debugger has it (rocgdb, or another gpreemptd)";
	case -EXDEV:
		return "it is not known to have a VM on every GPU it has opened, without which "
		       "this kernel's driver would crash (a bug of suspend_queues)";
	case -EPERM:
		return "it may not be traced; see kernel.yama.ptrace_scope and our capabilities";
	case -EBUSY:
		return "the driver debugs another process; this GPU can do one at a time";
	case -ESRCH:
		return "it is ending";
	case -ECONNRESET:
		return "the holder process of its user died; it is started again";
	case -ETIMEDOUT:
		return "its lease ended because the daemon was late; it is attached again";
	case -EREMOTEIO:
		return "the driver did not resume it after a stop that failed";
	case -ENOSPC:
		return "its user has 256 debug sessions, the most that a holder takes";
	case -ECHILD:
		return "its first thread has ended: the driver cannot debug it";
	case -ECANCELED:
		return "the driver hung on another process of its user; it is attached later";
	case -ETIME:
		return "the driver hangs on it; its holder process was given up";
	default:
		return strerror(-err);
	}
}

/* Doubles the delay after each failure, unless the daemon caused the failure. */
static u64 back_off(const struct gp_decider *h, struct gp_gpu_process *r, int err)
{
	u64 wait = ask_again_after(err);

	if (r->attachment == GP_ATTACHED && h->now_ns >= r->attached_ns + RARELY_NS)
		r->attach_tries = 0;
	if (err == -ECONNRESET || err == -ETIMEDOUT || err == -ECANCELED || is_shortage(err))
		return wait;
	for (u32 i = 0; i < r->attach_tries && wait < RARELY_NS; i++)
		wait *= 2;
	if (wait < RARELY_NS)
		r->attach_tries++;
	return wait < RARELY_NS ? wait : RARELY_NS;
}

static void not_attached(struct gp_decider *h, struct gp_gpu_process *r, int err)
{
	r->attach_at_ns = h->now_ns + back_off(h, r, err);
	r->attachment = GP_NOT_ATTACHED;
	gp_tasks_lease(h, r, 0, 0);
	r->refused = err != -ESRCH;
	/* Do not report a process that is ending. */
	if (!r->lost && err != -ESRCH && strcmp(r->trouble, why_not(err))) {
		snprintf(r->trouble, sizeof(r->trouble), "%s", why_not(err));
		gp_decider_news(h, err == -EAGAIN ? GP_NEWS_PROCESS : GP_NEWS_TROUBLE, r,
			     "cannot be preempted: %s", r->trouble);
	}
	gp_tasks_update(h, r);
}

static void attached(struct gp_decider *h, struct gp_gpu_process *r)
{
	r->attachment = GP_ATTACHED;
	r->attached_ns = h->now_ns;
	r->refused = false;
	r->trouble[0] = 0;
	gp_tasks_update(h, r);
	gp_decider_news(h, GP_NEWS_PROCESS, r, "can be preempted from now on");
	if (!gp_tasks_attached(h, r))
		return;
	if (r->lease_ns && h->now_ns < r->lease_until_ns)
		h->backend->ops->hold(h->backend, r->task, r->lease_ns);
	gp_tasks_lease(h, r, 0, 0);
}

static void attach(struct gp_decider *h, struct gp_gpu_process *r)
{
	const struct gp_holders_process process = {
		.pid = r->pid, .start = r->start, .user = r->user,
	};
	int err;

	r->attach_at_ns = h->now_ns + SOON_NS;
	if (h->args.holding)
		h->args.holding(h->args.ctx);
	err = gp_holders_process_add(holders(h->backend), r->task, &process);
	if (!err)
		r->attachment = GP_ATTACHING;
	/* -EEXIST: its last session is still ending. */
	else if (err != -EEXIST)
		not_attached(h, r, err);
}

static void debug_attach(struct gp_backend *b)
{
	struct gp_decider *h = b->h;
	struct task_counts c;
	u32 i;

	count_tasks(h, &c);
	h->attach_later = false;
	for (i = 0; i < h->nr_processes; i++) {
		struct gp_gpu_process *r = h->process[i];

		note_queues(r);
		if (may_be_attached(h, r)) {
			if (r->attachment == GP_NOT_ATTACHED && h->now_ns >= r->attach_at_ns &&
			    in_the_way(h, r, &c) && old_enough(h, r))
				attach(h, r);
		} else if (r->attachment != GP_NOT_ATTACHED && !gp_tasks_at_rest(h, r)) {
			/* It is detached when it is on the GPU again. */
			h->attach_later = true;
		} else if (r->attachment != GP_NOT_ATTACHED) {
			gp_holders_process_del(holders(b), r->pid);
			r->attachment = GP_NOT_ATTACHED;
			gp_tasks_update(h, r);
		}
	}
}

/* Schedules a scan. The delay limits the rate, because any user can create queues quickly. */
static void scan_soon(struct gp_decider *h)
{
	if (h->scan_at_ns > h->now_ns + SCAN_NS)
		h->scan_at_ns = h->now_ns + SCAN_NS;
}

static void take_event(struct gp_decider *h, const struct gp_holders_event *e)
{
	struct gp_gpu_process *r = gp_decider_find(h, &(struct gp_process_id){ .pid = e->pid });

	if (!r || r->task != e->task)
		return;
	switch (e->what) {
	case GP_HOLDERS_ATTACHED:
		r->watched_at_ns = 0;	/* the session knows its queues */
		attached(h, r);
		break;
	case GP_HOLDERS_NOT_ATTACHED:
	case GP_HOLDERS_LEFT:
		not_attached(h, r, e->err);
		break;
	case GP_HOLDERS_RETAKEN:
		gp_decider_news(h, GP_NEWS_QUEUE, r, "made %u queues while held: off again",
			     e->count);
		scan_soon(h);
		break;
	case GP_HOLDERS_QUEUES:
		/* Queue ids are reused, so the known pointers may be of another queue. */
		r->watched_stale = true;
		r->watched_at_ns = 0;
		scan_soon(h);
		break;
	}
}

static bool debug_acting(struct gp_scheduler *s, u32 device)
{
	return gp_holders_acting(holders(&s->base), device);
}

static bool debug_mistrusts(struct gp_scheduler *s, uid_t user)
{
	return gp_holders_in_trouble(holders(&s->base), user);
}

static int debug_queues(struct gp_scheduler *s, pid_t pid, struct kfd_queue_snapshot_entry *to)
{
	int nr = gp_holders_queues(holders(&s->base), pid, to, GP_PROCESS_QUEUES_MAX);

	return nr < GP_PROCESS_QUEUES_MAX ? nr : GP_PROCESS_QUEUES_MAX;
}

/* ---- what is due ---- */

/* Updates tasks after a holder hangs or recovers. */
static void take_troubles(struct debug *d)
{
	struct gp_decider *h = d->s.base.h;
	u32 i, n = gp_holders_troubles(d->holders);

	if (n == d->s.troubles)
		return;
	d->s.troubles = n;
	for (i = 0; i < h->nr_gpus; i++)
		gp_scheduler_look(&d->s.base, i);
}

static void debug_run(struct gp_backend *b)
{
	struct gp_holders_event e;
	u32 i;

	for (i = 0; i < EVENTS && !gp_holders_next(holders(b), &e); i++)
		take_event(b->h, &e);
	take_troubles((struct debug *)b);
	gp_scheduler_ops.run(b);
}

static u64 debug_wake_at(struct gp_backend *b)
{
	u64 at = gp_scheduler_ops.wake_at(b), deadline = gp_holders_wake_at(holders(b));

	return at < deadline ? at : deadline;
}

/*
 * Also busy while a process is being attached, because a process with a single thread is stopped
 * meanwhile. That holds also after the attach was cancelled.
 */
static bool debug_busy(struct gp_backend *b)
{
	return gp_holders_attaching(holders(b)) || gp_scheduler_ops.busy(b);
}

static void debug_counters(struct gp_backend *b, struct gp_backend_counters *ret,
			   gp_counter_fn *tell, void *ctx)
{
	struct gp_holders_stats stats;
	struct gp_holders_session_stats s;

	gp_holders_stats(holders(b), &stats);
	s = stats.sessions;
	tell(ctx, "holders_started", stats.started);
	tell(ctx, "holders_died", stats.died);
	tell(ctx, "sessions_stuck", stats.stuck);
	tell(ctx, "leases_expired", stats.expired);
	*ret = (struct gp_backend_counters){
		.attaches = s.attaches, .attach_failures = s.attach_failures,
		.detaches = s.detaches, .suspends = s.suspends, .resumes = s.resumes,
		.suspend_failures = s.suspend_failures, .late = s.late, .retakes = s.retakes,
		.retake_ns_max = s.retake_ns_max, .retake_ns_sum = s.retake_ns_sum,
		.runtime_ends = s.runtime_ends,
	};
}

/* ---- life ---- */

static bool debug_retire(struct gp_backend *b)
{
	return gp_holders_leave(holders(b));
}

static void debug_free(struct gp_backend *b)
{
	struct debug *d = (struct debug *)b;

	gp_holders_free(d->holders);
	gp_scheduler_fini(&d->s);
	free(d);
}

/* The scheduler's table with the changes below. */
static struct gp_backend_ops debug_ops;

static void set_ops(void)
{
	debug_ops = gp_scheduler_ops;
	debug_ops.name = "kfd-debug";
	debug_ops.preempts = true;
	debug_ops.retire = debug_retire;
	debug_ops.free = debug_free;
	debug_ops.task_add = debug_task_add;
	debug_ops.task_del = debug_task_del;
	debug_ops.process_del = debug_process_del;
	debug_ops.run = debug_run;
	debug_ops.attach = debug_attach;
	debug_ops.wake_at = debug_wake_at;
	debug_ops.busy = debug_busy;
	debug_ops.counters = debug_counters;
}

static int start(struct debug *d, struct gp_decider *h, const char **why)
{
	const struct gp_daemon_settings *set = &h->config->daemon;
	struct gp_holders_gpu gpus[GP_GPUS_MAX];
	struct gp_holders_args args = {
		.gpus = gpus, .nr_gpus = h->nr_gpus, .grace = set->grace,
		.attach_interval_ns = GP_SEC / (set->attach_rate ? set->attach_rate : 1),
		.kfd_root = h->args.kfd,
		.lease_ns = h->param[GP_LEASE] < GP_SEC ? h->param[GP_LEASE] : 0,
	};
	u32 i;
	int err;

	/* Only holders use it. Opening it here reports early why they would fail. */
	*why = "cannot open /dev/kfd; is the driver loaded, and is this root?";
	if (gp_sys->access(h->args.node ? h->args.node : "/dev/kfd", R_OK | W_OK))
		return -errno;
	for (i = 0; i < h->nr_gpus; i++)
		gpus[i] = (struct gp_holders_gpu){ h->gpu[i].gpu_id, h->gpu[i].cus };
	*why = "out of memory";
	err = gp_holders_alloc(&args, &d->holders);
	return err ? err : gp_scheduler_init(&d->s, h, gp_holders_mechanism(d->holders));
}

int gp_backend_debug(struct gp_decider *h, struct gp_backend **ret, char *why)
{
	struct debug *d = calloc(1, sizeof(*d));
	const char *reason = "out of memory";
	int err = -ENOMEM;

	if (d)
		err = start(d, h, &reason);
	if (err) {
		snprintf(why, GP_DECIDER_WHY, "%s", reason);
		if (d)
			debug_free(&d->s.base);
		return err;
	}
	set_ops();
	d->s.base.ops = &debug_ops;
	d->s.base.fd = gp_holders_fd(d->holders);
	d->s.acting = debug_acting;
	d->s.queues = debug_queues;
	d->s.mistrusts = debug_mistrusts;
	*ret = &d->s.base;
	return 0;
}
