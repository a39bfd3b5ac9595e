/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A small world around one virtual device, for the tests of vgpu/. Rings, save areas and results
 * are arrays. It records every call.
 */
#ifndef VGPU_WORLD_H
#define VGPU_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "vgpu/vgpu.h"

enum { W_QUEUES = 256, W_RING = 512, W_AREA = 256 * 1024, W_WORDS = 4096 };

#define US(n)	((n) * 1000ull)
#define MS(n)	((n) * 1000000ull)
#define AREA	48959488ull	/* what a driver allocates for an MI308X */

struct w_queue {
	struct vgpu_packet ring[W_RING];
	u64 wptr;
	u64 rptr, rptr_at;
	u64 launched, launched_at;	/* count, and time of the last one */
	u64 completed, completed_at;
	u64 completed_at_of[W_RING];
	u8 *area;
	bool area_broken;
};

struct world {
	struct vgpu *v;
	void *mem;
	struct vgpu_facts facts;
	struct w_queue q[W_QUEUES];
	u64 words[W_WORDS];
	bool signals[16];
	u64 nr_asked;			/* reads of a signal */
	struct vgpu_unmapped unmapped;	/* the last unmap */
	u64 nr_unmapped;
	u64 nr_mapped, mapped_at, mapped_ticket;
	u64 nr_reports;
	u32 report_queue;
	const char *report;
};

static inline int w_fetch(void *ctx, u32 queue, u64 index, struct vgpu_packet *ret)
{
	struct world *w = ctx;

	if (index >= w->q[queue].wptr)
		return -EINVAL;
	*ret = w->q[queue].ring[index % W_RING];
	return 0;
}

static inline u64 w_wptr(void *ctx, u32 queue)
{
	return ((struct world *)ctx)->q[queue].wptr;
}

static inline void w_rptr(void *ctx, u32 queue, u64 value, u64 now_ns)
{
	struct w_queue *q = &((struct world *)ctx)->q[queue];

	if (value <= q->rptr || value > q->wptr)
		fail_msg("rptr moved from %llu to %llu", (unsigned long long)q->rptr,
			 (unsigned long long)value);
	q->rptr = value;
	q->rptr_at = now_ns;
}

static inline void w_complete(void *ctx, u32 queue, u64 index, u64 now_ns)
{
	struct w_queue *q = &((struct world *)ctx)->q[queue];

	q->completed++;
	q->completed_at = now_ns;
	q->completed_at_of[index % W_RING] = now_ns;
}

static inline void w_launch(void *ctx, u32 queue, u64 index, u64 now_ns)
{
	struct w_queue *q = &((struct world *)ctx)->q[queue];

	(void)index;
	q->launched++;
	q->launched_at = now_ns;
}

static inline void w_add(void *ctx, u32 queue, u64 address, u64 value)
{
	(void)queue;
	((struct world *)ctx)->words[address / 8 % W_WORDS] += value;
}

static inline bool w_signalled(void *ctx, u32 queue, u64 signal)
{
	(void)queue;
	((struct world *)ctx)->nr_asked++;
	return ((struct world *)ctx)->signals[signal % 16];
}

static inline int w_area_write(void *ctx, u32 queue, u64 offset, const void *from, u32 n)
{
	struct w_queue *q = &((struct world *)ctx)->q[queue];

	if (q->area_broken || offset + n > W_AREA)
		return -EFAULT;
	memcpy(q->area + offset, from, n);
	return 0;
}

static inline int w_area_read(void *ctx, u32 queue, u64 offset, void *to, u32 n)
{
	struct w_queue *q = &((struct world *)ctx)->q[queue];

	if (q->area_broken || offset + n > W_AREA)
		return -EFAULT;
	memcpy(to, q->area + offset, n);
	return 0;
}

static inline void w_unmapped(void *ctx, const struct vgpu_unmapped *what)
{
	struct world *w = ctx;

	w->unmapped = *what;
	w->nr_unmapped++;
}

static inline void w_mapped(void *ctx, u64 ticket, u64 now_ns)
{
	struct world *w = ctx;

	w->nr_mapped++;
	w->mapped_at = now_ns;
	w->mapped_ticket = ticket;
}

static inline void w_report(void *ctx, u32 queue, const char *what)
{
	struct world *w = ctx;

	w->nr_reports++;
	w->report_queue = queue;
	w->report = what;
}

