// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Where the pointers of queues are, and what they say.
 *
 * The debug session of an attached process knows its queues. For all others the driver's dump of
 * queue descriptors is read, so that no process has to be attached to be watched. Either is read
 * only when the queues of a process have changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mqd_dump.h"
#include "scheduler.h"
#include "uapi/kfd.h"

/* Between two tries at a dump that did not show what sysfs shows. */
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
	gp_pointers_free(r->pointers);
	free(r->watched);
	r->pointers = NULL;
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

/* The queues of @r in @list that are on our GPUs. NULL and *@ret_count 0: none, or no memory. */
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
	case GP_KFD_QUEUE_AQL:
		return GP_RING_AQL;
	case GP_KFD_QUEUE_PM4:
		return GP_RING_PM4;
	default:
		return GP_RING_SDMA;
	}
}

/* The same from the debug session of @r. */
static struct gp_watched *collect_attached(struct gp_scheduler *s, const struct gp_gpu_process *r,
					u32 *ret_count)
{
	static struct gp_kfd_queue_entry queues[GP_PROCESS_QUEUES_MAX];
	struct gp_watched *watched;
	int i, nr = -ENOENT;
	u32 n = 0;

	if (r->attachment == GP_ATTACHED && s->queues)
		nr = s->queues(s, r->pid, queues);
	if (nr <= 0)
		return NULL;
	watched = calloc((size_t)nr, sizeof(*watched));
	for (i = 0; watched && i < nr; i++) {
		const struct gp_kfd_queue_entry *q = &queues[i];
		const struct gp_ring_pointers at = {
			.read_at = q->read_pointer, .write_at = q->write_pointer,
			.ring_base = q->ring_base, .ring_bytes = q->ring_bytes,
			.kind = ring_kind(q->type),
		};

		n += has_queue(r, q->queue_id) && add_ring(s->base.h, q->gpu_id, &at, &watched[n]);
	}
	*ret_count = n;
	return watched;
}

/* Known queues keep their number in the scheduler; queues that are gone leave it. */
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

/* New queues enter the scheduler with what their pointers say now. */
static void enter(struct gp_scheduler *s, struct gp_gpu_process *r)
{
	const struct gp_ring_pointers *at;
	struct gp_pointers now;
	u32 i, nr;

	if (!r->pointers || gp_pointers_look(r->pointers))
		return;
	at = gp_pointers_rings(r->pointers, &nr);
	for (i = 0; i < nr && i < r->nr_watched; i++) {
		struct gp_watched *ring = &r->watched[i];

		if (ring->queue != GP_NONE || !(at[i].flags & GP_RING_READ))
			continue;
		now = (struct gp_pointers){ at[i].rptr, at[i].wptr };
		if (!gp_scheduler_may_watch(s, r) ||
		    gp_queue_add(s->sched, r->task, ring->device, &now, s->base.h->now_ns,
				 &ring->queue))
			ring->queue = GP_NONE;
	}
}

static void adopt(struct gp_scheduler *s, struct gp_gpu_process *r, struct gp_watched *watched,
		  u32 nr)
{
	struct gp_ring_pointers *at = calloc(nr ? nr : 1, sizeof(*at));
	struct gp_pointers_set *set = NULL;
	u32 i;

	for (i = 0; at && i < nr; i++)
		at[i] = watched[i].at;
	if (!at || (nr && gp_pointers_alloc(s->base.h->args.proc, r->pid, at, nr, &set))) {
		free(at);
		free(watched);
		gp_queues_forget(s, r);
		return;
	}
	carry_over(s, r, watched, nr);
	gp_pointers_free(r->pointers);
	free(r->watched);
	free(at);
	r->pointers = set;
	r->watched = watched;
	r->nr_watched = nr;
	enter(s, r);
}

/* Does the dump show as many queues as sysfs? If not, they are just being made. */
static bool complete(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	u32 i, expected = 0, known = 0;

	for (i = 0; i < r->nr_queues; i++)
		expected += gp_decider_device(h, r->queues[i].gpu_id) != GP_NONE;
	for (i = 0; i < r->nr_watched; i++)
		known += r->watched[i].queue != GP_NONE;
	return known == expected;
}

#define UNWATCHED	"it cannot be watched: the driver's dump in debugfs cannot be read"

