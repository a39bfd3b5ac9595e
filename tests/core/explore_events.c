/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The possible next events of a scheduler, and how to apply them. */
#include <stdio.h>
#include <string.h>

#include "core/internal.h"
#include "core_check.h"
#include "explore.h"

extern u64 gp_warnings;

static const struct gp_seat *seat_of(const struct ex_model *m, u32 task, u32 device)
{
	return gp_sched_seat(m->s, task, device);
}

static bool moving(const struct gp_seat *seat)
{
	return seat->state == GP_STOPPING || seat->state == GP_STARTING;
}

/* ---- what can happen ---- */

struct list {
	struct ex_event *at;
	u32 nr;
};

static void can(struct list *l, u32 kind, u32 task, u32 device)
{
	l->at[l->nr++] = (struct ex_event){ (u8)kind, (u8)task, (u8)device, 0 };
}

/* Adds the event now and one unit later, when the scheduler does not know the time yet. */
static void can_any_time(struct list *l, u32 kind, u32 task, u32 device)
{
	can(l, kind, task, device);
	can(l, kind, task, device);
	l->at[l->nr - 1].later = 1;
}

static void seat_can(const struct ex_model *m, struct list *l, u32 t, u32 d)
{
	const struct gp_seat *seat = seat_of(m, t, d);
	const struct gp_pointers *p = &m->s->pointers[m->queue[t][d]];
	u32 may = m->config->may;

	if (p->wptr - p->rptr < 2)
		can_any_time(l, EX_ARRIVE, t, d);
	if (p->wptr == p->rptr && (may & EX_BARRIERS))
		can(l, EX_ARRIVE_BARRIER, t, d);
	if (p->wptr != p->rptr && (seat->state != GP_OFF || (may & EX_EARLY)))
		can_any_time(l, EX_PROGRESS, t, d);
	if (moving(seat) || seat->overdue) {
		can_any_time(l, EX_DONE, t, d);
		if (may & EX_FAULTS)
			can(l, EX_REFUSED, t, d);
	}
	if (moving(seat) && (may & EX_FAULTS))
		can(l, EX_TIMED_OUT, t, d);
	if (seat->probing) {
		can(l, EX_YES, t, d);
		can(l, EX_NO, t, d);
		can(l, EX_PERHAPS, t, d);
	}
}

static void task_can(const struct ex_model *m, struct list *l, u32 t)
{
	const struct gp_task *task = &m->s->tasks[t];
	u32 may = m->config->may;

	if (may & EX_DEATH)
		can(l, EX_DIE, t, 0);
	if ((may & EX_HINTS) && (task->class.flags & GP_LATENCY_CRITICAL))
		can(l, EX_HINT, t, 0);
	if ((may & EX_HANDS) && (task->class.flags & GP_PREEMPTIBLE)) {
		can(l, EX_HOLD, t, 0);
		if (task->manual_until_ns)
			can(l, EX_RELEASE, t, 0);
	}
}

u32 ex_events(const struct ex_model *m, struct ex_event *to)
{
	struct list l = { to, 0 };
	u32 t, d, may = m->config->may;

	can(&l, EX_NEXT, 0, 0);
	can(&l, EX_UNIT_PASSES, 0, 0);
	can(&l, EX_SLEEP, 0, 0);
	for (d = 0; d < m->config->devices; d++) {
		can_any_time(&l, EX_LOOK, 0, d);
		if (may & EX_RESETS)
			can(&l, EX_RESET, 0, d);
	}
	for (t = 0; t < m->nr; t++) {
		if (!m->s->tasks[t].used)
			continue;
		task_can(m, &l, t);
		for (d = 0; d < m->config->devices; d++)
			if (seat_of(m, t, d))
				seat_can(m, &l, t, d);
	}
	if (may & EX_SWITCH)
		can(&l, EX_ENABLE, 0, 0);
	if (may & EX_POLICIES)
		can(&l, EX_POLICY, 0, 0);
	return l.nr;
}

/* ---- letting it happen ---- */

