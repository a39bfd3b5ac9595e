// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Streams of events, and for Record of all inputs and outputs of the scheduler. An event about a
 * process goes to root, the group and the owner of the process.
 */
#include <stdio.h>
#include <string.h>

#include "methods.h"

#define WANTS(m, kind)	((m)->wanted & BIT_ULL(kind))

static const char *const event_names[GP_NR_EVENTS] = {
	[GP_EVENT_PROCESS] = "process", [GP_EVENT_QUEUE] = "queue", [GP_EVENT_CLASS] = "class",
	[GP_EVENT_STATE] = "state", [GP_EVENT_HOLD] = "hold", [GP_EVENT_POLICY] = "policy",
	[GP_EVENT_ENABLED] = "enabled", [GP_EVENT_GPU] = "gpu", [GP_EVENT_TROUBLE] = "trouble",
	[GP_EVENT_PREEMPTION] = "preemption",
};

int gp_method_subscribe(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
			json_t **ret)
{
	const json_t *kind;
	size_t i;
	u32 k;

	(void)m, (void)ret;
	call->wants = a->kinds ? 0 : (1u << GP_NR_EVENTS) - 1;
	json_array_foreach(a->kinds, i, kind) {
		for (k = 0; k < GP_NR_EVENTS; k++)
			if (!strcmp(json_string_value(kind), event_names[k]))
				break;
		if (k == GP_NR_EVENTS) {
			call->bad = "kinds";
			snprintf(call->why, GP_WHY_MAX, "%s: unknown kind of events",
				 json_string_value(kind));
			return -EINVAL;
		}
		call->wants |= 1u << k;
	}
	return GP_CALL_STREAM;
}

/* ---- events ---- */

/* Publishes @event with the process @r, if any. Consumes @event. @audience: enum gp_audience */
static void publish_to(struct gp_methods *m, enum gp_event_kind kind, json_t *event,
		       const struct gp_gpu_process *r, u32 audience)
{
	json_object_set_new(event, "kind", json_string(event_names[kind]));
	if (r) {
		json_object_set_new(event, "pid", json_integer(r->pid));
		json_object_set_new(event, "start", json_integer((json_int_t)r->start));
		json_object_set_new(event, "class", json_string(r->class.name));
	}
	gp_control_publish(m->control, kind, event, audience, r ? r->uid : 0);
}

static void publish(struct gp_methods *m, enum gp_event_kind kind, json_t *event,
		    const struct gp_gpu_process *r)
{
	publish_to(m, kind, event, r, r ? GP_TO_PRIVILEGED | GP_TO_OWNER : GP_TO_ALL);
}

void gp_methods_news(struct gp_methods *m, const struct gp_news *news)
{
	static const enum gp_event_kind as[] = {
		[GP_NEWS_PROCESS] = GP_EVENT_PROCESS, [GP_NEWS_QUEUE] = GP_EVENT_QUEUE,
		[GP_NEWS_CLASS] = GP_EVENT_CLASS, [GP_NEWS_HOLD] = GP_EVENT_HOLD,
		[GP_NEWS_POLICY] = GP_EVENT_POLICY, [GP_NEWS_ENABLED] = GP_EVENT_ENABLED,
		[GP_NEWS_GPU] = GP_EVENT_GPU, [GP_NEWS_TROUBLE] = GP_EVENT_TROUBLE,
	};
	enum gp_event_kind kind = as[news->kind];

	if (m->control && (gp_control_wanted(m->control, GP_TO_ALL, 0) & BIT_ULL(kind)))
		publish(m, kind, json_pack("{s:I, s:s}", "at_ns",
					   (json_int_t)m->args.decider->now_ns, "what", news->what),
			news->who);
}

/*
 * Publishes a change of state. Hides from the owner of a stopped process which other user's process
 * caused it.
 */
static void publish_state(struct gp_methods *m, const struct gp_rec *rec)
{
	const struct gp_decider *h = m->args.decider;
	const struct gp_gpu_process *r = gp_decider_by_task(h, rec->task), *cause;
	struct gp_device_view view;
	u32 to = (u32)rec->arg[1];
	json_t *event;

	if (to >= GP_NR_STATES || rec->device >= h->nr_gpus || !r)
		return;
	event = json_pack("{s:I, s:s, s:i, s:s}", "at_ns", (json_int_t)rec->now_ns,
			  "what", gp_state_name[to],
			  "gpu", (int)h->gpu[rec->device].index, "state", gp_state_name[to]);
	gp_decider_device_view(h, rec->device, &view);
	cause = gp_decider_by_task(h, view.cause);
	if (cause == r)
		cause = NULL;
	if (cause && cause->uid != r->uid) {
		publish_to(m, GP_EVENT_STATE, json_deep_copy(event), r, GP_TO_OWNER);
		json_object_set_new(event, "cause_pid", json_integer(cause->pid));
		publish_to(m, GP_EVENT_STATE, event, r, GP_TO_PRIVILEGED);
		return;
	}
	if (cause)
		json_object_set_new(event, "cause_pid", json_integer(cause->pid));
	publish(m, GP_EVENT_STATE, event, r);
}

