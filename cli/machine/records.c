// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "records.h"

#include <stdio.h>
#include <string.h>

#include "ask.h"

enum { HEAD = 5, ARGS = 8 };

static bool same(const struct gp_rec_who *a, const struct gp_rec_who *b)
{
	return a->pid == b->pid && a->preemptible == b->preemptible && !strcmp(a->name, b->name) &&
	       !strcmp(a->class_name, b->class_name);
}

static void take_tasks(struct gp_records *r, const json_t *tasks)
{
	json_t *one;
	size_t i;

	json_array_foreach(tasks, i, one) {
		u64 number = gp_ask_number(one, "task");
		struct gp_rec_who t = { .pid = (u32)gp_ask_number(one, "pid"),
					.preemptible = gp_ask_true(one, "preemptible") };

		if (number >= GP_MAX_TASKS)
			continue;
		snprintf(t.name, sizeof(t.name), "%s", gp_ask_text(one, "name"));
		snprintf(t.class_name, sizeof(t.class_name), "%.15s", gp_ask_text(one, "class"));
		if (same(&t, &r->task[number]))
			continue;
		r->task[number] = t;
		r->renamed++;
	}
}

int gp_records_open(struct gp_records *r, struct gp_daemon *daemon)
{
	int err;

	memset(r, 0, sizeof(*r));
	err = gp_events_open(daemon, "Record", NULL, &r->events);
	if (!err)
		take_tasks(r, json_object_get(r->events->first, "tasks"));
	return err;
}

void gp_records_close(struct gp_records *r)
{
	json_decref(r->batch);
	gp_events_close(r->events);
	r->batch = NULL;
	r->events = NULL;
}

static u64 word(const json_t *a, size_t i)
{
	return (u64)json_integer_value(json_array_get(a, i));
}

/* Converts [now_ns, kind, device, task, queue, arg...]. Missing values at the end are 0. */
static struct gp_rec rec_of(const json_t *a)
{
	struct gp_rec rec = {
		.now_ns = word(a, 0), .kind = (u32)word(a, 1), .device = (u32)word(a, 2),
		.task = (u32)word(a, 3), .queue = (u32)word(a, 4),
	};

	for (size_t i = 0; i < ARGS; i++)
		rec.arg[i] = word(a, HEAD + i);
	return rec;
}

int gp_records_next(struct gp_records *r, struct gp_rec *ret)
{
	json_t *parameters;
	int err;

	while (r->next >= json_array_size(r->batch)) {
		json_decref(r->batch);
		r->batch = NULL;
		r->next = 0;
		err = gp_events_parameters(r->events, &parameters);
		if (err)
			return err;
		take_tasks(r, json_object_get(parameters, "tasks"));
		r->batch = json_incref(json_object_get(parameters, "records"));
		json_decref(parameters);
	}
	*ret = rec_of(json_array_get(r->batch, r->next++));
	return 0;
}

u32 gp_records_lost(struct gp_records *r)
{
	u32 lost = r->events->lost;

	r->events->lost = 0;
	return lost;
}
