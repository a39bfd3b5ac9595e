// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Takes from the readers the command lines, programs and environments of processes.
 *
 * A description of a process is requested when a scan first sees the process. Until the answer it
 * has no task, unless a class was requested for it. If its user's reader was abandoned or could not
 * read it, the process gets the class that the rules give for its ids and its cgroup. The request
 * is repeated later.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "children.h"
#include "decider_private.h"
#include "lib/gpreempt.h"
#include "lib/sys.h"
#include "lib/user.h"
#include "reader.h"

/* Delay after a failed description; doubles. */
#define RETRY_NS	GP_SEC

enum { RETRIES_DOUBLE = 6 };

#define ABANDONED	"the reader of its user does not answer"

/* ---- subjects ---- */

static int open_process(const char *proc, pid_t pid, struct gp_reader_process *ret)
{
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/%d", proc ? proc : "/proc", pid);
	*ret = (struct gp_reader_process){
		.dir = gp_sys->openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};
	if (ret->dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = gp_reader_process_ids(ret);
	if (err)
		gp_reader_process_close(ret);
	return err;
}

int gp_subject_owner(const char *proc, pid_t pid, u32 *ret)
{
	struct gp_reader_process p;
	int err = open_process(proc, pid, &p);

	if (err)
		return err;
	*ret = p.owner;
	gp_reader_process_close(&p);
	return 0;
}

int gp_subject_read(const char *proc, pid_t pid, struct gp_subject *ret)
{
	char cgroup[GP_READER_PATH];
	struct gp_reader_process p;
	int err = open_process(proc, pid, &p);

	*ret = (struct gp_subject){ 0 };
	if (err)
		return err;
	*ret = (struct gp_subject){ .uid = p.uid, .gid = p.gid, .owner = p.owner };
	if (gp_reader_cgroup(p.dir, cgroup) > 0)
		ret->cgroup = strdup(cgroup);
	gp_reader_process_close(&p);
	return 0;
}

static const char *copy_text(const struct gp_report_subject *s, u32 known, const char *text)
{
	return s->known & known ? strdup(text) : NULL;
}

/* A text for which there is no memory is NULL. */
static void copy_subject(const struct gp_report_subject *from, struct gp_subject *ret)
{
	*ret = (struct gp_subject){
		.uid = from->uid, .gid = from->gid, .owner = from->owner,
		.exe = copy_text(from, GP_KNOWN_EXE, from->exe),
		.cmdline = copy_text(from, GP_KNOWN_CMDLINE, from->cmdline),
		.cgroup = copy_text(from, GP_KNOWN_CGROUP, from->cgroup),
		.wanted = copy_text(from, GP_KNOWN_CLASS, from->class_name),
		.gang = copy_text(from, GP_KNOWN_GANG, from->gang),
	};
}

void gp_subject_free(struct gp_subject *s)
{
	free((char *)s->exe);
	free((char *)s->cmdline);
	free((char *)s->cgroup);
	free((char *)s->wanted);
	free((char *)s->gang);
	*s = (struct gp_subject){ 0 };
}

/* ---- readers ---- */

static int make_reader(void *ctx, uid_t user, u64 id, int channel)
{
	const struct gp_decider *h = ctx;

	if (h->args.make_reader)
		return h->args.make_reader(h->args.ctx, user, id, channel);
	return gp_children_start(GP_ROLE_READER, id, user, channel);
}

static void kill_reader(void *ctx, uid_t user, u64 id)
{
	const struct gp_decider *h = ctx;

	(void)user;
	if (h->args.kill_reader)
		h->args.kill_reader(h->args.ctx, user, id);
	else
		gp_children_kill(GP_ROLE_READER, id);
}

static u32 ranges_of(void *ctx, uid_t user, struct gp_uid_range *to, u32 room)
{
	struct gp_subuid_range range[GP_READER_RANGES];
	const struct gp_decider *h = ctx;
	u32 i, n;

	n = gp_subuids_of(h->subuids, user, range, room < GP_READER_RANGES ? room :
			  GP_READER_RANGES);
	for (i = 0; i < n; i++)
		to[i] = (struct gp_uid_range){ range[i].start, range[i].count };
	return n;
}

int gp_descriptions_open(struct gp_decider *h)
{
	const struct gp_readers_args args = {
		.make = make_reader, .kill = kill_reader, .ranges = ranges_of, .ctx = h,
	};
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_READERS };
	int err = gp_subuids_alloc(NULL, &h->subuids);

	if (!err)
		err = gp_readers_new(&args, &h->readers);
	if (!err && gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, gp_readers_fd(h->readers), &e))
		err = -errno;
	return err;
}

