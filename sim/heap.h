/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Events in order of time: a binary heap. Events of one moment come out in the
 * order in which they went in, so a run is the same every time.
 */
#ifndef GP_HEAP_H
#define GP_HEAP_H

#include "gp_env.h"

struct gp_event {
	u64 at_ns;
	u64 order;		/* the heap's */
	void (*fire)(void *ctx, u64 arg);
	void *ctx;
	u64 arg;
};

struct gp_heap {
	struct gp_event *event;
	u32 nr, room;
	u64 pushed;
};

/* Adds an event. 0, or -ENOMEM. */
int gp_heap_push(struct gp_heap *h, const struct gp_event *e);
/* Removes the first event. The heap must not be empty. */
void gp_heap_pop(struct gp_heap *h, struct gp_event *ret);
void gp_heap_fini(struct gp_heap *h);

#endif /* GP_HEAP_H */