/* Now or, if sysfs shows other queues, a while later. */
static void refresh_one(struct gp_scheduler *s, struct gp_gpu_process *r,
			struct gp_watched *watched, u32 nr)
{
	const struct gp_decider *h = s->base.h;

	adopt(s, r, watched, nr);
	r->watched_stale = !complete(h, r);
	if (!r->watched_stale) {
		r->watched_tries = 0;
		if (!strcmp(r->trouble, UNWATCHED))
			r->trouble[0] = 0;
		return;
	}
	r->watched_at_ns = h->now_ns + (AGAIN_NS << r->watched_tries);
	if (r->watched_tries < TRIES_DOUBLE)
		r->watched_tries++;
}

static bool due(const struct gp_decider *h, const struct gp_gpu_process *r)
{
	return r->task != GP_NONE && r->watched_stale && h->now_ns >= r->watched_at_ns;
}

/* Attached processes need no dump. Returns how many processes do, and the pid of one of them. */
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

static int read_dump(struct gp_decider *h, pid_t only, struct gp_mqd_list *ret)
{
	int err = gp_mqd_dump_read(h->args.mqds, only, ret, NULL);

	h->stats.dumps++;
	if (err && err != h->dump_error)
		gp_decider_news(h, GP_NEWS_TROUBLE, NULL,
			     "queues cannot be watched: %s cannot be read (%s); mount debugfs and "
			     "run as root", h->args.mqds ? h->args.mqds : GP_MQD_DUMP,
			     strerror(-err));
	h->dump_error = err;
	return err;
}

/* The dump blocks while a process is being stopped; then it is read soon after. */
static bool put_off(struct gp_scheduler *s)
{
	struct gp_decider *h = s->base.h;
	u32 i;

	for (i = 0; i < h->nr_gpus; i++) {
		if (!gp_scheduler_acting(s, i))
			continue;
		if (h->scan_at_ns > h->now_ns + AGAIN_NS)
			h->scan_at_ns = h->now_ns + AGAIN_NS;
		return true;
	}
	return false;
}

void gp_queues_refresh(struct gp_backend *b)
{
	struct gp_scheduler *s = gp_scheduler_of(b);
	struct gp_mqd_list list = { 0 };
	struct gp_decider *h = b->h;
	pid_t one = 0;
	u32 i, nr;
	int err;

	nr = refresh_attached(s, &one);
	if (!nr || put_off(s))
		return;
	err = read_dump(h, nr == 1 ? one : 0, &list);
	for (i = 0; i < h->nr_processes; i++) {
		struct gp_gpu_process *r = h->process[i];
		struct gp_watched *watched;

		if (!due(h, r))
			continue;
		watched = err ? NULL : collect(h, r, &list, &nr);
		if (watched)
			refresh_one(s, r, watched, nr);
		else
			r->watched_at_ns = h->now_ns + GP_SEC;
		if (err && !r->trouble[0])
			snprintf(r->trouble, sizeof(r->trouble), "%s", UNWATCHED);
	}
	gp_mqd_list_fini(&list);
}

u32 gp_queues_look(struct gp_scheduler *s, struct gp_gpu_process *r, u32 device,
		   struct gp_sample *to, u32 room)
{
	const struct gp_ring_pointers *at;
	bool stopped = false;
	u32 i, nr, n = 0;

	if (!r->pointers)
		return 0;
	if (gp_pointers_look(r->pointers)) {
		/* It ends, or becomes another program. */
		s->base.h->scan_at_ns = s->base.h->now_ns;
		return 0;
	}
	at = gp_pointers_rings(r->pointers, &nr);
	for (i = 0; i < nr; i++)
		stopped |= (at[i].flags & GP_RING_MOVED) && at[i].rptr != at[i].wptr;
	/* The packet at which a queue stopped is read when it stops, not at every look. */
	if (stopped)
		gp_pointers_barriers(r->pointers);

	for (i = 0; i < nr && i < r->nr_watched && n < room; i++) {
		if (r->watched[i].device != device || r->watched[i].queue == GP_NONE ||
		    !(at[i].flags & GP_RING_READ))
			continue;
		to[n++] = (struct gp_sample){
			.queue = r->watched[i].queue, .rptr = at[i].rptr, .wptr = at[i].wptr,
			.flags = at[i].flags & GP_RING_AT_BARRIER ? GP_AT_BARRIER : 0,
		};
	}
	return n;
}
