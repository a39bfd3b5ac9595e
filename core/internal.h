/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of the scheduler share and nobody else sees.
 *
 *	sched.c    life, settings, reading
 *	roster.c   devices, tasks, queues come and go
 *	look.c     pointers become work: arrived, pending, blocked, drained, idle
 *	decide.c   asks the policy, checks it, turns its verdict into holds
 *	action.c   hands out what to do, takes the answers
 *	describe.c the records that would make it
 *	trace.c    records all of it, feeds it back
 */
#ifndef GP_INTERNAL_H
#define GP_INTERNAL_H

#include "sched.h"

/* ---- sched.c ---- */

/* Takes the time in; it never goes backwards. */
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

/* Moves along an arrow, keeps the account and the trace. */
void gp_seat_go(struct gp_sched *s, struct gp_seat *seat, enum gp_state to);
void gp_seat_activate(struct gp_sched *s, struct gp_seat *seat);
void gp_seat_deactivate(struct gp_sched *s, struct gp_seat *seat);

/* The task is to be off: somebody holds it, and nothing of it is LOST. */
bool gp_task_wanted_off(const struct gp_sched *s, const struct gp_task *task);

/* ---- look.c ---- */

/* New work of @seat is seen; visible_ns as in struct gp_sample. */
void gp_work_arrives(struct gp_sched *s, struct gp_seat *seat, u64 visible_ns);
/* One sample of @device that differs from what was last seen. */
void gp_sample_take(struct gp_sched *s, u32 device, const struct gp_sample *sample);
/* All samples of a look are taken: what do they mean? */
void gp_look_end(struct gp_sched *s, u32 device);
/* What time alone changes: settling, stalling, hints. Before every decision. */
void gp_age(struct gp_sched *s, u32 device);
/* When to ask whether @seat executes; GP_NEVER. */
u64 gp_probe_at(const struct gp_sched *s, const struct gp_seat *seat);
void gp_set_work(struct gp_sched *s, struct gp_seat *seat, enum gp_work work);
/* When time alone changes @seat next. */
u64 gp_age_at(const struct gp_sched *s, const struct gp_seat *seat);

/* ---- decide.c ---- */

void gp_decide(struct gp_sched *s, u32 device);
/* Finds out anew when to think about @device again. */
void gp_rewake(struct gp_sched *s, u32 device);
void gp_eject(struct gp_sched *s, const char *why);
/* All of @t has to be decided about anew, wherever it sits. */
void gp_task_changed(struct gp_sched *s, const struct gp_task *t);
/* After a change of who sits on @device. */
void gp_rewatch(struct gp_sched *s, u32 device);
/* A new policy finds no traces of the old one. */
void gp_policy_takes_over(struct gp_sched *s, const struct gp_policy *policy);

/* ---- action.c ---- */

/* Gives up waiting for what is overdue. */
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
