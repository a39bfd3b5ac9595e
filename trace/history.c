// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads a history. Nothing in a recording is trusted. */
#include "history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/sched.h"

struct queue {
	u32 seat;		/* GP_NONE */
	u64 rptr, wptr;
};

struct task {
	struct gp_class class;
	struct gp_rec_who who;
};

struct reader {
	struct gp_history *h;
	u64 begin_ns, now_ns;	/* @now_ns counts from @begin_ns */
	u64 looked_ns[GP_MAX_DEVICES];
	u64 devices;
	int err;
	struct task task[GP_MAX_TASKS];
	struct queue queue[GP_MAX_QUEUES];
};

/* ---- seats ---- */

static struct gp_history_seat *seat_at(struct reader *r, u32 i)
{
	return i < r->h->nr ? &r->h->seat[i] : NULL;
}

static struct gp_history_seat *find(struct reader *r, u32 task, u32 device)
{
	for (u32 i = 0; i < r->h->nr; i++) {
		struct gp_history_seat *s = &r->h->seat[i];

		if (s->task == task && s->device == device && !s->gone)
			return s;
	}
	return NULL;
}

static struct gp_history_seat *find_or_add(struct reader *r, u32 task, u32 device)
{
	struct gp_history_seat *s = find(r, task, device);

	if (s)
		return s;
	if (r->h->nr == GP_HISTORY_SEATS) {
		r->h->left_out++;
		return NULL;
	}
	s = &r->h->seat[r->h->nr++];
	*s = (struct gp_history_seat){
		.task = task, .device = device, .who = r->task[task].who,
		.class = r->task[task].class, .from_ns = r->now_ns, .to_ns = r->now_ns,
	};
	return s;
}

/* An empty queue counts only where waves were seen. */
static bool at_work(const struct gp_history_seat *s)
{
	return s->busy && (!s->drained || s->executing);
}

static bool others_busy(const struct reader *r, const struct gp_history_seat *s)
{
	for (u32 i = 0; i < r->h->nr; i++) {
		const struct gp_history_seat *o = &r->h->seat[i];

		if (o != s && o->device == s->device && at_work(o))
			return true;
	}
	return false;
}

static void mark_contended(struct reader *r, u32 device)
{
	for (u32 i = 0; i < r->h->nr; i++) {
		if (r->h->seat[i].device == device)
			r->h->seat[i].now.contended = true;
	}
}

static void keep_period(struct reader *r, struct gp_history_seat *s)
{
	if (s->nr == s->room) {
		u32 room = s->room ? s->room * 2 : 64;
		struct gp_period *p = realloc(s->period, room * sizeof(*p));

		if (!p) {
			r->err = -ENOMEM;
			return;
		}
		s->period = p;
		s->room = room;
	}
	s->period[s->nr++] = s->now;
}

static void period_ends(struct reader *r, struct gp_history_seat *s, u64 at_ns)
{
	s->busy = s->drained = s->executing = false;
	s->now.done_ns = at_ns;
	keep_period(r, s);
	s->now = (struct gp_period){ 0 };
}

static void period_begins(struct reader *r, struct gp_history_seat *s)
{
	s->now.at_ns = r->now_ns;
	s->now.contended = others_busy(r, s);
	s->busy = true;
	if (s->now.contended)
		mark_contended(r, s->device);
}

/* At the end of a look: begins or ends the period of @s. */
static void settle(struct reader *r, struct gp_history_seat *s)
{
	if (s->arrived && s->drained && !s->executing) {
		/* No waves were seen since the queues ran empty, so this work is a new period. */
		u64 fresh = s->now.units - s->drained_units;

		s->now.units = s->drained_units;
		period_ends(r, s, s->drained_ns);
		s->now.units = fresh;
	}
	if (!s->busy && (s->pending || s->arrived))
		period_begins(r, s);
	else if (s->arrived)
		s->drained = s->executing = false;
	if (s->busy && !s->pending && !s->drained) {
		s->drained = true;
		s->drained_ns = r->now_ns;
		s->drained_units = s->now.units;
	}
	s->arrived = false;
}

static void take_probe(struct reader *r, const struct gp_rec *rec)
{
	struct gp_history_seat *s = find(r, rec->task, rec->device);

	if (!s || !s->drained)
		return;
	if (rec->probed.executing == GP_EXEC_YES)
		s->executing = true;
	else
		period_ends(r, s, s->executing ? r->now_ns : s->drained_ns);
}

