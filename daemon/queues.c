// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Finds the pointers of queues, and samples them.
 *
 * The debug session of an attached process knows its queues. For all others the driver's dump of
 * queue descriptors is read, so that a process need not be attached to be watched. Both are read
 * only when the queues of a process have changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gpreempt.h"
#include "lib/mqd_dump.h"
#include "scheduler.h"
#include "uapi/kfd.h"

/* Delay before the next dump after one that did not match sysfs. */
#define AGAIN_NS	(20 * GP_MSEC)

enum { TRIES_DOUBLE = 8 };

static bool same_ring(const struct gp_watched *a, const struct gp_watched *b)
{
	return a->gpu_id == b->gpu_id && a->at.read_at == b->at.read_at &&
	       a->at.write_at == b->at.write_at && a->at.ring_base == b->at.ring_base &&
	       a->at.ring_bytes == b->at.ring_bytes && a->at.kind == b->at.kind;
}

void gp_queues_forget(struct gp_scheduler *s, struct gp_gpu_process *r)
{
	u32 i;

	for (i = 0; i < r->nr_watched; i++)
		if (r->watched[i].queue != GP_NONE)
			gp_queue_del(s->sched, r->watched[i].queue, s->base.h->now_ns);
	gp_readers_unwatch(s->base.h->readers, r->watch);
	/* Set again for the other processes of the user, if any. */
	gp_readers_interval(s->base.h->readers, r->user, 0);
	s->intervals_due = true;
	free(r->watched);
	r->watch = NULL;
	r->watched = NULL;
	r->nr_watched = 0;
	r->watched_stale = true;
	r->watched_at_ns = 0;
	r->watched_tries = 0;
}

static bool add_ring(const struct gp_decider *h, u32 gpu_id, const struct gp_ring_pointers *at,
		     struct gp_watched *to)
{
	u32 device = gp_decider_device(h, gpu_id);

	if (device == GP_NONE || !at->read_at)
		return false;
	*to = (struct gp_watched){ .at = *at, .gpu_id = gpu_id, .device = device,
				.queue = GP_NONE };
	return true;
}

/*
 * Collects the queues of @r in @list on the scheduled GPUs. NULL and *@ret_count 0: none, or no
 * memory.
 */
static struct gp_watched *collect(const struct gp_decider *h, const struct gp_gpu_process *r,
			       const struct gp_mqd_list *list, u32 *ret_count)
{
	struct gp_watched *watched = calloc(list->count ? list->count : 1, sizeof(*watched));
	u32 i, n = 0;

	for (i = 0; watched && i < list->count; i++) {
		const struct gp_mqd *m = &list->mqd[i];
		const struct gp_ring_pointers at = {
			.read_at = m->read_at, .write_at = m->write_at, .ring_base = m->ring_base,
			.ring_bytes = m->ring_bytes, .kind = m->kind,
		};

		n += m->pid == r->pid && add_ring(h, m->gpu_id, &at, &watched[n]);
	}
	*ret_count = n;
	return watched;
}

static bool has_queue(const struct gp_gpu_process *r, u32 id)
{
	u32 i;

	for (i = 0; i < r->nr_queues; i++)
		if (r->queues[i].id == id)
			return true;
	return false;
}

static u32 ring_kind(u32 type)
{
	switch (type) {
	case KFD_IOC_QUEUE_TYPE_COMPUTE_AQL:
		return GP_RING_AQL;
	case KFD_IOC_QUEUE_TYPE_COMPUTE:
		return GP_RING_PM4;
	default:
		return GP_RING_SDMA;
	}
}

