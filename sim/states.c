// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Draws where the scheduler has each task. */
#include "states.h"

#include <stdio.h>
#include <string.h>

#include "core/seat.h"
#include "trace/tracefile.h"

static const char *const state_names[GP_NR_STATES] = {
	[GP_ON]		= "on",
	[GP_STOPPING]	= "stopping",
	[GP_OFF]	= "off",
	[GP_STARTING]	= "starting",
	[GP_LOST]	= "lost",
};

void gp_states_init(struct gp_states *s, const struct gp_timeline *timeline)
{
	memset(s, 0, sizeof(*s));
	s->timeline = timeline;
}

static void draw(struct gp_states *s, u32 task, u32 gpu)
{
	char track[GP_TRACK_NAME];
	u64 since = s->seat[task][gpu].since_ns;

	if (s->seat[task][gpu].state == GP_ON || !s->timeline->span)
		return;
	if (s->gpus > 1)
		snprintf(track, sizeof(track), "state of %s on GPU %u", s->name[task], gpu);
	else
		snprintf(track, sizeof(track), "state of %s", s->name[task]);
	s->timeline->span(s->timeline->ctx, track, state_names[s->seat[task][gpu].state], since,
			  s->now_ns);
}

void gp_states_take(void *states, const struct gp_rec *rec)
{
	struct gp_states *s = states;

	if (rec->now_ns > s->now_ns)
		s->now_ns = rec->now_ns;
	if (rec->task >= GP_STATES_TASKS)
		return;
	s->gpus += rec->kind == GP_REC_DEVICE_ADD;
	if (rec->kind == GP_REC_NAME)
		snprintf(s->name[rec->task], sizeof(s->name[0]), "%.32s", gp_rec_who(rec).name);
	if (rec->kind != GP_REC_STATE || rec->device >= GP_STATES_GPUS ||
	    rec->state.to >= GP_NR_STATES)
		return;
	draw(s, rec->task, rec->device);
	s->seat[rec->task][rec->device].state = (u8)rec->state.to;
	s->seat[rec->task][rec->device].since_ns = s->now_ns;
}

void gp_states_fini(struct gp_states *s)
{
	for (u32 task = 0; task < GP_STATES_TASKS; task++) {
		for (u32 gpu = 0; gpu < GP_STATES_GPUS; gpu++)
			draw(s, task, gpu);
	}
}
