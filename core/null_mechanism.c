/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#include "null_mechanism.h"
#include "param.h"

static struct gp_null_mechanism *of(struct gp_mechanism *m)
{
	return (struct gp_null_mechanism *)m;	/* base comes first */
}

void gp_null_init(struct gp_null_mechanism *m, u32 devices)
{
	u32 i;

	memset(m, 0, sizeof(*m));
	m->base.ops = &gp_null_ops;
	m->devices = devices;
	m->takes_ns = 10 * GP_USEC;
	for (i = 0; i < GP_NULL_TASKS; i++)
		m->permille[i] = 1000;
}

void gp_null_task(struct gp_null_mechanism *m, u32 device, u32 task)
{
	m->seat[device][task] = (struct gp_null_seat){
		.there = true, .on = true, .effect_ns = GP_NEVER,
	};
}

void gp_null_task_gone(struct gp_null_mechanism *m, u32 task)
{
	u32 d;

	for (d = 0; d < m->devices; d++)
		m->seat[d][task] = (struct gp_null_seat){ 0 };
}

/* ---- begin ---- */

static bool busy(const struct gp_null_mechanism *m, u32 device)
{
	u32 i;

	for (i = 0; i < GP_NULL_TASKS; i++)
		if (m->seat[device][i].action)
			return true;
	return false;
}

/* Decides now what will be answered, and when. */
static void plan(struct gp_null_mechanism *m, struct gp_null_seat *seat, u32 task, u64 deadline_ns)
{
	u64 at = seat->begun_ns + (m->late_ns[task] ? m->late_ns[task] : m->takes_ns);
	u32 fault = m->fault[task];

	if (fault == GP_NULL_LATE)
		at = deadline_ns + m->takes_ns;
	seat->answer_ns = at;
	seat->effect_ns = at;
	seat->outcome = GP_DONE;
	seat->late_action = 0;
	/* Already there, or already gone: nothing to do is not done. */
	if (fault == GP_NULL_REFUSES || seat->out != seat->on) {
		seat->outcome = GP_REFUSED;
		seat->effect_ns = GP_NEVER;
	} else if (fault == GP_NULL_LOSES) {
		seat->effect_ns = GP_NEVER;
	} else if (at > deadline_ns) {
		seat->late_action = seat->action;
		seat->late_ns = at;
	}
	if (fault == GP_NULL_LOSES || at > deadline_ns) {
		seat->outcome = GP_TIMED_OUT;
		seat->answer_ns = deadline_ns;
	}
}

static int null_begin(struct gp_mechanism *base, const struct gp_action *action, u64 now_ns)
{
	struct gp_null_mechanism *m = of(base);
	u32 i, nr = action->nr_out + action->nr_in;

	/* First everything that may be refused, then everything that changes. */
	if (action->device >= m->devices)
		return -ENODEV;
	for (i = 0; i < nr; i++)
		if (action->tasks[i] >= GP_NULL_TASKS ||
		    !m->seat[action->device][action->tasks[i]].there)
			return -ENOENT;
	if (busy(m, action->device))
		return -EBUSY;

	for (i = 0; i < nr; i++) {
		struct gp_null_seat *seat = &m->seat[action->device][action->tasks[i]];

		seat->action = action->id;
		seat->out = i < action->nr_out;
		seat->begun_ns = now_ns;
		plan(m, seat, action->tasks[i], action->deadline_ns);
	}
	return 0;
}

/* ---- time ---- */

/* Applies the planned move if its time has come. Called by every function. */
static void happen(struct gp_null_seat *seat, u64 now_ns)
{
	if (!seat->there || seat->effect_ns > now_ns)
		return;
	if (seat->on)
		seat->done_ns += seat->effect_ns - seat->since_ns;
	seat->on = !seat->out;
	seat->since_ns = seat->effect_ns;
	seat->effect_ns = GP_NEVER;
}

static u64 due_at(const struct gp_null_seat *seat)
{
	if (seat->action)
		return seat->answer_ns;
	return seat->late_action ? seat->late_ns : GP_NEVER;
}

static struct gp_null_seat *next_due(const struct gp_null_mechanism *m, u32 *device, u32 *task)
{
	const struct gp_null_seat *best = NULL;
	u32 d, t;

	for (d = 0; d < m->devices; d++) {
		for (t = 0; t < GP_NULL_TASKS; t++) {
			const struct gp_null_seat *seat = &m->seat[d][t];

			if (due_at(seat) == GP_NEVER || (best && due_at(seat) >= due_at(best)))
				continue;
			best = seat;
			*device = d;
			*task = t;
		}
	}
	return (struct gp_null_seat *)best;
}

u64 gp_null_next(const struct gp_null_mechanism *m)
{
	const struct gp_null_seat *seat;
	u32 device, task;

	seat = next_due(m, &device, &task);
	return seat ? due_at(seat) : GP_NEVER;
}

u64 gp_null_work(struct gp_null_mechanism *m, u32 device, u32 task, u64 now_ns)
{
	struct gp_null_seat *seat = &m->seat[device][task];

	happen(seat, now_ns);
	return seat->done_ns + (seat->on ? now_ns - seat->since_ns : 0);
}

/* ---- poll and probe ---- */

static int null_poll(struct gp_mechanism *base, u64 now_ns, struct gp_answer *ret)
{
	struct gp_null_seat *seat;
	u32 device, task;
	u64 at;

	seat = next_due(of(base), &device, &task);
	if (!seat || due_at(seat) > now_ns)
		return -EAGAIN;

	happen(seat, now_ns);
	at = due_at(seat);
	*ret = (struct gp_answer){
		.action = seat->action, .task = task, .outcome = seat->outcome,
		.command_ns = seat->begun_ns, .acted_ns = seat->begun_ns,
		.saved_ns = at, .switched_ns = at,
	};
	if (!seat->action) {
		ret->action = seat->late_action;
		ret->outcome = GP_DONE;
		seat->late_action = 0;
	}
	seat->action = 0;
	return 0;
}

static int null_probe(struct gp_mechanism *base, u32 device, u32 task, u32 *waves, u32 *permille)
{
	struct gp_null_mechanism *m = of(base);

	if (device >= m->devices)
		return -ENODEV;
	if (task >= GP_NULL_TASKS || !m->seat[device][task].there)
		return -ENOENT;

	*permille = m->seat[device][task].on ? m->permille[task] : 0;
	*waves = *permille * 10;
	return 0;
}

const struct gp_mechanism_ops gp_null_ops = {
	.name	= "null",
	.grain	= GP_GRAIN_PROCESS,
	.keeps	= GP_KEEPS_SAVE,
	.reach	= GP_REACH_VICTIM,
	.probes	= true,
	.begin	= null_begin,
	.poll	= null_poll,
	.probe	= null_probe,
};
