// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which processes are one task: each by itself, or a gang.
 *
 * The processes of a gang wait for each other. So a gang is on or off as a whole, on all GPUs of
 * all its processes, and is preemptible only while all of them are attached. A process that joins a
 * held gang releases it until the process is attached too.
 */
#include <stdio.h>
#include <string.h>

#include "decider_private.h"

/* ---- members ---- */

/* Would they be one gang? */
static bool together(const struct gp_gpu_process *a, const struct gp_gpu_process *b)
{
	return a->gang[0] && !a->lost && !b->lost && a->uid == b->uid &&
	       !strcmp(a->gang, b->gang) && !strcmp(a->class.name, b->class.name);
}

/* The next process of @task from @from on, which moves behind it; NULL: no more. */
static struct gp_gpu_process *next_of(const struct gp_decider *h, u32 task, u32 *from)
{
	while (*from < h->nr_processes) {
		struct gp_gpu_process *r = h->process[(*from)++];

		if (r->task == task)
			return r;
	}
	return NULL;
}

/* Another process of its task; NULL: it is alone. */
static struct gp_gpu_process *mate_of(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	struct gp_gpu_process *x;
	u32 i = 0;

	while ((x = next_of(h, r->task, &i)) && x == r)
		;
	return x;
}

bool gp_tasks_first(const struct gp_decider *h, u32 i)
{
	u32 first = 0;

	/* Most processes are in no gang; then there is nothing to search. */
	return !h->process[i]->gang[0] ||
	       next_of(h, h->process[i]->task, &first) == h->process[i];
}

bool gp_tasks_attached(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	const struct gp_gpu_process *x;
	u32 i = 0;

	while ((x = next_of(h, r->task, &i)))
		if (x->attachment != GP_ATTACHED)
			return false;
	return true;
}

const struct gp_gpu_process *gp_tasks_unpreemptible(const struct gp_decider *h,
						 const struct gp_gpu_process *r)
{
	const struct gp_gpu_process *x;
	u32 i = 0;

	if (r->task == GP_NONE || r->lost || !gp_decider_acts(h) || !h->backend->ops->preempts ||
	    !(r->class.is.flags & GP_PREEMPTIBLE))
		return NULL;
	if (r->refused || !r->gang[0])
		return r->refused ? r : NULL;
	while ((x = next_of(h, r->task, &i)) && !x->refused)
		;
	return x;
}

/* A process of a lower class on a GPU of @r that cannot be preempted; NULL. */
static const struct gp_gpu_process *unpreemptible_beside(const struct gp_decider *h,
						      const struct gp_gpu_process *r)
{
	u32 i;

	for (i = 0; r->task != GP_NONE && i < h->nr_processes; i++) {
		const struct gp_gpu_process *x = h->process[i];

		if (x->refused && (x->devices & r->devices) && x->task != r->task &&
		    x->class.is.priority < r->class.is.priority && gp_tasks_unpreemptible(h, x))
			return x;
	}
	return NULL;
}

/* Its queues are to be looked at, and its user's reader does not do so. */
static bool is_unread(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	u32 state = gp_readers_state(h->readers, r->user);

	return r->watch && (state == GP_READER_LATE || state == GP_READER_ABANDONED);
}

const char *gp_decider_trouble(const struct gp_decider *h, const struct gp_gpu_process *r,
			       char *text)
{
	const struct gp_gpu_process *x = gp_tasks_unpreemptible(h, r);

	if (r->trouble[0])
		snprintf(text, GP_DECIDER_WHY, "%s", r->trouble);
	else if (x)
		snprintf(text, GP_DECIDER_WHY, "%s (%d) of its gang cannot be preempted: %s",
			 x->name, x->pid, x->trouble);
	else if (is_unread(h, r))
		snprintf(text, GP_DECIDER_WHY, "the reader of its user does not answer: it is "
			 "taken for busy, and preempts no other");
	else if (r->undescribed[0])
		snprintf(text, GP_DECIDER_WHY, "%s", r->undescribed);
	else if (h->config->daemon.unpreemptible == GP_UNPREEMPTIBLE_NOT_BESIDE &&
		 (x = unpreemptible_beside(h, r)))
		snprintf(text, GP_DECIDER_WHY, "shares a GPU with %s (%d), which cannot be "
			 "preempted: %s", x->uid == r->uid ? x->name : "another user's process",
			 x->pid, x->uid == r->uid ? x->trouble : "gpreempt list as root says why");
	else
		return NULL;
	return text;
}

