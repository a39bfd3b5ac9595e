// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Draws where the scheduler has each task. */
#include "states.h"

#include <stdlib.h>
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

void gp_states_init(struct gp_states *s, const struct gp_scenario *scenario,
		    const struct gp_timeline *timeline)
{
	memset(s, 0, sizeof(*s));
	s->scenario = scenario;
	s->timeline = timeline;
}

static bool takes_part(const struct gp_scenario *sc, u32 task)
{
	return sc->only == GP_ONLY_ALL || (sc->only == GP_ONLY_ONLINE) == sc->task[task].online;
}

/*
 * The scheduler knows numbers, people know names. Tasks are added in the order of
 * the scenario, those that come later when they come.
 */
static void name_task(struct gp_states *s, u32 number)
{
	const struct gp_scenario *sc = s->scenario;

	snprintf(s->name[number], sizeof(s->name[number]), "task %u", number);
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		if (!takes_part(sc, i) || s->named & BIT_ULL(i) || sc->task[i].start_ns > s->now_ns)
			continue;
		s->named |= BIT_ULL(i);
		snprintf(s->name[number], sizeof(s->name[number]), "%.32s", sc->task[i].name);
		return;
	}
}

static void draw(struct gp_states *s, u32 task, u32 gpu)
{
	char track[GP_TRACK_NAME];
	u64 since = s->seat[task][gpu].since_ns;

	if (s->seat[task][gpu].state == GP_ON || !s->timeline->span)
		return;
	if (s->scenario->gpus > 1)
		snprintf(track, sizeof(track), "state of %s on GPU %u", s->name[task], gpu);
	else
		snprintf(track, sizeof(track), "state of %s", s->name[task]);
	s->timeline->span(s->timeline->ctx, track, state_names[s->seat[task][gpu].state], since,
			  s->now_ns);
}

void gp_states_take(struct gp_states *s, const struct gp_rec *rec)
{
	if (rec->now_ns > s->now_ns)
		s->now_ns = rec->now_ns;
	if (rec->task >= GP_STATES_TASKS)
		return;
	if (rec->kind == GP_REC_TASK_ADD)
		name_task(s, rec->task);
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

/* ---- as a stream ---- */

/* Bytes of a trace file that are not yet a record; a record may come in pieces. */
struct stream {
	struct gp_states *states;
	size_t magic_left, n;
	u8 bytes[sizeof(struct gp_rec)];
};

static void take_byte(struct stream *st, u8 byte)
{
	struct gp_tracefile one = { .bytes = st->bytes, .nr = 1 };
	struct gp_rec rec;

	if (st->magic_left) {
		st->magic_left--;
		return;
	}
	st->bytes[st->n++] = byte;
	if (st->n < sizeof(st->bytes))
		return;
	st->n = 0;
	rec = gp_tracefile_get(&one, 0);
	gp_states_take(st->states, &rec);
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		take_byte(cookie, (u8)bytes[i]);
	return (ssize_t)n;
}

static int stream_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *gp_states_stream(struct gp_states *s)
{
	static const cookie_io_functions_t calls = { .write = stream_write, .close = stream_close };
	struct stream *st = calloc(1, sizeof(*st));
	FILE *file;

	if (!st)
		return NULL;
	st->states = s;
	st->magic_left = sizeof(u64);
	file = fopencookie(st, "w", calls);
	if (!file)
		free(st);
	return file;
}
