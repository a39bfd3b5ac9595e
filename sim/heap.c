// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>

#include "heap.h"

static bool before(const struct gp_event *a, const struct gp_event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static int grow(struct gp_heap *h)
{
	u32 room = h->room ? h->room * 2 : 256;
	struct gp_event *event = realloc(h->event, room * sizeof(*event));

	if (!event)
		return -ENOMEM;
	h->event = event;
	h->room = room;
	return 0;
}

int gp_heap_push(struct gp_heap *h, const struct gp_event *e)
{
	struct gp_event new = *e;
	u32 i;

	if (h->nr == h->room && grow(h))
		return -ENOMEM;
	new.order = h->pushed++;
	for (i = h->nr++; i && before(&new, &h->event[(i - 1) / 2]); i = (i - 1) / 2)
		h->event[i] = h->event[(i - 1) / 2];
	h->event[i] = new;
	return 0;
}

void gp_heap_pop(struct gp_heap *h, struct gp_event *ret)
{
	struct gp_event last;
	u32 i = 0, child;

	*ret = h->event[0];
	last = h->event[--h->nr];
	for (; (child = 2 * i + 1) < h->nr; i = child) {
		if (child + 1 < h->nr && before(&h->event[child + 1], &h->event[child]))
			child++;
		if (!before(&h->event[child], &last))
			break;
		h->event[i] = h->event[child];
	}
	h->event[i] = last;
}

void gp_heap_fini(struct gp_heap *h)
{
	free(h->event);
	*h = (struct gp_heap){ 0 };
}