static int look(struct ex_model *m, const struct ex_event *e)
{
	const struct gp_pointers *p = &m->s->pointers[m->queue[e->task][e->device]];
	struct gp_sample x = {
		.queue = m->queue[e->task][e->device], .rptr = p->rptr, .wptr = p->wptr,
	};
	u64 now = m->s->now_ns + e->later * EX_UNIT;

	x.visible_ns = now;
	if (e->kind == EX_LOOK)
		return gp_sched_look(m->s, e->device, NULL, 0, now);
	x.wptr += e->kind != EX_PROGRESS;
	x.rptr += e->kind == EX_PROGRESS;
	x.flags = e->kind == EX_ARRIVE_BARRIER ? GP_AT_BARRIER : 0;
	return gp_sched_look(m->s, e->device, &x, 1, now);
}

static const char *answer(struct ex_model *m, const struct ex_event *e)
{
	struct gp_answer a = {
		.action = seat_of(m, e->task, e->device)->action, .task = e->task,
		.outcome = e->kind - EX_DONE + GP_DONE,
	};
	u64 now = m->s->now_ns + e->later * EX_UNIT;

	a.switched_ns = now;
	if (gp_sched_answer(m->s, &a, now))
		return "an answer that was due is refused";
	if (e->kind != EX_TIMED_OUT && gp_sched_answer(m->s, &a, now) != -EPROTO)
		return "an answer counts twice";
	return NULL;
}

static int probed(struct ex_model *m, const struct ex_event *e)
{
	struct gp_probed x = {
		.device = e->device, .task = e->task,
		.executing = e->kind == EX_YES ? GP_EXEC_YES :
			     e->kind == EX_NO ? GP_EXEC_NO : GP_EXEC_UNKNOWN,
		.permille = e->kind == EX_YES ? 1000 : 0,
	};

	return gp_sched_probed(m->s, &x, m->s->now_ns);
}

static u64 round_up(u64 ns)
{
	return (ns + EX_UNIT - 1) / EX_UNIT * EX_UNIT;
}

/* Returns the next time the scheduler asked for, at least a unit and at most a sleep away. */
static u64 next_ns(const struct ex_model *m)
{
	u64 at = gp_sched_wake_at(m->s), most = m->s->now_ns + 12 * EX_UNIT;

	at = at < most ? round_up(at) : most;
	return at > m->s->now_ns ? at : m->s->now_ns + EX_UNIT;
}

static int by_time(struct ex_model *m, const struct ex_event *e)
{
	u64 now = m->s->now_ns;

	gp_sched_tick(m->s, e->kind == EX_NEXT ? next_ns(m) :
			    e->kind == EX_SLEEP ? now + 11 * EX_UNIT : now + EX_UNIT);
	return 0;
}

static int by_people(struct ex_model *m, const struct ex_event *e)
{
	u64 now = m->s->now_ns;
	const char *why;

	switch (e->kind) {
	case EX_DIE:
		return gp_task_del(m->s, e->task, now);
	case EX_RESET:
		return gp_device_reset(m->s, e->device, now);
	case EX_HINT:
		return gp_sched_hint(m->s, e->task, now + EX_UNIT, now + 3 * EX_UNIT, now);
	case EX_HOLD:
		return gp_sched_hold(m->s, e->task, 3 * EX_UNIT, now);
	case EX_RELEASE:
		return gp_sched_release(m->s, e->task, now);
	case EX_POLICY:
		return gp_sched_set_policy(m->s, m->s->policy == &gp_policy_fifo ?
					   m->config->policy : &gp_policy_fifo, now, &why);
	default:
		gp_sched_enable(m->s, !m->s->enabled, now);
		return 0;
	}
}

