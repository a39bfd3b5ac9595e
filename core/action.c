// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Hands out actions and probes, and takes their answers.
 *
 * A device has one action under way at a time. An action ends when all its tasks
 * are answered. At the action's deadline, tasks without an answer become LOST.
 * The driver still works on them, so a late answer brings a LOST task back.
 * While an answer is overdue, the device stops no other task; it still starts tasks.
 */
#include "internal.h"

static bool moving(const struct gp_seat *seat)
{
	return seat->state == GP_STOPPING || seat->state == GP_STARTING;
}

static u64 elapsed(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

/* ---- the end of an action ---- */

/* A sample this many times off the average is probably a measurement error. */
#define FAR	8

/*
 * Moves @of an eighth towards @with, after clamping outliers. Without the clamp, a home that was
 * delayed for a second while it measured would make preemption look so expensive that the
 * scheduler hardly preempts, and then the average is never corrected. A sample of 0 is taken as is.
 */
static void average(u64 *of, u64 with)
{
	u64 was = *of ? *of : with;

	if (with && was > with * FAR)
		was = with * FAR;
	if (with > was * FAR)
		with = was * FAR;
	*of = was - was / 8 + with / 8;
}

/* Since when the cause of an action has waited, and when a look saw its work. */
struct wait {
	u64 begin, seen;
};

static struct wait wait_of(const struct gp_sched *s, const struct gp_device *d,
			   const struct gp_seat *cause)
{
	struct wait w;

	/* A hint starts the action before any work is visible. */
	w.seen = gp_seat_claims(cause) && cause->work != GP_IDLE ? cause->arrived_ns :
								   d->action_ns;
	w.begin = cause->work != GP_IDLE && cause->visible_ns < w.seen ? cause->visible_ns :
									 w.seen;
	/* The action began long after the arrival (a turn ended, or a retry), so nothing waited. */
	if (d->action_ns - w.seen > s->param[GP_LOOK_RELAXED] * 2)
		w.begin = w.seen = d->action_ns;
	return w;
}

/* The parts of the latency that the action's cause has paid. */
static void note_parts(struct gp_sched *s, struct gp_device *d, const struct gp_answer *a)
{
	struct gp_seat *cause = gp_seat_at(s, d->action_cause);
	struct gp_account *account;
	u64 command, parts[GP_NR_PARTS];
	struct wait w;
	u32 i;

	if (!cause || !a->switched_ns)
		return;

	w = wait_of(s, d, cause);
	command = d->action_command_ns ? d->action_command_ns : d->action_ns;
	parts[GP_PART_DETECT] = w.seen - w.begin;
	parts[GP_PART_DECIDE] = elapsed(w.seen, command);
	parts[GP_PART_COMMAND] = elapsed(command, a->saved_ns ? a->acted_ns : a->switched_ns);
	parts[GP_PART_SAVE] = parts[GP_PART_SWITCH] = GP_PART_WITHIN;
	if (a->saved_ns) {
		if (!a->acted_ns)
			parts[GP_PART_COMMAND] = GP_PART_WITHIN;
		parts[GP_PART_SAVE] = elapsed(a->acted_ns ? a->acted_ns : command, a->saved_ns);
		parts[GP_PART_SWITCH] = elapsed(a->saved_ns, a->switched_ns);
	}
	parts[GP_PART_TOTAL] = elapsed(w.begin, a->switched_ns);
	account = &s->tasks[cause->task].account;
	for (i = 0; i < GP_NR_PARTS; i++)
		if (parts[i] != GP_PART_WITHIN)
			gp_hist_add(&account->part[i], parts[i]);
	average(&d->added_ns, parts[GP_PART_TOTAL]);
	gp_trace(s, GP_REC_PARTS, .device = cause->device, .task = cause->task,
		 .parts = { { parts[GP_PART_DETECT], parts[GP_PART_DECIDE], parts[GP_PART_COMMAND],
			      parts[GP_PART_SAVE], parts[GP_PART_SWITCH], parts[GP_PART_TOTAL] },
			    d->action_stops, w.begin });
}

static void action_over(struct gp_sched *s, u32 device, const struct gp_answer *a)
{
	struct gp_device *d = &s->devices[device];

	if (a && a->outcome == GP_DONE) {
		average(d->action_stops ? &d->stop_cost_ns : &d->start_cost_ns,
			s->now_ns - d->action_ns);
		if (d->action_stops)
			note_parts(s, d, a);
	}
	d->action = 0;
	d->action_cause = GP_NONE;
	d->switched_ns = s->now_ns;
	gp_dirty(s, device);
}

void gp_action_forget(struct gp_sched *s, struct gp_seat *seat)
{
	struct gp_device *d = &s->devices[seat->device];

	if (d->action_cause == gp_seat_id(s, seat))
		d->action_cause = GP_NONE;
	if (seat->overdue) {
		seat->overdue = 0;
		d->overdue--;
	}
	if (moving(seat) && !--d->action_open)
		action_over(s, seat->device, NULL);
}

static void lose(struct gp_sched *s, struct gp_seat *seat)
{
	u8 move = seat->state;

	gp_action_forget(s, seat);
	seat->overdue = move;
	s->devices[seat->device].overdue++;
	gp_seat_go(s, seat, GP_LOST);
	/* Release the other ranks of the gang at once; they cannot progress without a LOST rank. */
	gp_task_changed(s, &s->tasks[seat->task]);
}

void gp_expire(struct gp_sched *s, u32 device)
{
	struct gp_device *d = &s->devices[device];
	struct gp_seat *seat;
	u64 action = d->action;

	if (!action || s->now_ns < d->action_deadline_ns)
		return;
	for (seat = gp_seat_at(s, d->active); seat; seat = gp_seat_at(s, seat->next_active))
		if (seat->action == action && moving(seat))
			lose(s, seat);
}

/* ---- answers ---- */

/* Retry soon. Double the wait each time, because each refused stop costs all processes a cycle. */
static u64 retry_at(const struct gp_sched *s, struct gp_seat *seat)
{
	u64 after = s->param[GP_RETRY_AFTER] << seat->refused;

	if (seat->refused < GP_RETRY_DOUBLINGS)
		seat->refused++;
	return s->now_ns + after;
}

static void stop_answered(struct gp_sched *s, struct gp_seat *seat, u32 outcome)
{
	if (outcome == GP_DONE) {
		seat->refused = 0;
		gp_seat_go(s, seat, GP_OFF);
	} else {
		seat->retry_ns = retry_at(s, seat);
		gp_seat_go(s, seat, GP_ON);
	}
}

static void start_answered(struct gp_sched *s, struct gp_seat *seat, u32 outcome)
{
	if (outcome == GP_DONE) {
		gp_seat_go(s, seat, GP_ON);
	} else {
		/* Never back off here: the task is off the GPU and must be started. */
		seat->retry_ns = s->now_ns + s->param[GP_RETRY_AFTER];
		gp_seat_go(s, seat, GP_OFF);
	}
}

/* The answer for a LOST seat arrived after its deadline. */
static void late_answer(struct gp_sched *s, struct gp_seat *seat, u32 outcome)
{
	bool off = (seat->overdue == GP_STOPPING) == (outcome == GP_DONE);

	/* A timeout is not an answer; the real one may still come. */
	if (outcome == GP_TIMED_OUT)
		return;
	seat->overdue = 0;
	s->devices[seat->device].overdue--;
	gp_seat_go(s, seat, off ? GP_OFF : GP_ON);
	gp_task_changed(s, &s->tasks[seat->task]);
}

static void seat_answered(struct gp_sched *s, struct gp_seat *seat, const struct gp_answer *a)
{
	struct gp_device *d = &s->devices[seat->device];

	if (a->command_ns && seat->state == GP_STOPPING &&
	    (!d->action_command_ns || a->command_ns < d->action_command_ns))
		d->action_command_ns = a->command_ns;
	if (seat->state == GP_LOST) {
		late_answer(s, seat, a->outcome);
	} else if (a->outcome == GP_TIMED_OUT) {
		lose(s, seat);
	} else {
		if (seat->state == GP_STOPPING)
			stop_answered(s, seat, a->outcome);
		else
			start_answered(s, seat, a->outcome);
		if (!--d->action_open)
			action_over(s, seat->device, a);
	}
	gp_dirty(s, seat->device);
}

int gp_sched_answer(struct gp_sched *s, const struct gp_answer *a, u64 now_ns)
{
	u32 device = a->action & (GP_MAX_DEVICES - 1), answered = 0;
	struct gp_device *d = gp_device_of(s, device);
	struct gp_seat *seat, *next;

	if (a->outcome > GP_TIMED_OUT)
		return -EINVAL;
	if (!d || !a->action)
		return -EPROTO;

	for (seat = gp_seat_at(s, d->active); seat; seat = next) {
		next = gp_seat_at(s, seat->next_active);
		if (seat->action != a->action || (a->task != GP_NONE && a->task != seat->task))
			continue;
		if (!moving(seat) && !seat->overdue)
			continue;
		if (!answered++) {
			gp_now(s, now_ns);
			gp_trace(s, GP_REC_ANSWER, .device = device, .task = a->task,
				 .answer = { a->action, a->outcome, a->command_ns, a->acted_ns,
					     a->saved_ns, a->switched_ns });
		}
		seat_answered(s, seat, a);
	}
	return answered ? 0 : -EPROTO;
}

/* ---- handing out ---- */

static bool to_stop(const struct gp_sched *s, const struct gp_device *d,
		    const struct gp_seat *seat)
{
	return seat->state == GP_ON && !d->overdue && s->now_ns >= seat->retry_ns &&
	       gp_task_wanted_off(s, &s->tasks[seat->task]);
}

static bool to_start(const struct gp_sched *s, const struct gp_seat *seat)
{
	return seat->state == GP_OFF && s->now_ns >= seat->retry_ns &&
	       !gp_task_wanted_off(s, &s->tasks[seat->task]);
}

static void ask_to_move(struct gp_sched *s, struct gp_seat *seat, u64 action)
{
	struct gp_task *t = &s->tasks[seat->task];

	seat->action = action;
	if (seat->state == GP_ON) {
		/* The whole gang counts as off now, so the devices that hold it check the lease. */
		s->dirty |= t->held_by & ~BIT_ULL(seat->device);
		gp_seat_go(s, seat, GP_STOPPING);
	} else {
		gp_seat_go(s, seat, GP_STARTING);
	}
	gp_trace(s, GP_REC_ACTION_TASK, .device = seat->device, .task = seat->task,
		 .action_task = { action, seat->state });
}

/* Collects the tasks of one direction into @act. */
static void collect(struct gp_sched *s, struct gp_device *d, struct gp_action *act, bool stops)
{
	struct gp_seat *seat;

	for (seat = gp_seat_at(s, d->active); seat; seat = gp_seat_at(s, seat->next_active)) {
		if (stops ? !to_stop(s, d, seat) : !to_start(s, seat))
			continue;
		if (act->tasks)
			act->tasks[act->nr_out + act->nr_in] = seat->task;
		if (stops)
			act->nr_out++;
		else
			act->nr_in++;
		ask_to_move(s, seat, act->id);
	}
}

static bool anything_to_move(const struct gp_sched *s, const struct gp_device *d, u32 *cause)
{
	const struct gp_seat *seat;
	bool any = false;

	*cause = GP_NONE;
	for (seat = gp_seat_at(s, d->active); seat; seat = gp_seat_at(s, seat->next_active)) {
		any |= to_stop(s, d, seat) || to_start(s, seat);
		if (seat->cause)
			*cause = gp_seat_id(s, seat);
	}
	return any;
}

static bool hand_out_switch(struct gp_sched *s, u32 device, u32 *tasks, struct gp_todo *ret)
{
	struct gp_device *d = &s->devices[device];
	struct gp_action *act = &ret->action;
	u32 cause;

	if (d->action || !anything_to_move(s, d, &cause))
		return false;

	s->last_action++;
	*act = (struct gp_action){
		.id = s->last_action * GP_MAX_DEVICES + device, .device = device,
		.cause = cause == GP_NONE ? GP_NONE : s->seats[cause].task,
		.tasks = tasks, .deadline_ns = s->now_ns + s->param[GP_STOP_DEADLINE],
	};
	gp_trace(s, GP_REC_ACTION, .device = device, .task = act->cause,
		 .action = { act->id, act->deadline_ns });
	collect(s, d, act, true);
	collect(s, d, act, false);

	d->action = act->id;
	d->action_open = act->nr_out + act->nr_in;
	d->action_ns = s->now_ns;
	d->action_command_ns = 0;
	d->action_deadline_ns = act->deadline_ns;
	d->action_cause = cause;
	d->action_stops = act->nr_out;
	if (cause != GP_NONE && act->nr_out)
		s->tasks[act->cause].account.preempted_others++;
	ret->verb = GP_DO_SWITCH;
	return true;
}

static bool hand_out_probe(struct gp_sched *s, u32 device, struct gp_todo *ret)
{
	struct gp_seat *seat;

	for (seat = gp_seat_at(s, s->devices[device].active); seat;
	     seat = gp_seat_at(s, seat->next_active)) {
		if (gp_probe_at(s, seat) > s->now_ns)
			continue;
		seat->probing = true;
		seat->asked_ns = s->now_ns;
		ret->verb = GP_DO_PROBE;
		ret->device = device;
		ret->task = seat->task;
		gp_trace(s, GP_REC_PROBE, .device = device, .task = seat->task);
		return true;
	}
	return false;
}

bool gp_sched_pull(struct gp_sched *s, u64 now_ns, u32 *tasks, struct gp_todo *ret)
{
	bool handed;
	u32 device;

	gp_sched_tick(s, now_ns);
	if (!(s->dirty | s->ready))
		return false;

	gp_trace(s, GP_REC_PULL, .device = GP_NONE);
	while (s->dirty | s->ready) {
		device = (u32)__builtin_ctzll(s->dirty | s->ready);
		if (s->dirty & BIT_ULL(device))
			gp_decide(s, device);
		handed = hand_out_switch(s, device, tasks, ret) || hand_out_probe(s, device, ret);
		gp_rewake(s, device);
		if (handed)
			return true;
		s->ready &= ~BIT_ULL(device);
	}
	return false;
}
