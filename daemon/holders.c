// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Life of the mechanism, its tasks and processes, and its events. */
#include "holders.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "holders_private.h"
#include "lib/sys.h"

#define DEFAULT_INTERVAL_NS	(10 * GP_MSEC)
#define DEFAULT_LEASE_NS	(1 * GP_SEC)
/*
 * The driver itself gives up on a GPU after 9 s, so a call that takes longer hangs on its target.
 */
#define DRIVER_NS		(10 * GP_SEC)

/* A run reads at most BATCHES x BATCH channels. Channels with more to read are last in the next. */
enum { TASKS_MAX = 65536, BATCH = 64, BATCHES = 4 };

static const u32 source_supervisor = GP_SOURCE_SUPERVISOR, source_bell = GP_SOURCE_BELL;

u64 gp_holders_now(const struct gp_holders *h)
{
	if (h->args.clock)
		return h->args.clock(h->args.ctx);
	return gp_sys->monotonic_ns();
}

void gp_holders_due(struct gp_holders *h, u64 ns)
{
	if (ns < h->tend_at_ns)
		h->tend_at_ns = ns;
}

int gp_holders_watch(struct gp_holders *h, int fd, void *source)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = source };

	return gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* ---- events ---- */

void gp_holders_tell(struct gp_holders *h, struct gp_ward *w, struct gp_holders_event event)
{
	struct gp_holders_event *e = &w->event[event.what];

	/* The owner deleted it, so no more events follow. */
	if (w->state >= GP_WARD_LEAVING || w->task->gone)
		return;
	if (w->news & BIT_ULL(event.what)) {
		event.count += e->count;
		event.ns += e->ns;
	}
	event.task = w->task->number;
	event.pid = w->pid;
	*e = event;
	w->news |= (u32)BIT_ULL(event.what);
	if (w->in_news)
		return;
	w->in_news = true;
	w->next_news = NULL;
	*h->last_news = w;
	h->last_news = &w->next_news;
}

/* Removes the oldest ward with news from the list. */
static void pop_news(struct gp_holders *h)
{
	struct gp_ward *w = h->news;

	h->news = w->next_news;
	if (!h->news)
		h->last_news = &h->news;
	w->in_news = false;
	/* Now it can be freed. */
	if (w->state == GP_WARD_DEAD)
		gp_holders_due(h, 0);
}

static int fetch(struct gp_holders *h, struct gp_holders_event *ret)
{
	struct gp_ward *w;
	u32 what;

	while ((w = h->news)) {
		if (!w->news || w->task->gone) {
			pop_news(h);
			continue;
		}
		what = (u32)__builtin_ctz(w->news);
		*ret = w->event[what];
		w->news &= ~(u32)BIT_ULL(what);
		if (!w->news)
			pop_news(h);
		return 0;
	}
	return -EAGAIN;
}

void gp_holders_ring(struct gp_holders *h)
{
	bool anything = h->answers.nr || h->news;
	u64 count = 1;

	if (anything == h->rung)
		return;
	/* Neither can fail: it is an eventfd that is 0 or 1. */
	if ((anything ? gp_sys->write(h->bell, &count, sizeof(count)) :
			gp_sys->read(h->bell, &count, sizeof(count))) < 0)
		return;
	h->rung = anything;
}

int gp_holders_next(struct gp_holders *h, struct gp_holders_event *ret)
{
	int err = fetch(h, ret);

	if (err) {
		gp_holders_run(h);
		err = fetch(h, ret);
	}
	gp_holders_ring(h);
	return err;
}

void gp_holders_stats(const struct gp_holders *h, struct gp_holders_stats *ret)
{
	*ret = h->stats;
}

/* ---- messages ---- */

static void take(struct gp_holders *h, void *source)
{
	switch (*(u32 *)source) {
	case GP_SOURCE_SUPERVISOR:
		h->broken = gp_children_run() != 0;
		if (h->broken)
			gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_DEL, gp_children_fd(), NULL);
		break;
	case GP_SOURCE_USER:
		gp_hold_user_read(h, source);
		break;
	case GP_SOURCE_WARD:
		gp_ward_read(h, source);
		break;
	}
}

