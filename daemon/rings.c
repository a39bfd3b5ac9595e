// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Where the pointers of queues are, and what they say.
 *
 * Of a process that the doer has, the doer tells it. For all others the driver's dump of
 * descriptors does, so that nobody has to be debugged to be looked at. Either is asked when the
 * queues of a process have changed, not otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "home.h"

/* Between two tries at a dump that did not show what sysfs shows. */
#define AGAIN_NS	(20 * GP_MSEC)

enum { TRIES_DOUBLE = 8 };

u32 gp_rings_device(const struct gp_home *h, u32 gpu_id)
{
	u32 d;

	for (d = 0; d < h->nr_gpus; d++)
		if (h->gpu[d].gpu_id == gpu_id)
			return d;
	return GP_NONE;
}

static bool same_ring(const struct gp_ring *a, const struct gp_ring *b)
{
	return a->gpu_id == b->gpu_id && a->at.read_at == b->at.read_at &&
	       a->at.write_at == b->at.write_at && a->at.ring_base == b->at.ring_base &&
	       a->at.ring_bytes == b->at.ring_bytes && a->at.kind == b->at.kind;
}

void gp_rings_forget(struct gp_home *h, struct gp_resident *r)
{
	u32 i;

	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].queue != GP_NONE)
			gp_queue_del(h->sched, r->rings[i].queue, h->now_ns);
	gp_pointers_free(r->pointers);
	free(r->rings);
	r->pointers = NULL;
	r->rings = NULL;
	r->nr_rings = 0;
	r->rings_stale = true;
	r->rings_at_ns = 0;
	r->rings_tries = 0;
}

static bool add_ring(const struct gp_home *h, u32 gpu_id, const struct gp_ring_pointers *at,
		     struct gp_ring *to)
{
	u32 device = gp_rings_device(h, gpu_id);

	if (device == GP_NONE || !at->read_at)
		return false;
	*to = (struct gp_ring){ .at = *at, .gpu_id = gpu_id, .device = device, .queue = GP_NONE };
	return true;
}

/* The queues of @r in @list that are on our GPUs. NULL and *@ret_count 0: none, or no memory. */
static struct gp_ring *collect(const struct gp_home *h, const struct gp_resident *r,
			       const struct gp_mqd_list *list, u32 *ret_count)
{
	struct gp_ring *rings = calloc(list->count ? list->count : 1, sizeof(*rings));
	u32 i, n = 0;

	for (i = 0; rings && i < list->count; i++) {
		const struct gp_mqd *m = &list->mqd[i];
		const struct gp_ring_pointers at = {
			.read_at = m->read_at, .write_at = m->write_at, .ring_base = m->ring_base,
			.ring_bytes = m->ring_bytes, .kind = m->kind,
		};

		n += m->pid == r->pid && add_ring(h, m->gpu_id, &at, &rings[n]);
	}
	*ret_count = n;
	return rings;
}

static bool has_queue(const struct gp_resident *r, u32 id)
{
	u32 i;

	for (i = 0; i < r->nr_queues; i++)
		if (r->queues[i].id == id)
			return true;
	return false;
}

/* The same by the doer. */
static struct gp_ring *collect_had(const struct gp_home *h, const struct gp_resident *r,
				   u32 *ret_count)
{
	static struct gp_doer_queue queues[GP_PROCESS_QUEUES_MAX];
	struct gp_ring *rings;
	int i, nr = -ENOENT;
	u32 n = 0;

	if (r->grip == GP_GRIP_HAS && h->doer->ops->queues)
		nr = h->doer->ops->queues(h->doer, r->pid, queues);
	if (nr <= 0)
		return NULL;
	rings = calloc((size_t)nr, sizeof(*rings));
	for (i = 0; rings && i < nr; i++) {
		const struct gp_doer_queue *q = &queues[i];
		const struct gp_ring_pointers at = {
			.read_at = q->read_at, .write_at = q->write_at, .ring_base = q->ring_base,
			.ring_bytes = q->ring_bytes, .kind = q->kind,
		};

		n += has_queue(r, q->id) && add_ring(h, q->gpu_id, &at, &rings[n]);
	}
	*ret_count = n;
	return rings;
}

/* What was known keeps its queue of the scheduler; what is not there any more loses it. */
static void carry_over(struct gp_home *h, struct gp_resident *r, struct gp_ring *rings, u32 nr)
{
	u32 i, j;

	for (i = 0; i < r->nr_rings; i++) {
		struct gp_ring *old = &r->rings[i];

		for (j = 0; j < nr && old->queue != GP_NONE; j++) {
			if (rings[j].queue != GP_NONE || !same_ring(old, &rings[j]))
				continue;
			rings[j].queue = old->queue;
			old->queue = GP_NONE;
		}
		if (old->queue != GP_NONE)
			gp_queue_del(h->sched, old->queue, h->now_ns);
	}
}

/* New queues enter the scheduler with what their pointers say now. */
static void enter(struct gp_home *h, struct gp_resident *r)
{
	const struct gp_ring_pointers *at;
	struct gp_pointers now;
	u32 i, nr;

	if (!r->pointers || gp_pointers_look(r->pointers))
		return;
	at = gp_pointers_rings(r->pointers, &nr);
	for (i = 0; i < nr && i < r->nr_rings; i++) {
		struct gp_ring *ring = &r->rings[i];

		if (ring->queue != GP_NONE || !(at[i].flags & GP_RING_READ))
			continue;
		now = (struct gp_pointers){ at[i].rptr, at[i].wptr };
		if (gp_queue_add(h->sched, r->task, ring->device, &now, h->now_ns, &ring->queue))
			ring->queue = GP_NONE;
	}
}

