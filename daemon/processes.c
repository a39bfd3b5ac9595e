// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which processes use the GPUs, and which class they have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "children.h"
#include "decider_private.h"

/* ---- the list ---- */

/* Where @pid is, or would be. */
static u32 place(const struct gp_decider *h, pid_t pid)
{
	u32 low = 0, high = h->nr_processes;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (h->process[mid]->pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct gp_gpu_process *gp_decider_find(struct gp_decider *h, const struct gp_process_id *who)
{
	u32 at = place(h, who->pid);

	if (at == h->nr_processes || h->process[at]->pid != who->pid)
		return NULL;
	return !who->start || who->start == h->process[at]->start ? h->process[at] : NULL;
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void watch_end(struct gp_decider *h, struct gp_gpu_process *r)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = (u64)r->pid };
	u64 start;

	/* A scan sees the end of unmanaged processes. In tests processes are not real ones. */
	if (h->args.proc || !r->class.managed || r->pidfd >= 0)
		return;
	r->pidfd = open_pidfd(r->pid);
	if (r->pidfd < 0)
		return;
	if (!gp_process_start(h->args.proc, r->pid, &start) && start == r->start &&
	    !epoll_ctl(h->epoll, EPOLL_CTL_ADD, r->pidfd, &e))
		return;
	close(r->pidfd);
	r->pidfd = -1;
}

/* A process names itself; what it writes goes to logs, terminals and JSON. */
static void copy_name(struct gp_gpu_process *r, const char *comm)
{
	char *at;

	snprintf(r->name, sizeof(r->name), "%s", comm);
	for (at = r->name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static struct gp_gpu_process *arrive(struct gp_decider *h, const struct gp_process *p)
{
	struct gp_gpu_process *r;
	u32 at = place(h, p->pid);

	if (h->nr_processes == GP_PROCESSES_MAX)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;

	r->pid = p->pid;
	r->start = p->start;
	r->birth = p->birth;
	r->uid = p->uid;
	r->user = p->user;
	r->task = GP_NONE;
	r->watched_stale = true;
	r->pidfd = -1;
	copy_name(r, p->comm);
	memmove(&h->process[at + 1], &h->process[at],
		(h->nr_processes - at) * sizeof(struct gp_gpu_process *));
	h->process[at] = r;
	h->nr_processes++;
	h->stats.seen++;
	gp_processes_classify(h, r);
	gp_descriptions_ask(h, r);
	return r;
}

static void depart(struct gp_decider *h, u32 at)
{
	struct gp_gpu_process *r = h->process[at];

	if (r->announced)
		gp_decider_news(h, GP_NEWS_PROCESS, r, "is gone");
	gp_tasks_leave(h, r);
	if (r->pidfd >= 0)
		close(r->pidfd);
	free(r->queues);
	free(r->usage);
	gp_subject_free(&r->subject);
	free(r);
	h->nr_processes--;
	memmove(&h->process[at], &h->process[at + 1],
		(h->nr_processes - at) * sizeof(struct gp_gpu_process *));
	h->stats.gone++;
	h->attach_due = true;
}

void gp_processes_gone(struct gp_decider *h, pid_t pid)
{
	u32 at = place(h, pid);

	if (at < h->nr_processes && h->process[at]->pid == pid)
		depart(h, at);
}

void gp_processes_clear(struct gp_decider *h)
{
	while (h->nr_processes)
		depart(h, h->nr_processes - 1);
}

/* ---- class ---- */

static void announce(struct gp_decider *h, struct gp_gpu_process *r)
{
	if (r->announced)
		return;
	r->announced = true;
	gp_decider_news(h, GP_NEWS_PROCESS, r, "uses the GPU; class %s: %s", r->class.name,
			r->class_from);
	if (r->nr_queues)
		gp_decider_news(h, GP_NEWS_QUEUE, r, "has %u queues", r->nr_queues);
}

void gp_processes_classify(struct gp_decider *h, struct gp_gpu_process *r)
{
	const struct gp_class_request *request = gp_class_request_find(h, r->pid, r->start);
	const struct gp_named_class *class = NULL;
	struct gp_subject ids = { 0 };
	struct gp_match match;

	if (request)
		class = gp_rules_class(&h->config->rules, request->class_name);
	/* A process that is ending has no /proc text any more. */
	if (!r->described && gp_subject_read(h->args.proc, r->pid, &ids))
		ids = (struct gp_subject){ .uid = r->uid, .gid = (u32)-1 };
	gp_rules_match(&h->config->rules, r->described ? &r->subject : &ids, &match);
	gp_subject_free(&ids);
	r->class = class ? *class : *match.class;
	snprintf(r->class_from, sizeof(r->class_from), "%s", class ? "asked for" : match.why);
	snprintf(r->gang, sizeof(r->gang), "%s", match.gang);
	if (class || r->described || r->undescribed[0]) {
		watch_end(h, r);
		announce(h, r);
		return;
	}
	r->class.managed = false;
	snprintf(r->class_from, sizeof(r->class_from), "not known yet: its command line is being "
		 "read");
}

/* ---- scan ---- */

static void copy_queues(struct gp_decider *h, struct gp_gpu_process *r, const struct gp_process *p)
{
	u64 bytes = p->nr_queues * sizeof(*p->queues);
	struct gp_process_queue *queues = malloc(bytes ? bytes : 1);

	if (!queues)
		return;
	if (bytes)
		memcpy(queues, p->queues, bytes);
	free(r->queues);
	r->queues = queues;
	if (r->nr_queues != p->nr_queues && r->announced)
		gp_decider_news(h, GP_NEWS_QUEUE, r, "has %u queues", p->nr_queues);
	r->nr_queues = p->nr_queues;
	r->watched_stale = true;
	r->watched_at_ns = 0;
	gp_tasks_update(h, r);
}

static void copy_usage(struct gp_gpu_process *r, const struct gp_process *p)
{
	u64 bytes = p->nr_gpus * sizeof(*p->gpus);
	struct gp_process_gpu *usage = malloc(bytes ? bytes : 1);

	if (!usage)
		return;
	if (bytes)
		memcpy(usage, p->gpus, bytes);
	free(r->usage);
	r->usage = usage;
	r->nr_usage = p->nr_gpus;
}

static void meet(struct gp_decider *h, const struct gp_process *p, u32 what)
{
	struct gp_gpu_process *r = gp_decider_find(h, &(struct gp_process_id){ .pid = p->pid });
	bool changed = p->queues_changed;

	/* Another process with a reused pid, or the same after an exec: all its queues are new. */
	if (r && (r->start != p->start || r->birth != p->birth)) {
		gp_processes_gone(h, p->pid);
		r = NULL;
	}
	if (!r) {
		r = arrive(h, p);
		changed = true;
	}
	if (!r)
		return;
	r->seen = true;
	if (what & GP_SCAN_USAGE)
		copy_usage(r, p);
	gp_descriptions_ask(h, r);
	if (changed || r->nr_queues != p->nr_queues)
		copy_queues(h, r, p);
	else if (r->task == GP_NONE && r->class.managed && r->nr_queues)
		gp_tasks_update(h, r);	/* not admitted then; perhaps now */
}

void gp_processes_scan(struct gp_decider *h, u32 what)
{
	const struct gp_process *p = NULL;
	pid_t own = getpid();
	u32 i, n = 0;
	int err;

	err = gp_scanner_run(h->scanner, what, &p, &n);
	if (err && err != -ENOENT)
		return;
	if (err)
		n = 0;
	for (i = 0; i < h->nr_processes; i++)
		h->process[i]->seen = false;
	for (i = 0; i < n; i++)
		if (p[i].pid != own && !gp_children_has(p[i].pid))
			meet(h, &p[i], what);
	for (i = h->nr_processes; i--;)
		if (!h->process[i]->seen)
			depart(h, i);
	gp_class_request_forget_ended(h);
	if (h->backend->ops->scanned)
		h->backend->ops->scanned(h->backend);
	h->attach_due = true;
}

void gp_decider_read_usage(struct gp_decider *h)
{
	if (h->now_ns < h->usage_at_ns)
		return;
	h->usage_at_ns = h->now_ns + h->config->daemon.scan_ns;
	gp_processes_scan(h, GP_SCAN_USAGE);
}