u32 gp_decider_unpreemptible(const struct gp_decider *h, char *text)
{
	static bool of_task[GP_MAX_TASKS];
	u32 i, n = 0;

	memset(of_task, 0, sizeof(of_task));
	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		if (!r->refused || !gp_tasks_unpreemptible(h, r))
			continue;
		of_task[r->task] = true;
		snprintf(text, GP_DECIDER_WHY, "%s (%d): %s", r->name, r->pid, r->trouble);
	}
	for (i = 0; i < h->nr_processes; i++)
		n += h->process[i]->task != GP_NONE && of_task[h->process[i]->task];
	return n;
}

void gp_tasks_lease(struct gp_decider *h, const struct gp_gpu_process *r, u64 lease_ns,
		    u64 until_ns)
{
	struct gp_gpu_process *x;
	u32 i = 0;

	while ((x = next_of(h, r->task, &i))) {
		x->lease_ns = lease_ns;
		x->lease_until_ns = until_ns;
	}
}

/* ---- the end of a task ---- */

/* Adds what the daemon's counters show of an account. */
static void account_end(struct gp_decider *h, const struct gp_account *a)
{
	struct gp_account *sum = &h->stats.ended;
	u32 i;

	sum->stops_asked += a->stops_asked;
	sum->stopped += a->stopped;
	sum->stops_failed += a->stops_failed;
	sum->stops_lost += a->stops_lost + a->stopping;
	sum->starts_asked += a->starts_asked;
	sum->started += a->started;
	sum->starts_failed += a->starts_failed;
	sum->starts_lost += a->starts_lost + a->starting;
	sum->late += a->late;
	sum->preempted_others += a->preempted_others;
	sum->arrivals += a->arrivals;
	sum->waiting_ns += a->waiting_ns;
	for (i = 0; i < GP_NR_STATES; i++)
		sum->state_ns[i] += a->state_ns[i];
}

/* @r has no task any more. @a: the account of the task it had. */
static void part(struct gp_gpu_process *r, const struct gp_account *a)
{
	r->stopped_before += a->stopped;
	r->attachment = GP_NOT_ATTACHED;
	r->refused = false;
	r->task = GP_NONE;
	r->devices = 0;
}

static void end_task(struct gp_decider *h, u32 task)
{
	static struct gp_account a;
	struct gp_gpu_process *x;
	u32 i = 0;

	if (h->backend->ops->account(h->backend, task, &a))
		a.stopped = 0;
	else
		account_end(h, &a);
	h->backend->ops->task_del(h->backend, task);
	while ((x = next_of(h, task, &i)))
		part(x, &a);
	h->attach_due = true;
}

/* ---- class and GPUs ---- */

/* A task with a process that is not attached is not preemptible. */
static struct gp_class class_of(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	struct gp_class class = r->class.is;

	if (h->backend->ops->preempts && (r->task == GP_NONE || !gp_tasks_attached(h, r)))
		class.flags &= ~(u32)GP_PREEMPTIBLE;
	return class;
}

static void not_admitted(struct gp_gpu_process *r, const char *why)
{
	snprintf(r->trouble, sizeof(r->trouble), "not admitted: %s", why ? why : "too many tasks");
}

static bool same_class(const struct gp_class *a, const struct gp_class *b)
{
	return a->priority == b->priority && a->weight == b->weight && a->flags == b->flags &&
	       a->period_ns == b->period_ns && a->budget_ns == b->budget_ns &&
	       a->deadline_ns == b->deadline_ns;
}

static void tell_class(struct gp_decider *h, struct gp_gpu_process *r)
{
	struct gp_class class = class_of(h, r);
	const char *why = NULL;
	struct gp_gpu_process *x;
	u32 i = 0;

	if (same_class(&class, &r->told))
		return;
	if (h->backend->ops->task_class(h->backend, r->task, &class, &why)) {
		not_admitted(r, why);
		return;
	}
	while ((x = next_of(h, r->task, &i)))
		x->told = class;
}

