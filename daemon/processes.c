// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Tracks which processes use the GPUs, and which class each has. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "children.h"
#include "decider_private.h"
#include "lib/sys.h"
#include "lib/sysfs.h"

/* The part of a scan that one run does, which bounds the delay of other work. */
enum {
	STEPS_PER_RUN	= 16,	/* of the scanner: about 0.1 ms */
	TAKE_PER_RUN	= 256,	/* processes of its result */
	TAKE_CHANGED	= 16,	/* cost of a new or changed process in TAKE_PER_RUN */
};

/* ---- the list ---- */

/* Returns the index where @pid is or belongs. */
static u32 index_of(const struct gp_decider *h, pid_t pid)
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
	u32 at = index_of(h, who->pid);

	if (at == h->nr_processes || h->process[at]->pid != who->pid)
		return NULL;
	return !who->start || who->start == h->process[at]->start ? h->process[at] : NULL;
}

static int open_pidfd(pid_t pid)
{
	return gp_sys->pidfd_open(pid, 0);
}

static void stop_watching(struct gp_gpu_process *r)
{
	if (r->pidfd >= 0)
		close(r->pidfd);
	r->pidfd = -1;
}

/*
 * Watches for the end of a process with a task. Scans find the end of other processes, so that a
 * user cannot use up descriptors with idle processes. In tests processes are not real.
 */
static void watch_end(struct gp_decider *h, struct gp_gpu_process *r)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = (u64)r->pid };
	u64 start;

	if (h->args.proc || !r->class.managed || !r->nr_queues) {
		stop_watching(r);
		return;
	}
	if (r->pidfd >= 0)
		return;
	r->pidfd = open_pidfd(r->pid);
	if (r->pidfd < 0)
		return;
	if (gp_process_start(h->args.proc, r->pid, &start) || start != r->start ||
	    gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, r->pidfd, &e))
		stop_watching(r);
}

