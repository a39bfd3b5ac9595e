/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A timeline as a Perfetto trace (https://ui.perfetto.dev opens it).
 *
 * The format is protobuf: a file is a sequence of TracePacket messages, each
 * either the description of a track or an event on one. The dozen fields used
 * here are written by hand; that is less than a protobuf library would ask for.
 */
#ifndef GP_PFTRACE_H
#define GP_PFTRACE_H

#include <stdio.h>

#include "timeline.h"
#include "tracks.h"

struct gp_pftrace {
	FILE *file;
	struct gp_tracks tracks;
	bool begun;
};

/* Writes to @file, which stays the caller's; so do its errors (ferror()). */
void gp_pftrace_init(struct gp_pftrace *p, FILE *file);
/* What to hand to gp_run(). */
struct gp_timeline gp_pftrace_timeline(struct gp_pftrace *p);

#endif /* GP_PFTRACE_H */
