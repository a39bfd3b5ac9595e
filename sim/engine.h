/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Virtual time, its events, and the first error. */
#ifndef GP_ENGINE_H
#define GP_ENGINE_H

#include "heap.h"
#include "run.h"

struct gp_engine {
	u64 now_ns;
	struct gp_heap heap;
	struct gp_drawing *drawing;	/* NULL */
	int err;		/* the run ends when it is set */
	char why[256];
};

/* Calls @fire at @at_ns, or now if that is over. */
void gp_at(struct gp_engine *e, u64 at_ns, void (*fire)(void *ctx, u64 arg), void *ctx, u64 arg);
/* Records an error. The first one is kept. */
__attribute__((format(printf, 3, 4)))
void gp_engine_fail(struct gp_engine *e, int err, const char *format, ...);

/* Draws on a track at the top. */
void gp_span(struct gp_engine *e, const char *track, const char *name, u64 begin_ns);
void gp_instant(struct gp_engine *e, const char *track, const char *name);

#endif /* GP_ENGINE_H */