static u64 devices_of(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	u64 devices = 0;
	u32 i, d;

	for (i = 0; i < r->nr_queues; i++) {
		d = gp_decider_device(h, r->queues[i].gpu_id);
		if (d != GP_NONE)
			devices |= BIT_ULL(d);
	}
	return devices;
}

/* ---- coming and going ---- */

void gp_tasks_leave(struct gp_decider *h, struct gp_gpu_process *r)
{
	static struct gp_account a;
	struct gp_gpu_process *mate;

	if (r->task == GP_NONE) {
		r->attachment = GP_NOT_ATTACHED;
		return;
	}
	mate = mate_of(h, r);
	if (!mate) {
		end_task(h, r->task);
		return;
	}
	if (h->backend->ops->process_del)
		h->backend->ops->process_del(h->backend, r);
	if (gp_decider_account(h, r, &a))
		a.stopped = 0;
	part(r, &a);
	tell_class(h, mate);
	h->attach_due = true;
}

static void admit(struct gp_gpu_process *r, const struct gp_gpu_process *as)
{
	r->task = as->task;
	r->devices = as->devices;
	r->told = as->told;
	r->watched_stale = true;
	r->watched_at_ns = 0;
	r->trouble[0] = 0;
}

static void enter(struct gp_decider *h, struct gp_gpu_process *r, u64 devices)
{
	const char *why = NULL;
	u32 i;

	/* The other members may have left their task because the gang uses one more GPU. */
	for (i = 0; i < h->nr_processes; i++)
		if (together(r, h->process[i]))
			devices |= devices_of(h, h->process[i]);
	r->told = class_of(h, r);
	r->devices = devices;
	if (h->backend->ops->task_add(h->backend, devices, &r->told, &r->task, &why)) {
		r->task = GP_NONE;
		r->devices = 0;
		not_admitted(r, why);
		return;
	}
	admit(r, r);
	for (i = 0; i < h->nr_processes; i++)
		if (together(r, h->process[i]) && devices_of(h, h->process[i]))
			admit(h->process[i], r);
}

/* Another of its gang that is of a task already. */
static const struct gp_gpu_process *peer_of(const struct gp_decider *h,
					    const struct gp_gpu_process *r)
{
	u32 i;

	for (i = 0; r->gang[0] && i < h->nr_processes; i++)
		if (h->process[i] != r && h->process[i]->task != GP_NONE &&
		    together(r, h->process[i]))
			return h->process[i];
	return NULL;
}

void gp_tasks_update(struct gp_decider *h, struct gp_gpu_process *r)
{
	u64 devices = devices_of(h, r);
	const struct gp_gpu_process *mate, *peer;

	/* It stays LOST to its end; once it is left it is not preemptible. */
	if (r->lost) {
		if (r->task != GP_NONE)
			tell_class(h, r);
		return;
	}
	if (!r->class.managed || !devices) {
		gp_tasks_leave(h, r);
		return;
	}
	/* Another class or another gang than those it was with. */
	mate = r->task == GP_NONE ? NULL : mate_of(h, r);
	peer = peer_of(h, r);
	if (r->task != GP_NONE && ((mate && !together(r, mate)) || (peer && peer->task != r->task)))
		gp_tasks_leave(h, r);
	if (r->task == GP_NONE && peer)
		admit(r, peer);
	/* A seat cannot be added to a task; one too many does no harm. */
	if (r->task != GP_NONE && (devices & ~r->devices)) {
		devices |= r->devices;
		end_task(h, r->task);
	}
	if (r->task == GP_NONE)
		enter(h, r, devices);
	else
		tell_class(h, r);
	h->attach_due = true;
}

bool gp_tasks_at_rest(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	struct gp_seat_view seat;
	u32 d;

	for (d = 0; r->task != GP_NONE && d < h->nr_gpus; d++)
		if (!gp_decider_seat(h, r, d, &seat) && seat.state != GP_ON &&
		    seat.state != GP_LOST)
			return false;
	return true;
}