void gp_descriptions_close(struct gp_decider *h)
{
	gp_readers_free(h->readers);
	gp_subuids_free(h->subuids);
}

/* ---- answers ---- */

static void settle(struct gp_decider *h, struct gp_gpu_process *r)
{
	char before[GP_CLASS_NAME];
	bool announced = r->announced;

	snprintf(before, sizeof(before), "%s", r->class.name);
	gp_processes_classify(h, r);
	gp_tasks_update(h, r);
	if (announced && strcmp(before, r->class.name))
		gp_decider_news(h, GP_NEWS_CLASS, r, "has class %s now, %s before", r->class.name,
				before);
}

static void set_undescribed(struct gp_decider *h, struct gp_gpu_process *r, const char *why)
{
	if (r->described)
		return;
	snprintf(r->undescribed, sizeof(r->undescribed), "its command line cannot be read (%s): "
		 "its class is that of its user, group and cgroup", why);
	settle(h, r);
}

static void failed(struct gp_decider *h, struct gp_gpu_process *r, int error)
{
	r->asked = false;
	r->describe_at_ns = h->now_ns + (RETRY_NS << r->describe_tries);
	if (r->describe_tries < RETRIES_DOUBLE)
		r->describe_tries++;
	set_undescribed(h, r, error == ETIMEDOUT ? ABANDONED : gp_strerror(-error));
}

static void take_subject(struct gp_decider *h, struct gp_gpu_process *r,
			 const struct gp_report_subject *subject)
{
	gp_subject_free(&r->subject);
	copy_subject(subject, &r->subject);
	r->described = true;
	r->asked = false;
	r->undescribed[0] = 0;
	r->describe_at_ns = GP_NEVER;
	r->describe_tries = 0;
	settle(h, r);
}

void gp_descriptions_ask(struct gp_decider *h, struct gp_gpu_process *r)
{
	const struct gp_reader_target who = { r->user, r->pid, r->start };
	int err;

	if (r->asked || h->now_ns < r->describe_at_ns)
		return;
	err = gp_readers_describe(h->readers, &who);
	/* Too many requests are pending; retry when one was answered. */
	if (err && err != -EAGAIN)
		failed(h, r, -err);
	r->asked = !err;
	if (gp_readers_state(h->readers, r->user) == GP_READER_ABANDONED && !r->undescribed[0])
		set_undescribed(h, r, ABANDONED);
}

void gp_descriptions_renew(struct gp_decider *h, struct gp_gpu_process *r)
{
	r->describe_at_ns = h->now_ns;
	gp_descriptions_ask(h, r);
}

static void ask_for_user(struct gp_decider *h, uid_t user)
{
	u32 i;

	for (i = 0; i < h->nr_processes; i++)
		if (h->process[i]->user == user)
			gp_descriptions_ask(h, h->process[i]);
}

static void abandoned(struct gp_decider *h, uid_t user)
{
	u32 i;

	for (i = 0; i < h->nr_processes; i++)
		if (h->process[i]->user == user && !h->process[i]->undescribed[0])
			set_undescribed(h, h->process[i], ABANDONED);
}

static void take(struct gp_decider *h, const struct gp_readers_event *e)
{
	const struct gp_process_id id = { e->who.pid, e->who.start };
	struct gp_gpu_process *r = e->who.pid ? gp_decider_find(h, &id) : NULL;

	if (r && r->user != e->who.user)
		r = NULL;
	switch (e->kind) {
	case GP_READERS_STATE:
		if (e->state == GP_READER_ABANDONED)
			abandoned(h, e->who.user);
		return;
	case GP_READERS_SUBJECT:
		if (r)
			take_subject(h, r, e->subject);
		break;
	case GP_READERS_GONE:
		/* The report of a reader is not trusted; a scan decides. */
		h->scan_at_ns = h->now_ns;
		if (r && e->answers)
			failed(h, r, ESRCH);
		break;
	case GP_READERS_ERROR:
		if (r && e->answers)
			failed(h, r, e->error);
		break;
	default:
		return;
	}
	ask_for_user(h, e->who.user);
}

void gp_descriptions_run(struct gp_decider *h)
{
	struct gp_readers_event e;

	gp_readers_run(h->readers, h->now_ns);
	while (gp_readers_next(h->readers, &e)) {
		take(h, &e);
		if (h->backend->ops->heard)
			h->backend->ops->heard(h->backend, &e);
	}
}
