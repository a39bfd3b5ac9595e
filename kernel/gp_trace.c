// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Turns the inputs and outputs of the scheduler into tracepoints, statistics and events. The
 * scheduler calls it under home.lock. It reads the scheduler and never calls it.
 */
#include "gp_bounds.h"
#include "gp_dev_file.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_target.h"

#define CREATE_TRACE_POINTS
#include "gp_trace.h"

static_assert((int)GP_UAPI_ON == GP_ON && (int)GP_UAPI_STOPPING == GP_STOPPING &&
	      (int)GP_UAPI_OFF == GP_OFF && (int)GP_UAPI_STARTING == GP_STARTING &&
	      (int)GP_UAPI_LOST == GP_LOST, "states cross the boundary as they are");
static_assert(sizeof(struct gp_uapi_event) == sizeof(struct gp_rec) &&
	      offsetof(struct gp_uapi_event, task) == offsetof(struct gp_rec, task) &&
	      offsetof(struct gp_uapi_event, arg) == offsetof(struct gp_rec, arg),
	      "records cross the boundary as they are");
static_assert(ARRAY_SIZE(((struct gp_uapi_stats *)0)->part) == GP_NR_PARTS, "all parts");

static u32 gpu_id_of(u32 device)
{
	return device < GP_HOME_DEVICES ? gp_home.gpu[device].is.gpu_id : 0;
}

static struct gp_trace_who who_of(const struct gp_rec *rec)
{
	const struct gp_target *t = gp_target_of_task(rec->task);
	struct gp_trace_who who = { .gpu_id = gpu_id_of(rec->device) };
	u32 i;

	if (!t)
		return who;
	who.task = t->handle;
	for (i = 0; i < t->nr_members && !who.pid; i++)
		if (t->member[i])
			who.pid = pid_nr(t->member[i]->pid);
	return who;
}

/* ---- tracepoints ---- */

static void trace_parts(const struct gp_rec *rec)
{
	struct gp_trace_who who;

	if (!trace_preemption_enabled() && !trace_detect_enabled() && !trace_decide_enabled() &&
	    !trace_command_enabled() && !trace_save_enabled() && !trace_switch_enabled())
		return;
	who = who_of(rec);
	trace_detect(&who, rec->arg[GP_PART_DETECT]);
	trace_decide(&who, rec->arg[GP_PART_DECIDE]);
	if (rec->arg[GP_PART_COMMAND] != GP_PART_WITHIN)
		trace_command(&who, rec->arg[GP_PART_COMMAND]);
	trace_save(&who, rec->arg[GP_PART_SAVE]);
	trace_switch(&who, rec->arg[GP_PART_SWITCH]);
	trace_preemption(&who, rec->arg[GP_PART_TOTAL], (u32)rec->arg[GP_NR_PARTS]);
}

static void trace_rec(const struct gp_rec *rec)
{
	struct gp_trace_who who;

	switch (rec->kind) {
	case GP_REC_SAMPLE:
		trace_sample(gpu_id_of(rec->device), rec);
		break;
	case GP_REC_LOOK:
		trace_look(gpu_id_of(rec->device));
		break;
	case GP_REC_ANSWER:
		trace_answer(gpu_id_of(rec->device), rec);
		break;
	case GP_REC_ACTION:
		if (trace_action_enabled()) {
			who = who_of(rec);
			trace_action(&who, rec->arg[0]);
		}
		break;
	case GP_REC_STATE:
		if (trace_state_enabled()) {
			who = who_of(rec);
			trace_state(&who, rec);
		}
		break;
	case GP_REC_PARTS:
		trace_parts(rec);
		break;
	}
}

/* ---- statistics ---- */

static void count_state(struct gp_uapi_stats *st, u64 from, u64 to)
{
	st->stopped += from == GP_STOPPING && to == GP_OFF;
	st->started += from == GP_STARTING && to == GP_ON;
	st->refused += (from == GP_STOPPING && to == GP_ON) ||
		       (from == GP_STARTING && to == GP_OFF);
	st->lost += to == GP_LOST;
	st->late += from == GP_LOST;
	st->nr_off += to == GP_OFF;
	st->nr_off -= from == GP_OFF;
}

/* Counts seats that are off, because seats that are removed do not report a change of state. */
static u64 off_seats(u32 first, bool of_task)
{
	const struct gp_seat *seats = gp_home.sched->seats;
	u64 n = 0;
	u32 at;

	for (at = first; at != GP_NONE;
	     at = of_task ? seats[at].next_of_task : seats[at].next_of_device)
		n += seats[at].state == GP_OFF;
	return n;
}

static void count_parts(struct gp_uapi_stats *st, const struct gp_rec *rec)
{
	u32 i;

	for (i = 0; i < GP_NR_PARTS; i++) {
		if (rec->arg[i] == GP_PART_WITHIN)
			continue;
		st->part[i].count++;
		st->part[i].total_ns += rec->arg[i];
		st->part[i].max_ns = max(st->part[i].max_ns, rec->arg[i]);
	}
}

static void count(const struct gp_rec *rec)
{
	struct gp_uapi_stats *st = gp_home.stats;
	const struct gp_sched *s = gp_home.sched;

	switch (rec->kind) {
	case GP_REC_TASK_ADD:
		st->nr_tasks++;
		break;
	case GP_REC_TASK_DEL:
		st->nr_tasks--;
		st->nr_off -= off_seats(s->tasks[rec->task].seats, true);
		break;
	case GP_REC_DEVICE_DEL:
		st->nr_off -= off_seats(s->devices[rec->device].seats, false);
		break;
	case GP_REC_PULL:
		st->decisions++;
		break;
	case GP_REC_STATE:
		count_state(st, rec->arg[0], rec->arg[1]);
		break;
	case GP_REC_PARTS:
		count_parts(st, rec);
		break;
	case GP_REC_EJECT:
		st->ejections++;
		break;
	}
}

/* ---- events ---- */

static void tell(const struct gp_rec *rec)
{
	static const u32 as[GP_REC_NR_OUTPUTS] = {
		[GP_REC_STATE] = GP_UAPI_EVENT_STATE,
		[GP_REC_PARTS] = GP_UAPI_EVENT_PREEMPTION,
		[GP_REC_EJECT] = GP_UAPI_EVENT_EJECTED,
	};
	const struct gp_target *t = gp_target_of_task(rec->task);
	struct gp_uapi_event event = {
		.time_ns = rec->now_ns, .kind = as[rec->kind],
		.gpu_id = gpu_id_of(rec->device), .task = t ? t->handle : 0,
	};

	if (rec->kind == GP_REC_EJECT)
		t = NULL;
	else if (!t)
		return;
	if (!t)
		event.gpu_id = event.task = 0;
	memcpy(event.arg, rec->arg, sizeof(event.arg));
	if (rec->kind == GP_REC_PARTS) {
		/* The total is the sum of the parts. */
		event.arg[GP_PART_TOTAL] = rec->arg[GP_NR_PARTS];
		event.arg[GP_NR_PARTS] = 0;
	}
	gp_dev_file_tell(&event, t);
}

void gp_dev_file_trace(void *ctx, const struct gp_rec *rec)
{
	trace_rec(rec);
	/* The scheduler emits its first records before gp_home.sched is set. */
	if (!gp_home.sched)
		return;
	count(rec);
	gp_dev_file_record(rec);
	if (rec->kind == GP_REC_STATE || rec->kind == GP_REC_PARTS || rec->kind == GP_REC_EJECT)
		tell(rec);
	if (rec->kind == GP_REC_STATE)
		wake_up_all(&gp_home.moved);
}