static void seat_gone(struct reader *r, struct gp_history_seat *s)
{
	s->pending = 0;
	s->arrived = false;
	if (s->busy)
		period_ends(r, s, at_work(s) ? r->now_ns : s->drained_ns);
	s->gone = true;
	s->to_ns = r->now_ns;
}

/* ---- time ---- */

static void time_passes(struct reader *r, u64 to_ns)
{
	u64 ns = to_ns - r->now_ns;

	for (u32 i = 0; ns && i < r->h->nr; i++) {
		struct gp_history_seat *s = &r->h->seat[i];

		if (s->gone)
			continue;
		s->to_ns = to_ns;
		if (s->off)
			s->off_ns += ns;
		else if (at_work(s))
			s->busy_ns += ns;
		if (!s->off && at_work(s) && !others_busy(r, s))
			s->alone_ns += ns;
	}
	r->now_ns = to_ns;
}

/* ---- records ---- */

static void take_queue_add(struct reader *r, const struct gp_rec *rec)
{
	struct queue *q = &r->queue[rec->queue];
	struct gp_history_seat *s = find_or_add(r, rec->task, rec->device), *old;

	/* The daemon describes everything again when another recorder starts. */
	old = seat_at(r, q->seat);
	if (old) {
		old->live_queues--;
		old->pending -= q->rptr != q->wptr;
	}
	*q = (struct queue){ s ? (u32)(s - r->h->seat) : GP_NONE,
			     rec->queue_add.rptr, rec->queue_add.wptr };
	if (!s)
		return;
	s->live_queues++;
	if (s->live_queues > s->queues)
		s->queues = s->live_queues;
	s->pending += q->rptr != q->wptr;
	settle(r, s);
}

static void take_queue_del(struct reader *r, const struct gp_rec *rec)
{
	struct queue *q = &r->queue[rec->queue];
	struct gp_history_seat *s = seat_at(r, q->seat);

	if (s && !s->gone) {
		s->live_queues--;
		s->pending -= q->rptr != q->wptr;
		settle(r, s);
	}
	q->seat = GP_NONE;
}

static void take_sample(struct reader *r, const struct gp_rec *rec)
{
	struct queue *q = &r->queue[rec->queue];
	struct gp_history_seat *s = seat_at(r, q->seat);
	u64 rptr = rec->sample.rptr, wptr = rec->sample.wptr, done = rptr - q->rptr;

	if (!s || s->gone)
		return;
	s->pending -= q->rptr != q->wptr;
	s->pending += rptr != wptr;
	s->arrived |= wptr != q->wptr;
	/* Pointers only count up, so a queue whose pointer went back was made anew. */
	if (done < 1ull << 32) {
		s->units += done;
		s->now.units += done;
		s->alone_units += s->off || others_busy(r, s) ? 0 : done;
	}
	if (wptr - rptr < 1ull << 32) {
		s->pending_sum += wptr - rptr;
		s->pending_seen++;
	}
	q->rptr = rptr;
	q->wptr = wptr;
}

static void take_look(struct reader *r, u32 device)
{
	for (u32 i = 0; i < r->h->nr; i++) {
		if (r->h->seat[i].device == device && !r->h->seat[i].gone)
			settle(r, &r->h->seat[i]);
	}
}

static void take_task(struct reader *r, const struct gp_rec *rec)
{
	struct task *t = &r->task[rec->task];

	if (rec->kind == GP_REC_NAME)
		t->who = gp_rec_who(rec);
	else if (rec->kind != GP_REC_TASK_DEL)
		t->class = gp_rec_class(rec);
	for (u32 i = 0; i < r->h->nr; i++) {
		struct gp_history_seat *s = &r->h->seat[i];

		if (s->task != rec->task || s->gone)
			continue;
		s->class = t->class;
		s->who = t->who;
		if (rec->kind == GP_REC_TASK_DEL)
			seat_gone(r, s);
	}
	if (rec->kind == GP_REC_TASK_DEL)
		*t = (struct task){ 0 };
}

static void take_setting(struct reader *r, const struct gp_rec *rec)
{
	if (rec->kind == GP_REC_PARAM && rec->param.number < GP_NR_PARAMS)
		r->h->param[rec->param.number] = rec->param.value;
	for (u64 i = 0; rec->kind == GP_REC_POLICY && gp_policies[i]; i++) {
		if (i == rec->policy.number)
			r->h->policy = gp_policies[i];
	}
}

