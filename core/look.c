// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Turns queue pointers into the work state of a seat.
 *
 * A write pointer that moved means that work arrived. A read pointer that moved
 * means that work was fetched, not that it is done: packet processors move it at
 * completion or at launch. So equal pointers mean DRAINED. They mean IDLE only after
 * confirmation by the device (GP_RPTR_IS_COMPLETION), by the wave counters, or by
 * the settle time.
 *
 * A pending packet is not work while it waits for another queue or process. A task
 * that others are held for and that does not execute is BLOCKED: it has no claim
 * until its read pointer moves.
 */
#include "internal.h"

/* Two looks closer together than this may show no progress although a task makes progress. */
#define GLANCE_NS	(20 * GP_USEC)

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 sooner(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* The last moment at which @seat is known to have used, or just got, the GPU. */
static u64 last_sign(const struct gp_sched *s, const struct gp_seat *seat)
{
	u64 at = s->devices[seat->device].switched_ns;

	if (seat->cause_ns > at)
		at = seat->cause_ns;
	if (seat->progress_ns > at)
		at = seat->progress_ns;
	if (seat->arrived_ns > at)
		at = seat->arrived_ns;
	if (seat->since_ns > at)
		at = seat->since_ns;
	return at;
}

/* True if lack of progress counts against @seat: its victims are off and none is being stopped. */
static bool on_trial(const struct gp_sched *s, const struct gp_seat *seat)
{
	return seat->cause && seat->work == GP_PENDING && seat->state == GP_ON &&
	       !s->devices[seat->device].action;
}

static void set_starved(struct gp_sched *s, struct gp_seat *seat, bool starved)
{
	if (seat->starved == starved)
		return;
	if (starved)
		seat->starved_ns = s->now_ns;
	else
		s->tasks[seat->task].account.waiting_ns += s->now_ns - seat->starved_ns;
	seat->starved = starved;
}

void gp_set_work(struct gp_sched *s, struct gp_seat *seat, enum gp_work work)
{
	if (seat->unknown)
		work = GP_UNKNOWN;
	if (seat->work == work)
		return;

	seat->work = work;
	if (work == GP_IDLE || work == GP_BLOCKED)
		seat->idle_ns = s->now_ns;
	if (work == GP_DRAINED) {
		seat->drained_ns = s->now_ns;
		seat->probe_ns = s->now_ns;
	}
	if (work != GP_PENDING)
		set_starved(s, seat, false);
	gp_seat_activate(s, seat);
	gp_dirty(s, seat->device);
}

/* An idle gap of @seat ended now; learn its length. */
static void gap_ended(struct gp_sched *s, struct gp_seat *seat)
{
	struct gp_device *d = &s->devices[seat->device];
	u64 gap = s->now_ns - seat->idle_ns;

	gp_gaps_add(&seat->gaps, gap);
	if (s->tasks[seat->task].class.flags & GP_LATENCY_CRITICAL)
		d->gap_ns = d->gap_ns ? d->gap_ns - d->gap_ns / 8 + gap / 8 : gap;
}

/*
 * Work arrived where there was none, so its latency counts from here. It became visible after the
 * previous look. If no looks were due before, the waiting time is unknown and counts as none.
 */
static void work_begins(struct gp_sched *s, struct gp_seat *seat, u64 visible_ns)
{
	const struct gp_device *d = &s->devices[seat->device];

	if (!visible_ns)
		visible_ns = d->look_ns == GP_NEVER ? s->now_ns :
						      later(d->looked_ns, d->watched_ns);
	seat->visible_ns = visible_ns;
	seat->arrived_ns = s->now_ns;
	seat->executing = GP_EXEC_UNKNOWN;
	seat->probe_ns = 0;
}

void gp_work_arrives(struct gp_sched *s, struct gp_seat *seat, u64 visible_ns)
{
	struct gp_account *account = &s->tasks[seat->task].account;

	/* The time before the first work is not a gap between two pieces of work. */
	if (seat->work == GP_IDLE && account->arrivals)
		gap_ended(s, seat);
	if (!seat->pending && seat->work != GP_PENDING)
		work_begins(s, seat, visible_ns);
	account->arrivals++;
	seat->hinted = false;
	seat->hint_from_ns = 0;
}

void gp_sample_take(struct gp_sched *s, u32 device, const struct gp_sample *sample)
{
	struct gp_pointers *p = &s->pointers[sample->queue];
	struct gp_queue *q = &s->queues[sample->queue];
	bool was = p->rptr != p->wptr, is = sample->rptr != sample->wptr;
	struct gp_seat *seat;

	if (q->seat == GP_NONE || s->seats[q->seat].device != device) {
		s->stale_samples++;
		return;
	}
	gp_trace(s, GP_REC_SAMPLE, .device = device, .queue = sample->queue,
		 .sample = { sample->rptr, sample->wptr, sample->flags, sample->visible_ns });

	seat = &s->seats[q->seat];
	if (sample->wptr != p->wptr) {
		gp_work_arrives(s, seat, sample->visible_ns);
		/* Count one gap, even if several queues of the seat move in this look. */
		if (seat->work == GP_IDLE)
			gp_set_work(s, seat, GP_DRAINED);
	}
	if (sample->rptr != p->rptr) {
		seat->progress_ns = s->now_ns;
		seat->executing = GP_EXEC_UNKNOWN;	/* the last probe is outdated */
	}

	seat->pending += (u32)is - (u32)was;
	seat->at_barrier = sample->flags & GP_AT_BARRIER;
	seat->moved_ns = s->now_ns;
	seat->touched = true;
	p->rptr = sample->rptr;
	p->wptr = sample->wptr;
	gp_seat_activate(s, seat);
}

/* The pointers of @seat became unreadable, or readable again. Then the last samples count. */
static void set_unknown(struct gp_sched *s, struct gp_seat *seat, bool unknown)
{
	bool done = s->devices[seat->device].flags & GP_RPTR_IS_COMPLETION;

	seat->unknown = unknown;
	if (unknown) {
		seat->occupancy = GP_OCCUPANCY_UNKNOWN;
		seat->executing = GP_EXEC_UNKNOWN;
		gp_set_work(s, seat, GP_UNKNOWN);
	} else if (seat->pending) {
		/* How long the work waited is unknown. */
		work_begins(s, seat, s->now_ns);
		gp_set_work(s, seat, GP_PENDING);
	} else {
		gp_set_work(s, seat, done || !seat->queues ? GP_IDLE : GP_DRAINED);
	}
}

int gp_task_set_unknown(struct gp_sched *s, u32 task, bool unknown, u64 now_ns)
{
	struct gp_task *t = gp_task_of(s, task);
	struct gp_seat *seat;

	if (!t)
		return -ENOENT;

	gp_now(s, now_ns);
	if (t->unknown == unknown)
		return 0;
	gp_trace(s, GP_REC_TASK_UNKNOWN, .task = task, .task_unknown = { unknown });
	t->unknown = unknown;
	for (seat = gp_seat_at(s, t->seats); seat; seat = gp_seat_at(s, seat->next_of_task))
		set_unknown(s, seat, unknown);
	return 0;
}

static void judge_touched(struct gp_sched *s, struct gp_seat *seat)
{
	const struct gp_device *d = &s->devices[seat->device];

	seat->touched = false;
	if (!seat->pending) {
		/*
		 * Nothing finishes off the GPU. Where the read pointer moves at launch,
		 * the last kernel may still be in the save area.
		 */
		bool done = d->flags & GP_RPTR_IS_COMPLETION;

		gp_set_work(s, seat, done ? GP_IDLE : GP_DRAINED);
		return;
	}
	if (seat->work == GP_BLOCKED) {
		/* New packets behind the blocking one do not unblock the seat. */
		if (seat->progress_ns != s->now_ns)
			return;
		gap_ended(s, seat);
		work_begins(s, seat, 0);
	}
	gp_set_work(s, seat, GP_PENDING);
}

/*
 * True if @seat progressed since the last look. If its work arrived since then, a moved read
 * pointer counts only where it means completion; elsewhere the work was only fetched.
 */
static bool progressed(const struct gp_device *d, const struct gp_seat *seat)
{
	return seat->progress_ns > d->judged_ns &&
	       (seat->arrived_ns <= d->judged_ns || (d->flags & GP_RPTR_IS_COMPLETION));
}

void gp_look_end(struct gp_sched *s, u32 device)
{
	struct gp_device *d = &s->devices[device];
	/* Too soon after the last look to judge progress; this look shows only new work. */
	bool glance = s->now_ns - d->judged_ns < sooner(s->param[GP_LOOK_MIN], GLANCE_NS);
	struct gp_seat *seat;
	bool starved, moved = false;

	gp_trace(s, GP_REC_LOOK, .device = device);
	for (seat = gp_seat_at(s, d->active); seat; seat = gp_seat_at(s, seat->next_active)) {
		moved |= seat->touched;
		if (seat->touched)
			judge_touched(s, seat);
		if (glance && seat->arrived_ns != s->now_ns)
			continue;
		starved = seat->work == GP_PENDING && !progressed(d, seat);
		/* If others are already off for this seat, starvation changes nothing. */
		if (starved && d->nr_seats > 1 && (seat->ask || (!seat->starved && !seat->cause)))
			gp_dirty(s, device);
		set_starved(s, seat, starved);
	}
	d->looked_ns = s->now_ns;
	if (!glance)
		d->judged_ns = s->now_ns;
	/* Do not postpone a decision that is already due. */
	if (moved && !(s->dirty & BIT_ULL(device)) && s->now_ns < d->wake_ns)
		gp_rewake(s, device);
}

int gp_sched_look(struct gp_sched *s, u32 device, const struct gp_sample *samples, u32 nr,
		  u64 now_ns)
{
	const struct gp_pointers *p = s->pointers;
	u32 i, queues = s->limits.queues;

	if (!gp_device_of(s, device))
		return -ENOENT;

	gp_now(s, now_ns);
	for (i = 0; i < nr; i++) {
		const struct gp_sample *x = &samples[i];

		if (x->queue >= queues) {
			s->stale_samples++;
			continue;
		}
		/* Fast path: nothing moved. gp_age() handles what time alone changes. */
		if (p[x->queue].rptr == x->rptr && p[x->queue].wptr == x->wptr)
			continue;
		gp_sample_take(s, device, x);
	}
	gp_look_end(s, device);
	return 0;
}

/* When @seat becomes BLOCKED, if it shows no sign of using the GPU until then. */
static u64 stalled_at(const struct gp_sched *s, const struct gp_seat *seat)
{
	u64 after = s->param[GP_STALL_AFTER];

	/* The last probe saw waves; the next one says whether they still run. */
	if (!on_trial(s, seat) || seat->executing == GP_EXEC_YES)
		return GP_NEVER;
	if (seat->at_barrier && s->param[GP_BARRIER_AFTER] < after)
		after = s->param[GP_BARRIER_AFTER];
	return last_sign(s, seat) + after;
}

/* When a drained seat counts as idle where the wave counters cannot be read or did not answer. */
static u64 settled_at(const struct gp_sched *s, const struct gp_seat *seat)
{
	bool can_probe = s->devices[seat->device].flags & GP_CAN_PROBE;

	if (seat->work != GP_DRAINED || seat->state != GP_ON)
		return GP_NEVER;
	if (can_probe && (seat->probing || seat->probed_ns < seat->drained_ns ||
			  seat->executing != GP_EXEC_UNKNOWN))
		return GP_NEVER;
	return (seat->since_ns > seat->drained_ns ? seat->since_ns : seat->drained_ns) +
	       s->param[GP_SETTLE];
}

/* A probe has the same deadline as a stop. */
static u64 unanswered_at(const struct gp_sched *s, const struct gp_seat *seat)
{
	return seat->probing ? seat->asked_ns + s->param[GP_STOP_DEADLINE] : GP_NEVER;
}

static void age(struct gp_sched *s, struct gp_seat *seat)
{
	if (seat->hint_from_ns && s->now_ns >= seat->hint_from_ns && !seat->hinted)
		seat->hinted = true;
	if (seat->hint_from_ns && s->now_ns >= seat->hint_until_ns) {
		/* The hint was wrong; an ordinary idle gap begins. */
		if (seat->hinted && seat->work == GP_IDLE)
			seat->idle_ns = s->now_ns;
		seat->hinted = false;
		seat->hint_from_ns = 0;
	}
	if (s->now_ns >= unanswered_at(s, seat)) {
		/* A home that does not answer a probe must not keep victims off. */
		seat->probing = false;
		seat->probed_ns = s->now_ns;
		seat->probe_ns = s->now_ns + s->param[GP_STOP_DEADLINE];
		seat->executing = GP_EXEC_UNKNOWN;
	}
	if (s->now_ns >= settled_at(s, seat))
		gp_set_work(s, seat, GP_IDLE);
	else if (s->now_ns >= stalled_at(s, seat))
		gp_set_work(s, seat, GP_BLOCKED);
}

void gp_age(struct gp_sched *s, u32 device)
{
	struct gp_seat *seat;

	for (seat = gp_seat_at(s, s->devices[device].active); seat;
	     seat = gp_seat_at(s, seat->next_active))
		age(s, seat);
}

/* When to read the occupancy of a possible victim again. */
static u64 occupancy_at(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_device *d = &s->devices[seat->device];
	const struct gp_class *c = &s->tasks[seat->task].class;

	if (!d->watched || !s->param[GP_SMALL_VICTIM] || !(c->flags & GP_PREEMPTIBLE) ||
	    !gp_seat_claims(seat))
		return GP_NEVER;
	if (seat->probed_ns <= seat->since_ns)
		return seat->since_ns + s->param[GP_PROBE_AFTER];
	return seat->probed_ns + s->param[GP_OCCUPANCY_EVERY];
}

u64 gp_probe_at(const struct gp_sched *s, const struct gp_seat *seat)
{
	u64 at;

	if (!(s->devices[seat->device].flags & GP_CAN_PROBE) || seat->probing ||
	    seat->state != GP_ON)
		return GP_NEVER;

	at = occupancy_at(s, seat);
	if (seat->work == GP_DRAINED || seat->ask)
		at = 0;
	else if (on_trial(s, seat))
		at = sooner(at, last_sign(s, seat) + s->param[GP_PROBE_AFTER]);
	return at == GP_NEVER ? at : later(at, seat->probe_ns);
}

u64 gp_age_at(const struct gp_sched *s, const struct gp_seat *seat)
{
	u64 at = sooner(settled_at(s, seat), stalled_at(s, seat));

	at = sooner(at, unanswered_at(s, seat));
	if (seat->hint_from_ns)
		at = sooner(at, seat->hinted ? seat->hint_until_ns : seat->hint_from_ns);
	return sooner(at, gp_probe_at(s, seat));
}

int gp_sched_probed(struct gp_sched *s, const struct gp_probed *x, u64 now_ns)
{
	struct gp_seat *seat = (struct gp_seat *)gp_sched_seat(s, x->task, x->device);
	u64 now, quiet;

	if (x->executing > GP_EXEC_YES)
		return -EINVAL;
	if (!seat || !seat->probing)
		return -EPROTO;

	now = gp_now(s, now_ns);

	gp_trace(s, GP_REC_PROBED, .device = x->device, .task = x->task,
		 .probed = { x->executing, x->permille });
	seat->probing = false;
	seat->occupancy = x->permille;
	gp_dirty(s, seat->device);
	/* The pointers moved since the probe was asked for, so its answer is outdated. */
	if (seat->asked_ns < seat->moved_ns)
		return 0;

	seat->probed_ns = now;
	seat->executing = (u8)x->executing;

	/* The longer the work has lasted, the longer it will probably last: probe less often. */
	quiet = sooner((now - seat->moved_ns) / 4, s->param[GP_STALL_AFTER]);
	seat->probe_ns = now + later(quiet, s->param[GP_LOOK_MAX]);

	if (x->executing == GP_EXEC_YES) {
		seat->progress_ns = now;
		set_starved(s, seat, false);
	} else if (x->executing == GP_EXEC_NO && seat->state == GP_ON) {
		if (seat->work == GP_DRAINED)
			gp_set_work(s, seat, GP_IDLE);
		else if (on_trial(s, seat) &&
			 now - last_sign(s, seat) >= s->param[GP_PROBE_AFTER])
			gp_set_work(s, seat, GP_BLOCKED);
	}
	return 0;
}

int gp_sched_hint(struct gp_sched *s, u32 task, u64 at_ns, u64 until_ns, u64 now_ns)
{
	struct gp_task *t = gp_task_of(s, task);
	u64 now = later(s->now_ns, now_ns), lead;
	u64 latest = later(at_ns, now) + s->param[GP_HINT_MAX];
	struct gp_seat *seat;

	if (!t)
		return -ENOENT;
	if (until_ns <= now || until_ns < at_ns || at_ns > now + 3600 * GP_SEC)
		return -EINVAL;

	gp_now(s, now_ns);

	gp_trace(s, GP_REC_HINT, .task = task, .hint = { at_ns, until_ns });
	for (seat = gp_seat_at(s, t->seats); seat; seat = gp_seat_at(s, seat->next_of_task)) {
		const struct gp_device *d = &s->devices[seat->device];

		if (seat->work == GP_PENDING)
			continue;
		/* Clear the GPU just in time: as early as a stop takes here, plus a quarter. */
		lead = d->stop_cost_ns + d->stop_cost_ns / 4;
		seat->hint_from_ns = lead && at_ns > now + lead ? at_ns - lead : now;
		seat->hint_until_ns = sooner(until_ns, latest);
		/* Nanosecond 0 means no hint; a clock that young may be off by one. */
		if (!seat->hint_from_ns)
			seat->hint_from_ns = 1;
		gp_seat_activate(s, seat);
		gp_dirty(s, seat->device);
	}
	return 0;
}
