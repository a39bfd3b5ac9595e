// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Chooses the decider's backend, and ends the backends that it used before. */
#include "backend.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "decider_private.h"
#include "lib/sys.h"

/* Delay before a backend that could not be made is tried again. */
#define AGAIN_NS	(1 * GP_SEC)

static int make(struct gp_decider *h, int (*backend)(struct gp_decider *, struct gp_backend **,
		char *), struct gp_backend **ret, char *why)
{
	const char *reason = NULL;
	struct gp_backend *b;
	int err = backend(h, &b, why);

	if (err)
		return err;
	err = b->ops->set_policy(b, &reason);
	if (err) {
		snprintf(why, GP_DECIDER_WHY, "policy %s: %s", h->policy->name,
			 reason ? reason : strerror(-err));
		b->ops->free(b);
		return err;
	}
	b->ops->set(b);
	*ret = b;
	return 0;
}

/* Makes the module's backend if it is loaded, else that of the driver's debug interface. */
static int make_preempting(struct gp_decider *h, struct gp_backend **ret)
{
	u8 choice = h->config->daemon.mechanism;
	char why[GP_DECIDER_WHY] = "the module gpreempt is not loaded";
	int err = -ENOENT;

	if (choice != GP_USE_KFD_DEBUG && h->args.kmod)
		err = make(h, gp_backend_module, ret, why);
	if (err && choice == GP_USE_KMOD) {
		snprintf(h->backend_trouble, sizeof(h->backend_trouble),
			 "mechanism = kmod: %.180s; use auto or kfd-debug", why);
		return err;
	}
	if (err && err != -ENOENT)
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "%s; kfd-debug is used", why);
	if (err)
		err = make(h, gp_backend_debug, ret, why);
	if (err)
		snprintf(h->backend_trouble, sizeof(h->backend_trouble),
			 "no process can be preempted: %.150s (%s)", why, strerror(-err));
	return err;
}

static void retire(struct gp_decider *h)
{
	struct gp_backend *b = h->backend;
	struct gp_backend_status status;

	b->ops->status(b, &status);
	h->stats.ejections += status.ejections;
	h->stats.stale_samples += status.stale_samples;
	if (b->fd >= 0)
		gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_DEL, b->fd, NULL);
	b->next = h->retired;
	h->retired = b;
	h->backend = NULL;
	gp_resets_unwatch(h);
	gp_backend_reap(h);
}

void gp_backend_reap(struct gp_decider *h)
{
	struct gp_backend **at = &h->retired, *b;

	while ((b = *at)) {
		if (b->ops->retire && !b->ops->retire(b)) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		b->ops->free(b);
		h->attach_due = true;
	}
}

void gp_backend_drop_all(struct gp_decider *h)
{
	struct gp_backend *b;

	if (h->backend)
		retire(h);
	while ((b = h->retired)) {
		h->retired = b->next;
		b->ops->free(b);
	}
}

/*
 * Makes @b the backend. -errno: events of its descriptor are noticed late, so choose a backend
 * again soon.
 */
static int take(struct gp_decider *h, struct gp_backend *b)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = GP_DECIDER_BACKEND };
	int err = 0;

	h->backend = b;
	if (b->fd >= 0 && gp_sys->epoll_ctl(h->epoll, EPOLL_CTL_ADD, b->fd, &e))
		err = -errno;
	if (b->ops->preempts)
		gp_resets_watch(h);
	return err;
}

/* The driver is open only while a process may be preempted: it blocks a partition switch. */
int gp_backend_choose(struct gp_decider *h, bool anew)
{
	bool preempts = !h->observe && h->config->daemon.mechanism != GP_USE_NONE && h->nr_gpus;
	struct gp_backend *none, *b = NULL;
	char why[GP_DECIDER_WHY], trouble[GP_DECIDER_WHY];
	int err, deaf;
	u32 i;

	if (h->backend && preempts == h->backend->ops->preempts && !anew)
		return 0;
	snprintf(trouble, sizeof(trouble), "%s", h->backend_trouble);
	err = make(h, gp_backend_none, &none, why);
	if (err)
		return err;
	/* Tasks end with their backend and are made again for the next one. */
	for (i = 0; i < h->nr_processes; i++)
		gp_tasks_leave(h, h->process[i]);
	if (h->backend)
		retire(h);
	h->backend_trouble[0] = 0;
	err = preempts ? make_preempting(h, &b) : 0;
	if (b)
		none->ops->free(none);
	deaf = take(h, b ? b : none);
	/* A temporary failure, such as -ENOMEM. */
	h->choose_again_ns = deaf || (err && !gp_sys_is_gone(err) && !gp_sys_is_denied(err)) ?
			     h->now_ns + AGAIN_NS : 0;
	if (deaf && !h->backend_trouble[0])
		snprintf(h->backend_trouble, sizeof(h->backend_trouble),
			 "answers are noticed late (%s); trying again", strerror(-deaf));
	if (h->backend_trouble[0] && strcmp(h->backend_trouble, trouble))
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL, "%s", h->backend_trouble);
	for (i = 0; i < h->nr_processes; i++)
		gp_tasks_update(h, h->process[i]);
	gp_decider_describe(h);
	h->attach_due = true;
	return 0;
}
