// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Draws the records of a scheduler as a Perfetto trace. Nothing in a record is trusted. */
#include "drawing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/sched.h"
#include "tracefile.h"

struct task {
	struct gp_rec_who who;
	u64 process;		/* its track; 0: not drawn yet */
};

struct device {
	u32 gpu;		/* its index, as shown to users */
	u32 cause;		/* the task that the last action is for, GP_NONE */
	u64 looked_ns;
};

/* A task on a device. */
struct seat {
	u32 task, device;
	bool gone;
	bool known;		/* a record gave its state */
	u32 state;		/* enum gp_state */
	u64 since_ns;
	u32 cause;		/* the task it was stopped for, GP_NONE */
	/* A finished "stopping" that is not drawn yet, because its preemption may follow. */
	u64 stop_begin_ns, stop_end_ns;
	u64 units, units_drawn;	/* that wait in its queues */
	u64 permille;		/* of the GPU that its waves filled */
	u64 state_track, pending_track, waves_track;
};

struct queue {
	u32 seat;		/* GP_NONE: there is no such queue */
	u64 rptr, wptr;
	u64 since_ns, since_rptr;	/* when its work began; if it is empty, when that ended */
	u64 track;
};

struct gp_drawing {
	struct gp_perfetto out;
	u64 now_ns;
	u64 preemptions;
	struct seat *seat;
	u32 nr_seats, room;
	struct task task[GP_MAX_TASKS];
	struct device device[GP_MAX_DEVICES];
	struct queue queue[GP_MAX_QUEUES];
};

/* ---- tracks ---- */

static u64 process_of(struct gp_drawing *d, u32 task)
{
	struct task *t = &d->task[task];
	char name[GP_PERFETTO_NAME];

	if (t->process)
		return t->process;
	if (t->who.name[0])
		snprintf(name, sizeof(name), "%s", t->who.name);
	else
		snprintf(name, sizeof(name), "task %" PRIu32, task);
	t->process = gp_perfetto_process(&d->out, t->who.pid, name);
	return t->process;
}

/* "GPU 0", "GPU 0 pending" */
static void name_on_gpu(const struct gp_drawing *d, u32 device, const char *what,
			char name[GP_PERFETTO_NAME])
{
	snprintf(name, GP_PERFETTO_NAME, "GPU %" PRIu32 "%s%s", d->device[device].gpu,
		 *what ? " " : "", what);
}

static u64 track_of(struct gp_drawing *d, const struct seat *s, enum gp_perfetto_kind kind,
		    const char *what)
{
	char name[GP_PERFETTO_NAME];

	name_on_gpu(d, s->device, what, name);
	return gp_perfetto_track(&d->out, process_of(d, s->task), kind, name);
}

static u64 queue_track(struct gp_drawing *d, struct queue *q)
{
	char what[32];

	if (q->track)
		return q->track;
	snprintf(what, sizeof(what), "queue %u", (u32)(q - d->queue));
	q->track = track_of(d, &d->seat[q->seat], GP_PERFETTO_SLICES, what);
	return q->track;
}

static void write_slice(struct gp_drawing *d, const struct gp_perfetto_event *e, u64 end_ns)
{
	gp_perfetto_begin(&d->out, e);
	gp_perfetto_end(&d->out, e->track, end_ns);
}

/* ---- seats ---- */

/* Returns a free seat, growing the memory if needed. NULL: out of memory. */
static struct seat *free_seat(struct gp_drawing *d)
{
	for (u32 i = 0; i < d->nr_seats; i++) {
		if (d->seat[i].gone)
			return &d->seat[i];
	}
	if (d->nr_seats == d->room) {
		u32 room = d->room ? d->room * 2 : 64;
		struct seat *grown = realloc(d->seat, room * sizeof(*grown));

		if (!grown)
			return NULL;
		d->seat = grown;
		d->room = room;
	}
	return &d->seat[d->nr_seats++];
}

/* Returns the seat of @rec. NULL: its numbers are out of bounds, or out of memory. */
static struct seat *seat_of(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct seat *s;

	if (rec->task >= GP_MAX_TASKS || rec->device >= GP_MAX_DEVICES)
		return NULL;
	for (u32 i = 0; i < d->nr_seats; i++) {
		s = &d->seat[i];
		if (s->task == rec->task && s->device == rec->device && !s->gone)
			return s;
	}
	s = free_seat(d);
	if (!s)
		return NULL;
	*s = (struct seat){ .task = rec->task, .device = rec->device, .cause = GP_NONE,
			    .since_ns = d->now_ns };
	return s;
}