/* Publishes how long each part of a preemption took, to the owner of the process that preempted. */
static void publish_parts(struct gp_methods *m, const struct gp_rec *rec)
{
	const struct gp_decider *h = m->args.decider;
	const struct gp_gpu_process *r = gp_decider_by_task(h, rec->task);
	json_t *parts;
	char what[128];
	size_t at;
	u32 i;

	if (!r)
		return;
	parts = json_object();
	at = (size_t)snprintf(what, sizeof(what), "others made room for it:");
	for (i = 0; i < GP_NR_PARTS; i++) {
		/* Leave out a part that is contained in another. */
		if (rec->arg[i] == GP_PART_WITHIN)
			continue;
		json_object_set_new(parts, gp_part_names[i],
				    json_integer((json_int_t)rec->arg[i]));
		if (at < sizeof(what))
			at += (size_t)snprintf(what + at, sizeof(what) - at, " %s %llu us",
					       gp_part_names[i],
					       (unsigned long long)rec->arg[i] / 1000);
	}
	publish(m, GP_EVENT_PREEMPTION,
		json_pack("{s:I, s:s, s:i, s:o}", "at_ns", (json_int_t)rec->now_ns, "what", what,
			  "gpu", (int)h->gpu[rec->device].index, "parts_ns", parts), r);
}

/* ---- records ---- */

/* Returns the processes behind the task numbers of the records. */
static json_t *tasks_json(const struct gp_decider *h)
{
	json_t *tasks = json_array();
	u32 i;

	for (i = 0; i < h->nr_processes; i++) {
		const struct gp_gpu_process *r = h->process[i];
		u32 task = gp_decider_record_task(h, r);

		if (task == GP_NONE)
			continue;
		json_array_append_new(tasks, json_pack(
			"{s:i, s:i, s:I, s:s, s:s, s:b}", "task", (int)task, "pid",
			(int)r->pid, "start", (json_int_t)r->start, "name", r->name, "class",
			r->class.name, "preemptible",
			!!(r->class.is.flags & GP_PREEMPTIBLE)));
	}
	return tasks;
}

int gp_method_record(struct gp_methods *m, struct gp_call *call, const struct gp_arguments *a,
		     json_t **ret)
{
	(void)a;
	m->describe = true;
	call->wants = 1u << GP_EVENT_RECORD;
	*ret = json_pack("{s:o}", "tasks", tasks_json(m->args.decider));
	return *ret ? GP_CALL_STREAM : -ENOMEM;
}

static void send_records(struct gp_methods *m)
{
	if (m->records)
		gp_control_publish(m->control, GP_EVENT_RECORD,
				   json_pack("{s:o}", "records", m->records),
				   GP_TO_PRIVILEGED, 0);
	m->records = NULL;
}

static void keep_record(struct gp_methods *m, const struct gp_rec *rec)
{
	json_t *a = json_array();
	u32 i, last = 0;

	if (!m->records)
		m->records = json_array();
	for (i = 0; i < 8; i++)
		if (rec->arg[i])
			last = i + 1;
	json_array_append_new(a, json_integer((json_int_t)rec->now_ns));
	json_array_append_new(a, json_integer(rec->kind));
	json_array_append_new(a, json_integer(rec->device));
	json_array_append_new(a, json_integer(rec->task));
	json_array_append_new(a, json_integer(rec->queue));
	for (i = 0; i < last; i++)
		json_array_append_new(a, json_integer((json_int_t)rec->arg[i]));
	json_array_append_new(m->records, a);
	if (json_array_size(m->records) >= GP_RECORDS)
		send_records(m);
}

/* Takes a record of the scheduler that decides, in this process or in the kernel. */
static void record(void *ctx, const struct gp_rec *rec)
{
	struct gp_methods *m = ctx;

	m->unnamed |= rec->kind == GP_REC_TASK_ADD || rec->kind == GP_REC_NAME;
	if (rec->kind != GP_REC_NAME)
		keep_record(m, rec);
}

/* Called from inside the scheduler, so it may read the scheduler but not call it. */
static void watch(void *ctx, const struct gp_rec *rec)
{
	struct gp_methods *m = ctx;

	if (rec->kind == GP_REC_STATE && WANTS(m, GP_EVENT_STATE))
		publish_state(m, rec);
	if (rec->kind == GP_REC_PARTS && WANTS(m, GP_EVENT_PREEMPTION))
		publish_parts(m, rec);
}

void gp_method_stream(struct gp_methods *m)
{
	struct gp_trace watcher = { .emit = watch, .ctx = m };
	struct gp_trace recorder = { .emit = record, .ctx = m };
	u32 wanted;

	if (!m->control)
		return;
	send_records(m);
	/* Done between two runs, because during a run a new task has no process yet. */
	if (m->unnamed)
		gp_control_publish(m->control, GP_EVENT_RECORD,
				   json_pack("{s:o}", "tasks", tasks_json(m->args.decider)),
				   GP_TO_PRIVILEGED, 0);
	m->unnamed = false;
	wanted = gp_control_wanted(m->control, GP_TO_ALL, 0) &
		 (BIT_ULL(GP_EVENT_STATE) | BIT_ULL(GP_EVENT_PREEMPTION) |
		  BIT_ULL(GP_EVENT_RECORD));
	if (wanted != m->wanted) {
		m->wanted = wanted;
		gp_decider_trace(m->args.decider, wanted ? &watcher : NULL,
			      WANTS(m, GP_EVENT_RECORD) ? &recorder : NULL);
	}
	if (m->describe && WANTS(m, GP_EVENT_RECORD)) {
		m->describe = false;
		gp_decider_describe(m->args.decider);
		send_records(m);
	}
}

void gp_methods_connect(struct gp_methods *m, struct gp_control *control)
{
	m->control = control;
	if (control)
		return;
	gp_decider_trace(m->args.decider, NULL, NULL);
	json_decref(m->records);
	m->records = NULL;
	m->wanted = 0;
}
