/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef GP_TIMELINE_H
#define GP_TIMELINE_H

#include "gp_env.h"

/* Receives what happens, for a picture. Every member may be NULL. */
struct gp_timeline {
	void *ctx;
	/* A span on a track; tracks are "task NAME", "gpu N", "monitor", ... */
	void (*span)(void *ctx, const char *track, const char *name, u64 begin_ns, u64 end_ns);
	void (*instant)(void *ctx, const char *track, const char *name, u64 at_ns);
	void (*counter)(void *ctx, const char *track, u64 value, u64 at_ns);
};

#endif /* GP_TIMELINE_H */
