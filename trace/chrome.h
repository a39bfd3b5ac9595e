/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A timeline as Chrome's JSON trace: larger and coarser than a Perfetto trace,
 * but text, and every tool that draws timelines reads it.
 */
#ifndef GP_CHROME_H
#define GP_CHROME_H

#include <stdio.h>

#include "timeline.h"
#include "tracks.h"

struct gp_chrome {
	FILE *file;
	struct gp_tracks tracks;
	u64 events;
};

/* Writes to @file, which stays the caller's; so do its errors (ferror()). */
void gp_chrome_init(struct gp_chrome *c, FILE *file);
/* Without it the file is cut short. */
void gp_chrome_fini(struct gp_chrome *c);
/* What to hand to gp_run(). */
struct gp_timeline gp_chrome_timeline(struct gp_chrome *c);

#endif /* GP_CHROME_H */