static const struct vgpu_world w_calls = {
	.fetch		= w_fetch,
	.wptr		= w_wptr,
	.rptr		= w_rptr,
	.complete	= w_complete,
	.launch		= w_launch,
	.add		= w_add,
	.signalled	= w_signalled,
	.area_write	= w_area_write,
	.area_read	= w_area_read,
	.unmapped	= w_unmapped,
	.mapped		= w_mapped,
	.report		= w_report,
};

static inline struct world *w_new_with(const struct vgpu_facts *facts)
{
	struct world *w = calloc(1, sizeof(*w));

	EXPECT(w);
	w->facts = *facts;
	w->mem = malloc(vgpu_size(facts));
	EXPECT(w->mem);
	memset(w->mem, 0xaa, vgpu_size(facts));
	EXPECT_EQ(vgpu_init(w->mem, facts, &w_calls, w, &w->v), 0);
	return w;
}

static inline struct world *w_new(const char *profile)
{
	return w_new_with(vgpu_profile(profile));
}

static inline void w_free(struct world *w)
{
	for (u32 i = 0; i < W_QUEUES; i++)
		free(w->q[i].area);
	free(w->mem);
	free(w);
}

static inline u32 w_queue_with(struct world *w, const struct vgpu_queue_args *args)
{
	u32 id;

	EXPECT_EQ(vgpu_queue_create(w->v, args, &id), 0);
	EXPECT(id < W_QUEUES);
	free(w->q[id].area);
	memset(&w->q[id], 0, sizeof(w->q[id]));
	w->q[id].area = calloc(1, W_AREA);
	EXPECT(w->q[id].area);
	return id;
}

static inline u32 w_queue(struct world *w, u32 process)
{
	struct vgpu_queue_args args = { .process = process, .priority = 7, .area_bytes = AREA };

	return w_queue_with(w, &args);
}

/* Four waves that fill an eighth of a CU, as most kernels here do. */
static inline struct vgpu_packet w_kernel(u64 workgroups, u64 workgroup_ns)
{
	return (struct vgpu_packet){
		.kind = VGPU_KERNEL, .barrier_bit = true, .waves = 4, .vgpr_bytes = 16384,
		.lds_bytes = 8192, .workgroups = workgroups, .workgroup_ns = workgroup_ns,
		.result = 0, .key = 3,
	};
}

static inline void w_put(struct world *w, u32 queue, const struct vgpu_packet *p)
{
	struct w_queue *q = &w->q[queue];

	EXPECT(q->wptr - q->rptr < W_RING);
	q->ring[q->wptr++ % W_RING] = *p;
}

/* Writes a kernel to the ring and rings the doorbell. */
static inline void w_submit(struct world *w, u32 queue, struct vgpu_packet p, u64 now_ns)
{
	w_put(w, queue, &p);
	EXPECT_EQ(vgpu_doorbell(w->v, queue, now_ns), 0);
}

/* Runs until nothing happens any more. Returns the time of the last event. */
static inline u64 w_run_dry(struct world *w)
{
	u64 last = 0, next;

	for (u64 i = 0; (next = vgpu_next_ns(w->v)) != VGPU_NEVER; i++) {
		EXPECT(next >= last && i < 10000000);
		last = next;
		vgpu_advance(w->v, next);
	}
	return last;
}

/* Maps and waits. Returns when the queues are mapped. */
static inline u64 w_map(struct world *w, const u32 *queues, u32 nr, u64 now_ns)
{
	u64 ticket, before = w->nr_mapped;

	EXPECT_EQ(vgpu_map(w->v, &(struct vgpu_runlist){ queues, nr, false }, now_ns, &ticket), 0);
	while (w->nr_mapped == before)
		vgpu_advance(w->v, vgpu_next_ns(w->v));
	EXPECT_EQ(w->mapped_ticket, ticket);
	return w->mapped_at;
}

/* Unmaps everything and waits. Returns when it is done. */
static inline u64 w_unmap(struct world *w, enum vgpu_how how, u64 grace_ns, u64 now_ns)
{
	u64 ticket, before = w->nr_unmapped;

	EXPECT_EQ(vgpu_unmap(w->v, &(struct vgpu_unmap_args){ VGPU_ALL, 0, how, grace_ns },
			     now_ns, &ticket), 0);
	while (w->nr_unmapped == before)
		vgpu_advance(w->v, vgpu_next_ns(w->v));
	EXPECT_EQ(w->unmapped.ticket, ticket);
	return w->unmapped.done_at;
}

/* Returns what n workgroups with key k add to the second word. */
static inline u64 w_sum(u64 n, u64 key)
{
	return n * (n + 1) / 2 * key;
}

#endif /* VGPU_WORLD_H */