void gp_holders_run(struct gp_holders *h)
{
	struct epoll_event e[BATCH];
	int n = BATCH;

	for (u32 batch = 0; batch < BATCHES && n == BATCH; batch++) {
		n = gp_sys->epoll_wait(h->epoll, e, BATCH, 0);
		for (int i = 0; i < n; i++)
			take(h, e[i].data.ptr);
	}
	if (h->tend_at_ns != GP_NEVER) {
		u64 now = gp_holders_now(h);

		/* It frees wards, so call it only when no event of the batch can refer to them. */
		if (now >= h->tend_at_ns)
			gp_holders_tend(h, now);
	}
}

u64 gp_holders_wake_at(struct gp_holders *h)
{
	u64 at = gp_holders_deadline(h);

	if (h->answers.nr || h->news)
		return 0;
	return h->tend_at_ns < at ? h->tend_at_ns : at;
}

struct gp_mechanism *gp_holders_mechanism(struct gp_holders *h)
{
	return &h->base;
}

int gp_holders_fd(const struct gp_holders *h)
{
	return h->epoll;
}

/* ---- tasks ---- */

void gp_hold_task_put(struct gp_hold_task *t)
{
	if (!--t->refs)
		free(t);
}

struct gp_hold_task *gp_holders_task(const struct gp_holders *h, u32 task)
{
	return task < h->room_tasks ? h->tasks[task] : NULL;
}

int gp_holders_task_add(struct gp_holders *h, u32 task, u64 devices)
{
	struct gp_hold_task *t, **more;
	u32 room;

	if (task >= TASKS_MAX)
		return -EINVAL;
	if (gp_holders_task(h, task))
		return -EEXIST;
	if (task >= h->room_tasks) {
		room = (task | 63) + 1;
		more = realloc(h->tasks, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + h->room_tasks, 0, (room - h->room_tasks) * sizeof(*more));
		h->tasks = more;
		h->room_tasks = room;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct gp_hold_task){ .number = task, .refs = 1, .devices = devices };
	h->tasks[task] = t;
	return 0;
}

static void delete_ward(struct gp_holders *h, struct gp_ward *w)
{
	w->news = 0;
	switch (w->state) {
	case GP_WARD_WATCHED:
	case GP_WARD_WAITING:
		w->state = GP_WARD_LEAVING;	/* without an event */
		gp_ward_forget(h, w);
		break;
	case GP_WARD_OPENING:
		gp_ward_close(h, w);
		break;
	case GP_WARD_ATTACHED:
		w->state = GP_WARD_LEAVING;
		break;
	}
	gp_holders_due(h, 0);
}

int gp_holders_task_del(struct gp_holders *h, u32 task)
{
	struct gp_hold_task *t = gp_holders_task(h, task);

	if (!t)
		return -ENOENT;
	t->gone = true;
	for (struct gp_ward *w = h->wards; w; w = w->next)
		if (w->task == t)
			delete_ward(h, w);
	h->tasks[task] = NULL;
	gp_hold_task_put(t);
	gp_holders_tend(h, gp_holders_now(h));
	gp_holders_ring(h);
	return 0;
}

/* ---- processes ---- */

static struct gp_ward *find_ward(const struct gp_holders *h, pid_t pid)
{
	struct gp_ward *w;

	for (w = h->wards; w; w = w->next)
		if (w->pid == pid && w->state < GP_WARD_LEAVING)
			return w;
	return NULL;
}

