// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt policy: shows or changes the policy and its parameters. */
#include <string.h>

#include "ask.h"
#include "cli/table.h"
#include "sim/json.h"

static void print_text(const json_t *answer, bool dry_run)
{
	static const char *const head[] = { "parameter", "value", "initial", "what it is", NULL };
	struct gp_table table;
	json_t *parameter;
	size_t i;

	printf("%spolicy %s%s%s\n\n", gp_paint(GP_BOLD), gp_ask_text(answer, "policy"),
	       gp_paint(GP_PLAIN), dry_run ? " would do; nothing was changed; parameters:" : "");
	gp_table_init(&table, head, 1 << 0 | 1 << 3);
	json_array_foreach(json_object_get(answer, "parameters"), i, parameter) {
		const char *value = gp_ask_text(parameter, "value");
		const char *initial = gp_ask_text(parameter, "initial");

		gp_table_row(&table, strcmp(value, initial) ? GP_OURS : GP_PLAIN);
		gp_table_cell(&table, gp_ask_text(parameter, "name"));
		gp_table_cell(&table, value);
		gp_table_cell(&table, initial);
		gp_table_cell(&table, gp_ask_text(parameter, "what"));
	}
	gp_table_print(&table, stdout);
}

/* Builds the parameters of SetPolicy from the operands. Returns NULL after a message. */
static json_t *wanted(const struct gp_options *o)
{
	json_t *in = json_object(), *parameters = json_object();
	const char *name = NULL;

	for (u32 i = 0; i < o->nr_operands; i++) {
		char *word = o->operands[i], *equals = strchr(word, '=');

		if (equals && equals != word) {
			*equals = '\0';
			gp_json_put(parameters, word, json_string(equals + 1));
		} else if (equals || name) {
			gp_error("policy: what is '%s'? usage: gpreempt policy [NAME] "
				 "[KEY=VALUE...]", word);
			json_decref(parameters);
			json_decref(in);
			return NULL;
		} else {
			name = word;
		}
	}
	if (name)
		gp_json_put(in, "policy", json_string(name));
	if (json_object_size(parameters))
		gp_json_put(in, "parameters", json_incref(parameters));
	json_decref(parameters);
	if (o->dry_run)
		gp_json_put(in, "dry_run", json_true());
	return in;
}

int gp_cmd_policy(const struct gp_options *o)
{
	json_t *in = NULL, *answer;
	int code;

	if (o->dry_run && !o->nr_operands) {
		gp_error("policy: --dry-run of what? give a NAME or KEY=VALUE");
		return GP_EXIT_BAD;
	}
	if (o->nr_operands) {
		in = wanted(o);
		if (!in)
			return GP_EXIT_BAD;
	}
	code = gp_ask_call(NULL, in ? "SetPolicy" : "GetPolicy", in, &answer);
	if (code)
		return code;
	if (o->json)
		return gp_ask_print(o, answer);
	print_text(answer, o->dry_run);
	json_decref(answer);
	return GP_EXIT_OK;
}