static void draw_state(struct gp_drawing *d, struct seat *s, const struct gp_perfetto_event *e,
		       u64 end_ns)
{
	struct gp_perfetto_event event = *e;
	char cause[GP_PERFETTO_NAME];
	const struct task *t;

	if (!s->state_track)
		s->state_track = track_of(d, s, GP_PERFETTO_SLICES, "");
	event.track = s->state_track;
	if (s->cause != GP_NONE) {
		t = &d->task[s->cause];
		snprintf(cause, sizeof(cause), "%.48s (%" PRIu32 ")", t->who.name, t->who.pid);
		event.arg[0] = (struct gp_perfetto_arg){ "for", cause, 0 };
	}
	write_slice(d, &event, end_ns);
}

/* @flow 0: not part of a preemption. */
static void draw_stop(struct gp_drawing *d, struct seat *s, u64 flow)
{
	struct gp_perfetto_event e = { .at_ns = s->stop_begin_ns, .flow_end = flow,
				       .name = gp_state_name[GP_STOPPING] };

	if (s->stop_end_ns)
		draw_state(d, s, &e, s->stop_end_ns);
	s->stop_end_ns = 0;
}

static void state_is(struct gp_drawing *d, struct seat *s, u32 to)
{
	struct gp_perfetto_event e = { .at_ns = s->since_ns, .name = gp_state_name[s->state] };

	if (s->state == to)
		return;
	draw_stop(d, s, 0);
	if (s->state == GP_STOPPING && to == GP_OFF) {
		s->stop_begin_ns = s->since_ns;
		s->stop_end_ns = d->now_ns;
	} else if (s->state != GP_ON && s->since_ns != d->now_ns) {
		draw_state(d, s, &e, d->now_ns);
	}
	if (to == GP_ON)
		s->cause = GP_NONE;
	s->state = to;
	s->since_ns = d->now_ns;
}

static void take_state(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct seat *s = seat_of(d, rec);

	if (!s || rec->state.from >= GP_NR_STATES || rec->state.to >= GP_NR_STATES)
		return;
	/* The first record also gives the previous state. */
	if (!s->known)
		s->state = (u32)rec->state.from;
	s->known = true;
	state_is(d, s, (u32)rec->state.to);
}

/* ---- actions and preemptions ---- */

static void take_action(struct gp_drawing *d, const struct gp_rec *rec)
{
	if (rec->device >= GP_MAX_DEVICES)
		return;
	d->device[rec->device].cause = rec->task < GP_MAX_TASKS ? rec->task : GP_NONE;
	for (u32 i = 0; i < d->nr_seats; i++) {
		if (d->seat[i].device == rec->device)
			draw_stop(d, &d->seat[i], 0);
	}
}

static void take_action_task(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct seat *s = seat_of(d, rec);

	if (s && rec->action_task.state == GP_STOPPING)
		s->cause = d->device[rec->device].cause;
}

/* With the parts that are inside it. */
static const char *part_name(const struct gp_rec *rec, u32 part)
{
	if (part == GP_PART_COMMAND && rec->parts.ns[GP_PART_SAVE] == GP_PART_WITHIN)
		return GP_PARTS_WITHIN;
	if (part == GP_PART_SAVE && rec->parts.ns[GP_PART_COMMAND] == GP_PART_WITHIN)
		return GP_PARTS_SAVE;
	return gp_part_names[part];
}

static void draw_parts(struct gp_drawing *d, const struct gp_rec *rec, u64 track, u64 end_ns)
{
	u64 at = rec->parts.begin_ns;

	for (u32 i = 0; i < GP_PART_TOTAL; i++) {
		u64 ns = rec->parts.ns[i];
		struct gp_perfetto_event e = { .track = track, .at_ns = at,
					       .name = part_name(rec, i) };

		if (ns == GP_PART_WITHIN)
			continue;
		/* They add up to the total unless clocks disagree. */
		ns = ns < end_ns - at ? ns : end_ns - at;
		if (ns)
			write_slice(d, &e, at + ns);
		at += ns;
	}
}

