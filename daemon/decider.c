// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "decider_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "lib/error.h"
#include "lib/gpreempt.h"
#include "lib/sys.h"
#include "text/value.h"

enum { EVENTS = 64 };

/* Delay of a scan after a process opened the driver, because its queues appear a moment later. */
#define OPEN_SCAN_NS	(2 * GP_MSEC)
/* Interval of checks whether a retired backend is done. */
#define REAP_NS		(10 * GP_MSEC)

static u64 monotonic(void *ctx)
{
	(void)ctx;
	return gp_sys->monotonic_ns();
}

void gp_decider_news(struct gp_decider *h, u32 kind, const struct gp_gpu_process *who,
		     const char *format, ...)
{
	struct gp_news news = { .kind = kind, .who = who };
	char text[GP_DECIDER_WHY];
	va_list args;

	if (!h->args.news)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gp_text_clean(text);
	news.what = text;
	h->args.news(h->args.ctx, &news);
}

bool gp_decider_acts(const struct gp_decider *h)
{
	return !h->observe && h->enabled && !h->leaving;
}

u32 gp_decider_device(const struct gp_decider *h, u32 gpu_id)
{
	u32 d;

	for (d = 0; d < h->nr_gpus; d++)
		if (h->gpu[d].gpu_id == gpu_id)
			return d;
	return GP_NONE;
}

/* ---- life ---- */

static int read_gpus(struct gp_decider *h, char *why)
{
	struct gp_gpu_info all[GP_GPUS_MAX];
	u32 i, count = 0;
	const char *bad = "";
	u64 chosen = 0;
	int err;

	err = gp_gpus_read(h->args.kfd, all, GP_GPUS_MAX, &count);
	if (err == -ENOENT)
		count = 0;	/* the driver may load later; a scan sees the new generation */
	else if (err)
		goto failed;
	if (count > GP_GPUS_MAX)
		count = GP_GPUS_MAX;
	if (count && h->config->daemon.gpus[0]) {
		err = gp_gpus_select(all, count, h->config->daemon.gpus, &chosen, &bad);
		if (err)
			goto no_such;
	}
	for (i = 0; i < count; i++)
		if (chosen & BIT_ULL(i))
			h->gpu[h->nr_gpus++] = all[i];
	if (gp_gpus_generation(h->args.kfd, &h->generation))
		h->generation = 0;
	return 0;

no_such:
	snprintf(why, GP_DECIDER_WHY, "gpus = %s: no such GPU: '%s'; gpreempt list shows them",
		 h->config->daemon.gpus, bad ? bad : "");
	return err;
failed:
	snprintf(why, GP_DECIDER_WHY, "the GPUs cannot be read: %s", gp_strerror(err));
	return err;
}

/* Watches the driver's node. Without the node (no driver yet) the scans find new processes. */
static void watch_opens(struct gp_decider *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_INOTIFY };

	h->inotify = gp_sys->inotify_init(IN_NONBLOCK | IN_CLOEXEC);
	if (h->inotify >= 0)
		gp_sys->inotify_add_watch(h->inotify, "/dev/kfd", IN_OPEN);
	if (h->inotify < 0 || gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->inotify, &e))
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "new processes are noticed only by "
				"scans: %s", strerror(errno));
}

/* Watches the supervisor's messages here too, because not every backend takes them. */
static void watch_children(struct gp_decider *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_CHILDREN };

	if (gp_children_fd() >= 0 &&
	    gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, gp_children_fd(), &e))
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "ends of holders and readers are noticed "
				"late: %s", strerror(errno));
}

static int open_all(struct gp_decider *h, char *why)
{
	struct gp_scan_args scan = { .kfd = h->args.kfd, .proc = h->args.proc };
	int err;

	h->process = calloc(GP_PROCESSES_MAX, sizeof(struct gp_gpu_process *));
	err = h->process ? gp_scanner_alloc(&scan, &h->scanner) : -ENOMEM;
	if (err)
		return err;
	h->epoll = gp_sys->epoll_create(EPOLL_CLOEXEC);
	if (h->epoll < 0)
		return -errno;
	err = gp_descriptions_open(h);
	if (!err)
		err = read_gpus(h, why);
	if (err)
		return err;
	err = gp_switched_off(h);
	if (err < 0) {
		snprintf(why, GP_DECIDER_WHY, "%s/off: %s", h->config->daemon.state,
			 strerror(-err));
		return err;
	}
	h->enabled = !err;
	return gp_backend_choose(h, true);
}

