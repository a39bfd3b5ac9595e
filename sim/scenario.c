// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads a scenario: files, includes, expectations. The sections are in scenario_keys.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "text/ini.h"

enum { MESSAGE = 1000 };

/* A file that is being read. */
struct reading {
	struct gp_scenario *sc;
	struct gp_ini ini;
	char section[GP_INI_LINE + 1];	/* "": none yet */
	bool ignore;			/* the header of the section is invalid */
	u32 depth;			/* of includes */
};

static int load_into(struct gp_scenario *sc, const char *path, u32 depth,
		     struct gp_ini_errors *errors);

const struct gp_task_spec *gp_scenario_task(const struct gp_scenario *sc, const char *name)
{
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		if (!strcmp(sc->task[i].name, name))
			return &sc->task[i];
	}
	return NULL;
}

/* ---- lines ---- */

static int set_pair(struct gp_scenario *sc, const char *section, const char *key,
		    const char *value, const struct gp_why *why)
{
	struct gp_section s;
	int i, err = gp_scenario_section(sc, section, &s, why);

	if (err)
		return err;
	i = gp_section_find(&s, key);
	return i < 0 ? gp_section_unknown(&s, key, why) : gp_section_set(&s, i, value, why);
}

static int add_expect(struct reading *r, const char *value, const struct gp_why *why)
{
	struct gp_scenario *sc = r->sc;
	const char *base = strrchr(r->ini.file, '/');
	int err;

	if (!strcmp(value, "none")) {	/* a variant drops the expectations that it includes */
		sc->nr_expects = 0;
		return 0;
	}
	if (sc->nr_expects == GP_SCENARIO_EXPECTS)
		return gp_why(why, "too many expectations; expected at most %d",
			      GP_SCENARIO_EXPECTS);
	err = gp_expect_parse(value, &sc->expect[sc->nr_expects], why);
	if (err)
		return err;
	snprintf(sc->expect[sc->nr_expects].where, sizeof(sc->expect[0].where), "%.32s:%u",
		 base ? base + 1 : r->ini.file, r->ini.line);
	sc->nr_expects++;
	return 0;
}

/* Mistakes inside the included file are reported with their own place. */
static int include(struct reading *r, const char *file, const struct gp_why *why)
{
	char path[GP_SCENARIO_PATH];
	int n, err;

	if (!r->sc->dir[0])
		return gp_why(why, "include: not possible, since this text is not a file");
	if (r->depth + 1 >= GP_SCENARIO_DEPTH)
		return gp_why(why, "include: more than %d files deep; include fewer",
			      GP_SCENARIO_DEPTH);
	n = snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : r->sc->dir,
		     *file == '/' ? "" : "/", file);
	if (n < 0 || (size_t)n >= sizeof(path))
		return gp_why(why, "include: the path is too long; expected at most %d bytes",
			      GP_SCENARIO_PATH - 1);
	err = load_into(r->sc, path, r->depth + 1, r->ini.errors);
	return err ? gp_why(why, "include: cannot read '%s': %s", path, strerror(-err)) : 0;
}

static void on_section(void *reading, const char *name, const char *rest)
{
	struct reading *r = reading;

	(void)rest;	/* has always been ignored */
	r->ignore = !name;
	snprintf(r->section, sizeof(r->section), "%s", name ? name : "");
}

static void on_pair(void *reading, const char *key, const char *value)
{
	struct reading *r = reading;
	char text[MESSAGE];
	const struct gp_why why = { text, sizeof(text) };
	int err = 0;

	if (!strcmp(key, "include"))
		err = include(r, value, &why);
	else if (!strcmp(key, "expect"))
		err = add_expect(r, value, &why);
	else if (!r->section[0] && !r->ignore)
		err = gp_why(&why, "'%s' stands before any section; write [NAME] above it", key);
	else if (!r->ignore)
		err = set_pair(r->sc, r->section, key, value, &why);
	if (err)
		gp_ini_error(r->ini.errors, r->ini.file, r->ini.line, "%s", text);
}

static void parse_text(struct reading *r, struct gp_ini_errors *errors)
{
	r->ini.errors = errors;
	r->ini.user = r;
	r->ini.section = on_section;
	r->ini.pair = on_pair;
	gp_ini_parse(&r->ini);
}

/* Loads a file. -errno: it cannot be read. Mistakes in it go to @errors. */
static int load_into(struct gp_scenario *sc, const char *path, u32 depth,
		     struct gp_ini_errors *errors)
{
	struct reading r = { .sc = sc, .ini.file = path, .depth = depth };
	char outer[GP_SCENARIO_PATH];
	const char *slash = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	int err;