/* True if the stop of @s ended with this preemption. A flow only leads forward in time. */
static bool is_victim(const struct seat *s, const struct gp_rec *rec)
{
	return s->device == rec->device && s->stop_end_ns &&
	       s->stop_begin_ns >= rec->parts.begin_ns;
}

static u64 count_victims(const struct gp_drawing *d, const struct gp_rec *rec)
{
	u64 nr = 0;

	for (u32 i = 0; i < d->nr_seats; i++)
		nr += is_victim(&d->seat[i], rec);
	return nr < GP_PERFETTO_FLOWS ? nr : GP_PERFETTO_FLOWS;
}

static void draw_victims(struct gp_drawing *d, const struct gp_rec *rec, u64 flow, u64 nr)
{
	for (u32 i = 0; nr && i < d->nr_seats; i++) {
		if (!is_victim(&d->seat[i], rec))
			continue;
		draw_stop(d, &d->seat[i], flow++);
		nr--;
	}
}

static void take_parts(struct gp_drawing *d, const struct gp_rec *rec)
{
	u64 begin = rec->parts.begin_ns, total = rec->parts.ns[GP_PART_TOTAL];
	struct gp_perfetto_event e = { .at_ns = begin, .name = "preemption" };
	char lane[GP_PERFETTO_NAME];
	u32 n = 0;

	if (rec->task >= GP_MAX_TASKS || rec->device >= GP_MAX_DEVICES || begin + total < begin)
		return;
	name_on_gpu(d, rec->device, "preemptions", lane);
	e.track = gp_perfetto_lane(&d->out, process_of(d, rec->task), lane, begin, begin + total);
	e.arg[n++] = (struct gp_perfetto_arg){ "victims", NULL, rec->parts.victims };
	for (u32 i = 0; i < GP_NR_PARTS; i++) {
		if (rec->parts.ns[i] != GP_PART_WITHIN)
			e.arg[n++] = (struct gp_perfetto_arg){ part_name(rec, i), NULL,
							       rec->parts.ns[i] };
	}
	e.nr_flows = e.track ? count_victims(d, rec) : 0;
	e.flow = gp_perfetto_flows(&d->out, e.nr_flows);
	gp_perfetto_begin(&d->out, &e);
	if (e.track)
		draw_parts(d, rec, e.track, begin + total);
	gp_perfetto_end(&d->out, e.track, begin + total);
	draw_victims(d, rec, e.flow, e.nr_flows);
	d->preemptions++;
}

/* ---- queues ---- */

static u64 waiting(const struct queue *q)
{
	u64 units = q->wptr - q->rptr;

	/* Pointers only count up, so a pointer that went back belongs to a new queue. */
	return units < 1ull << 32 ? units : 0;
}

static void draw_work(struct gp_drawing *d, struct queue *q)
{
	struct gp_perfetto_event e = {
		.track = queue_track(d, q), .at_ns = q->since_ns, .name = "work",
		.arg = { { "packets read", NULL, q->rptr - q->since_rptr } },
	};

	if (d->now_ns > q->since_ns)
		write_slice(d, &e, d->now_ns);
	q->since_ns = d->now_ns;
}

static void pointers_are(struct gp_drawing *d, struct queue *q, u64 rptr, u64 wptr)
{
	struct seat *s = &d->seat[q->seat];
	u64 before = waiting(q);
	bool worked = q->rptr != q->wptr;

	q->rptr = rptr;
	q->wptr = wptr;
	s->units += waiting(q) - before;
	if (worked && rptr == wptr)
		draw_work(d, q);
}

static void queue_gone(struct gp_drawing *d, struct queue *q)
{
	if (q->seat == GP_NONE)
		return;
	pointers_are(d, q, q->wptr, q->wptr);
	q->seat = GP_NONE;
}

static void take_queue_add(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct seat *s = rec->queue < GP_MAX_QUEUES ? seat_of(d, rec) : NULL;
	struct queue *q;

	if (!s)
		return;
	q = &d->queue[rec->queue];
	/* The daemon describes everything again when another recorder starts. */
	if (q->seat == (u32)(s - d->seat))
		return;
	queue_gone(d, q);
	*q = (struct queue){ .seat = (u32)(s - d->seat), .since_ns = d->now_ns,
			     .rptr = rec->queue_add.rptr, .wptr = rec->queue_add.wptr,
			     .since_rptr = rec->queue_add.rptr };
	s->units += waiting(q);
}

