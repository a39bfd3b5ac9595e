// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Who can be stopped: attach those who stand in somebody's way, leave those who do not.
 *
 * To the scheduler a process may be preempted only while the doer has it: what cannot be
 * stopped is not tried again and again.
 */
#include <stdio.h>
#include <string.h>

#include "home.h"

/* Until it is asked again, by what came of the last time. */
#define SOON_NS		(1 * GP_SEC)
#define LATER_NS	(10 * GP_SEC)
#define RARELY_NS	(60 * GP_SEC)

/* Who else is there, by device: what makes it worth to be able to stop somebody. */
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
		bool first = r->task != GP_NONE && gp_job_first(h, i);

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
	bool strict = h->sched->policy == &gp_policy_priority;
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

static bool may_be_gripped(const struct gp_home *h, const struct gp_resident *r)
{
	return gp_home_acts(h) && h->doer->ops->attaches && r->task != GP_NONE && !r->lost &&
	       (r->class.is.flags & GP_PREEMPTIBLE);
}

static void take(struct gp_home *h, struct gp_resident *r)
{
	r->grip_at_ns = h->now_ns + SOON_NS;
	if (h->args.holding)
		h->args.holding(h->args.ctx);
	if (!h->doer->ops->process_add(h->doer, r->task, r->pid, r->start))
		r->grip = GP_GRIP_ASKED;
}

void gp_grip_tend(struct gp_home *h)
{
	struct company c;
	u32 i;

	gather(h, &c);
	h->tend_later = false;
	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];

		if (!may_be_gripped(h, r)) {
			/* Whom we have we leave, but not before it is on the GPU again. */
			if (r->grip == GP_GRIP_NONE)
				continue;
			if (!gp_job_at_rest(h, r)) {
				h->tend_later = true;
				continue;
			}
			h->doer->ops->process_del(h->doer, r->pid);
			r->grip = GP_GRIP_NONE;
			gp_job_settle(h, r);
		} else if (r->grip == GP_GRIP_NONE && h->now_ns >= r->grip_at_ns &&
			   in_the_way(h, r, &c) && old_enough(h, r)) {
			take(h, r);
		}
	}
}

static u64 ask_again_after(int err)
{
	switch (err) {
	case -EAGAIN:
	case -ESRCH:
	case -ECONNRESET:
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
	case -ECONNRESET:
		return "the holder process of its user died; it is started again";
	case -ETIME:
		return "the driver hangs on it; its holder process was given up";
	default:
		return strerror(-err);
	}
}

static void lose_grip(struct gp_home *h, struct gp_resident *r, int err)
{
	r->grip = GP_GRIP_NONE;
	gp_job_lease(h, r, 0, 0);
	r->grip_at_ns = h->now_ns + ask_again_after(err);
	/* What is only a matter of time is no trouble. */
	if (!r->lost && err != -ESRCH && strcmp(r->trouble, why_not(err))) {
		snprintf(r->trouble, sizeof(r->trouble), "%s", why_not(err));
		gp_home_news(h, err == -EAGAIN ? GP_NEWS_PROCESS : GP_NEWS_TROUBLE, r,
			     "cannot be preempted: %s", r->trouble);
	}
	gp_job_settle(h, r);
}

void gp_grip_event(struct gp_home *h, const struct gp_kfdm_event *e)
{
	struct gp_resident *r = gp_home_find(h, &(struct gp_who){ .pid = e->pid });

	if (!r || r->task != e->task)
		return;
	switch (e->what) {
	case GP_KFDM_ATTACHED:
		h->stats.attached++;
		r->grip = GP_GRIP_HAS;
		r->trouble[0] = 0;
		r->rings_at_ns = 0;	/* the doer knows them, should nobody else */
		gp_job_settle(h, r);
		gp_home_news(h, GP_NEWS_PROCESS, r, "can be preempted from now on");
		if (!gp_job_gripped(h, r))
			break;
		if (r->lease_ns && h->now_ns < r->lease_until_ns)
			gp_sched_hold(h->sched, r->task, r->lease_ns, h->now_ns);
		gp_job_lease(h, r, 0, 0);
		break;
	case GP_KFDM_NOT_ATTACHED:
		h->stats.attach_failed++;
		lose_grip(h, r, e->err);
		break;
	case GP_KFDM_LEFT:
		h->stats.left++;
		lose_grip(h, r, e->err);
		break;
	case GP_KFDM_RETAKEN:
		gp_home_news(h, GP_NEWS_QUEUE, r, "made %u queues while held: off again", e->count);
		h->scan_at_ns = h->now_ns;
		break;
	case GP_KFDM_QUEUES:
		/* An id may be used again: where its pointers are is not known any more. */
		r->rings_stale = true;
		r->rings_at_ns = 0;
		h->scan_at_ns = h->now_ns;
		break;
	}
}
