// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "home.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"
#include "lib/error.h"
#include "lib/gpreempt.h"

/* Room for a large node; the memory of what is not used is never touched. */
static const struct gp_limits limits = {
	.devices = GP_MAX_DEVICES, .tasks = 1024, .seats = GP_HOME_SEATS, .queues = 16384,
};

enum {
	EVENTS = 64,
	ANSWERS = 4096,		/* of one run; the rest waits for the next */
};

/* Somebody opened the driver: its queues come a moment later. */
#define OPEN_SCAN_NS	(2 * GP_MSEC)

static u64 monotonic(void *ctx)
{
	struct timespec ts;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * GP_SEC + (u64)ts.tv_nsec;
}

static u64 sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

void gp_home_news(struct gp_home *h, u32 kind, const struct gp_resident *who,
		  const char *format, ...)
{
	struct gp_news news = { .kind = kind, .who = who };
	char text[GP_HOME_WHY];
	va_list args;

	if (!h->args.news)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	news.what = text;
	h->args.news(h->args.ctx, &news);
}

bool gp_home_acts(const struct gp_home *h)
{
	return !h->observe && h->enabled && !h->leaving;
}

bool gp_home_acting(const struct gp_home *h, u32 device)
{
	return h->doer->ops->acting && h->doer->ops->acting(h->doer, device);
}

/* ---- life ---- */

static int read_gpus(struct gp_home *h, char *why)
{
	struct gp_gpu_info all[GP_GPUS_MAX];
	u32 i, count = 0, device;
	const char *bad = "";
	u64 chosen = 0;
	int err;

	err = gp_gpus_read(h->args.kfd, all, GP_GPUS_MAX, &count);
	if (err == -ENOENT)
		count = 0;	/* the driver may come later: a scan sees another generation */
	else if (err)
		goto failed;
	if (count > GP_GPUS_MAX)
		count = GP_GPUS_MAX;
	if (count && h->config->daemon.gpus[0]) {
		err = gp_gpus_select(all, count, h->config->daemon.gpus, &chosen, &bad);
		if (err)
			goto no_such;
	}
	for (i = 0; i < count; i++) {
		if (!(chosen & BIT_ULL(i)))
			continue;
		err = gp_device_add(h->sched, GP_CAN_PROBE, &device);
		if (err)
			goto failed;
		h->gpu[h->nr_gpus++] = all[i];
	}
	if (gp_gpus_generation(h->args.kfd, &h->generation))
		h->generation = 0;
	return 0;

no_such:
	snprintf(why, GP_HOME_WHY, "gpus = %s: no such GPU: '%s'; gpreempt list shows them",
		 h->config->daemon.gpus, bad ? bad : "");
	return err;
failed:
	snprintf(why, GP_HOME_WHY, "the GPUs cannot be read: %s", gp_strerror(err));
	return err;
}

static int make_sched(struct gp_home *h)
{
	struct gp_sched_args args = { .limits = limits, .policy = h->config->policy };
	const u64 *param = gp_config_params(h->config, h->config->policy);
	u32 i;
	int err;

	h->memory = calloc(1, gp_sched_size(&limits));
	h->samples = calloc(limits.queues, sizeof(*h->samples));
	h->tasks = calloc(limits.tasks, sizeof(*h->tasks));
	h->probe = calloc(GP_HOME_PROBES, sizeof(*h->probe));
	h->resident = calloc(GP_PROCESSES_MAX, sizeof(struct gp_resident *));
	if (!h->memory || !h->samples || !h->tasks || !h->probe || !h->resident)
		return -ENOMEM;

	if (h->observe)
		args.policy = NULL;
	err = gp_sched_init(h->memory, &args, &h->sched);
	for (i = 0; !err && i < GP_NR_PARAMS; i++)
		err = gp_sched_set(h->sched, (enum gp_param)i, param[i]);
	return err;
}

/* The node may be missing (no driver yet): then the scans find who comes. */
static void watch_opens(struct gp_home *h)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_HOME_INOTIFY };

	h->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (h->inotify < 0)
		return;
	inotify_add_watch(h->inotify, "/dev/kfd", IN_OPEN);
	epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->inotify, &e);
}

