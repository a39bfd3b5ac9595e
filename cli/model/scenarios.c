// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt scenarios: lists the scenarios that are installed with gpreempt. */
#include "scenarios.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/table.h"
#include "sim/json.h"

#ifndef GP_DATA
#define GP_DATA "/usr/share/gpreempt"
#endif

enum { PLACES = 4, SUFFIX = sizeof(".ini") - 1 };

/* Lists the folders in which scenarios are searched, "" for each unknown one. */
static void list_places(char place[PLACES][GP_SCENARIOS_PATH])
{
	const char *given = getenv("GPREEMPT_SCENARIOS");
	char program[GP_SCENARIOS_PATH / 2] = "", *slash;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	memset(place, 0, PLACES * GP_SCENARIOS_PATH);
	snprintf(place[0], GP_SCENARIOS_PATH, "%s", given ? given : "");
	slash = n > 0 ? strrchr(program, '/') : NULL;
	if (slash) {
		*slash = '\0';
		/* installed in PREFIX/bin, built in BUILD/cli */
		snprintf(place[1], GP_SCENARIOS_PATH, "%s/../share/gpreempt/scenarios", program);
		snprintf(place[2], GP_SCENARIOS_PATH, "%s/../../scenarios", program);
	}
	snprintf(place[3], GP_SCENARIOS_PATH, "%s/scenarios", GP_DATA);
}

int gp_scenarios_find(const char *name, char path[GP_SCENARIOS_PATH])
{
	char place[PLACES][GP_SCENARIOS_PATH];
	const char *suffix = strchr(name, '.') ? "" : ".ini";

	list_places(place);
	for (int i = 0; i < PLACES; i++) {
		int n = snprintf(path, GP_SCENARIOS_PATH, "%s/%s%s", place[i], name, suffix);

		if (place[i][0] && n < GP_SCENARIOS_PATH && !access(path, R_OK))
			return 0;
	}
	return -ENOENT;
}

static int is_scenario(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > SUFFIX && !strcmp(d->d_name + n - SUFFIX, ".ini");
}

/*
 * Lists the scenarios of the first folder that has any. Returns their number. The caller frees
 * @ret with free_list().
 */
static int list(char folder[GP_SCENARIOS_PATH], struct dirent ***ret)
{
	char place[PLACES][GP_SCENARIOS_PATH];

	list_places(place);
	for (int i = 0; i < PLACES; i++) {
		int n = place[i][0] ? scandir(place[i], ret, is_scenario, alphasort) : 0;

		if (n > 0) {
			memcpy(folder, place[i], GP_SCENARIOS_PATH);
			return n;
		}
		if (!n && place[i][0])
			free(*ret);
	}
	return 0;
}

static void free_list(struct dirent **entry, int nr)
{
	for (int i = 0; i < nr; i++)
		free(entry[i]);
	if (nr)
		free(entry);
}

void gp_scenarios_unknown(const char *name)
{
	struct gp_nearest nearest = { .word = name };
	char folder[GP_SCENARIOS_PATH];
	struct dirent **entry;
	int nr = list(folder, &entry);

	for (int i = 0; i < nr; i++) {
		entry[i]->d_name[strlen(entry[i]->d_name) - SUFFIX] = '\0';
		gp_nearest_try(&nearest, entry[i]->d_name);
	}
	if (nearest.name)
		gp_error("%s: no such file or scenario; did you mean '%s'?", name, nearest.name);
	else
		gp_error("%s: no such file or scenario; 'gpreempt scenarios' lists the scenarios",
			 name);
	free_list(entry, nr);
}

/* Appends a line of a comment to @what. Returns true when @what is a complete statement. */
static bool add_line(char *what, size_t size, const char *line)
{
	size_t at = strlen(what);
	char *end = what;

	line += strspn(line, "# ");
	snprintf(what + at, size - at, "%s%.*s", at ? " " : "", (int)strcspn(line, "\n"), line);
	do
		end += strcspn(end, ".:;");
	while (*end && end[1] && end[1] != ' ' && end++);
	if (!*end)
		return false;
	*end = '\0';
	return true;
}

/* Stores the first statement of the comment at the start of the scenario in @what. */
static void describe(const char *path, char *what, size_t size)
{
	FILE *file = fopen(path, "r");
	char line[256];

	what[0] = '\0';
	while (file && fgets(line, sizeof(line), file) && line[0] == '#') {
		bool spdx = strstr(line, "SPDX-License-Identifier");

		if (!spdx && add_line(what, size, line))
			break;
	}
	if (file)
		fclose(file);
}

static void print_text(const json_t *scenarios)
{
	static const char *const head[] = { "scenario", "what it is", NULL };
	struct gp_table table;
	json_t *scenario;
	size_t i;

	gp_table_init(&table, head, 1 << 0 | 1 << 1);
	json_array_foreach(scenarios, i, scenario) {
		gp_table_row(&table, GP_PLAIN);
		gp_table_cell(&table, json_string_value(json_object_get(scenario, "name")));
		gp_table_cell(&table, json_string_value(json_object_get(scenario, "what")));
	}
	gp_table_print(&table, stdout);
	puts("\n'gpreempt sim NAME' and 'gpreempt compare NAME' run one.");
}

static json_t *scenarios_json(void)
{
	char folder[GP_SCENARIOS_PATH], path[2 * GP_SCENARIOS_PATH], what[256];
	json_t *all = json_array();
	struct dirent **entry;
	int nr = list(folder, &entry);

	for (int i = 0; i < nr; i++) {
		char *name = entry[i]->d_name;
		json_t *one = json_object();

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		describe(path, what, sizeof(what));
		name[strlen(name) - SUFFIX] = '\0';
		gp_json_put(one, "name", json_string(name));
		gp_json_put(one, "what", json_string(what));
		gp_json_put(one, "path", json_string(path));
		json_array_append_new(all, one);
	}
	free_list(entry, nr);
	return all;
}

int gp_cmd_scenarios(const struct gp_options *o)
{
	json_t *root = json_object(), *all = scenarios_json();
	int code = GP_EXIT_OK;

	gp_json_put(root, "schema", json_integer(GP_JSON_SCHEMA));
	gp_json_put(root, "scenarios", all);
	if (!json_array_size(all)) {
		gp_error("scenarios: not found; set GPREEMPT_SCENARIOS to the folder they are in");
		code = GP_EXIT_BAD;
	} else if (o->json) {
		return gp_json_print(root, stdout) ? GP_EXIT_BAD : GP_EXIT_OK;
	} else {
		print_text(all);
	}
	json_decref(root);
	return code;
}
