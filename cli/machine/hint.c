// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt hint: announces work of a process. */
#include "ask.h"
#include "core/param.h"
#include "sim/json.h"

#define HINT_FOR_NS	(100 * GP_MSEC)

int gp_cmd_hint(const struct gp_options *o)
{
	u64 for_ns = o->given & GP_TAKES(FOR) ? o->for_ns : HINT_FOR_NS;
	json_t *in = gp_ask_about(o->file), *answer;
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
