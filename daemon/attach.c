// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which processes are attached, so that they can be preempted: those that are in the way of others.
 *
 * A process is preemptible for the scheduler only while it is attached, so the scheduler does not
 * try again and again to stop a process that cannot be stopped.
 */
#include <stdio.h>
#include <string.h>

#include "home_private.h"

/* Until a process is attached again, by what became of the last try. */
#define SOON_NS		(1 * GP_SEC)
#define LATER_NS	(10 * GP_SEC)
#define RARELY_NS	(60 * GP_SEC)

/* The tasks on each GPU. */
struct company {
	u32 tasks[GP_MAX_DEVICES];
	u32 highest[GP_MAX_DEVICES];	/* priority */
};

static void gather(const struct gp_home *h, struct company *c)
{
	u32 i, d;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < h->nr_residents; i++) {
		const struct gp_resident *r = h->resident[i];
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

static bool in_the_way(const struct gp_home *h, const struct gp_resident *r,
		       const struct company *c)
{
	struct gp_backend_status status;
	bool strict;
	u32 d;

	h->backend->ops->status(h->backend, &status);
	strict = status.policy == &gp_policy_priority;
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

static bool old_enough(const struct gp_home *h, const struct gp_resident *r)
{
	u64 after = h->config->daemon.attach_after_ns;
	u32 i;

	for (i = 0; i < r->nr_queues; i++)
		if (r->queues[i].type == GP_PROCESS_COMPUTE &&
		    h->now_ns >= r->queues[i].seen_ns + after)
			return true;
	return false;
}

static bool may_be_attached(const struct gp_home *h, const struct gp_resident *r)
{
	return gp_home_acts(h) && r->task != GP_NONE && !r->lost &&
	       (r->class.is.flags & GP_PREEMPTIBLE);
}

static void attach(struct gp_home *h, struct gp_resident *r, const struct gp_attach *by)
{
	r->grip_at_ns = h->now_ns + SOON_NS;
	if (h->args.holding)
		h->args.holding(h->args.ctx);
	if (!by->add(h->backend, r))
		r->grip = GP_GRIP_ASKED;
}

void gp_attach_tend(struct gp_home *h, const struct gp_attach *by)
{
	struct company c;
	u32 i;

	gather(h, &c);
	h->tend_later = false;
	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];

		if (may_be_attached(h, r)) {
			if (r->grip == GP_GRIP_NONE && h->now_ns >= r->grip_at_ns &&
			    in_the_way(h, r, &c) && old_enough(h, r))
				attach(h, r, by);
		} else if (r->grip != GP_GRIP_NONE && !gp_tasks_at_rest(h, r)) {
			/* It is left when it is on the GPU again. */
			h->tend_later = true;
		} else if (r->grip != GP_GRIP_NONE) {
			by->del(h->backend, r);
			r->grip = GP_GRIP_NONE;
			gp_tasks_settle(h, r);
		}
	}
}

static u64 ask_again_after(int err)
{
	switch (err) {
	case -EAGAIN:
	case -ESRCH:
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
		return "it has not opened every GPU it could, and this kernel's driver would crash "
		       "(a bug of suspend_queues)";
	case -EPERM:
		return "it may not be traced; see kernel.yama.ptrace_scope and our capabilities";
	case -EBUSY:
		return "the driver debugs another process; this GPU can do one at a time";
	case -ESRCH:
		return "it is ending";
	default:
		return strerror(-err);
	}
}

void gp_attach_failed(struct gp_home *h, struct gp_resident *r, int err)
{
	r->grip = GP_GRIP_NONE;
	gp_tasks_lease(h, r, 0, 0);
	r->grip_at_ns = h->now_ns + ask_again_after(err);
	/* A process that is ending is no trouble. */
	if (!r->lost && err != -ESRCH && strcmp(r->trouble, why_not(err))) {
		snprintf(r->trouble, sizeof(r->trouble), "%s", why_not(err));
		gp_home_news(h, err == -EAGAIN ? GP_NEWS_PROCESS : GP_NEWS_TROUBLE, r,
			     "cannot be preempted: %s", r->trouble);
	}
	gp_tasks_settle(h, r);
}

void gp_attach_done(struct gp_home *h, struct gp_resident *r)
{
	h->stats.attached++;
	r->grip = GP_GRIP_HAS;
	r->trouble[0] = 0;
	gp_tasks_settle(h, r);
	gp_home_news(h, GP_NEWS_PROCESS, r, "can be preempted from now on");
	if (!gp_tasks_attached(h, r))
		return;
	if (r->lease_ns && h->now_ns < r->lease_until_ns)
		h->backend->ops->hold(h->backend, r->task, r->lease_ns);
	gp_tasks_lease(h, r, 0, 0);
}
