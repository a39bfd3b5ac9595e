// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt replay: checks that a fresh scheduler makes the recorded decisions. */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/term.h"
#include "sim/json.h"
#include "trace/replay.h"

static void print_record(const char *side, const struct gp_rec *r)
{
	printf("  %-9s ", side);
	if (!r->kind) {
		puts("nothing");
		return;
	}
	printf("%s at %" PRIu64 " ns", gp_rec_name(r->kind), r->now_ns);
	if (r->device != UINT32_MAX)
		printf(", device %" PRIu32, r->device);
	if (r->task != UINT32_MAX)
		printf(", task %" PRIu32, r->task);
	if (r->queue != UINT32_MAX)
		printf(", queue %" PRIu32, r->queue);
	fputs(", args", stdout);
	for (int i = 0; i < 8; i++)
		printf(" %" PRIu64, r->arg[i]);
	putchar('\n');
}

static void print_text(const char *file, const struct gp_replay *r)
{
	printf("%s: %s records, %s inputs fed, %s outputs compared, %s of them actions\n", file,
	       gp_count(r->records).s, gp_count(r->inputs).s, gp_count(r->outputs).s,
	       gp_count(r->actions).s);
	if (!r->differs) {
		printf("%ssame%s: every decision came out bit for bit as recorded\n",
		       gp_paint(GP_GOOD), gp_paint(GP_PLAIN));
		return;
	}
	printf("%sdifferent%s: the first difference is at record %" PRIu64 "\n",
	       gp_paint(GP_BAD), gp_paint(GP_PLAIN), r->at);
	print_record("recorded", &r->recorded);
	print_record("replayed", &r->replayed);
}

static json_t *record(const struct gp_rec *r)
{
	json_t *o, *args;

	if (!r->kind)
		return json_null();
	o = json_object();
	args = json_array();
	gp_json_put(o, "kind", json_string(gp_rec_name(r->kind)));
	gp_json_put(o, "now", json_integer((json_int_t)r->now_ns));
	gp_json_put(o, "device", json_integer(r->device));
	gp_json_put(o, "task", json_integer(r->task));
	gp_json_put(o, "queue", json_integer(r->queue));
	for (int i = 0; i < 8; i++)
		json_array_append_new(args, json_integer((json_int_t)r->arg[i]));
	gp_json_put(o, "args", args);
	return o;
}

static int print_json(const struct gp_replay *r)
{
	json_t *o = json_object(), *difference = json_null();

	if (r->differs) {
		difference = json_object();
		gp_json_put(difference, "record", json_integer((json_int_t)r->at));
		gp_json_put(difference, "recorded", record(&r->recorded));
		gp_json_put(difference, "replayed", record(&r->replayed));
	}
	gp_json_put(o, "schema", json_integer(GP_JSON_SCHEMA));
	gp_json_put(o, "records", json_integer((json_int_t)r->records));
	gp_json_put(o, "inputs", json_integer((json_int_t)r->inputs));
	gp_json_put(o, "outputs", json_integer((json_int_t)r->outputs));
	gp_json_put(o, "actions", json_integer((json_int_t)r->actions));
	gp_json_put(o, "same", json_boolean(!r->differs));
	gp_json_put(o, "difference", difference);
	return gp_json_print(o, stdout);
}

int gp_cmd_replay(const struct gp_options *o)
{
	struct gp_tracefile_error err;
	struct gp_tracefile trace;
	struct gp_replay r;
	int bad;

	if (gp_tracefile_open(o->file, &trace, &err)) {
		gp_error("%s: %s", o->file, err.text);
		return GP_EXIT_BAD;
	}
	bad = gp_replay(&trace, &r, &err);
	gp_tracefile_close(&trace);
	if (bad) {
		gp_error("%s: %s", o->file, err.text);
		return GP_EXIT_BAD;
	}
	if (!o->json)
		print_text(o->file, &r);
	else if (print_json(&r))
		return GP_EXIT_BAD;
	return r.differs ? GP_EXIT_FAILED : GP_EXIT_OK;
}
