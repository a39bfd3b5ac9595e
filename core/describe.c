// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The scheduler as the records that would make it. A sample names only a queue: who begins to
 * record in the middle learns from these whose it is.
 */
#include "internal.h"

static void emit(const struct gp_sched *s, const struct gp_trace *to, struct gp_rec rec)
{
	rec.now_ns = s->now_ns;
	to->emit(to->ctx, &rec);
}

static void describe_task(const struct gp_sched *s, const struct gp_trace *to, u32 task)
{
	const struct gp_task *t = &s->tasks[task];
	const struct gp_class *c = &t->class;

	emit(s, to, (struct gp_rec){
		.kind = GP_REC_TASK_ADD, .task = task,
		.arg = { t->devices, c->priority, c->weight, c->flags, c->period_ns,
			 c->budget_ns, c->deadline_ns } });
}

static void describe_queue(const struct gp_sched *s, const struct gp_trace *to, u32 queue)
{
	const struct gp_seat *seat = &s->seats[s->queues[queue].seat];
	const struct gp_pointers *at = &s->pointers[queue];

	emit(s, to, (struct gp_rec){
		.kind = GP_REC_QUEUE_ADD, .device = seat->device, .task = seat->task,
		.queue = queue, .arg = { at->rptr, at->wptr } });
}

void gp_trace_describe(const struct gp_sched *s, const struct gp_trace *to)
{
	const struct gp_limits *l = &s->limits;
	u32 i;

	emit(s, to, (struct gp_rec){ .kind = GP_REC_INIT,
				     .arg = { l->devices, l->tasks, l->seats, l->queues,
					      GP_INIT_MIDDLE } });
	emit(s, to, (struct gp_rec){ .kind = GP_REC_POLICY,
				     .arg = { gp_policy_number(s->policy) } });
	for (i = 0; i < GP_NR_PARAMS; i++)
		emit(s, to, (struct gp_rec){ .kind = GP_REC_PARAM, .arg = { i, s->param[i] } });
	emit(s, to, (struct gp_rec){ .kind = GP_REC_ENABLE, .arg = { s->enabled } });
	for (i = 0; i < s->nr_devices; i++)
		if (s->devices[i].used)
			emit(s, to, (struct gp_rec){ .kind = GP_REC_DEVICE_ADD, .device = i,
						     .arg = { s->devices[i].flags } });
	for (i = 0; i < l->tasks; i++)
		if (s->tasks[i].used)
			describe_task(s, to, i);
	for (i = 0; i < l->tasks; i++)
		if (s->tasks[i].used && s->tasks[i].unknown)
			emit(s, to, (struct gp_rec){ .kind = GP_REC_TASK_UNKNOWN, .task = i,
						     .arg = { true } });
	for (i = 0; i < l->queues; i++)
		if (s->queues[i].seat != GP_NONE)
			describe_queue(s, to, i);
}
