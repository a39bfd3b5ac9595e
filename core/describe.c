// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Describes a running scheduler by records. A recorder that starts late needs them, because a
 * sample names only a queue and not its task.
 */
#include "internal.h"

#define emit(s, to, ...)	gp_trace_emit(s, to, (struct gp_rec){ .kind = __VA_ARGS__ })

static void describe_settings(const struct gp_sched *s, const struct gp_trace *to)
{
	const struct gp_limits *l = &s->limits;
	u32 i;

	emit(s, to, GP_REC_INIT,
	     .init = { l->devices, l->tasks, l->seats, l->queues, GP_INIT_MIDDLE });
	emit(s, to, GP_REC_POLICY, .policy = { gp_policy_number(s->policy) });
	for (i = 0; i < GP_NR_PARAMS; i++)
		emit(s, to, GP_REC_PARAM, .param = { i, s->param[i] });
	emit(s, to, GP_REC_ENABLE, .enable = { s->enabled });
}

static void describe_queue(const struct gp_sched *s, const struct gp_trace *to, u32 queue)
{
	const struct gp_seat *seat = &s->seats[s->queues[queue].seat];
	const struct gp_pointers *at = &s->pointers[queue];

	emit(s, to, GP_REC_QUEUE_ADD, .device = seat->device, .task = seat->task, .queue = queue,
	     .queue_add = { at->rptr, at->wptr });
}

/* Seats that are ON need no record, because every seat begins there. */
static void describe_states(const struct gp_sched *s, const struct gp_trace *to, u32 task)
{
	const struct gp_seat *seat;

	for (seat = gp_seat_at(s, s->tasks[task].seats); seat;
	     seat = gp_seat_at(s, seat->next_of_task))
		if (seat->state != GP_ON)
			emit(s, to, GP_REC_STATE, .device = seat->device, .task = task,
			     .state = { seat->state, seat->state });
}

void gp_trace_describe(const struct gp_sched *s, const struct gp_trace *to)
{
	u32 i;

	describe_settings(s, to);
	for (i = 0; i < s->nr_devices; i++)
		if (s->devices[i].used)
			emit(s, to, GP_REC_DEVICE_ADD, .device = i,
			     .device_add = { s->devices[i].flags, i });
	for (i = 0; i < s->limits.tasks; i++)
		if (s->tasks[i].used)
			gp_trace_emit(s, to, gp_rec_of_task(s, GP_REC_TASK_ADD, i));
	for (i = 0; i < s->limits.tasks; i++)
		if (s->tasks[i].used && s->tasks[i].unknown)
			emit(s, to, GP_REC_TASK_UNKNOWN, .task = i, .task_unknown = { true });
	for (i = 0; i < s->limits.queues; i++)
		if (s->queues[i].seat != GP_NONE)
			describe_queue(s, to, i);
	for (i = 0; i < s->limits.tasks; i++)
		if (s->tasks[i].used)
			describe_states(s, to, i);
}