static void event_text(const struct ex_model *m, const struct ex_event *e, char *to, size_t size)
{
	static const char *const texts[] = {
		[EX_ARRIVE] = "work arrives", [EX_ARRIVE_BARRIER] = "a barrier arrives",
		[EX_PROGRESS] = "progresses", [EX_LOOK] = "a look sees nothing new",
		[EX_DONE] = "done", [EX_REFUSED] = "refused", [EX_TIMED_OUT] = "timed out",
		[EX_YES] = "executes", [EX_NO] = "does not execute",
		[EX_PERHAPS] = "may execute or not",
		[EX_NEXT] = "the next wake comes", [EX_UNIT_PASSES] = "time passes",
		[EX_SLEEP] = "the home oversleeps", [EX_DIE] = "dies", [EX_RESET] = "reset",
		[EX_HINT] = "a hint: work comes soon", [EX_HOLD] = "held by hand",
		[EX_RELEASE] = "released by hand", [EX_ENABLE] = "turned off or on",
		[EX_POLICY] = "the policy is changed",
	};

	if (e->kind == EX_LOOK || e->kind == EX_RESET)
		snprintf(to, size, "device %u: %s", e->device, texts[e->kind]);
	else if (e->kind >= EX_NEXT && e->kind <= EX_SLEEP)
		snprintf(to, size, "%s", texts[e->kind]);
	else if (e->kind >= EX_ENABLE)
		snprintf(to, size, "%s", texts[e->kind]);
	else if (m->config->devices > 1 && e->kind <= EX_PERHAPS)
		snprintf(to, size, "%s on %u: %s", m->config->task[e->task].name, e->device,
			 texts[e->kind]);
	else
		snprintf(to, size, "%s: %s", m->config->task[e->task].name, texts[e->kind]);
}

static void tell_todo(struct ex_model *m, const struct gp_todo *todo)
{
	size_t at = strlen(m->tell);
	u32 i;

	if (todo->verb == GP_DO_PROBE) {
		snprintf(m->tell + at, m->tell_size - at, " ask %s on %u",
			 m->config->task[todo->task].name, todo->device);
		return;
	}
	for (i = 0; i < todo->action.nr_out + todo->action.nr_in; i++) {
		at = strlen(m->tell);
		snprintf(m->tell + at, m->tell_size - at, " %s %s on %u",
			 i < todo->action.nr_out ? "stop" : "start",
			 m->config->task[todo->action.tasks[i]].name, todo->action.device);
	}
}

const char *ex_pull(struct ex_model *m)
{
	struct gp_todo todo;
	u32 tasks[EX_TASKS], n = 0, i;

	while (gp_sched_pull(m->s, m->s->now_ns, tasks, &todo)) {
		if (n++ > 4 * EX_SEATS)
			return "there is no end to what it wants";
		if (m->tell)
			tell_todo(m, &todo);
		if (todo.verb != GP_DO_SWITCH)
			continue;
		for (i = 0; i < todo.action.nr_out; i++)
			if (!(m->s->tasks[tasks[i]].class.flags & GP_PREEMPTIBLE))
				return "stops a task that may not be preempted";
	}
	return core_rest_wrong(m->s);
}

/* Checks this policy's bound on a hold, which is shorter than the lease. */
static const char *hold_wrong(const struct ex_model *m)
{
	const struct gp_sched *s = m->s;
	u32 t, d;

	if (s->policy == &gp_policy_fair || s->policy == &gp_policy_fifo)
		return NULL;
	for (t = 0; t < m->nr; t++) {
		const struct gp_task *task = &s->tasks[t];

		for (d = 0; task->used && d < m->config->devices; d++) {
			const struct gp_seat *seat = seat_of(m, t, d);

			if (seat && seat->state == GP_OFF && task->held_by && !task->lost &&
			    s->now_ns - seat->held_ns >= s->param[GP_MAX_HOLD])
				return "held past the maximum hold";
		}
	}
	return NULL;
}

static void tell_event(struct ex_model *m, const struct ex_event *e)
{
	size_t at = strlen(m->tell);
	char line[128];

	if (at && m->tell[at - 1] != '\n')
		at += (size_t)snprintf(m->tell + at, m->tell_size - at, "\n");
	event_text(m, e, line, sizeof(line));
	snprintf(m->tell + at, m->tell_size - at, "%6llu us  %-36s",
		 (unsigned long long)((m->s->now_ns - m->began_ns) / GP_USEC), line);
}