static void take_state(struct reader *r, const struct gp_rec *rec)
{
	struct gp_history_seat *s = find(r, rec->task, rec->device);

	if (s)
		s->off = rec->state.to == GP_OFF || rec->state.to == GP_STARTING;
	r->h->acted |= rec->state.to == GP_OFF;
}

static void take(struct reader *r, const struct gp_rec *rec)
{
	switch (rec->kind) {
	case GP_REC_PARAM:
	case GP_REC_POLICY:
		take_setting(r, rec);
		break;
	case GP_REC_DEVICE_ADD:
		r->devices |= BIT_ULL(rec->device);
		break;
	case GP_REC_TASK_ADD:
	case GP_REC_TASK_CLASS:
	case GP_REC_TASK_DEL:
	case GP_REC_NAME:
		take_task(r, rec);
		break;
	case GP_REC_QUEUE_ADD:
		take_queue_add(r, rec);
		break;
	case GP_REC_QUEUE_DEL:
		take_queue_del(r, rec);
		break;
	case GP_REC_SAMPLE:
		take_sample(r, rec);
		break;
	case GP_REC_LOOK:
		take_look(r, rec->device);
		break;
	case GP_REC_PROBED:
		take_probe(r, rec);
		break;
	case GP_REC_STATE:
		take_state(r, rec);
		break;
	default:
		break;
	}
}

/* Checks the numbers that a record of this kind uses; it may hold GP_NONE in the others. */
static bool in_bounds(const struct gp_rec *rec)
{
	switch (rec->kind) {
	case GP_REC_TASK_ADD:
	case GP_REC_TASK_CLASS:
	case GP_REC_TASK_DEL:
	case GP_REC_NAME:
		return rec->task < GP_MAX_TASKS;
	case GP_REC_DEVICE_ADD:
	case GP_REC_LOOK:
	case GP_REC_STATE:
		return rec->device < GP_MAX_DEVICES;
	case GP_REC_QUEUE_ADD:
		return rec->queue < GP_MAX_QUEUES && rec->task < GP_MAX_TASKS &&
		       rec->device < GP_MAX_DEVICES;
	case GP_REC_QUEUE_DEL:
	case GP_REC_SAMPLE:
		return rec->queue < GP_MAX_QUEUES;
	default:
		return true;
	}
}

static int read_all(struct reader *r, const struct gp_tracefile *trace,
		    struct gp_tracefile_error *err)
{
	for (u64 i = 0; i < trace->nr && !r->err; i++) {
		struct gp_rec rec = gp_tracefile_get(trace, i);

		if (!i)
			r->begin_ns = rec.now_ns;
		if (rec.now_ns < r->begin_ns + r->now_ns || !in_bounds(&rec)) {
			snprintf(err->text, sizeof(err->text), "record %" PRIu64 ": %s", i,
				 in_bounds(&rec) ? "time goes backwards" :
						   "a number that no task, queue or GPU has");
			return -EINVAL;
		}
		time_passes(r, rec.now_ns - r->begin_ns);
		take(r, &rec);
	}
	for (u32 i = 0; i < r->h->nr; i++) {
		struct gp_history_seat *s = &r->h->seat[i];

		if (s->drained && !s->executing)
			period_ends(r, s, s->drained_ns);
	}
	if (r->err)
		snprintf(err->text, sizeof(err->text), "out of memory");
	return r->err;
}

int gp_history_read(const struct gp_tracefile *trace, struct gp_history **ret,
		    struct gp_tracefile_error *err)
{
	struct gp_history *h = calloc(1, sizeof(*h));
	struct reader *r = calloc(1, sizeof(*r));
	int bad = h && r ? 0 : -ENOMEM;

	if (!bad) {
		r->h = h;
		for (u32 i = 0; i < GP_NR_PARAMS; i++)
			h->param[i] = gp_params[i].initial;
		for (u32 i = 0; i < GP_MAX_QUEUES; i++)
			r->queue[i].seat = GP_NONE;
		bad = read_all(r, trace, err);
		h->length_ns = r->now_ns;
		h->resolution_ns = h->param[GP_LOOK_RELAXED];
		h->gpus = (u32)__builtin_popcountll(r->devices);
	}
	free(r);
	if (bad) {
		gp_history_free(h);
		return bad;
	}
	*ret = h;
	return 0;
}

void gp_history_free(struct gp_history *h)
{
	for (u32 i = 0; h && i < h->nr; i++)
		free(h->seat[i].period);
	free(h);
}