int gp_holders_process_add(struct gp_holders *h, u32 task, const struct gp_holders_process *p)
{
	struct gp_hold_task *t = gp_holders_task(h, task);
	struct gp_hold_user *u = NULL;
	struct gp_ward *w;

	if (!t)
		return -ENOENT;
	if (find_ward(h, p->pid))
		return -EEXIST;
	if (!p->watch_only && gp_hold_user_get(h, p->user, &u))
		return -ENOMEM;
	if (u && u->hung_ns && gp_holders_now(h) < u->hung_ns + u->hung_wait_ns)
		return -ECANCELED;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = (struct gp_ward){
		.source = GP_SOURCE_WARD, .next = h->wards, .task = t, .user = u, .pid = p->pid,
		.start = p->start, .channel = -1,
		.state = p->watch_only ? GP_WARD_WATCHED : GP_WARD_WAITING,
	};
	for (const struct gp_ward *x = h->wards; x; x = x->next)
		w->follows |= x->pid == p->pid;
	t->refs++;
	if (u)
		u->nr_wards++;
	h->wards = w;
	gp_holders_tend(h, gp_holders_now(h));
	return 0;
}

int gp_holders_process_del(struct gp_holders *h, pid_t pid)
{
	struct gp_ward *w;

	/* Drop events of its earlier sessions too. */
	for (w = h->wards; w; w = w->next)
		if (w->pid == pid)
			w->news = 0;
	w = find_ward(h, pid);
	if (!w)
		return -ENOENT;
	delete_ward(h, w);
	gp_holders_tend(h, gp_holders_now(h));
	gp_holders_ring(h);
	return 0;
}

int gp_holders_queues(const struct gp_holders *h, pid_t pid, struct kfd_queue_snapshot_entry *to,
		      u32 room)
{
	const struct gp_ward *w = find_ward(h, pid);

	if (!w || w->state != GP_WARD_ATTACHED)
		return -ENOENT;
	if (w->nr_queues)
		memcpy(to, w->queues, (w->nr_queues < room ? w->nr_queues : room) * sizeof(*to));
	return (int)w->nr_queues;
}

bool gp_holders_attaching(const struct gp_holders *h)
{
	u64 now = gp_holders_now(h);

	for (const struct gp_ward *w = h->wards; w; w = w->next)
		if (w->state == GP_WARD_OPENING ||
		    (w->state == GP_WARD_LEAVING && (w->wanted || w->ops)) ||
		    (w->state == GP_WARD_CLOSING && now < w->closing_ns + DRIVER_NS))
			return true;
	return false;
}

bool gp_holders_acting(const struct gp_holders *h, u32 device)
{
	u64 now = gp_holders_now(h), replied = h->device[device].replied_ns;

	/*
	 * If the driver makes progress on the GPU, an operation that hangs is hung by its process.
	 */
	for (const struct gp_move *m = h->moves; m; m = m->next)
		if (m->device == device && (!m->timed_out || m->deadline_ns >= replied))
			return true;
	for (const struct gp_ward *w = h->wards; w; w = w->next)
		if (w->state == GP_WARD_CLOSING && (w->hung & BIT_ULL(device)) &&
		    now < w->closing_ns + DRIVER_NS && w->closing_ns >= replied)
			return true;
	return false;
}

bool gp_holders_in_trouble(const struct gp_holders *h, uid_t user)
{
	for (const struct gp_hold_user *u = h->users; u; u = u->next)
		if (u->uid == user)
			return u->trouble;
	return false;
}

u32 gp_holders_troubles(const struct gp_holders *h)
{
	return h->troubles;
}

/* ---- descriptors for the module ---- */

int gp_holders_ask_kfd(struct gp_holders *h, const struct gp_holders_process *p)
{
	struct gp_hold_ask *a;

	for (a = h->asks; a; a = a->next)
		if (!a->answered && a->answer.pid == p->pid && a->answer.start == p->start &&
		    a->which == p->which)
			return 0;
	a = calloc(1, sizeof(*a));
	if (!a || gp_hold_user_get(h, p->user, &a->user)) {
		free(a);
		return -ENOMEM;
	}
	a->answer = (struct gp_holders_kfd){
		.pid = p->pid, .start = p->start, .pidfd = -1, .kfd_fd = -1,
	};
	a->which = p->which;
	a->next = h->asks;
	h->asks = a;
	a->user->nr_asks++;
	gp_holders_tend(h, gp_holders_now(h));
	return 0;
}

