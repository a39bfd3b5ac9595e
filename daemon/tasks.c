// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Groups processes into tasks: each process by itself, or a gang.
 *
 * The processes of a gang wait for each other. So a gang is on or off as a whole, on all GPUs of
 * all its processes, and is preemptible only while all of them are attached. A process that joins a
 * held gang releases it until the process is attached too.
 */
#include <stdio.h>
#include <string.h>

#include "decider_private.h"

/* ---- members ---- */

/* Returns true if the two processes are of one gang. */
static bool together(const struct gp_gpu_process *a, const struct gp_gpu_process *b)
{
	return a->gang[0] && !a->lost && !b->lost && a->uid == b->uid &&
	       !strcmp(a->gang, b->gang) && !strcmp(a->class.name, b->class.name);
}

/* Returns the next process of @task from *@from on, and moves *@from behind it. NULL: no more. */
static struct gp_gpu_process *next_of(const struct gp_decider *h, u32 task, u32 *from)
{
	while (*from < h->nr_processes) {
		struct gp_gpu_process *r = h->process[(*from)++];

		if (r->task == task)
			return r;
	}
	return NULL;
}

/* Returns another process of the task of @r, or NULL. */
static struct gp_gpu_process *other_member(const struct gp_decider *h,
					   const struct gp_gpu_process *r)
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

	/* Most processes are in no gang, which needs no search. */
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

static bool may_preempt(const struct gp_decider *h)
{
	return gp_decider_acts(h) && h->backend->ops->preempts;
}

const struct gp_gpu_process *gp_tasks_unpreemptible(const struct gp_decider *h,
						 const struct gp_gpu_process *r)
{
	const struct gp_gpu_process *x;
	u32 i = 0;

	if (r->lost || !may_preempt(h) || !(r->class.is.flags & GP_PREEMPTIBLE))
		return NULL;
	if (r->task == GP_NONE)
		return r->unplaced ? r : NULL;
	if (r->refused || !r->gang[0])
		return r->refused ? r : NULL;
	while ((x = next_of(h, r->task, &i)) && !x->refused)
		;
	return x;
}

u64 gp_tasks_devices(const struct gp_decider *h, const struct gp_gpu_process *r)
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

/* Returns the GPUs on which @r cannot be preempted, for a reason of its own. */
static u64 unpreemptible_on(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	if (!(r->refused || r->unplaced) || !gp_tasks_unpreemptible(h, r))
		return 0;
	return r->devices | gp_tasks_devices(h, r);
}

/*
 * Returns the highest priority allowed on the GPUs of @r beside processes that cannot be preempted.
 */
static u32 cap_of(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	u32 d, cap = ~0u;

	for (d = 0; (h->capped & r->devices) && d < h->nr_gpus; d++)
		if ((h->capped & r->devices & BIT_ULL(d)) && h->cap[d] < cap)
			cap = h->cap[d];
	return cap;
}

/* Returns true if @r shares a GPU with a process that it should preempt and cannot. */
static bool is_capped(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	return r->task != GP_NONE && r->class.is.priority > cap_of(h, r);
}

/* Returns a process of a lower class on a GPU of @r that cannot be preempted, or NULL. */
static const struct gp_gpu_process *unpreemptible_beside(const struct gp_decider *h,
						      const struct gp_gpu_process *r)
{
	u32 i;

	for (i = 0; is_capped(h, r) && i < h->nr_processes; i++)
		if ((unpreemptible_on(h, h->process[i]) & r->devices) &&
		    h->process[i]->class.is.priority < r->class.is.priority)
			return h->process[i];
	return NULL;
}

/* Returns true if the queues of @r should be read, and its user's reader does not read them. */
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
	else if (r->mistrusted)
		snprintf(text, GP_DECIDER_WHY, "the holder of its user hangs or is gone: it "
			 "preempts no process until the holder is back");
	else if (is_unread(h, r))
		snprintf(text, GP_DECIDER_WHY, "the reader of its user does not answer: it is "
			 "taken for busy, and preempts no other");
	else if (r->undescribed[0])
		snprintf(text, GP_DECIDER_WHY, "%s", r->undescribed);
	else if ((x = unpreemptible_beside(h, r)))
		snprintf(text, GP_DECIDER_WHY, "has a lower priority: shares a GPU with %s (%d), "
			 "which cannot be preempted: %.100s", x->uid == r->uid ? x->name :
			 "another user's process", x->pid, x->uid == r->uid ? x->trouble :
			 "gpreempt list as root says why");
	else
		return NULL;
	return text;
}

