// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Draws from the scheduler's records when a process had work in its queues and what each
 * preemption took. States are drawn from the daemon's events (record.c).
 */
#include <stdio.h>
#include <string.h>

#include "record.h"
#include "term.h"
#include "trace/tracks.h"

static void span(const struct gp_drawing *d, const char *track, const char *what, u64 from, u64 to)
{
	if (to > from)
		d->timeline->span(d->timeline->ctx, track, what, from, to);
}

/* ---- work ---- */

static void draw_work(const struct gp_drawing *d, u32 task, u32 device, u64 to)
{
	const struct gp_rec_who *t = &d->records->task[task];
	char track[GP_TRACK_NAME];

	snprintf(track, sizeof(track), "GPU %u: work of %s (%d)", d->gpu[device], t->name,
		 (int)t->pid);
	span(d, track, "work", d->seat[task][device].since_ns, to);
}

static void pending_is(struct gp_drawing *d, struct gp_drawn_queue *q, bool pending, u64 now)
{
	struct gp_drawn_seat *s = &d->seat[q->task][q->device];

	if (q->pending == pending)
		return;
	q->pending = pending;
	if (pending && !s->pending++)
		s->since_ns = now;
	else if (!pending && !--s->pending)
		draw_work(d, q->task, q->device, now);
}

static void take_queue(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct gp_drawn_queue *q;

	if (rec->queue >= GP_MAX_QUEUES)
		return;
	q = &d->queue[rec->queue];
	if (rec->kind == GP_REC_QUEUE_ADD && rec->task < GP_MAX_TASKS &&
	    rec->device < GP_MAX_DEVICES) {
		*q = (struct gp_drawn_queue){ rec->task, rec->device, true, false };
		pending_is(d, q, rec->queue_add.rptr != rec->queue_add.wptr, rec->now_ns);
	} else if (q->known && rec->kind == GP_REC_QUEUE_DEL) {
		pending_is(d, q, false, rec->now_ns);
		q->known = false;
	} else if (q->known && rec->kind == GP_REC_SAMPLE) {
		u64 looked = d->looked_ns[q->device];

		/* It came between the look before and this one; perhaps it is done already. */
		pending_is(d, q, true, looked && looked < rec->now_ns ? looked : rec->now_ns);
		pending_is(d, q, rec->sample.rptr != rec->sample.wptr, rec->now_ns);
	}
}

static void take_task_gone(struct gp_drawing *d, const struct gp_rec *rec)
{
	for (u32 i = 0; i < GP_MAX_QUEUES; i++) {
		struct gp_drawn_queue *q = &d->queue[i];

		if (!q->known || q->task != rec->task)
			continue;
		pending_is(d, q, false, rec->now_ns);
		q->known = false;
	}
}

/* ---- preemptions ---- */

/* With the parts that are inside it. */
static const char *part_name(const struct gp_rec *rec, u32 part)
{
	if (part == GP_PART_COMMAND && rec->parts.ns[GP_PART_SAVE] == GP_PART_WITHIN)
		return GP_PARTS_WITHIN;
	if (part == GP_PART_SAVE && rec->parts.ns[GP_PART_COMMAND] == GP_PART_WITHIN)
		return GP_PARTS_SAVE;
	return gp_part_names[part];
}

static void take_parts(struct gp_drawing *d, const struct gp_rec *rec)
{
	const struct gp_rec_who *t;
	char track[GP_TRACK_NAME], what[128];
	u64 at = rec->parts.begin_ns;

	if (rec->task >= GP_MAX_TASKS || rec->device >= GP_MAX_DEVICES)
		return;
	t = &d->records->task[rec->task];
	snprintf(track, sizeof(track), "GPU %u: preemptions", d->gpu[rec->device]);
	for (u32 i = 0; i < GP_PART_TOTAL; i++) {
		u64 ns = rec->parts.ns[i];

		if (ns == GP_PART_WITHIN)
			continue;
		span(d, track, part_name(rec, i), at, at + ns);
		at += ns;
	}
	snprintf(what, sizeof(what), "for %s (%d), %s in all", t->name, (int)t->pid,
		 gp_time(rec->parts.ns[GP_PART_TOTAL]).s);
	d->timeline->instant(d->timeline->ctx, track, what, at);
	d->preemptions++;
}

void gp_drawing_take(struct gp_drawing *d, const struct gp_rec *rec)
{
	switch (rec->kind) {
	case GP_REC_INIT:
		/* Everything there is follows, once more if somebody else begins to record. */
		gp_drawing_end(d, rec->now_ns);
		memset(d->queue, 0, sizeof(d->queue));
		memset(d->seat, 0, sizeof(d->seat));
		break;
	case GP_REC_DEVICE_ADD:
		if (rec->device < GP_MAX_DEVICES)
			d->gpu[rec->device] = (u32)rec->device_add.gpu;
		break;
	case GP_REC_QUEUE_ADD:
	case GP_REC_QUEUE_DEL:
	case GP_REC_SAMPLE:
		take_queue(d, rec);
		break;
	case GP_REC_LOOK:
		if (rec->device < GP_MAX_DEVICES)
			d->looked_ns[rec->device] = rec->now_ns;
		break;
	case GP_REC_TASK_DEL:
		take_task_gone(d, rec);
		break;
	case GP_REC_PARTS:
		take_parts(d, rec);
		break;
	default:
		break;
	}
}

void gp_drawing_end(struct gp_drawing *d, u64 now_ns)
{
	for (u32 task = 0; task < GP_MAX_TASKS; task++) {
		for (u32 device = 0; device < GP_MAX_DEVICES; device++) {
			if (d->seat[task][device].pending)
				draw_work(d, task, device, now_ns);
		}
	}
}