	if (fd < 0)
		return -errno;
	err = gp_ini_read(fd, &text, &r.ini.size);
	close(fd);
	if (err)
		return err;
	memcpy(outer, sc->dir, sizeof(outer));
	snprintf(sc->dir, sizeof(sc->dir), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	r.ini.text = text;
	parse_text(&r, errors);
	memcpy(sc->dir, outer, sizeof(outer));
	free(text);
	return 0;
}

/* ---- the whole ---- */

/* Finds mistakes that only the whole scenario shows. */
static void check_whole(const struct gp_scenario *sc, struct gp_ini_errors *errors)
{
	u64 there = BIT_ULL(sc->gpus) - 1;

	if (!sc->nr_tasks)
		gp_ini_error(errors, sc->name, 0, "no task; add a section such as [train]");
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		const struct gp_task_spec *t = &sc->task[i];

		if (t->devices & ~there)
			gp_ini_error(errors, sc->name, 0, "[%s] devices: there are only %u GPUs; "
				     "raise [gpu] count", t->name, sc->gpus);
		if (t->gang && t->loop != GP_LOOP_CLOSED)
			gp_ini_error(errors, sc->name, 0, "[%s] gang: needs loop = closed",
				     t->name);
	}
	for (u32 i = 0; i < sc->nr_faults; i++) {
		if (sc->fault[i].task[0] && !gp_scenario_task(sc, sc->fault[i].task))
			gp_ini_error(errors, sc->name, 0, "[%s] task: unknown task '%s'; write the "
				     "name of a section", sc->fault[i].name, sc->fault[i].task);
	}
	for (u32 i = 0; i < sc->nr_expects; i++) {
		const struct gp_expect *e = &sc->expect[i];

		if (strcmp(e->task, "all") && !gp_scenario_task(sc, e->task))
			gp_ini_error(errors, e->where, 0, "expect: unknown task '%s'; write all or "
				     "the name of a section", e->task);
	}
}

/* The end of every change: copies @sc to @ret and frees it, if there is no mistake. */
static int finish(struct gp_scenario *sc, int err, struct gp_ini_errors *errors,
		  struct gp_scenario *ret)
{
	if (!err && !errors->nr)
		check_whole(sc, errors);
	gp_ini_errors_end(errors);
	if (errors->at)
		errors->text[errors->at - 1] = '\0';
	if (!err && errors->nr)
		err = -EINVAL;
	if (!err)
		*ret = *sc;
	free(sc);
	return err;
}

int gp_scenario_load(const char *path, struct gp_scenario *ret, char *err, size_t err_size)
{
	struct gp_scenario *sc = malloc(sizeof(*sc));
	struct gp_ini_errors errors;
	int r;

	gp_ini_errors_init(&errors, err, err_size);
	if (!sc)
		return -ENOMEM;
	gp_scenario_init(sc);
	snprintf(sc->name, sizeof(sc->name), "%s", path);
	r = load_into(sc, path, 0, &errors);
	if (r)
		gp_ini_error(&errors, path, 0, "cannot be read: %s", strerror(-r));
	return finish(sc, r, &errors, ret);
}

int gp_scenario_parse(const char *text, size_t size, struct gp_scenario *ret, char *err,
		      size_t err_size)
{
	struct gp_scenario *sc = malloc(sizeof(*sc));
	struct reading r = { .sc = sc, .ini = { .file = "text", .text = text, .size = size } };
	struct gp_ini_errors errors;

	gp_ini_errors_init(&errors, err, err_size);
	if (!sc)
		return -ENOMEM;
	gp_scenario_init(sc);
	strcpy(sc->name, "text");
	parse_text(&r, &errors);
	return finish(sc, 0, &errors, ret);
}

int gp_scenario_set(struct gp_scenario *sc, const char *key, const char *value, char *err,
		    size_t err_size)
{
	struct gp_why why = { err, err_size };
	const char *dot = strchr(key, '.');
	struct gp_ini_errors errors;
	struct gp_scenario *copy;
	char section[GP_SCENARIO_NAME];
	int r;

	if (!dot || (size_t)(dot - key) >= sizeof(section))
		return gp_why(&why, "invalid key '%s'; expected SECTION.KEY", key);
	snprintf(section, sizeof(section), "%.*s", (int)(dot - key), key);
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *sc;
	r = set_pair(copy, section, dot + 1, value, &why);
	if (!r && copy->nr_tasks != sc->nr_tasks)
		r = gp_why(&why, "no section '%s' in %s; write the name of one", section, sc->name);
	if (r) {
		free(copy);
		return r;
	}
	gp_ini_errors_init(&errors, err, err_size);
	return finish(copy, 0, &errors, sc);
}
