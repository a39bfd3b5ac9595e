// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt class, hint, off, on: one call each. */
#include <inttypes.h>
#include <string.h>

#include "ask.h"
#include "core/param.h"
#include "sim/json.h"

#define HINT_FOR_NS	(100 * GP_MSEC)

/* {"pid": ...}; NULL after a message. */
static json_t *about(const char *pid_text)
{
	json_t *o;
	pid_t pid;

	if (gp_ask_pid(pid_text, &pid))
		return NULL;
	o = json_object();
	gp_json_put(o, "pid", json_integer(pid));
	return o;
}

int gp_cmd_class(const struct gp_options *o)
{
	json_t *in, *answer, *pid;
	int code;

	if (o->nr_operands != 2) {
		gp_error("class: usage: gpreempt class PID CLASS");
		return GP_EXIT_BAD;
	}
	in = about(o->operands[0]);
	if (!in)
		return GP_EXIT_BAD;
	pid = json_incref(json_object_get(in, "pid"));
	gp_json_put(in, "class", json_string(o->operands[1]));
	code = gp_ask_call(NULL, "SetClass", in, &answer);
	if (code) {
		json_decref(pid);
		return code;
	}
	gp_json_put(answer, "pid", pid);
	if (o->json)
		return gp_ask_print(o, answer);
	printf("%s: %s -> %s\n", o->operands[0], gp_ask_text(answer, "previous"),
	       gp_ask_text(answer, "class"));
	if (json_is_false(json_object_get(answer, "uses_gpu")))
		printf("process %s uses no GPU now; the class applies if it opens one\n",
		       o->operands[0]);
	json_decref(answer);
	return GP_EXIT_OK;
}

int gp_cmd_hint(const struct gp_options *o)
{
	u64 for_ns = o->given & GP_TAKES(FOR) ? o->for_ns : HINT_FOR_NS;
	json_t *in = about(o->file), *answer;
	int code;

	if (!in)
		return GP_EXIT_BAD;
	gp_json_put(in, "in_ns", json_integer((json_int_t)o->in_ns));
	gp_json_put(in, "for_ns", json_integer((json_int_t)for_ns));
	code = gp_ask_call(NULL, "Hint", json_incref(in), &answer);
	if (!code) {
		json_decref(answer);
		if (o->json)
			code = gp_ask_print(o, json_incref(in));
	}
	json_decref(in);
	return code;
}

static int turn(const struct gp_options *o, const char *method, const char *done,
		const char *already)
{
	json_t *answer;
	int code = gp_ask_call(NULL, method, NULL, &answer);

	if (code)
		return code;
	if (o->json)
		return gp_ask_print(o, answer);
	puts(gp_ask_true(answer, "changed") ? done : already);
	json_decref(answer);
	return GP_EXIT_OK;
}

int gp_cmd_off(const struct gp_options *o)
{
	return turn(o, "Disable",
		    "off: everything runs, no process is preempted until 'gpreempt on'",
		    "it is off already");
}

int gp_cmd_on(const struct gp_options *o)
{
	return turn(o, "Enable", "on", "it is on already");
}
