// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Scenarios as the command line names and changes them. */
#include "load.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/term.h"
#include "scenarios.h"
#include "sim/expect.h"

static int set(struct gp_scenario *sc, const char *option, const char *key, const char *value)
{
	char err[512];

	if (!value)
		return 0;
	if (!gp_scenario_set(sc, key, value, err, sizeof(err)))
		return 0;
	gp_error("%s: %s", option, err);
	return -EINVAL;
}

/* In a file `expect` adds a line instead of setting a key. --set does the same. */
static int set_expect(struct gp_scenario *sc, const char *value)
{
	char err[1024];
	struct gp_why why = { err, sizeof(err) };
	struct gp_expect *e = &sc->expect[sc->nr_expects];

	if (!strcmp(value, "none")) {
		sc->nr_expects = 0;
		return 0;
	}
	if (sc->nr_expects == GP_SCENARIO_EXPECTS) {
		gp_error("--set: more than %d expectations", GP_SCENARIO_EXPECTS);
		return -EINVAL;
	}
	if (gp_expect_parse(value, e, &why)) {
		gp_error("--set: %s", err);
		return -EINVAL;
	}
	snprintf(e->where, sizeof(e->where), "--set");
	sc->nr_expects++;
	return 0;
}

static int set_one(struct gp_scenario *sc, const char *setting)
{
	const char *equals = strchr(setting, '=');
	size_t n = (size_t)(equals - setting);
	char key[128];

	if (n >= sizeof(key)) {
		gp_error("--set: '%s' has too long a key", setting);
		return -EINVAL;
	}
	memcpy(key, setting, n);
	key[n] = 0;
	if (!strcmp(key, "run.expect"))
		return set_expect(sc, equals + 1);
	return set(sc, "--set", key, equals + 1);
}

int gp_load_apply(const struct gp_options *o, struct gp_scenario *sc)
{
	if (set(sc, "--policy", "policy.name", o->policy) ||
	    set(sc, "--mechanism", "mechanism.name", o->mechanism) ||
	    set(sc, "--length", "run.length", o->length))
		return -EINVAL;
	for (u32 i = 0; i < o->nr_sets; i++) {
		if (set_one(sc, o->set[i]))
			return -EINVAL;
	}
	return 0;
}

/* Returns @name, or the path of the scenario of that name in @path, or NULL after a message. */
static const char *find_file(const char *name, char path[GP_SCENARIOS_PATH])
{
	struct stat st;

	if (!stat(name, &st)) {
		if (!S_ISDIR(st.st_mode))
			return name;
		gp_error("%s: is a folder; expected a scenario, such as one that 'gpreempt "
			 "scenarios' lists", name);
		return NULL;
	}
	if (strchr(name, '/'))
		return name;	/* reading the file reports what is wrong */
	if (!gp_scenarios_find(name, path))
		return path;
	gp_scenarios_unknown(name);
	return NULL;
}

int gp_load(const struct gp_options *o, struct gp_scenario **ret)
{
	char path[GP_SCENARIOS_PATH], err[GP_SCENARIO_ERRORS], *line;
	const char *file = find_file(o->file, path);
	struct gp_scenario *sc;

	if (!file)
		return -EINVAL;
	sc = calloc(1, sizeof(*sc));
	if (!sc) {
		gp_error("out of memory");
		return -EINVAL;
	}
	if (gp_scenario_load(file, sc, err, sizeof(err))) {
		for (line = strtok(err, "\n"); line; line = strtok(NULL, "\n"))
			gp_error("%s", line);
		free(sc);
		return -EINVAL;
	}
	if (gp_load_apply(o, sc)) {
		free(sc);
		return -EINVAL;
	}
	*ret = sc;
	return 0;
}

struct gp_label gp_label_of(const struct gp_scenario *sc)
{
	const char *slash = strrchr(sc->name, '/');
	struct gp_label label;
	char *dot;

	snprintf(label.s, sizeof(label.s), "%.63s", slash ? slash + 1 : sc->name);
	dot = strrchr(label.s, '.');
	if (dot && dot != label.s)
		*dot = 0;
	return label;
}
