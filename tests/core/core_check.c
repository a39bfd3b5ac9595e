/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include "core/internal.h"
#include "core_check.h"

static bool moving(const struct gp_seat *seat)
{
	return seat->state == GP_STOPPING || seat->state == GP_STARTING;
}

static bool on_active_list(const struct gp_sched *s, const struct gp_seat *seat)
{
	u32 at, id = gp_seat_id(s, seat), prev = GP_NONE;

	for (at = s->devices[seat->device].active; at != GP_NONE; at = s->seats[at].next_active) {
		if (s->seats[at].prev_active != prev || s->seats[at].device != seat->device)
			return !seat->active;	/* broken list, so report a mismatch */
		if (at == id)
			return true;
		prev = at;
	}
	return false;
}

static const char *queues_wrong(const struct gp_sched *s, const struct gp_seat *seat)
{
	u32 i, nr = 0, pending = 0, id = gp_seat_id(s, seat);

	for (i = 0; i < s->limits.queues; i++) {
		if (s->queues[i].seat != id)
			continue;
		nr++;
		pending += s->pointers[i].rptr != s->pointers[i].wptr;
	}
	if (nr != seat->queues)
		return "a seat miscounts its queues";
	if (pending != seat->pending)
		return "a seat miscounts its pending queues";
	return NULL;
}

static const char *seat_wrong(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_task *t = &s->tasks[seat->task];
	const struct gp_device *d = &s->devices[seat->device];
	bool has = seat->work == GP_PENDING || seat->work == GP_BLOCKED;

	if (seat->state >= GP_NR_STATES)
		return "a seat is in no state";
	if (!t->used || !d->used || !(t->devices & BIT_ULL(seat->device)))
		return "a seat without its task or device";
	if (seat->unknown != t->unknown || seat->unknown != (seat->work == GP_UNKNOWN))
		return "a seat's work contradicts what is known of its task";
	if (!seat->unknown && has != (seat->pending != 0))
		return "a seat's work contradicts its pointers";
	if (moving(seat) && seat->action != d->action)
		return "a seat moves without an action";
	if (seat->overdue && seat->state != GP_LOST)
		return "an answer is overdue for a seat that is not LOST";
	if (seat->held != !!(t->held_by & BIT_ULL(seat->device)))
		return "held by the seat and by the task differ";
	if (seat->active != on_active_list(s, seat))
		return "the list of active seats is broken";
	if (!seat->active &&
	    (seat->state != GP_ON || seat->work != GP_IDLE || seat->hint_from_ns || seat->cause ||
	     gp_task_wanted_off(s, t)))
		return "a seat is forgotten that there is something to decide about";
	return queues_wrong(s, seat);
}

static const char *device_wrong(const struct gp_sched *s, const struct gp_device *d)
{
	u32 open = 0, overdue = 0, nr = 0;
	const struct gp_seat *seat;
	const char *wrong;

	for (seat = gp_seat_at(s, d->seats); seat; seat = gp_seat_at(s, seat->next_of_device)) {
		wrong = seat_wrong(s, seat);
		if (wrong)
			return wrong;
		nr++;
		open += moving(seat);
		overdue += seat->overdue != 0;
	}
	if (nr != d->nr_seats)
		return "a device miscounts its seats";
	if (d->action ? open != d->action_open || !open : open != 0)
		return "an action miscounts those not yet answered";
	if (overdue != d->overdue)
		return "a device miscounts what is overdue";
	return NULL;
}

static const char *task_wrong(const struct gp_sched *s, const struct gp_task *t)
{
	const struct gp_account *a = &t->account;
	u32 lost = 0, stopping = 0, starting = 0;
	const struct gp_seat *seat;
	u64 devices = 0;

	for (seat = gp_seat_at(s, t->seats); seat; seat = gp_seat_at(s, seat->next_of_task)) {
		lost += seat->state == GP_LOST;
		stopping += seat->state == GP_STOPPING;
		starting += seat->state == GP_STARTING;
		devices |= BIT_ULL(seat->device);
	}
	if (devices != t->devices)
		return "a task's devices are not those of its seats";
	if (lost != t->lost)
		return "a task miscounts its LOST seats";
	if (stopping != a->stopping || starting != a->starting)
		return "a task miscounts its moving seats";
	if (a->stops_asked != a->stopped + a->stops_failed + a->stops_lost + a->stopping)
		return "stops asked are not stops ended plus stopping";
	if (a->starts_asked != a->started + a->starts_failed + a->starts_lost + a->starting)
		return "starts asked are not starts ended plus starting";
	/* A shorter lease does not shorten an earlier promise. */
	if (t->manual_until_ns > s->now_ns + gp_params[GP_LEASE].max)
		return "a hold by hand exceeds any lease";
	return NULL;
}

const char *core_books_wrong(const struct gp_sched *s)
{
	const char *wrong = NULL;
	u32 i;

	for (i = 0; i < s->limits.devices && !wrong; i++) {
		if (s->devices[i].used)
			wrong = device_wrong(s, &s->devices[i]);
		else if ((s->dirty | s->ready) & BIT_ULL(i))
			wrong = "something is to be decided about a device that is not there";
	}
	for (i = 0; i < s->limits.tasks && !wrong; i++)
		if (s->tasks[i].used)
			wrong = task_wrong(s, &s->tasks[i]);
	return wrong;
}

/*
 * Fail-open: every task that is off is within the lease of a hold by another task, or is about to
 * start.
 */
static const char *off_wrong(const struct gp_sched *s, const struct gp_seat *seat)
{
	const struct gp_task *t = &s->tasks[seat->task];

	if (seat->state != GP_OFF)
		return NULL;
	if (!gp_task_wanted_off(s, t))
		return s->devices[seat->device].action || seat->retry_ns > s->now_ns ? NULL :
		       "off, wanted off by no task, and not being started";
	if (t->manual_until_ns <= s->now_ns && s->now_ns - seat->held_ns >= s->param[GP_LEASE])
		return "kept off past the lease";
	return NULL;
}

const char *core_rest_wrong(const struct gp_sched *s)
{
	const struct gp_seat *seat;
	const char *wrong;
	u32 i;

	if (s->dirty || s->ready)
		return "nothing to pull, and yet something to decide";
	if (gp_sched_wake_at(s) <= s->now_ns)
		return "wants to wake at once, again and again";
	for (i = 0; i < s->limits.devices; i++) {
		if (!s->devices[i].used)
			continue;
		for (seat = gp_seat_at(s, s->devices[i].seats); seat;
		     seat = gp_seat_at(s, seat->next_of_device)) {
			wrong = off_wrong(s, seat);
			if (wrong)
				return wrong;
		}
	}
	return core_books_wrong(s);
}