const char *ex_apply(struct ex_model *m, const struct ex_event *e)
{
	const char *wrong = NULL;
	bool ejected = m->s->ejected != NULL;
	int err = 0;

	if (e->kind <= EX_LOOK)
		err = look(m, e);
	else if (e->kind <= EX_TIMED_OUT)
		wrong = answer(m, e);
	else if (e->kind <= EX_PERHAPS)
		err = probed(m, e);
	else if (e->kind <= EX_SLEEP)
		err = by_time(m, e);
	else
		err = by_people(m, e);
	if (m->tell)
		tell_event(m, e);
	if (err)
		return "an event that was possible is refused";
	if (!wrong)
		wrong = core_books_wrong(m->s);
	if (!wrong)
		wrong = ex_pull(m);
	if (!wrong)
		wrong = hold_wrong(m);
	if (!wrong && !ejected && m->s->ejected)
		wrong = m->s->ejected;
	if (!wrong && gp_warnings)
		wrong = "a warning";
	return wrong;
}

/* ---- what follows if all goes well ---- */

/* Answers every action with DONE. A probed task does not execute. */
static const char *all_answer(struct ex_model *m, u32 *was_on)
{
	const char *wrong = NULL;
	struct ex_event e;
	u32 t, d;

	for (t = 0; t < m->nr; t++) {
		for (d = 0; d < m->config->devices; d++) {
			const struct gp_seat *seat = seat_of(m, t, d);

			if (!seat)
				continue;
			e = (struct ex_event){ EX_DONE, (u8)t, (u8)d, 0 };
			if (!wrong && moving(seat))
				wrong = ex_apply(m, &e);
			e.kind = EX_NO;
			if (!wrong && seat->probing)
				wrong = ex_apply(m, &e);
			if (seat->state == GP_ON || seat->state == GP_LOST)
				*was_on |= 1u << (t * EX_DEVICES + d);
		}
	}
	return wrong;
}

/* Tasks that may not be stopped and have work progress without end. */
static const char *the_busy_go_on(struct ex_model *m)
{
	const char *wrong = NULL;
	u32 t, d, i;

	for (t = 0; t < m->nr; t++) {
		for (d = 0; d < m->config->devices && !wrong; d++) {
			struct ex_event e = { EX_ARRIVE, (u8)t, (u8)d, 0 };
			const struct gp_seat *seat = seat_of(m, t, d);

			if (!seat || (m->s->tasks[t].class.flags & GP_PREEMPTIBLE))
				continue;
			for (i = 0; i < 2 && !wrong; i++) {
				wrong = ex_apply(m, &e);
				e.kind = EX_PROGRESS;
			}
			if (!wrong && !seat->pending) {
				e.kind = EX_ARRIVE;
				wrong = ex_apply(m, &e);
			}
		}
	}
	return wrong;
}

static u32 all_seats(const struct ex_model *m)
{
	u32 t, d, all = 0;

	for (t = 0; t < m->nr; t++)
		for (d = 0; d < m->config->devices; d++)
			if (seat_of(m, t, d))
				all |= 1u << (t * EX_DEVICES + d);
	return all;
}

const char *ex_complete(struct ex_model *m, bool busy)
{
	u64 end = m->s->now_ns + m->s->param[GP_LEASE] + 4 * EX_UNIT;
	u32 was_on = 0, all = all_seats(m), n;
	const struct ex_event passes = { EX_UNIT_PASSES, 0, 0, 0 };
	const char *wrong = all_answer(m, &was_on);

	for (n = 0; !wrong && was_on != all && m->s->now_ns < end; n++) {
		wrong = ex_apply(m, &passes);
		if (!wrong && busy)
			wrong = the_busy_go_on(m);
		if (!wrong)
			wrong = all_answer(m, &was_on);
	}
	if (!wrong && was_on != all)
		wrong = "a task stays off although every action is answered";
	return wrong;
}
