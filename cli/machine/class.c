// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt class: changes the class of a running process. */
#include "ask.h"
#include "sim/json.h"

int gp_cmd_class(const struct gp_options *o)
{
	json_t *in, *answer, *pid;
	int code;

	if (o->nr_operands != 2) {
		gp_error("class: usage: gpreempt class PID CLASS");
		return GP_EXIT_BAD;
	}
	in = gp_ask_about(o->operands[0]);
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