static void take_sample(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct queue *q = rec->queue < GP_MAX_QUEUES ? &d->queue[rec->queue] : NULL;
	u64 looked;

	if (!q || q->seat == GP_NONE)
		return;
	if (q->rptr == q->wptr) {
		/* The work came between the look before and this one; it may be done already. */
		looked = d->device[d->seat[q->seat].device].looked_ns;
		q->since_ns = looked > q->since_ns ? looked : q->since_ns;
		q->since_rptr = q->rptr;
		q->wptr = q->rptr + 1;
		d->seat[q->seat].units++;
	}
	pointers_are(d, q, rec->sample.rptr, rec->sample.wptr);
}

static void draw_pending(struct gp_drawing *d, struct seat *s)
{
	if (s->units == s->units_drawn)
		return;
	if (!s->pending_track)
		s->pending_track = track_of(d, s, GP_PERFETTO_COUNTER, "pending");
	gp_perfetto_counter(&d->out, s->pending_track, s->units, d->now_ns);
	s->units_drawn = s->units;
}

static void take_look(struct gp_drawing *d, u32 device)
{
	if (device >= GP_MAX_DEVICES)
		return;
	d->device[device].looked_ns = d->now_ns;
	for (u32 i = 0; i < d->nr_seats; i++) {
		if (d->seat[i].device == device && !d->seat[i].gone)
			draw_pending(d, &d->seat[i]);
	}
}

static void take_probed(struct gp_drawing *d, const struct gp_rec *rec)
{
	bool known = rec->probed.permille != GP_OCCUPANCY_UNKNOWN;
	struct seat *s = seat_of(d, rec);
	u64 permille;

	if (!s || rec->probed.executing == GP_EXEC_UNKNOWN ||
	    (rec->probed.executing == GP_EXEC_YES && !known))
		return;
	permille = rec->probed.executing == GP_EXEC_YES ? rec->probed.permille : 0;
	if (s->waves_track && s->permille == permille)
		return;
	if (!s->waves_track)
		s->waves_track = track_of(d, s, GP_PERFETTO_COUNTER, "waves");
	gp_perfetto_counter(&d->out, s->waves_track, permille, d->now_ns);
	s->permille = permille;
}

/* ---- tasks ---- */

static void take_name(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct gp_rec_who who = gp_rec_who(rec);
	struct task *t;

	if (rec->task >= GP_MAX_TASKS)
		return;
	t = &d->task[rec->task];
	if (t->who.pid == who.pid && !strcmp(t->who.name, who.name))
		return;
	*t = (struct task){ .who = who };
	for (u32 i = 0; i < d->nr_seats; i++) {
		struct seat *s = &d->seat[i];

		if (s->task == rec->task && !s->gone)
			s->state_track = s->pending_track = s->waves_track = 0;
	}
	for (u32 i = 0; i < GP_MAX_QUEUES; i++) {
		struct queue *q = &d->queue[i];

		if (q->seat != GP_NONE && d->seat[q->seat].task == rec->task)
			q->track = 0;
	}
}

/* Removes all seats with that task, or on that device. GP_NONE: any. */
static void seats_gone(struct gp_drawing *d, u32 task, u32 device)
{
	for (u32 i = 0; i < GP_MAX_QUEUES; i++) {
		const struct seat *s = d->queue[i].seat == GP_NONE ? NULL :
				       &d->seat[d->queue[i].seat];

		if (s && (task == GP_NONE || s->task == task) &&
		    (device == GP_NONE || s->device == device))
			queue_gone(d, &d->queue[i]);
	}
	for (u32 i = 0; i < d->nr_seats; i++) {
		struct seat *s = &d->seat[i];

		if (s->gone || (task != GP_NONE && s->task != task) ||
		    (device != GP_NONE && s->device != device))
			continue;
		draw_pending(d, s);
		state_is(d, s, GP_ON);
		draw_stop(d, s, 0);
		s->gone = true;
	}
}

/* The number may be reused by another process, whose name comes later. */
static void task_gone(struct gp_drawing *d, u32 task)
{
	seats_gone(d, task, GP_NONE);
	d->task[task] = (struct task){ 0 };
}

