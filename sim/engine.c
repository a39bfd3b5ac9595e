// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdarg.h>

#include "engine.h"

void gp_engine_fail(struct gp_engine *e, int err, const char *format, ...)
{
	va_list args;

	if (e->err)
		return;
	e->err = err;
	va_start(args, format);
	vsnprintf(e->why, sizeof(e->why), format, args);
	va_end(args);
}

void gp_at(struct gp_engine *e, u64 at_ns, void (*fire)(void *ctx, u64 arg), void *ctx, u64 arg)
{
	struct gp_event event = {
		.at_ns = at_ns > e->now_ns ? at_ns : e->now_ns,
		.fire = fire, .ctx = ctx, .arg = arg,
	};

	if (gp_heap_push(&e->heap, &event))
		gp_engine_fail(e, -ENOMEM, "no memory for events");
}

void gp_span(struct gp_engine *e, const char *track, const char *name, u64 begin_ns)
{
	gp_drawing_span(e->drawing, &(struct gp_drawing_at){ .track = track }, name, begin_ns,
			e->now_ns);
}

void gp_instant(struct gp_engine *e, const char *track, const char *name)
{
	gp_drawing_instant(e->drawing, &(struct gp_drawing_at){ .track = track }, name, e->now_ns);
}
