// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Records inputs and outputs, and feeds recorded inputs to a scheduler.
 */
#include "internal.h"

void gp_trace_emit(const struct gp_sched *s, const struct gp_trace *to, struct gp_rec rec)
{
	rec.now_ns = s->now_ns;
	to->emit(to->ctx, &rec);
}

struct gp_rec gp_rec_of_task(const struct gp_sched *s, u32 kind, u32 task)
{
	const struct gp_class *c = &s->tasks[task].class;

	return (struct gp_rec){
		.kind = kind, .task = task,
		.class = { s->tasks[task].devices, c->priority, c->weight, c->flags, c->period_ns,
			   c->budget_ns, c->deadline_ns },
	};
}

static int feed_class(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_class class = gp_rec_class(r);
	const char *why;
	u32 task;

	if (r->kind == GP_REC_TASK_CLASS)
		return gp_task_set_class(s, r->task, &class, r->now_ns, &why);
	return gp_task_add(s, r->class.devices, &class, r->now_ns, &task, &why);
}

static int feed_sample(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_sample sample = {
		.queue = r->queue, .rptr = r->sample.rptr, .wptr = r->sample.wptr,
		.flags = (u32)r->sample.flags, .visible_ns = r->sample.visible_ns,
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
		.action = r->answer.action, .task = r->task, .outcome = (u32)r->answer.outcome,
		.command_ns = r->answer.command_ns, .acted_ns = r->answer.acted_ns,
		.saved_ns = r->answer.saved_ns, .switched_ns = r->answer.switched_ns,
	};

	return gp_sched_answer(s, &a, r->now_ns);
}

static int feed_policy(struct gp_sched *s, const struct gp_rec *r)
{
	const char *why;
	u64 i;

	for (i = 0; gp_policies[i]; i++)
		if (i == r->policy.number)
			return gp_sched_set_policy(s, gp_policies[i], r->now_ns, &why);
	return -EINVAL;
}

static int feed_roster(struct gp_sched *s, const struct gp_rec *r)
{
	struct gp_pointers at = { .rptr = r->queue_add.rptr, .wptr = r->queue_add.wptr };
	u32 got;

	switch (r->kind) {
	case GP_REC_DEVICE_ADD:
		return gp_device_add(s, (u32)r->device_add.flags, &got);
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
		.executing = (u32)r->probed.executing, .permille = (u32)r->probed.permille,
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
		return gp_sched_hint(s, r->task, r->hint.at_ns, r->hint.until_ns, r->now_ns);
	case GP_REC_HOLD:
		return gp_sched_hold(s, r->task, r->hold.lease_ns, r->now_ns);
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
		err = gp_sched_set(s, (enum gp_param)r->param.number, r->param.value);
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
		gp_sched_enable(s, r->enable.on, r->now_ns);
		return 0;
	case GP_REC_TICK:
		gp_sched_tick(s, r->now_ns);
		return 0;
	case GP_REC_TASK_UNKNOWN:
		err = gp_task_set_unknown(s, r->task, r->task_unknown.unknown, r->now_ns);
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

bool gp_rec_is_idle(const struct gp_rec *rec, u64 *sampled)
{
	u64 bit = BIT_ULL(rec->device % GP_MAX_DEVICES);
	bool had_sample = *sampled & bit;

	switch (rec->kind) {
	case GP_REC_SAMPLE:
		*sampled |= bit;
		return false;
	case GP_REC_LOOK:
		*sampled &= ~bit;
		return !had_sample;
	case GP_REC_TICK:
	case GP_REC_PULL:
	case GP_REC_PROBE:
		return true;
	default:
		return false;
	}
}
