/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Draws where the scheduler has each task, from its own trace records: a span per
 * state other than ON, on a track per task (and GPU, if there are several).
 */
#ifndef GP_STATES_H
#define GP_STATES_H

#include "core/trace.h"
#include "trace/timeline.h"
#include "trace/tracks.h"

enum { GP_STATES_TASKS = 64, GP_STATES_GPUS = 16 };

struct gp_states {
	const struct gp_timeline *timeline;
	u64 now_ns;
	char name[GP_STATES_TASKS][GP_TRACK_NAME / 2];	/* by the scheduler's number */
	u32 gpus;
	struct {
		u8 state;				/* enum gp_state */
		u64 since_ns;
	} seat[GP_STATES_TASKS][GP_STATES_GPUS];
};

void gp_states_init(struct gp_states *s, const struct gp_timeline *timeline);
/* A gp_trace.emit whose ctx is the gp_states. */
void gp_states_take(void *states, const struct gp_rec *rec);
/* Draws what is still open. */
void gp_states_fini(struct gp_states *s);

#endif /* GP_STATES_H */