int gp_holders_next_kfd(struct gp_holders *h, struct gp_holders_kfd *ret)
{
	struct gp_hold_ask **at, *a;

	gp_holders_run(h);
	for (at = &h->asks; (a = *at) && !a->answered; at = &a->next)
		;
	if (!a)
		return -EAGAIN;
	*at = a->next;
	*ret = a->answer;
	free(a);
	return 0;
}

/* ---- beginning and end ---- */

int gp_holders_alloc(const struct gp_holders_args *args, struct gp_holders **ret)
{
	struct gp_holders *h;
	int err = 0;

	if (!args->nr_gpus || args->nr_gpus > GP_HOLDERS_GPUS || args->grace > GP_KFD_GRACE_MAX ||
	    args->lease_ns > GP_HOLDER_LEASE_MAX_NS)
		return -EINVAL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->base.ops = &gp_holders_ops;
	h->args = *args;
	h->args.gpus = NULL;
	h->args.grace = args->grace ? args->grace : 1;
	h->args.lease_ns = args->lease_ns ? args->lease_ns : DEFAULT_LEASE_NS;
	h->args.attach_interval_ns = args->attach_interval_ns ? args->attach_interval_ns :
								DEFAULT_INTERVAL_NS;
	h->tend_at_ns = GP_NEVER;
	h->last_news = &h->news;
	for (u32 i = 0; i < args->nr_gpus; i++)
		h->device[i].gpu = args->gpus[i];
	h->epoll = gp_sys->epoll_create(EPOLL_CLOEXEC);
	h->bell = gp_sys->eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->epoll < 0 || h->bell < 0)
		err = -errno;
	if (!err)
		err = gp_holders_watch(h, h->bell, (void *)(uintptr_t)&source_bell);
	if (!err && gp_children_fd() >= 0)
		err = gp_holders_watch(h, gp_children_fd(), (void *)(uintptr_t)&source_supervisor);
	if (err) {
		gp_holders_free(h);
		return err;
	}
	gp_holders_own_role(h);
	*ret = h;
	return 0;
}

bool gp_holders_leave(struct gp_holders *h)
{
	for (struct gp_ward *w = h->wards; w; w = w->next) {
		if (w->state < GP_WARD_LEAVING)
			delete_ward(h, w);
		if (w->state != GP_WARD_LEAVING)
			continue;
		gp_ward_close(h, w);
		gp_ward_fail_ops(h, w, -ECONNRESET);
	}
	gp_holders_run(h);
	return !gp_holders_attaching(h);
}

void gp_holders_free(struct gp_holders *h)
{
	if (!h)
		return;
	gp_children_disown(GP_ROLE_HOLDER, h);
	/* The end of a channel releases what it held. */
	for (struct gp_ward *w = h->wards; w; w = w->next) {
		w->task->gone = true;
		gp_ward_forget(h, w);
	}
	for (u32 i = 0; i < h->args.nr_gpus; i++)
		gp_hold_act_clear(h, i);
	while (h->asks) {
		struct gp_hold_ask *a = h->asks;

		h->asks = a->next;
		if (a->answer.pidfd >= 0)
			close(a->answer.pidfd);
		if (a->answer.kfd_fd >= 0)
			close(a->answer.kfd_fd);
		free(a);
	}
	while (h->wards) {
		struct gp_ward *w = h->wards;

		h->wards = w->next;
		gp_ward_free(h, w);
	}
	while (h->users)
		gp_hold_user_drop(h, h->users);
	for (u32 i = 0; i < h->room_tasks; i++)
		if (h->tasks[i])
			gp_hold_task_put(h->tasks[i]);
	free(h->tasks);
	free(h->answers.at);
	if (h->epoll >= 0)
		close(h->epoll);
	if (h->bell >= 0)
		close(h->bell);
	free(h);
}
