// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What goes out by itself: events, and everything that goes into and comes out of the
 * scheduler for those who record it.
 */
#include <stdio.h>

#include "ops.h"

#define WANTS(o, kind)	((o)->wanted & BIT_ULL(kind))

static void about(json_t *event, const struct gp_resident *r)
{
	if (!r)
		return;
	json_object_set_new(event, "pid", json_integer(r->pid));
	json_object_set_new(event, "start", json_integer((json_int_t)r->start));
	json_object_set_new(event, "class", json_string(r->class.name));
}

void gp_ops_news(struct gp_ops *o, const struct gp_news *news)
{
	static const struct {
		enum gp_event_kind kind;
		const char *name;
	} as[] = {
		[GP_NEWS_PROCESS]	= { GP_EVENT_PROCESS, "process" },
		[GP_NEWS_QUEUE]		= { GP_EVENT_QUEUE, "queue" },
		[GP_NEWS_CLASS]		= { GP_EVENT_CLASS, "class" },
		[GP_NEWS_HOLD]		= { GP_EVENT_HOLD, "hold" },
		[GP_NEWS_POLICY]	= { GP_EVENT_POLICY, "policy" },
		[GP_NEWS_ENABLED]	= { GP_EVENT_ENABLED, "enabled" },
		[GP_NEWS_GPU]		= { GP_EVENT_GPU, "gpu" },
		[GP_NEWS_TROUBLE]	= { GP_EVENT_TROUBLE, "trouble" },
	};
	json_t *event;

	if (!o->control || !(gp_control_wanted(o->control) & BIT_ULL(as[news->kind].kind)))
		return;
	event = json_pack("{s:I, s:s, s:s}", "at_ns", (json_int_t)o->args.home->now_ns,
			  "kind", as[news->kind].name, "what", news->what);
	about(event, news->who);
	gp_control_publish(o->control, as[news->kind].kind, event);
}

static void publish_state(struct gp_ops *o, const struct gp_rec *rec)
{
	const struct gp_home *h = o->args.home;
	const struct gp_resident *r = gp_home_by_task(h, rec->task), *cause;
	struct gp_device_view view;
	u32 to = (u32)rec->arg[1];
	json_t *event;

	if (to >= GP_NR_STATES || rec->device >= h->nr_gpus)
		return;
	gp_home_device_view(h, rec->device, &view);
	cause = gp_home_by_task(h, view.cause);
	event = json_pack("{s:I, s:s, s:s, s:i, s:s}", "at_ns", (json_int_t)rec->now_ns,
			  "kind", "state", "what", gp_ops_state_name[to],
			  "gpu", (int)h->gpu[rec->device].index, "state", gp_ops_state_name[to]);
	about(event, r);
	if (cause && cause != r)
		json_object_set_new(event, "cause_pid", json_integer(cause->pid));
	gp_control_publish(o->control, GP_EVENT_STATE, event);
}

/* Others were taken off for somebody: how long each part of it took. */
static void publish_parts(struct gp_ops *o, const struct gp_rec *rec)
{
	const struct gp_home *h = o->args.home;
	json_t *parts = json_object(), *event;
	char what[128];
	size_t at;
	u32 i;

	at = (size_t)snprintf(what, sizeof(what), "others made room for it:");
	for (i = 0; i < GP_NR_PARTS; i++) {
		/* What is inside another part is left out. */
		if (rec->arg[i] == GP_PART_WITHIN)
			continue;
		json_object_set_new(parts, gp_part_names[i],
				    json_integer((json_int_t)rec->arg[i]));
		if (at < sizeof(what))
			at += (size_t)snprintf(what + at, sizeof(what) - at, " %s %llu us",
					       gp_part_names[i],
					       (unsigned long long)rec->arg[i] / 1000);
	}
	event = json_pack("{s:I, s:s, s:s, s:i, s:o}", "at_ns", (json_int_t)rec->now_ns,
			  "kind", "preemption", "what", what,
			  "gpu", (int)h->gpu[rec->device].index, "parts_ns", parts);
	about(event, gp_home_by_task(h, rec->task));
	gp_control_publish(o->control, GP_EVENT_PREEMPTION, event);
}

/* Who the tasks are that records name by their numbers. */
static json_t *tasks_json(const struct gp_home *h)
{
	json_t *tasks = json_array();
	u32 i;

	for (i = 0; i < h->nr_residents; i++) {
		const struct gp_resident *r = h->resident[i];
		u32 task = gp_home_record_task(h, r);

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

static void flush(struct gp_ops *o)
{
	if (!o->records)
		return;
	gp_control_publish(o->control, GP_EVENT_RECORD,
			   json_pack("{s:o}", "records", o->records));
	o->records = NULL;
}

/* Only between two runs: in the middle of one a new task is nobody's yet. */
static void flush_named(struct gp_ops *o)
{
	flush(o);
	if (!o->unnamed)
		return;
	o->unnamed = false;
	gp_control_publish(o->control, GP_EVENT_RECORD,
			   json_pack("{s:o}", "tasks", tasks_json(o->args.home)));
}

static void keep_record(struct gp_ops *o, const struct gp_rec *rec)
{
	json_t *a = json_array();
	u32 i, last = 0;

	if (!o->records)
		o->records = json_array();
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
	json_array_append_new(o->records, a);
	if (json_array_size(o->records) >= GP_OPS_RECORDS)
		flush(o);
}

/* Of the scheduler that decides: ours, or the kernel's. */
static void keep(void *ctx, const struct gp_rec *rec)
{
	struct gp_ops *o = ctx;

	o->unnamed |= rec->kind == GP_REC_TASK_ADD || rec->kind == GP_REC_NAME;
	if (rec->kind != GP_REC_NAME)
		keep_record(o, rec);
}

/* From inside the scheduler: reads it, and never calls it. */
static void emit(void *ctx, const struct gp_rec *rec)
{
	struct gp_ops *o = ctx;

	if (rec->kind == GP_REC_STATE && WANTS(o, GP_EVENT_STATE))
		publish_state(o, rec);
	if (rec->kind == GP_REC_PARTS && WANTS(o, GP_EVENT_PREEMPTION))
		publish_parts(o, rec);
}

void gp_ops_stream(struct gp_ops *o)
{
	struct gp_trace watcher = { .emit = emit, .ctx = o };
	struct gp_trace recorder = { .emit = keep, .ctx = o };
	u32 wanted;

	if (!o->control)
		return;
	flush_named(o);
	wanted = gp_control_wanted(o->control) & (BIT_ULL(GP_EVENT_STATE) |
						  BIT_ULL(GP_EVENT_PREEMPTION) |
						  BIT_ULL(GP_EVENT_RECORD));
	if (wanted != o->wanted) {
		o->wanted = wanted;
		gp_home_trace(o->args.home, wanted ? &watcher : NULL,
			      WANTS(o, GP_EVENT_RECORD) ? &recorder : NULL);
	}
	if (o->describe && WANTS(o, GP_EVENT_RECORD)) {
		o->describe = false;
		gp_home_describe(o->args.home);
		flush(o);
	}
}

void gp_ops_deaf(struct gp_ops *o)
{
	gp_home_trace(o->args.home, NULL, NULL);
	json_decref(o->records);
	o->records = NULL;
	o->wanted = 0;
}

int gp_ops_record(void *ctx, struct gp_request *rq, json_t **ret)
{
	struct gp_ops *o = ctx;

	(void)rq;
	o->describe = true;
	*ret = json_pack("{s:o}", "tasks", tasks_json(o->args.home));
	return *ret ? 0 : -ENOMEM;
}
