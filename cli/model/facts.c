// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt facts: prints every number of the model with its source. */
#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"
#include "sim/costs.h"
#include "sim/json.h"
#include "vgpu/facts.h"

static const char *const units[] = {
	[VGPU_COUNT]		= "",
	[VGPU_NS]		= "ns",
	[VGPU_BYTES]		= "B",
	[VGPU_BYTES_PER_US]	= "B/us",
	[VGPU_PERMILLE]		= "permille",
	[VGPU_CHOICE]		= "choice",
};

static const char *const sources[] = {
	[VGPU_UNSET]	= "UNSET",
	[VGPU_MEASURED]	= "measured",
	[VGPU_READ]	= "read",
	[VGPU_ASSUMED]	= "assumed",
};

struct line {
	const char *name;
	const struct vgpu_fact *fact;
};

/* Collects the device's facts, then the costs of the paths on the processor. */
static u32 collect(const struct vgpu_facts *facts, struct line *lines)
{
	u32 n = 0;

	for (int i = 0; i < VGPU_NR_FACTS; i++)
		lines[n++] = (struct line){ vgpu_fact_name(i), &facts->f[i] };
	for (int i = 0; i < GP_NR_COSTS; i++)
		lines[n++] = (struct line){ gp_cost_name(i), &gp_costs_initial[i] };
	return n;
}

static const char *choice(const struct line *line)
{
	if (!strcmp(line->name, "rptr_at"))
		return line->fact->value == VGPU_RPTR_AT_LAUNCH ? "launch" : "completion";
	if (!strcmp(line->name, "save_area"))
		return line->fact->value == VGPU_SAVE_HOST ? "host" : "vram";
	return NULL;
}

static void print_text(const char *profile, const struct line *lines, u32 n)
{
	static const char *const head[] = {
		"number", "value", "unit", "source", "where, or what would replace it", NULL
	};
	struct gp_table table;
	u32 assumed = 0;

	printf("%sprofile %s%s: every number the model rests on\n\n", gp_paint(GP_BOLD), profile,
	       gp_paint(GP_PLAIN));
	gp_table_init(&table, head, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4);
	for (u32 i = 0; i < n; i++) {
		const char *word = lines[i].fact->unit == VGPU_CHOICE ? choice(&lines[i]) : NULL;
		char value[24];

		snprintf(value, sizeof(value), "%" PRIu64, lines[i].fact->value);
		gp_table_row(&table, GP_PLAIN);
		gp_table_cell(&table, lines[i].name);
		gp_table_cell(&table, word ? word : value);
		gp_table_cell(&table, units[lines[i].fact->unit]);
		gp_table_cell(&table, sources[lines[i].fact->from]);
		gp_table_cell(&table, lines[i].fact->note ? lines[i].fact->note : "");
		assumed += lines[i].fact->from == VGPU_ASSUMED;
	}
	gp_table_print(&table, stdout);
	printf("\n%" PRIu32 " of %" PRIu32
	       " numbers are assumed: a result is no better than the weakest it used.\n"
	       "A scenario changes one with a line in [costs] or [gpu]; `compare --robust` scales\n"
	       "those that are assumed.\n",
	       assumed, n);
}

static json_t *as_json(const char *profile)
{
	json_t *root = json_object(), *facts = json_array();
	struct line lines[VGPU_NR_FACTS + GP_NR_COSTS];
	u32 n = collect(vgpu_profile(profile), lines);

	gp_json_put(root, "schema", json_integer(GP_JSON_SCHEMA));
	gp_json_put(root, "profile", json_string(profile));
	for (u32 i = 0; i < n; i++) {
		const char *word = lines[i].fact->unit == VGPU_CHOICE ? choice(&lines[i]) : NULL;
		json_t *o = json_object();

		gp_json_put(o, "name", json_string(lines[i].name));
		gp_json_put(o, "value", word ? json_string(word) :
			    json_integer((json_int_t)lines[i].fact->value));
		gp_json_put(o, "unit", json_string(units[lines[i].fact->unit]));
		gp_json_put(o, "source", json_string(sources[lines[i].fact->from]));
		gp_json_put(o, "note", json_string(lines[i].fact->note ? lines[i].fact->note : ""));
		json_array_append_new(facts, o);
	}
	gp_json_put(root, "facts", facts);
	return root;
}

static void print_profiles(void)
{
	char names[128] = "";

	for (int i = 0; vgpu_profile_names[i]; i++) {
		size_t n = strlen(names);

		snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "",
			 vgpu_profile_names[i]);
	}
	fprintf(stderr, "%s\n", names);
}

int gp_cmd_facts(const struct gp_options *o)
{
	const char *profile = o->profile ? o->profile : "mi308x";
	const struct vgpu_facts *facts = vgpu_profile(profile);
	struct line lines[VGPU_NR_FACTS + GP_NR_COSTS];
	u32 n;

	if (!facts) {
		fprintf(stderr, "gpreempt: no profile '%s'; there are ", profile);
		print_profiles();
		return GP_EXIT_BAD;
	}
	if (o->json)
		return gp_json_print(as_json(profile), stdout) ? GP_EXIT_BAD : GP_EXIT_OK;
	n = collect(facts, lines);
	print_text(profile, lines, n);
	return GP_EXIT_OK;
}