/* Collects the queues from the debug session of @r. */
static struct gp_watched *collect_attached(struct gp_scheduler *s, const struct gp_gpu_process *r,
					u32 *ret_count)
{
	static struct kfd_queue_snapshot_entry queues[GP_PROCESS_QUEUES_MAX];
	struct gp_watched *watched;
	int i, nr = -ENOENT;
	u32 n = 0;

	if (r->attachment == GP_ATTACHED && s->queues)
		nr = s->queues(s, r->pid, queues);
	if (nr < 0)
		return NULL;
	watched = calloc((size_t)nr + 1, sizeof(*watched));
	for (i = 0; watched && i < nr; i++) {
		const struct kfd_queue_snapshot_entry *q = &queues[i];
		const struct gp_ring_pointers at = {
			.read_at = q->read_pointer_address, .write_at = q->write_pointer_address,
			.ring_base = q->ring_base_address, .ring_bytes = q->ring_size,
			.kind = ring_kind(q->queue_type),
		};

		n += has_queue(r, q->queue_id) && add_ring(s->base.h, q->gpu_id, &at, &watched[n]);
	}
	*ret_count = n;
	return watched;
}

/* Keeps the scheduler's numbers of known queues, and removes queues that are gone. */
static void carry_over(struct gp_scheduler *s, struct gp_gpu_process *r, struct gp_watched *watched,
		       u32 nr)
{
	u32 i, j;

	for (i = 0; i < r->nr_watched; i++) {
		struct gp_watched *old = &r->watched[i];

		for (j = 0; j < nr && old->queue != GP_NONE; j++) {
			if (watched[j].queue != GP_NONE || !same_ring(old, &watched[j]))
				continue;
			watched[j].queue = old->queue;
			old->queue = GP_NONE;
		}
		if (old->queue != GP_NONE)
			gp_queue_del(s->sched, old->queue, s->base.h->now_ns);
	}
}

/*
 * Adopts new pointers. -ENOMEM, -ENOSPC, -EINVAL: the queues cannot be watched, and the task is
 * unknown.
 */
static int adopt(struct gp_scheduler *s, struct gp_gpu_process *r, struct gp_watched *watched,
		 u32 nr)
{
	const struct gp_reader_target who = { r->user, r->pid, r->start };
	struct gp_ring_pointers *at = calloc(nr ? nr : 1, sizeof(*at));
	const struct gp_reader_wanted wanted = { at, nr, GP_WAKE_WRITE | GP_WAKE_READ };
	struct gp_readers *rs = s->base.h->readers;
	u64 number;
	int err;
	u32 i;

	for (i = 0; at && i < nr; i++)
		at[i] = watched[i].at;
	err = at ? gp_readers_watch(rs, &who, &wanted, &r->watch) : -ENOMEM;
	if (err) {
		free(at);
		free(watched);
		gp_queues_forget(s, r);
		return err;
	}
	carry_over(s, r, watched, nr);
	free(r->watched);
	free(at);
	r->watched = watched;
	r->nr_watched = nr;
	s->intervals_due = true;
	/* A reader that is being started looks when it is up. */
	gp_readers_look(rs, r->user, &number);
	return 0;
}

/* Returns true if as many queues are known as sysfs shows. Otherwise they are being created. */
static bool complete(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	u32 i, expected = 0;

	for (i = 0; i < r->nr_queues; i++)
		expected += gp_decider_device(h, r->queues[i].gpu_id) != GP_NONE;
	return r->watch && r->nr_watched == expected;
}

#define UNWATCHED	"it cannot be watched: "

static void cannot_be_watched(struct gp_gpu_process *r, const char *why)
{
	if (!r->trouble[0])
		snprintf(r->trouble, sizeof(r->trouble), UNWATCHED "%s", why);
}

static void again(const struct gp_decider *h, struct gp_gpu_process *r)
{
	r->watched_at_ns = h->now_ns + (AGAIN_NS << r->watched_tries);
	if (r->watched_tries < TRIES_DOUBLE)
		r->watched_tries++;
}

/* Adopts the queues now, or retries later if sysfs shows other queues. */
static void refresh_one(struct gp_scheduler *s, struct gp_gpu_process *r,
			struct gp_watched *watched, u32 nr)
{
	u32 tries = r->watched_tries;
	int err = adopt(s, r, watched, nr);

	if (err)
		cannot_be_watched(r, err == -ENOSPC ? "its user has too many queues" :
						      gp_strerror(err));
	else if (!strncmp(r->trouble, UNWATCHED, strlen(UNWATCHED)))
		r->trouble[0] = 0;
	r->watched_tries = tries;
	r->watched_stale = err || !complete(s->base.h, r);
	if (r->watched_stale)
		again(s->base.h, r);
	else
		r->watched_tries = 0;
}