int gp_decider_new(const struct gp_decider_args *args, struct gp_decider **ret, char *why)
{
	struct gp_decider *h = calloc(1, sizeof(*h));
	int err;

	snprintf(why, GP_DECIDER_WHY, "out of memory");
	if (!h) {
		gp_config_free(args->config);
		return -ENOMEM;
	}
	h->args = *args;
	h->config = args->config;
	h->epoll = h->inotify = -1;
	if (!h->args.clock)
		h->args.clock = monotonic;
	h->observe = args->observe || !h->config->policy;
	h->policy = h->observe ? &gp_policy_fifo : h->config->policy;
	memcpy(h->param, gp_config_params(h->config, h->config->policy), sizeof(h->param));
	h->now_ns = h->started_ns = h->args.clock(h->args.ctx);

	err = open_all(h, why);
	if (err) {
		gp_decider_free(h);
		return err;
	}
	watch_opens(h);
	watch_children(h);
	h->scan_at_ns = h->now_ns;
	*ret = h;
	return 0;
}

void gp_decider_free(struct gp_decider *h)
{
	if (!h)
		return;
	if (h->backend)
		gp_processes_clear(h);
	gp_backend_drop_all(h);
	gp_descriptions_close(h);
	if (h->inotify >= 0)
		close(h->inotify);
	if (h->epoll >= 0)
		close(h->epoll);
	gp_scanner_free(h->scanner);
	gp_config_free(h->config);
	free(h->process);
	free(h);
}

/* ---- time and descriptors ---- */

static void drain_inotify(struct gp_decider *h)
{
	char buffer[4096];

	/* Read once only, so that a user who opens the driver repeatedly cannot prolong a run. */
	if (gp_sys->read(h->inotify, buffer, sizeof(buffer)) < 0)
		return;
	h->scan_at_ns = gp_sooner(h->scan_at_ns, h->now_ns + OPEN_SCAN_NS);
}

static void take_events(struct gp_decider *h)
{
	struct epoll_event e[EVENTS];
	int i, n = gp_sys->epoll_wait(h->epoll, e, EVENTS, 0);

	for (i = 0; i < n; i++) {
		if (e[i].data.u64 == GP_DECIDER_INOTIFY)
			drain_inotify(h);
		else if (e[i].data.u64 == GP_DECIDER_CHILDREN)
			gp_children_run();
		else if (e[i].data.u64 == GP_DECIDER_RESETS)
			gp_resets_take(h);
		else if (e[i].data.u64 < GP_DECIDER_CHILDREN)
			gp_processes_ended(h, (pid_t)e[i].data.u64);
	}
}

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void scan(struct gp_decider *h)
{
	u64 began = h->args.clock(h->args.ctx), took;
	u32 generation = h->generation;
	bool done;

	if (h->scan_state == GP_SCAN_NONE) {
		h->scan_at_ns = h->now_ns + h->config->daemon.scan_ns;
		h->scan_began_ns = h->now_ns;
	}
	done = gp_processes_scan(h);
	took = h->args.clock(h->args.ctx) - began;
	if (took > h->stats.scan_ns_max)
		h->stats.scan_ns_max = took;
	/*
	 * Any user can cause scans by opening the driver. So scans take at most a fifth of the
	 * time, and begin at least OPEN_SCAN_NS apart.
	 */
	h->scan_again_ns = h->now_ns + 5 * took;
	if (!done)
		return;
	h->scan_again_ns = later(h->scan_again_ns, h->scan_began_ns + OPEN_SCAN_NS);
	h->stats.scans++;
	if (!gp_gpus_generation(h->args.kfd, &generation) && generation != h->generation)
		h->outdated = true;
}

/* Returns when to begin or continue a scan. */
static u64 next_scan(const struct gp_decider *h)
{
	if (h->leaving)
		return GP_NEVER;
	return h->scan_state != GP_SCAN_NONE ? h->scan_again_ns :
					       later(h->scan_at_ns, h->scan_again_ns);
}

void gp_decider_run(struct gp_decider *h, u64 now_ns)
{
	const struct gp_backend_ops *ops;

	if (now_ns > h->now_ns)
		h->now_ns = now_ns;
	h->stats.runs++;
	gp_backend_reap(h);
	if (h->choose_again_ns && h->now_ns >= h->choose_again_ns && !h->leaving)
		gp_backend_choose(h, true);

	/*
	 * Arrivals first, because they wait. Then other events, decisions, and housekeeping last.
	 */
	gp_descriptions_run(h);
	take_events(h);
	ops = h->backend->ops;
	ops->run(h->backend);
	if (h->now_ns >= next_scan(h)) {
		scan(h);
		if (ops->decide)
			ops->decide(h->backend);
	}
	/* A process that a retired backend still has cannot be attached yet. */
	if (h->attach_due && !h->retired) {
		h->attach_due = false;
		gp_tasks_cap(h);
		if (ops->attach)
			ops->attach(h->backend);
		if (ops->decide)
			ops->decide(h->backend);
	}
}

