// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Cohorts: a pool, and a heap ordered by when they end.
 *
 * The pool cannot run dry: every cohort holds at least one wave slot, and there
 * are as many cohorts as wave slots.
 */
#include "device.h"

u64 vgpu_cohort_stride(u64 cus)
{
	/* counts per CU are added eight at a time */
	return sizeof(struct vgpu_cohort) + (cus + 7) / 8 * 8;
}

struct vgpu_cohort *vgpu_cohort_at(const struct vgpu *v, u32 id)
{
	return (struct vgpu_cohort *)(v->cohorts + id * v->cohort_stride);
}

static u32 cohort_id(const struct vgpu *v, const struct vgpu_cohort *c)
{
	return (u32)(((const char *)c - v->cohorts) / v->cohort_stride);
}

void vgpu_cohort_init(struct vgpu *v)
{
	v->free_cohort = VGPU_NONE;
	for (u32 id = v->max_cohorts; id-- > 0;) {
		vgpu_cohort_at(v, id)->next = v->free_cohort;
		v->free_cohort = id;
	}
}

/* True if @a ends before @b. Cohorts that end together keep the order of their starts. */
static bool before(const struct vgpu_end *a, const struct vgpu_end *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->seq < b->seq;
}

static void heap_put(struct vgpu *v, u32 i, struct vgpu_end e)
{
	v->heap[i] = e;
	vgpu_cohort_at(v, e.cohort)->heap = i;
}

static void heap_up(struct vgpu *v, u32 i, struct vgpu_end e)
{
	while (i > 0 && before(&e, &v->heap[(i - 1) / 2])) {
		heap_put(v, i, v->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_put(v, i, e);
}

static void heap_down(struct vgpu *v, u32 i, struct vgpu_end e)
{
	for (;;) {
		u32 child = 2 * i + 1;

		if (child + 1 < v->nr_heap && before(&v->heap[child + 1], &v->heap[child]))
			child++;
		if (child >= v->nr_heap || !before(&v->heap[child], &e))
			break;
		heap_put(v, i, v->heap[child]);
		i = child;
	}
	heap_put(v, i, e);
}

static void heap_remove(struct vgpu *v, u32 i)
{
	struct vgpu_end last = v->heap[--v->nr_heap];

	if (i == v->nr_heap)
		return;
	if (i > 0 && before(&last, &v->heap[(i - 1) / 2]))
		heap_up(v, i, last);
	else
		heap_down(v, i, last);
}

/* Takes a cohort from the pool into @q's list; its counts per CU are zero. */
u32 vgpu_cohort_new(struct vgpu *v, struct vgpu_queue *q)
{
	u32 id = v->free_cohort;
	struct vgpu_cohort *c;

	if (GP_WARN_ON(id == VGPU_NONE))
		return VGPU_NONE;
	c = vgpu_cohort_at(v, id);
	v->free_cohort = c->next;

	memset(c, 0, v->cohort_stride);
	c->heap = VGPU_NONE;
	c->queue = vgpu_queue_id(v, q);
	c->prev = VGPU_NONE;
	c->next = q->cohorts;
	if (c->next != VGPU_NONE)
		vgpu_cohort_at(v, c->next)->prev = id;
	q->cohorts = id;
	return id;
}

/* Makes the end of @id an event. */
void vgpu_cohort_start(struct vgpu *v, u32 id)
{
	struct vgpu_end e = {
		.end_ns = vgpu_cohort_at(v, id)->end_ns,
		.seq	= v->seq++,
		.cohort	= id,
	};

	heap_up(v, v->nr_heap++, e);
}

/*
 * No rounds after the one that runs now. One that ends at this very instant
 * is the last one too.
 */
void vgpu_cohort_cut(struct vgpu *v, struct vgpu_cohort *c)
{
	struct vgpu_flight *f = &v->queues[c->queue].flight[c->flight];
	struct vgpu_end e;
	u32 rounds;

	if (c->rounds == 1 || c->heap == VGPU_NONE)
		return;
	rounds = (u32)((v->now - c->start_ns + c->round_ns - 1) / c->round_ns);
	if (!rounds)
		rounds = 1;

	f->promised -= (u64)(c->rounds - rounds) * c->count;
	c->rounds = rounds;
	c->end_ns = c->start_ns + rounds * c->round_ns;
	if (c->end_ns > v->now)
		vgpu_queue_sync(v, c);	/* the round that runs is placed, not promised */
	e = v->heap[c->heap];
	e.end_ns = c->end_ns;
	heap_up(v, c->heap, e);
}

/* Stops the progress of a cohort; it keeps its slots. */
void vgpu_cohort_freeze(struct vgpu *v, struct vgpu_cohort *c)
{
	if (c->heap == VGPU_NONE)
		return;
	heap_remove(v, c->heap);
	c->heap = VGPU_NONE;
}

/* Releases the slots of a cohort and the cohort itself. */
void vgpu_cohort_free(struct vgpu *v, u32 id)
{
	struct vgpu_cohort *c = vgpu_cohort_at(v, id);
	struct vgpu_queue *q = &v->queues[c->queue];

	vgpu_cohort_freeze(v, c);
	vgpu_cu_give(v, &q->flight[c->flight].shape, c);

	if (c->prev != VGPU_NONE)
		vgpu_cohort_at(v, c->prev)->next = c->next;
	else
		q->cohorts = c->next;
	if (c->next != VGPU_NONE)
		vgpu_cohort_at(v, c->next)->prev = c->prev;

	c->next = v->free_cohort;
	v->free_cohort = id;
}

/* Ends the first cohort whose time has come. False if there is none. */
bool vgpu_cohort_end_next(struct vgpu *v)
{
	struct vgpu_cohort *c;

	if (!v->nr_heap || v->heap[0].end_ns > v->now)
		return false;

	c = vgpu_cohort_at(v, v->heap[0].cohort);
	vgpu_queue_ended(v, c);
	vgpu_cohort_free(v, cohort_id(v, c));
	v->counters.events++;
	return true;
}