static bool due(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	return r->task != GP_NONE && r->watched_stale && h->now_ns >= r->watched_at_ns;
}

/*
 * Refreshes processes whose session knows their queues. Returns how many other processes need a
 * dump, and the pid of one of them.
 */
static u32 refresh_attached(struct gp_scheduler *s, pid_t *ret_one)
{
	struct gp_decider *h = s->base.h;
	u32 i, nr, left = 0;

	for (i = 0; i < h->nr_processes; i++) {
		struct gp_gpu_process *r = h->process[i];
		struct gp_watched *watched;

		if (!due(h, r))
			continue;
		watched = collect_attached(s, r, &nr);
		if (watched)
			refresh_one(s, r, watched, nr);
		if (!due(h, r))
			continue;
		*ret_one = r->pid;
		left++;
	}
	return left;
}

static void take_dump(struct gp_scheduler *s, const struct gp_readers_event *e)
{
	struct gp_decider *h = s->base.h;
	u32 i, nr;

	if (e->error && -e->error != h->dump_error)
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL,
			     "queues cannot be watched: %s cannot be read (%s); mount debugfs and "
			     "run as root", h->args.mqds ? h->args.mqds : GP_MQD_DUMP,
			     strerror(e->error));
	h->dump_error = -e->error;
	for (i = 0; i < h->nr_processes; i++) {
		struct gp_gpu_process *r = h->process[i];
		struct gp_watched *watched;

		if (!due(h, r) || (h->dump_only && h->dump_only != r->pid))
			continue;
		watched = e->error ? NULL : collect(h, r, e->list, &nr);
		if (watched)
			refresh_one(s, r, watched, nr);
		else
			again(h, r);
		if (!watched && e->error)
			cannot_be_watched(r, "the driver's dump in debugfs cannot be read");
	}
}

void gp_queues_refresh(struct gp_backend *b)
{
	struct gp_decider *h = b->h;
	pid_t one = 0;
	u32 nr = refresh_attached(gp_scheduler_of(b), &one);

	/* If a dump is being read already, the next scan retries. */
	if (!nr || gp_readers_dump(h->readers, nr == 1 ? one : 0))
		return;
	h->dump_only = nr == 1 ? one : 0;
	h->stats.dumps++;
}

/* ---- samples of the readers ---- */

static u64 devices_of_user(const struct gp_decider *h, uid_t user)
{
	u64 devices = 0;
	u32 i;

	for (i = 0; i < h->nr_processes; i++)
		if (h->process[i]->user == user && h->process[i]->task != GP_NONE)
			devices |= h->process[i]->devices;
	return devices;
}

void gp_queues_heard(struct gp_backend *b, const struct gp_readers_event *e)
{
	struct gp_scheduler *s = gp_scheduler_of(b);
	bool good = gp_readers_state(b->h->readers, e->who.user) == GP_READER_GOOD;
	u64 devices, number, now;
	u32 d;

	switch (e->kind) {
	case GP_READERS_DUMPED:
		take_dump(s, e);
		return;
	case GP_READERS_STATE:
		if (good)
			gp_readers_look(b->h->readers, e->who.user, &number);
		break;
	case GP_READERS_CHANGED:
	case GP_READERS_LOOKED:
		break;
	default:
		return;
	}
	/* A pointer that moved after a probe was requested gets a later time than the request. */
	now = b->h->args.clock(b->h->args.ctx);
	b->h->now_ns = now > b->h->now_ns ? now : b->h->now_ns + 1;
	devices = devices_of_user(b->h, e->who.user);
	for (d = 0; d < b->h->nr_gpus; d++)
		if (devices & BIT_ULL(d))
			gp_scheduler_look(b, d);
	if (e->kind == GP_READERS_LOOKED || !good)
		gp_occupancy_looked(s, e->who.user, good ? e->number : GP_NEVER);
	gp_scheduler_ops.decide(b);
}

