// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Records what goes in and what comes out, and feeds it back.
 */
#include "internal.h"

void gp_trace_emit(const struct gp_sched *s, u32 kind, const struct gp_rec_args *args)
{
	struct gp_rec rec = {
		.now_ns = s->now_ns, .kind = kind,
		.device = args->device, .task = args->task, .queue = args->queue,
	};

	memcpy(rec.arg, args->arg, sizeof(rec.arg));
	s->trace.emit(s->trace.ctx, &rec);
}

static int feed_class(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_class class = {
		.priority = (u32)r->arg[1], .weight = (u32)r->arg[2], .flags = (u32)r->arg[3],
		.period_ns = r->arg[4], .budget_ns = r->arg[5], .deadline_ns = r->arg[6],
	};
	const char *why;
	u32 task;

	if (r->kind == GP_REC_TASK_CLASS)
		return gp_task_set_class(s, r->task, &class, r->now_ns, &why);
	return gp_task_add(s, r->arg[0], &class, r->now_ns, &task, &why);
}

static int feed_sample(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_sample sample = {
		.queue = r->queue, .rptr = r->arg[0], .wptr = r->arg[1],
		.flags = (u32)r->arg[2], .visible_ns = r->arg[3],
	};

	if (r->queue >= s->limits.queues || !gp_device_of(s, r->device))
		return -EINVAL;
	gp_now(s, r->now_ns);
	gp_sample_take(s, r->device, &sample);
	return 0;
}

static int feed_answer(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_answer a = {
		.action = r->arg[0], .task = r->task, .outcome = (u32)r->arg[1],
		.command_ns = r->arg[2], .acted_ns = r->arg[3], .saved_ns = r->arg[4],
		.switched_ns = r->arg[5],
	};

	return gp_sched_answer(s, &a, r->now_ns);
}

static int feed_policy(struct gp_sched *s, const struct gp_rec *r)
{
	const char *why;
	u64 i;

	for (i = 0; gp_policies[i]; i++)
		if (i == r->arg[0])
			return gp_sched_set_policy(s, gp_policies[i], r->now_ns, &why);
	return -EINVAL;
}

static int feed_roster(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_pointers at = { .rptr = r->arg[0], .wptr = r->arg[1] };
	u32 got;

	switch (r->kind) {
	case GP_REC_DEVICE_ADD:
		return gp_device_add(s, (u32)r->arg[0], &got);
	case GP_REC_DEVICE_DEL:
		return gp_device_del(s, r->device, r->now_ns);
	case GP_REC_DEVICE_RESET:
		return gp_device_reset(s, r->device, r->now_ns);
	case GP_REC_TASK_ADD:
	case GP_REC_TASK_CLASS:
		return feed_class(s, r);
	case GP_REC_TASK_DEL:
		return gp_task_del(s, r->task, r->now_ns);
	case GP_REC_QUEUE_ADD:
		return gp_queue_add(s, r->task, r->device, &at, r->now_ns, &got);
	default:
		return gp_queue_del(s, r->queue, r->now_ns);
	}
}

static int feed_seen(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_probed probed = {
		.device = r->device, .task = r->task,
		.executing = (u32)r->arg[0], .permille = (u32)r->arg[1],
	};

	switch (r->kind) {
	case GP_REC_SAMPLE:
		return feed_sample(s, r);
	case GP_REC_LOOK:
		if (!gp_device_of(s, r->device))
			return -EINVAL;
		gp_now(s, r->now_ns);
		gp_look_end(s, r->device);
		return 0;
	case GP_REC_PROBED:
		return gp_sched_probed(s, &probed, r->now_ns);
	case GP_REC_ANSWER:
		return feed_answer(s, r);
	case GP_REC_HINT:
		return gp_sched_hint(s, r->task, r->arg[0], r->arg[1], r->now_ns);
	case GP_REC_HOLD:
		return gp_sched_hold(s, r->task, r->arg[0], r->now_ns);
	default:
		return gp_sched_release(s, r->task, r->now_ns);
	}
}

int gp_trace_feed(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_todo todo;
	int err;

	switch (r->kind) {
	case GP_REC_INIT:
		return 0;
	case GP_REC_PARAM:
		err = gp_sched_set(s, (enum gp_param)r->arg[0], r->arg[1]);
		break;
	case GP_REC_POLICY:
		err = feed_policy(s, r);
		break;
	case GP_REC_DEVICE_ADD ... GP_REC_QUEUE_DEL:
		err = feed_roster(s, r);
		break;
	case GP_REC_SAMPLE ... GP_REC_RELEASE:
		err = feed_seen(s, r);
		break;
	case GP_REC_ENABLE:
		gp_sched_enable(s, r->arg[0], r->now_ns);
		return 0;
	case GP_REC_TICK:
		gp_sched_tick(s, r->now_ns);
		return 0;
	case GP_REC_TASK_UNKNOWN:
		err = gp_task_set_unknown(s, r->task, r->arg[0], r->now_ns);
		break;
	case GP_REC_PULL:
		gp_sched_pull(s, r->now_ns, NULL, &todo);
		return 0;
	case GP_REC_ACTION ... GP_REC_NR_OUTPUTS - 1:
		return 0;
	default:
		return -EINVAL;
	}
	return err ? -EINVAL : 0;
}