int gp_home_new(const struct gp_home_args *args, struct gp_home **ret, char *why)
{
	struct gp_scan_args scan = { .kfd = args->kfd, .proc = args->proc };
	struct gp_home *h = calloc(1, sizeof(*h));
	int err = -ENOMEM;

	snprintf(why, GP_HOME_WHY, "out of memory");
	if (!h) {
		gp_config_free(args->config);
		return err;
	}
	h->args = *args;
	h->config = args->config;
	h->epoll = h->inotify = h->record_fd = -1;
	h->doer = gp_doer_none();
	if (!h->args.clock)
		h->args.clock = monotonic;
	h->observe = args->observe || !h->config->policy;
	h->now_ns = h->started_ns = h->args.clock(h->args.ctx);

	err = make_sched(h);
	if (!err)
		err = gp_scanner_alloc(&scan, &h->scanner);
	if (!err) {
		h->epoll = epoll_create1(EPOLL_CLOEXEC);
		err = h->epoll < 0 ? -errno : 0;
	}
	if (!err)
		err = read_gpus(h, why);
	if (err) {
		gp_home_free(h);
		return err;
	}

	h->enabled = !gp_wish_switched_off(h);
	gp_sched_enable(h->sched, h->enabled, h->now_ns);
	watch_opens(h);
	gp_home_choose_doer(h, true);
	h->scan_at_ns = h->now_ns;
	*ret = h;
	return 0;
}

void gp_home_free(struct gp_home *h)
{
	if (!h)
		return;
	if (h->resident)
		gp_census_clear(h);
	gp_home_drop_doer(h);
	if (h->inotify >= 0)
		close(h->inotify);
	if (h->epoll >= 0)
		close(h->epoll);
	gp_scanner_free(h->scanner);
	gp_config_free(h->config);
	free(h->resident);
	free(h->samples);
	free(h->tasks);
	free(h->probe);
	free(h->memory);
	free(h);
}

/* ---- looks, actions and answers ---- */

void gp_home_look(struct gp_home *h, u32 device)
{
	u64 began = h->args.clock(h->args.ctx), took;
	u32 i, n = 0;

	if (h->doer->ops->decides) {
		gp_kernel_trigger(h);
		return;
	}
	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];

		if (r->task != GP_NONE && (r->devices & BIT_ULL(device)))
			n += gp_rings_look(h, r, device, h->samples + n, limits.queues - n);
	}
	h->stats.looks++;
	took = h->args.clock(h->args.ctx) - began;
	if (took > h->stats.look_ns_max)
		h->stats.look_ns_max = took;
	gp_sched_look(h->sched, device, h->samples, n, h->now_ns);
}

static void begin(struct gp_home *h, const struct gp_action *action)
{
	struct gp_mechanism *m = h->doer->mechanism;
	struct gp_answer refused = { .action = action->id, .task = GP_NONE,
				     .outcome = GP_REFUSED };

	if (action->nr_out && h->args.holding)
		h->args.holding(h->args.ctx);
	if (!m->ops->begin(m, action, h->now_ns))
		return;
	h->stats.refused++;
	gp_sched_answer(h->sched, &refused, h->now_ns);
}

static void take_answers(struct gp_home *h)
{
	struct gp_mechanism *m = h->doer->mechanism;
	struct gp_answer answer;
	u32 i;

	for (i = 0; i < ANSWERS && !m->ops->poll(m, h->now_ns, &answer); i++) {
		/* Of a task that is gone nobody waits for anything. */
		if (gp_sched_answer(h->sched, &answer, h->now_ns))
			h->stats.stray++;
		h->tend |= h->tend_later;
	}
}

static void take_doer_events(struct gp_home *h)
{
	struct gp_kfdm_event e;
	u32 i;

	for (i = 0; i < ANSWERS && h->doer->ops->next && !h->doer->ops->next(h->doer, &e); i++)
		gp_grip_event(h, &e);
}

/* When @device is to be looked at: as the scheduler wants it, or for who records. */
static u64 look_at(const struct gp_home *h, u32 device)
{
	const struct gp_device *d = &h->sched->devices[device];
	u64 at = gp_sched_look_at(h->sched, device);

	if (!h->recorder.emit || !d->nr_seats)
		return at;
	return sooner(at, d->looked_ns + h->sched->param[GP_LOOK_RELAXED]);
}

static void look_and_act(struct gp_home *h)
{
	struct gp_todo todo;
	u32 d;

	if (h->doer->ops->decides) {
		gp_kernel_take(h);
		return;
	}
	for (d = 0; d < h->nr_gpus; d++)
		if (look_at(h, d) <= h->now_ns)
			gp_home_look(h, d);
	while (gp_sched_pull(h->sched, h->now_ns, h->tasks, &todo)) {
		if (todo.verb == GP_DO_SWITCH)
			begin(h, &todo.action);
		else
			gp_probes_put(h, todo.device, todo.task);
	}
}

/* ---- time and descriptors ---- */

static void drain_inotify(struct gp_home *h)
{
	char buffer[4096];

	while (read(h->inotify, buffer, sizeof(buffer)) > 0)
		;
	h->scan_at_ns = sooner(h->scan_at_ns, h->now_ns + OPEN_SCAN_NS);
}

