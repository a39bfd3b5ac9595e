/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of the scheduler share. Only they and their own tests include it.
 *
 *	sched.c    creation, settings, reading
 *	roster.c   adds and removes devices, tasks and queues
 *	look.c     turns pointers into work: arrived, pending, blocked, drained, idle
 *	decide.c   asks the policy, checks the verdict, turns it into holds
 *	action.c   hands out actions and probes, takes the answers
 *	describe.c describes a running scheduler by records
 *	trace.c    records inputs and outputs, replays inputs
 */
#ifndef GP_INTERNAL_H
#define GP_INTERNAL_H

#include "sched.h"

/* ---- sched.c ---- */

/* Sets the scheduler's time, which never goes backwards, and returns it. */
static inline u64 gp_now(struct gp_sched *s, u64 now_ns)
{
	if (now_ns > s->now_ns)
		s->now_ns = now_ns;
	return s->now_ns;
}

static inline struct gp_device *gp_device_of(const struct gp_sched *s, u32 device)
{
	return device < s->limits.devices && s->devices[device].used ?
	       &s->devices[device] : NULL;
}

static inline struct gp_task *gp_task_of(const struct gp_sched *s, u32 task)
{
	return task < s->limits.tasks && s->tasks[task].used ? &s->tasks[task] : NULL;
}

static inline u32 gp_seat_id(const struct gp_sched *s, const struct gp_seat *seat)
{
	return (u32)(seat - s->seats);
}

static inline struct gp_seat *gp_seat_at(const struct gp_sched *s, u32 id)
{
	return id == GP_NONE ? NULL : &s->seats[id];
}

static inline void gp_dirty(struct gp_sched *s, u32 device)
{
	s->dirty |= BIT_ULL(device);
}

/* Moves @seat along an arrow of seat.h and records that in its account and the trace. */
void gp_seat_go(struct gp_sched *s, struct gp_seat *seat, enum gp_state to);
void gp_seat_activate(struct gp_sched *s, struct gp_seat *seat);
void gp_seat_deactivate(struct gp_sched *s, struct gp_seat *seat);

/* The task should be off: it is held by a policy or by hand, and none of its seats is LOST. */
bool gp_task_wanted_off(const struct gp_sched *s, const struct gp_task *task);

/* ---- look.c ---- */

/* New work of @seat was seen; visible_ns as in struct gp_sample. */
void gp_work_arrives(struct gp_sched *s, struct gp_seat *seat, u64 visible_ns);
/* Takes one sample of @device that differs from the previous one. */
void gp_sample_take(struct gp_sched *s, u32 device, const struct gp_sample *sample);
/* Judges the work of all seats after the samples of a look were taken. */
void gp_look_end(struct gp_sched *s, u32 device);
/* Applies what time alone changes (settling, stalling, hints). Called before every decision. */
void gp_age(struct gp_sched *s, u32 device);
/* When to probe whether @seat executes; GP_NEVER for not at all. */
u64 gp_probe_at(const struct gp_sched *s, const struct gp_seat *seat);
void gp_set_work(struct gp_sched *s, struct gp_seat *seat, enum gp_work work);
/* When time alone changes @seat next. */
u64 gp_age_at(const struct gp_sched *s, const struct gp_seat *seat);

/* ---- decide.c ---- */

void gp_decide(struct gp_sched *s, u32 device);
/* Recomputes when @device needs its next decision. */
void gp_rewake(struct gp_sched *s, u32 device);
void gp_eject(struct gp_sched *s, const char *why);
/* Asks for a new decision on every device that @t sits on. */
void gp_task_changed(struct gp_sched *s, const struct gp_task *t);
/* Asks the policy again whether to watch @device. Called when its seats or classes change. */
void gp_rewatch(struct gp_sched *s, u32 device);
/* Switches to @policy and clears the scratch words that the old one used. */
void gp_policy_takes_over(struct gp_sched *s, const struct gp_policy *policy);

/* ---- action.c ---- */

/* Marks tasks as LOST whose action passed its deadline. */
void gp_expire(struct gp_sched *s, u32 device);
/* @seat leaves the action it is part of, if any, without an answer. */
void gp_action_forget(struct gp_sched *s, struct gp_seat *seat);

/* ---- trace.c ---- */

/* @rec with the scheduler's time. The trace must have an emit. */
void gp_trace_emit(const struct gp_sched *s, const struct gp_trace *to, struct gp_rec rec);
struct gp_rec gp_rec_of_task(const struct gp_sched *s, u32 kind, u32 task);

#define gp_trace_rec(s, rec) do {						\
	if ((s)->trace.emit)							\
		gp_trace_emit(s, &(s)->trace, rec);				\
} while (0)
#define gp_trace(s, ...)	gp_trace_rec(s, ((struct gp_rec){ .kind = __VA_ARGS__ }))

#endif /* GP_INTERNAL_H */