/* Cleans the name, because a process sets it, and it goes to logs, terminals and JSON. */
static void copy_name(struct gp_gpu_process *r, const char *comm)
{
	char *at;

	snprintf(r->name, sizeof(r->name), "%s", comm);
	for (at = r->name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static bool has_ended(const struct gp_decider *h, const struct gp_process *p)
{
	for (u32 i = 0; i < GP_ENDED_PROCESSES; i++)
		if (h->ended[i].pid == p->pid && h->ended[i].start == p->start)
			return true;
	return false;
}

static struct gp_gpu_process *add_process(struct gp_decider *h, const struct gp_process *p)
{
	struct gp_gpu_process *r;
	u32 at = index_of(h, p->pid);
	u64 start;
	int err;

	if (h->nr_processes == GP_PROCESSES_MAX || p->pid == getpid() ||
	    gp_children_has(p->pid))
		return NULL;
	/* The result of a scan is taken in pieces, so the process may have ended meanwhile. */
	err = gp_process_start(h->args.proc, p->pid, &start);
	if (err == -ESRCH || (!err && start != p->start) || has_ended(h, p))
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

static void remove_process(struct gp_decider *h, u32 at)
{
	struct gp_gpu_process *r = h->process[at];

	if (r->logged)
		gp_decider_news(h, GP_NEWS_PROCESS, r, "is gone");
	gp_tasks_leave(h, r);
	stop_watching(r);
	free(r->queues);
	gp_subject_free(&r->subject);
	free(r);
	h->nr_processes--;
	memmove(&h->process[at], &h->process[at + 1],
		(h->nr_processes - at) * sizeof(struct gp_gpu_process *));
	h->stats.gone++;
	h->attach_due = true;
}

static void remove_pid(struct gp_decider *h, pid_t pid)
{
	u32 at = index_of(h, pid);

	if (at < h->nr_processes && h->process[at]->pid == pid)
		remove_process(h, at);
}

void gp_processes_ended(struct gp_decider *h, pid_t pid)
{
	const struct gp_gpu_process *r = gp_decider_find(h, &(struct gp_process_id){ .pid = pid });

	if (r)
		h->ended[h->nr_ended++ % GP_ENDED_PROCESSES] =
			(struct gp_process_id){ r->pid, r->start };
	remove_pid(h, pid);
}

void gp_processes_clear(struct gp_decider *h)
{
	while (h->nr_processes)
		remove_process(h, h->nr_processes - 1);
}

/* ---- class ---- */

static void tell_queues(struct gp_decider *h, const struct gp_gpu_process *r)
{
	gp_decider_news(h, GP_NEWS_QUEUE, r, "has %u queue%s", r->nr_queues,
			r->nr_queues == 1 ? "" : "s");
}

/*
 * Reports a process to users when its class is known and it has a queue. Programs that only query
 * the driver, such as gpreempt doctor, never have a queue.
 */
static void announce(struct gp_decider *h, struct gp_gpu_process *r)
{
	r->announced = true;
	if (r->logged || !r->nr_queues)
		return;
	r->logged = true;
	gp_decider_news(h, GP_NEWS_PROCESS, r, "uses the GPU; class %s: %s", r->class.name,
			r->class_from);
	tell_queues(h, r);
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
		announce(h, r);
	} else {
		r->class.managed = false;
		snprintf(r->class_from, sizeof(r->class_from), "not known yet: its command line is "
			 "being read");
	}
	watch_end(h, r);
}

/* ---- scan ---- */

static void copy_queues(struct gp_decider *h, struct gp_gpu_process *r, const struct gp_process *p)
{
	u64 bytes = p->nr_queues * sizeof(*p->queues);
	struct gp_process_queue *queues = malloc(bytes ? bytes : 1);
	bool changed;

	if (!queues)
		return;
	if (bytes)
		memcpy(queues, p->queues, bytes);
	free(r->queues);
	r->queues = queues;
	changed = r->nr_queues != p->nr_queues;
	r->nr_queues = p->nr_queues;
	if (changed && r->logged)
		tell_queues(h, r);
	else if (r->announced)
		announce(h, r);
	r->watched_stale = true;
	r->watched_at_ns = 0;
	watch_end(h, r);
	gp_tasks_update(h, r);
}

/* Takes one process. Returns true if it is new or has changed. */
static bool take_process(struct gp_decider *h, const struct gp_process *p)
{
	struct gp_gpu_process *r = gp_decider_find(h, &(struct gp_process_id){ .pid = p->pid });
	bool changed = p->queues_changed;

	/* A reused pid, or an exec. All queues are new. */
	if (r && (r->start != p->start || r->birth != p->birth)) {
		remove_pid(h, p->pid);
		r = NULL;
	}
	if (!r) {
		r = add_process(h, p);
		changed = true;
	}
	if (!r)
		return true;
	r->seen = true;
	gp_descriptions_ask(h, r);
	if (changed || r->nr_queues != p->nr_queues)
		copy_queues(h, r, p);
	else if (r->task == GP_NONE && r->class.managed && r->nr_queues)
		gp_tasks_update(h, r);	/* it may be admitted now */
	else
		return false;
	return true;
}

/* Continues to take the result of a scan. Returns true at its end. */
static bool take_result(struct gp_decider *h)
{
	u32 n, left = TAKE_PER_RUN, cost;
	const struct gp_process *p = gp_scanner_processes(h->scanner, &n);

	for (; h->scan_taken < n && left; h->scan_taken++) {
		cost = take_process(h, &p[h->scan_taken]) ? TAKE_CHANGED : 1;
		left -= cost < left ? cost : left;
	}
	return h->scan_taken == n;
}

static void end_scan(struct gp_decider *h)
{
	u32 i;

	for (i = h->nr_processes; i--;)
		if (!h->process[i]->seen)
			remove_process(h, i);
	gp_class_request_forget_ended(h);
	if (h->backend->ops->scanned)
		h->backend->ops->scanned(h->backend);
	h->attach_due = true;
}

bool gp_processes_scan(struct gp_decider *h)
{
	u32 i;
	int err;

	if (h->scan_state != GP_SCAN_TAKING) {
		h->scan_state = GP_SCAN_STEPPING;
		err = gp_scanner_step(h->scanner, 0, STEPS_PER_RUN);
		if (!err)
			return false;
		h->scan_state = GP_SCAN_NONE;
		if (err < 0 && err != -ENOENT)
			return true;
		for (i = 0; i < h->nr_processes; i++)
			h->process[i]->seen = false;
		h->scan_taken = 0;
		if (err > 0)
			h->scan_state = GP_SCAN_TAKING;
	}
	if (h->scan_state == GP_SCAN_TAKING && !take_result(h))
		return false;
	h->scan_state = GP_SCAN_NONE;
	end_scan(h);
	return true;
}

u64 gp_decider_vram(const struct gp_decider *h, const struct gp_gpu_process *r, u32 gpu_id)
{
	const char *kfd = h->args.kfd ? h->args.kfd : GP_SYSFS_KFD;
	char path[PATH_MAX];
	struct stat st;
	u64 bytes;

	snprintf(path, sizeof(path), "%s/proc/%d", kfd, r->pid);
	/* The pid may be reused. */
	if (gp_sys->fstatat(AT_FDCWD, path, &st, 0) || st.st_ino != r->birth)
		return 0;
	snprintf(path, sizeof(path), "%s/proc/%d/vram_%u", kfd, r->pid, gpu_id);
	return gp_sysfs_number(AT_FDCWD, path, &bytes) ? 0 : bytes;
}