static void take_hint(struct gp_drawing *d, const struct gp_rec *rec)
{
	struct gp_perfetto_event e = {
		.at_ns = d->now_ns, .name = "hint",
		.arg = { { "at", NULL, rec->hint.at_ns }, { "until", NULL, rec->hint.until_ns } },
	};

	if (rec->task >= GP_MAX_TASKS)
		return;
	e.track = process_of(d, rec->task);
	gp_perfetto_instant(&d->out, &e);
}

void gp_drawing_take(void *drawing, const struct gp_rec *rec)
{
	struct gp_drawing *d = drawing;

	if (rec->now_ns > d->now_ns)
		d->now_ns = rec->now_ns;
	switch (rec->kind) {
	case GP_REC_DEVICE_ADD:
		if (rec->device < GP_MAX_DEVICES)
			d->device[rec->device].gpu = (u32)rec->device_add.gpu;
		break;
	case GP_REC_DEVICE_DEL:
		if (rec->device < GP_MAX_DEVICES)
			seats_gone(d, GP_NONE, rec->device);
		break;
	case GP_REC_TASK_DEL:
		if (rec->task < GP_MAX_TASKS)
			task_gone(d, rec->task);
		break;
	case GP_REC_QUEUE_ADD:
		take_queue_add(d, rec);
		break;
	case GP_REC_QUEUE_DEL:
		if (rec->queue < GP_MAX_QUEUES)
			queue_gone(d, &d->queue[rec->queue]);
		break;
	case GP_REC_SAMPLE:
		take_sample(d, rec);
		break;
	case GP_REC_LOOK:
		take_look(d, rec->device);
		break;
	case GP_REC_PROBED:
		take_probed(d, rec);
		break;
	case GP_REC_HINT:
		take_hint(d, rec);
		break;
	case GP_REC_ACTION:
		take_action(d, rec);
		break;
	case GP_REC_ACTION_TASK:
		take_action_task(d, rec);
		break;
	case GP_REC_STATE:
		take_state(d, rec);
		break;
	case GP_REC_PARTS:
		take_parts(d, rec);
		break;
	case GP_REC_NAME:
		take_name(d, rec);
		break;
	default:
		break;
	}
}

void gp_drawing_end(struct gp_drawing *d, u64 now_ns)
{
	if (now_ns > d->now_ns)
		d->now_ns = now_ns;
	seats_gone(d, GP_NONE, GP_NONE);
}

/* ---- events without a record ---- */

void gp_drawing_span(struct gp_drawing *d, const struct gp_drawing_at *at, const char *name,
		     u64 begin_ns, u64 end_ns)
{
	struct gp_perfetto_event e = { .at_ns = begin_ns, .name = name };
	u64 process;

	if (!d)
		return;
	process = at->process ? gp_perfetto_process(&d->out, at->pid, at->process) : 0;
	e.track = gp_perfetto_lane(&d->out, process, at->track, begin_ns, end_ns);
	write_slice(d, &e, end_ns);
}

void gp_drawing_instant(struct gp_drawing *d, const struct gp_drawing_at *at, const char *name,
			u64 at_ns)
{
	struct gp_perfetto_event e = { .at_ns = at_ns, .name = name };

	if (!d)
		return;
	if (at->process)
		e.track = gp_perfetto_process(&d->out, at->pid, at->process);
	if (at->track)
		e.track = gp_perfetto_track(&d->out, e.track, GP_PERFETTO_SLICES, at->track);
	gp_perfetto_instant(&d->out, &e);
}

/* ---- life ---- */

struct gp_drawing *gp_drawing_alloc(FILE *file, enum gp_perfetto_clock clock)
{
	struct gp_drawing *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	gp_perfetto_init(&d->out, file, clock);
	for (u32 i = 0; i < GP_MAX_DEVICES; i++)
		d->device[i] = (struct device){ .gpu = i, .cause = GP_NONE };
	for (u32 i = 0; i < GP_MAX_QUEUES; i++)
		d->queue[i].seat = GP_NONE;
	return d;
}

void gp_drawing_free(struct gp_drawing *d)
{
	if (!d)
		return;
	gp_perfetto_fini(&d->out);
	free(d->seat);
	free(d);
}

struct gp_drawn gp_drawing_count(const struct gp_drawing *d)
{
	return (struct gp_drawn){ d->preemptions, d->out.slices, d->out.dropped };
}