u32 gp_decider_unpreemptible(const struct gp_decider *h, char *text)
{
	static bool of_task[GP_MAX_TASKS];
	struct gp_scan_user user;
	u32 i, n = 0;

	memset(of_task, 0, sizeof(of_task));
	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		if (!(r->refused || r->unplaced) || !gp_tasks_unpreemptible(h, r))
			continue;
		n += r->unplaced;
		if (r->task != GP_NONE)
			of_task[r->task] = true;
		snprintf(text, GP_DECIDER_WHY, "%s (%d): %s", r->name, r->pid, r->trouble);
	}
	for (i = 0; i < h->nr_processes; i++)
		n += h->process[i]->task != GP_NONE && of_task[h->process[i]->task];
	/* The class of processes that are left out is not known. */
	for (i = 0; may_preempt(h) && gp_scanner_user(h->scanner, i, &user); i++) {
		if (user.busy)
			snprintf(text, GP_DECIDER_WHY, "those of user %u that are left out",
				 user.user);
		n += user.busy;
	}
	return n;
}

enum { USERS = 8 };		/* named per reason */

/* Reports users whose holder hangs. */
static void tell_mistrusted(const struct gp_decider *h, gp_trouble_fn *tell, void *ctx)
{
	char line[GP_DECIDER_WHY];
	uid_t told[USERS];
	u32 i, j, n = 0;

	for (i = 0; i < h->nr_processes && n < USERS; i++) {
		const struct gp_gpu_process *r = h->process[i];

		for (j = 0; j < n && told[j] != r->user; j++)
			;
		if (!r->mistrusted || j < n)
			continue;
		told[n++] = r->user;
		snprintf(line, sizeof(line), "user %u: the holder hangs in the driver or cannot be "
			 "started; processes of this user preempt no process", r->user);
		tell(ctx, line);
	}
}

/* Reports users with processes beyond a limit of the scanner. */
static void tell_left_out(const struct gp_decider *h, gp_trouble_fn *tell, void *ctx)
{
	struct gp_scan_user user;
	char line[GP_DECIDER_WHY];
	u32 i, n = 0;

	for (i = 0; n < USERS && gp_scanner_user(h->scanner, i, &user); i++) {
		if (!user.left_out)
			continue;
		n++;
		snprintf(line, sizeof(line), "user %u: %u GPU processes are left out and keep "
			 "running; %u of them have queues", user.user, user.left_out, user.busy);
		tell(ctx, line);
	}
}

u32 gp_decider_unplaced(const struct gp_decider *h, char *text)
{
	u32 i, n = 0;

	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		if (r->unplaced)
			snprintf(text, GP_DECIDER_WHY, "%s (%d): %s", r->name, r->pid, r->trouble);
		n += r->unplaced;
	}
	return n;
}

u32 gp_decider_capped(const struct gp_decider *h)
{
	u32 i, n = 0;

	for (i = 0; i < h->nr_processes; i++)
		n += is_capped(h, h->process[i]);
	return n;
}