static void adopt(struct gp_home *h, struct gp_resident *r, struct gp_ring *rings, u32 nr)
{
	struct gp_ring_pointers *at = calloc(nr ? nr : 1, sizeof(*at));
	struct gp_pointers_set *set = NULL;
	u32 i;

	for (i = 0; at && i < nr; i++)
		at[i] = rings[i].at;
	if (!at || (nr && gp_pointers_alloc(h->args.proc, r->pid, at, nr, &set))) {
		free(at);
		free(rings);
		gp_rings_forget(h, r);
		return;
	}
	carry_over(h, r, rings, nr);
	gp_pointers_free(r->pointers);
	free(r->rings);
	free(at);
	r->pointers = set;
	r->rings = rings;
	r->nr_rings = nr;
	enter(h, r);
}

/* Does the dump show as many queues as sysfs? If not, they are just being made. */
static bool complete(const struct gp_home *h, const struct gp_resident *r)
{
	u32 i, expected = 0, known = 0;

	for (i = 0; i < r->nr_queues; i++)
		expected += gp_rings_device(h, r->queues[i].gpu_id) != GP_NONE;
	for (i = 0; i < r->nr_rings; i++)
		known += r->rings[i].queue != GP_NONE;
	return known == expected;
}

#define UNWATCHED	"it cannot be watched: the driver's dump in debugfs cannot be read"

/* Now or, if sysfs shows other queues, a while later. */
static void refresh_one(struct gp_home *h, struct gp_resident *r, struct gp_ring *rings, u32 nr)
{
	adopt(h, r, rings, nr);
	r->rings_stale = !complete(h, r);
	if (!r->rings_stale) {
		r->rings_tries = 0;
		if (!strcmp(r->trouble, UNWATCHED))
			r->trouble[0] = 0;
		return;
	}
	r->rings_at_ns = h->now_ns + (AGAIN_NS << r->rings_tries);
	if (r->rings_tries < TRIES_DOUBLE)
		r->rings_tries++;
}

static bool due(const struct gp_home *h, const struct gp_resident *r)
{
	return r->task != GP_NONE && r->rings_stale && h->now_ns >= r->rings_at_ns;
}

/* Whom the doer has needs no dump. Returns how many do, and one of them. */
static u32 refresh_had(struct gp_home *h, pid_t *ret_one)
{
	u32 i, nr, left = 0;

	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];
		struct gp_ring *rings;

		if (!due(h, r))
			continue;
		rings = collect_had(h, r, &nr);
		if (rings)
			refresh_one(h, r, rings, nr);
		if (!due(h, r))
			continue;
		*ret_one = r->pid;
		left++;
	}
	return left;
}

static int read_dump(struct gp_home *h, pid_t only, struct gp_mqd_list *ret)
{
	int err = gp_mqd_dump_read(h->args.mqds, only, ret, NULL);

	h->stats.dumps++;
	if (err && err != h->dump_error)
		gp_home_news(h, GP_NEWS_TROUBLE, NULL,
			     "queues cannot be watched: %s cannot be read (%s); mount debugfs and "
			     "run as root", h->args.mqds ? h->args.mqds : GP_MQD_DUMP,
			     strerror(-err));
	h->dump_error = err;
	return err;
}

void gp_rings_refresh(struct gp_home *h)
{
	struct gp_mqd_list list = { 0 };
	pid_t one = 0;
	u32 i, nr;
	int err;

	/* Who decides looks by itself. */
	if (h->doer->ops->decides)
		return;
	nr = refresh_had(h, &one);
	if (!nr)
		return;
	/* The dump waits for every process that is being stopped: after that, soon. */
	for (i = 0; i < h->nr_gpus; i++) {
		if (!gp_home_acting(h, i))
			continue;
		if (h->scan_at_ns > h->now_ns + AGAIN_NS)
			h->scan_at_ns = h->now_ns + AGAIN_NS;
		return;
	}
	err = read_dump(h, nr == 1 ? one : 0, &list);
	for (i = 0; i < h->nr_residents; i++) {
		struct gp_resident *r = h->resident[i];
		struct gp_ring *rings;

		if (!due(h, r))
			continue;
		rings = err ? NULL : collect(h, r, &list, &nr);
		if (rings)
			refresh_one(h, r, rings, nr);
		else
			r->rings_at_ns = h->now_ns + GP_SEC;
		if (err && !r->trouble[0])
			snprintf(r->trouble, sizeof(r->trouble), "%s", UNWATCHED);
	}
	gp_mqd_list_fini(&list);
}

u32 gp_rings_look(struct gp_home *h, struct gp_resident *r, u32 device, struct gp_sample *to,
		  u32 room)
{
	const struct gp_ring_pointers *at;
	bool stopped = false;
	u32 i, nr, n = 0;

	if (!r->pointers)
		return 0;
	if (gp_pointers_look(r->pointers)) {
		/* It ends, or becomes another program. */
		h->scan_at_ns = h->now_ns;
		return 0;
	}
	at = gp_pointers_rings(r->pointers, &nr);
	for (i = 0; i < nr; i++)
		stopped |= (at[i].flags & GP_RING_MOVED) && at[i].rptr != at[i].wptr;
	/* Where a queue stopped is looked at when it stops, not at every look after. */
	if (stopped)
		gp_pointers_barriers(r->pointers);

	for (i = 0; i < nr && i < r->nr_rings && n < room; i++) {
		if (r->rings[i].device != device || r->rings[i].queue == GP_NONE ||
		    !(at[i].flags & GP_RING_READ))
			continue;
		to[n++] = (struct gp_sample){
			.queue = r->rings[i].queue, .rptr = at[i].rptr, .wptr = at[i].wptr,
			.flags = at[i].flags & GP_RING_AT_BARRIER ? GP_AT_BARRIER : 0,
		};
	}
	return n;
}