/*
 * Returns when the work became visible at the earliest: the reader's last look before the change,
 * @before_ns, which is more precise than the daemon's last look. 0: no reader had a reason to look.
 */
static u64 visible_at(const struct gp_scheduler *s, u32 device, u64 before_ns)
{
	const struct gp_device *d = &s->sched->devices[device];

	if (!before_ns || d->look_ns == GP_NEVER)
		return 0;
	return before_ns > d->watched_ns ? before_ns : d->watched_ns;
}

bool gp_queues_look(struct gp_scheduler *s, struct gp_gpu_process *r, u32 device,
		    struct gp_samples *to)
{
	static struct gp_reader_sample x[GP_READER_SLOTS];
	struct gp_decider *h = s->base.h;
	bool known;
	u32 i;

	if (!r->watch)
		return false;
	/* While new queues are being found, use the known ones. */
	known = gp_readers_samples(h->readers, r->watch, x, GP_READER_SLOTS) >= 0 &&
		(!r->watched_tries || complete(h, r));
	for (i = 0; i < r->nr_watched; i++) {
		struct gp_watched *ring = &r->watched[i];
		const struct gp_pointers now = { x[i].rptr, x[i].wptr };

		if (!x[i].read)
			continue;
		/* Add a new queue to the scheduler with its first pointers. */
		if (ring->queue == GP_NONE &&
		    (!gp_scheduler_may_watch(s, r) ||
		     gp_queue_add(s->sched, r->task, ring->device, &now, h->now_ns, &ring->queue)))
			ring->queue = GP_NONE;
		known &= ring->queue != GP_NONE;
		if (ring->device != device || ring->queue == GP_NONE || to->nr == to->room)
			continue;
		to->at[to->nr++] = (struct gp_sample){
			.queue = ring->queue, .rptr = x[i].rptr, .wptr = x[i].wptr,
			.flags = x[i].at_barrier ? GP_AT_BARRIER : 0,
			.visible_ns = visible_at(s, device, x[i].before_ns),
		};
	}
	return known;
}

/* ---- how often to look ---- */

bool gp_queues_looked(struct gp_scheduler *s, u32 device)
{
	u64 looked_ns = s->sched->devices[device].looked_ns, number;
	struct gp_decider *h = s->base.h;
	bool looked = true;
	u32 i;

	if (s->asked_ns[device])
		return true;

	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];

		if (!r->watch || !(r->devices & BIT_ULL(device)) ||
		    gp_readers_looked_since(r->watch, looked_ns))
			continue;
		looked = false;
		gp_readers_look(h->readers, r->user, &number);
	}
	s->asked_ns[device] = looked ? 0 : h->now_ns;
	return looked;
}

static u64 interval_of(const struct gp_scheduler *s, u64 devices)
{
	const struct gp_decider *h = s->base.h;
	u64 ns = GP_NEVER;
	u32 d;

	for (d = 0; d < h->nr_gpus; d++) {
		const struct gp_device *device = &s->sched->devices[d];
		u64 relaxed = s->sched->param[GP_LOOK_RELAXED];

		if (!(devices & BIT_ULL(d)))
			continue;
		if (device->look_ns < ns)
			ns = device->look_ns;
		if (h->recorder.emit && relaxed < ns)
			ns = relaxed;
	}
	return ns == GP_NEVER ? 0 : ns;
}

void gp_queues_set_intervals(struct gp_scheduler *s)
{
	struct gp_decider *h = s->base.h;
	bool due = s->intervals_due || s->recorded != !!h->recorder.emit;
	u32 i;

	for (i = 0; i < h->nr_gpus; i++) {
		due |= s->look_ns[i] != s->sched->devices[i].look_ns;
		s->look_ns[i] = s->sched->devices[i].look_ns;
	}
	s->intervals_due = false;
	s->recorded = h->recorder.emit;
	for (i = 0; due && i < h->nr_processes; i++)
		if (h->process[i]->watch)
			gp_readers_interval(h->readers, h->process[i]->user,
				interval_of(s, devices_of_user(h, h->process[i]->user)));
}