void gp_decider_troubles(const struct gp_decider *h, bool names, gp_trouble_fn *tell, void *ctx)
{
	char line[GP_DECIDER_WHY + 64], one[GP_DECIDER_WHY];
	u32 n = gp_decider_unplaced(h, one);

	if (n) {
		snprintf(line, sizeof(line), "%u processes found no place in the scheduler%s%s", n,
			 names ? ", such as " : "", names ? one : "");
		tell(ctx, line);
	}
	n = gp_decider_capped(h);
	if (n) {
		snprintf(line, sizeof(line), "%u processes have a lower priority because they "
			 "share a GPU with one that cannot be preempted", n);
		tell(ctx, line);
	}
	if (names) {
		tell_mistrusted(h, tell, ctx);
		tell_left_out(h, tell, ctx);
	}
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

/* Adds an account to the daemon's counters. */
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

/* Clears the task of @r. @a: the account of that task. */
static void clear_task(struct gp_gpu_process *r, const struct gp_account *a)
{
	r->stopped_before += a->stopped;
	r->attachment = GP_NOT_ATTACHED;
	r->refused = r->mistrusted = false;
	r->judged = 0;
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
		clear_task(x, &a);
	h->attach_due = true;
}

/* ---- class ---- */

/*
 * Returns the class of the task for the backend. A task with a process that is not attached is not
 * preemptible. A task beside a process that it cannot preempt gets the priority of that process, so
 * that it does not stop others in vain.
 */
static struct gp_class class_of(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	struct gp_class class = r->class.is;
	u32 cap = cap_of(h, r);

	if (class.priority > cap)
		class.priority = cap;
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

void gp_tasks_cap(struct gp_decider *h)
{
	u32 i, d, cap[GP_GPUS_MAX] = { 0 };
	u64 capped = 0, on;

	if (h->config->daemon.unpreemptible != GP_UNPREEMPTIBLE_NOT_BESIDE && !h->capped)
		return;
	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		on = h->config->daemon.unpreemptible == GP_UNPREEMPTIBLE_NOT_BESIDE ?
		     unpreemptible_on(h, r) : 0;
		for (d = 0; on && d < h->nr_gpus; d++) {
			if (!(on & BIT_ULL(d)))
				continue;
			if (!(capped & BIT_ULL(d)) || r->class.is.priority < cap[d])
				cap[d] = r->class.is.priority;
			capped |= BIT_ULL(d);
		}
	}
	if (capped == h->capped && !memcmp(cap, h->cap, sizeof(cap)))
		return;
	h->capped = capped;
	memcpy(h->cap, cap, sizeof(cap));
	for (i = 0; i < h->nr_processes; i++)
		if (h->process[i]->task != GP_NONE)
			tell_class(h, h->process[i]);
}

/* ---- coming and going ---- */

void gp_tasks_leave(struct gp_decider *h, struct gp_gpu_process *r)
{
	static struct gp_account a;
	struct gp_gpu_process *mate;

	if (r->unplaced)
		r->trouble[0] = 0;
	r->unplaced = false;
	if (r->task == GP_NONE) {
		r->attachment = GP_NOT_ATTACHED;
		return;
	}
	mate = other_member(h, r);
	if (!mate) {
		end_task(h, r->task);
		return;
	}
	if (h->backend->ops->process_del)
		h->backend->ops->process_del(h->backend, r);
	if (gp_decider_account(h, r, &a))
		a.stopped = 0;
	clear_task(r, &a);
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
	r->unplaced = false;
	r->trouble[0] = 0;
}

/*
 * Returns true if the user of @r has as many tasks or seats as allowed: a quarter of all, half of
 * that when few are left. Root has no limit.
 */
static bool has_too_many(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	static bool counted[GP_MAX_TASKS];
	u32 i, all = 0, tasks = 0, seats = 0, room = h->backend->ops->tasks;

	if (!r->user)
		return false;
	memset(counted, 0, sizeof(counted));
	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *x = h->process[i];

		if (x->task == GP_NONE || counted[x->task])
			continue;
		counted[x->task] = true;
		all++;
		tasks += x->user == r->user;
		seats += x->user == r->user ? (u32)__builtin_popcountll(x->devices) : 0;
	}
	room /= all >= room / 4 * 3 ? 8 : 4;
	return tasks >= room || seats >= 8 * room;
}

static void enter(struct gp_decider *h, struct gp_gpu_process *r, u64 devices)
{
	const char *why = "too many tasks of its user";
	u32 i;

	if (h->now_ns < r->place_at_ns)
		return;
	if (has_too_many(h, r)) {
		r->place_at_ns = h->now_ns + GP_SEC;
		r->unplaced = true;
		not_admitted(r, why);
		return;
	}
	why = NULL;
	/* The other members may have left their task because the gang uses one more GPU. */
	for (i = 0; i < h->nr_processes; i++)
		if (together(r, h->process[i]))
			devices |= gp_tasks_devices(h, h->process[i]);
	r->devices = devices;
	r->told = class_of(h, r);
	if (h->backend->ops->task_add(h->backend, devices, &r->told, &r->task, &why)) {
		r->task = GP_NONE;
		r->devices = 0;
		r->unplaced = true;
		not_admitted(r, why);
		return;
	}
	admit(r, r);
	for (i = 0; i < h->nr_processes; i++)
		if (together(r, h->process[i]) && gp_tasks_devices(h, h->process[i]))
			admit(h->process[i], r);
}

/* Returns another process of its gang that has a task already. */
static const struct gp_gpu_process *member_with_task(const struct gp_decider *h,
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
	u64 devices = gp_tasks_devices(h, r);
	const struct gp_gpu_process *mate, *peer;

	/* It stays LOST to its end. Once detached it is not preemptible. */
	if (r->lost) {
		if (r->task != GP_NONE)
			tell_class(h, r);
		return;
	}
	if (!r->class.managed || !devices) {
		gp_tasks_leave(h, r);
		return;
	}
	/* The class or the gang differs from that of the other members. */
	mate = r->task == GP_NONE ? NULL : other_member(h, r);
	peer = member_with_task(h, r);
	if (r->task != GP_NONE && ((mate && !together(r, mate)) || (peer && peer->task != r->task)))
		gp_tasks_leave(h, r);
	if (r->task == GP_NONE && peer)
		admit(r, peer);
	/* A seat cannot be added to a task. A superfluous seat does no harm. */
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