static void take_events(struct gp_home *h)
{
	struct epoll_event e[EVENTS];
	int i, n = epoll_wait(h->epoll, e, EVENTS, 0);

	for (i = 0; i < n; i++) {
		if (e[i].data.u64 == GP_HOME_INOTIFY)
			drain_inotify(h);
		else if (e[i].data.u64 < GP_HOME_RESETS)
			gp_census_gone(h, (pid_t)e[i].data.u64);
	}
}

static void scan(struct gp_home *h)
{
	u64 began = h->args.clock(h->args.ctx), took;
	u32 generation = h->generation;

	h->scan_at_ns = h->now_ns + h->config->daemon.scan_ns;
	gp_census_scan(h, 0);
	if (h->doer->ops->decides)
		gp_kernel_refresh(h);
	if (!gp_gpus_generation(h->args.kfd, &generation) && generation != h->generation)
		h->outdated = true;
	h->stats.scans++;
	took = h->args.clock(h->args.ctx) - began;
	if (took > h->stats.scan_ns_max)
		h->stats.scan_ns_max = took;
}

void gp_home_run(struct gp_home *h, u64 now_ns)
{
	if (now_ns > h->now_ns)
		h->now_ns = now_ns;
	h->stats.runs++;

	/* What has happened; then what to do about it; housekeeping last. */
	take_events(h);
	gp_resets_take(h);
	take_doer_events(h);
	take_answers(h);
	look_and_act(h);
	if (gp_probes_run(h))
		look_and_act(h);
	if (h->now_ns >= h->scan_at_ns && !h->leaving) {
		scan(h);
		look_and_act(h);
	}
	if (h->tend) {
		h->tend = false;
		if (h->doer->ops->decides)
			gp_kernel_tend(h);
		else
			gp_grip_tend(h);
		look_and_act(h);
	}
}

int gp_home_fd(const struct gp_home *h)
{
	return h->epoll;
}

u64 gp_home_wake_at(const struct gp_home *h)
{
	u64 at = h->leaving ? GP_NEVER : h->scan_at_ns;
	u32 d;

	if (h->tend || gp_probes_due(h))
		return h->now_ns;
	if (h->doer->ops->decides)
		return at;
	at = sooner(at, gp_sched_wake_at(h->sched));
	if (h->doer->ops->wake_at)
		at = sooner(at, h->doer->ops->wake_at(h->doer));
	for (d = 0; d < h->nr_gpus; d++)
		at = sooner(at, look_at(h, d));
	return at;
}

bool gp_home_busy(const struct gp_home *h)
{
	u32 i, d;

	/* What the module holds has its lease there. */
	if (h->doer->ops->decides)
		return false;
	/*
	 * One with a single thread is stopped while it is attached to, also if nobody wants that
	 * any more (switched off, another class, the end) and has forgotten that he asked.
	 */
	if (h->doer->ops->attaching && h->doer->ops->attaching(h->doer))
		return true;
	for (i = 0; i < h->nr_residents; i++)
		if (h->resident[i]->grip == GP_GRIP_ASKED || !gp_job_at_rest(h, h->resident[i]))
			return true;
	for (d = 0; d < h->nr_gpus; d++)
		if (gp_sched_look_at(h->sched, d) != GP_NEVER)
			return true;
	return false;
}

bool gp_home_outdated(const struct gp_home *h)
{
	return h->outdated;
}

void gp_home_leave(struct gp_home *h, u64 now_ns)
{
	h->leaving = true;
	gp_sched_enable(h->sched, false, now_ns);
	h->tend = true;
}

bool gp_home_quiet(const struct gp_home *h)
{
	u32 i;

	for (i = 0; i < h->nr_residents; i++)
		if (!gp_job_at_rest(h, h->resident[i]) || h->resident[i]->grip != GP_GRIP_NONE)
			return false;
	return true;
}

void gp_home_trace(struct gp_home *h, const struct gp_trace *watcher,
		   const struct gp_trace *recorder)
{
	h->watcher = watcher ? *watcher : (struct gp_trace){ 0 };
	h->recorder = recorder ? *recorder : (struct gp_trace){ 0 };
	if (!h->doer->ops->decides)
		h->sched->trace = h->watcher;
	else if (!recorder)
		gp_kernel_record(h, false);
}

void gp_home_describe(struct gp_home *h)
{
	if (h->doer->ops->decides)
		gp_kernel_record(h, true);
	else if (h->recorder.emit)
		gp_trace_describe(h->sched, &h->recorder);
}
