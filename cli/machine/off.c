// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt off, on: stops and resumes all preemption. */
#include "ask.h"

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