int gp_decider_fd(const struct gp_decider *h)
{
	return h->epoll;
}

u64 gp_decider_wake_at(const struct gp_decider *h)
{
	u64 at = gp_sooner(next_scan(h), gp_readers_wake_at(h->readers));

	if (h->retired)
		at = gp_sooner(at, h->now_ns + REAP_NS);
	else if (h->attach_due)
		return h->now_ns;
	if (h->backend->ops->wake_at)
		at = gp_sooner(at, h->backend->ops->wake_at(h->backend));
	return at;
}

bool gp_decider_busy(const struct gp_decider *h)
{
	return h->retired || (h->backend->ops->busy && h->backend->ops->busy(h->backend));
}

bool gp_decider_outdated(const struct gp_decider *h)
{
	return h->outdated;
}

void gp_decider_leave(struct gp_decider *h, u64 now_ns)
{
	if (now_ns > h->now_ns)
		h->now_ns = now_ns;
	h->leaving = true;
	h->backend->ops->set(h->backend);
	h->attach_due = true;
}

bool gp_decider_quiet(const struct gp_decider *h)
{
	u32 i;

	for (i = 0; i < h->nr_processes; i++)
		if (!gp_tasks_at_rest(h, h->process[i]) ||
		    h->process[i]->attachment != GP_NOT_ATTACHED)
			return false;
	return !h->retired;
}

/* ---- recording ---- */

void gp_decider_trace(struct gp_decider *h, const struct gp_trace *watcher,
		      const struct gp_trace *recorder)
{
	h->watcher = watcher ? *watcher : (struct gp_trace){ 0 };
	h->recorder = recorder ? *recorder : (struct gp_trace){ 0 };
	h->backend->ops->trace(h->backend);
}

void gp_decider_describe(struct gp_decider *h)
{
	if (h->recorder.emit)
		h->backend->ops->describe(h->backend);
}

/* ---- reading ---- */

void gp_decider_status(const struct gp_decider *h, struct gp_backend_status *ret)
{
	h->backend->ops->status(h->backend, ret);
	ret->mechanism = h->backend->ops->name;
	ret->ejections += h->stats.ejections;
	ret->stale_samples += h->stats.stale_samples;
}

const char *gp_decider_policy_name(const struct gp_decider *h)
{
	struct gp_backend_status status;

	gp_decider_status(h, &status);
	return h->observe ? "none" : status.policy->name;
}

int gp_decider_seat(const struct gp_decider *h, const struct gp_gpu_process *r, u32 device,
		    struct gp_seat_view *ret)
{
	if (r->task == GP_NONE)
		return -ENOENT;
	return h->backend->ops->seat(h->backend, r->task, device, ret);
}

int gp_decider_account(const struct gp_decider *h, const struct gp_gpu_process *r,
		       struct gp_account *ret)
{
	return r->task == GP_NONE ? -ENOENT : h->backend->ops->account(h->backend, r->task, ret);
}

const struct gp_hist *gp_decider_parts(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	return r->task == GP_NONE ? NULL : h->backend->ops->parts(h->backend, r->task);
}

u64 gp_decider_held_until(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	struct gp_seat_view seat;
	u32 d;

	for (d = 0; r->task != GP_NONE && d < h->nr_gpus; d++)
		if (!gp_decider_seat(h, r, d, &seat))
			return seat.held_until_ns > h->now_ns ? seat.held_until_ns : 0;
	return 0;
}

void gp_decider_device_view(const struct gp_decider *h, u32 device, struct gp_device_view *ret)
{
	h->backend->ops->device(h->backend, device, ret);
}

u32 gp_decider_record_task(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	if (r->task == GP_NONE || !h->backend->ops->record_task)
		return r->task;
	return h->backend->ops->record_task(h->backend, r->task);
}

const struct gp_gpu_process *gp_decider_by_task(const struct gp_decider *h, u32 task)
{
	u32 i;

	for (i = 0; task != GP_NONE && i < h->nr_processes; i++)
		if (h->process[i]->task == task)
			return h->process[i];
	return NULL;
}

void gp_decider_counters(const struct gp_decider *h, struct gp_backend_counters *ret,
			 gp_counter_fn *tell, void *ctx)
{
	*ret = (struct gp_backend_counters){ 0 };
	if (h->backend->ops->counters)
		h->backend->ops->counters(h->backend, ret, tell, ctx);
}
