// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads a scenario: lines, sections, includes. What the keys mean is in the tables of keys.h. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "keys.h"

/* A text that inih reads line by line; it does not tell its handler the line, so we count. */
struct reader {
	struct gp_scenario *sc;
	const struct gp_why *why;
	const char *file;	/* for messages */
	const char *text;
	size_t size, at;
	u32 line;
	u32 depth;		/* of includes */
	int err;		/* the first one; everything behind it is ignored */
};

static int parse_text(struct reader *r);

/* Prefixes what the sentence in @r->why says with the place. */
static int at_line(struct reader *r, int err)
{
	char sentence[400];

	snprintf(sentence, sizeof(sentence), "%s", r->why->text);
	snprintf(r->why->text, r->why->size, "%s:%u: %s", r->file, r->line, sentence);
	return err;
}

/* ---- one key ---- */

static bool name_is_fine(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n < GP_SCENARIO_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_-") == n;
}

static struct gp_task_spec *find_task(struct gp_scenario *sc, const char *name)
{
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		if (!strcmp(sc->task[i].name, name))
			return &sc->task[i];
	}
	return NULL;
}

const struct gp_task_spec *gp_scenario_task(const struct gp_scenario *sc, const char *name)
{
	return find_task((struct gp_scenario *)sc, name);
}

static int unknown_key(const struct gp_key *keys, const char *more, const char *const pair[2],
		       const struct gp_why *why)
{
	char names[480];

	gp_key_names(keys, names, sizeof(names));
	return gp_why(why, "no key '%s' here; allowed: %s%s%s", pair[0], names, more ? " " : "",
		      more ? more : "");
}

static int set_in_section(struct gp_scenario *sc, const struct gp_section *s,
			  const char *const pair[2], const struct gp_why *why)
{
	int err = gp_key_set(s->keys, sc, (char *)sc + s->offset, pair, why);

	if (err == -ENOENT && s->set_more)
		err = s->set_more(sc, pair, why);
	return err == -ENOENT ? unknown_key(s->keys, s->more, pair, why) : err;
}

/* Sections [fault], [fault2], [fault-x] are one fault each, in order of appearance. */
static int set_in_fault(struct gp_scenario *sc, const char *section, const char *const pair[2],
			const struct gp_why *why)
{
	struct gp_fault_spec *f = NULL;
	int err;

	for (u32 i = 0; i < sc->nr_faults; i++) {
		if (!strcmp(sc->fault[i].name, section))
			f = &sc->fault[i];
	}
	if (!f) {
		if (sc->nr_faults == GP_SCENARIO_FAULTS || strlen(section) >= sizeof(f->name))
			return gp_why(why, "[%s]: at most %d faults, names shorter than %d",
				      section, GP_SCENARIO_FAULTS, GP_SCENARIO_NAME);
		f = &sc->fault[sc->nr_faults++];
		memset(f, 0, sizeof(*f));
		snprintf(f->name, sizeof(f->name), "%s", section);
		f->factor = 10;
	}
	err = gp_key_set(gp_fault_keys, sc, f, pair, why);
	return err == -ENOENT ? unknown_key(gp_fault_keys, NULL, pair, why) : err;
}

static int set_in_task(struct gp_scenario *sc, const char *section, const char *const pair[2],
		       const struct gp_why *why)
{
	struct gp_task_spec *t = find_task(sc, section);
	int err;

	if (!t) {
		if (!name_is_fine(section))
			return gp_why(why, "[%s]: a task's name is 1..%d letters, digits, _ or -",
				      section, GP_SCENARIO_NAME - 1);
		if (!strcmp(section, "all") || sc->nr_tasks == GP_SCENARIO_TASKS)
			return gp_why(why, "[%s]: at most %d tasks, none of them called 'all'",
				      section, GP_SCENARIO_TASKS);
		t = &sc->task[sc->nr_tasks++];
		gp_task_spec_init(t, section);
	}
	err = gp_key_set(gp_task_keys, sc, t, pair, why);
	return err == -ENOENT ? unknown_key(gp_task_keys, NULL, pair, why) : err;
}

static int set_pair(struct gp_scenario *sc, const char *section, const char *const pair[2],
		    const struct gp_why *why)
{
	for (const struct gp_section *s = gp_sections; s->name; s++) {
		if (!strcmp(s->name, section))
			return set_in_section(sc, s, pair, why);
	}
	if (!strncmp(section, "fault", 5))
		return set_in_fault(sc, section, pair, why);
	return set_in_task(sc, section, pair, why);
}

/* ---- expect ---- */

static int add_expect(struct reader *r, const char *value)
{
	struct gp_scenario *sc = r->sc;
	const char *base = strrchr(r->file, '/');
	int err;

	if (!strcmp(value, "none")) {	/* a variant drops those of what it includes */
		sc->nr_expects = 0;
		return 0;
	}
	if (sc->nr_expects == GP_SCENARIO_EXPECTS)
		return gp_why(r->why, "at most %d expectations", GP_SCENARIO_EXPECTS);
	err = gp_expect_parse(value, &sc->expect[sc->nr_expects], r->why);
	if (err)
		return err;
	snprintf(sc->expect[sc->nr_expects].where, sizeof(sc->expect[0].where), "%.32s:%u",
		 base ? base + 1 : r->file, r->line);
	sc->nr_expects++;
	return 0;
}

/* ---- files ---- */

static int read_file(const char *path, char **text, size_t *size, const struct gp_why *why)
{
	FILE *f = fopen(path, "r");
	char *buffer;

	if (!f) {
		int err = -errno;

		gp_why(why, "cannot open '%s': %s", path, strerror(-err));
		return err;
	}
	buffer = malloc(GP_SCENARIO_BYTES);
	*size = buffer ? fread(buffer, 1, GP_SCENARIO_BYTES, f) : 0;
	fclose(f);
	if (!buffer)
		return -ENOMEM;
	if (*size == GP_SCENARIO_BYTES) {
		free(buffer);
		return gp_why(why, "'%s' is larger than %d bytes", path, GP_SCENARIO_BYTES - 1);
	}
	*text = buffer;
	return 0;
}

static int load_into(struct gp_scenario *sc, const char *path, u32 depth,
		     const struct gp_why *why)
{
	struct reader r = { .sc = sc, .why = why, .file = path, .depth = depth };
	char outer[GP_SCENARIO_PATH];
	const char *slash = strrchr(path, '/');
	char *text = NULL;
	int err = read_file(path, &text, &r.size, why);

	if (err)
		return err;
	memcpy(outer, sc->dir, sizeof(outer));
	snprintf(sc->dir, sizeof(sc->dir), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	r.text = text;
	err = parse_text(&r);
	memcpy(sc->dir, outer, sizeof(outer));
	free(text);
	return err;
}

static int include(struct reader *r, const char *file)
{
	char path[GP_SCENARIO_PATH];
	int n, err;

	if (!r->sc->dir[0])
		return gp_why(r->why, "include: not possible here, this text is no file");
	if (r->depth + 1 >= GP_SCENARIO_DEPTH)
		return gp_why(r->why, "include: more than %d deep", GP_SCENARIO_DEPTH);
	n = snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : r->sc->dir,
		     *file == '/' ? "" : "/", file);
	if (n < 0 || (size_t)n >= sizeof(path))
		return gp_why(r->why, "include: the path is longer than %d",
			      GP_SCENARIO_PATH - 1);
	err = load_into(r->sc, path, r->depth + 1, r->why);
	if (err && !strncmp(r->why->text, "cannot open", 11)) {
		char sentence[GP_SCENARIO_PATH + 64];

		snprintf(sentence, sizeof(sentence), "%s", r->why->text);
		gp_why(r->why, "include: %s", sentence);
	}
	return err;
}

/* ---- lines ---- */

static int on_pair(void *user, const char *section, const char *key, const char *value)
{
	struct reader *r = user;
	const char *const pair[2] = { key, value };
	int err;

	if (r->err)
		return 0;
	if (!strcmp(key, "include")) {
		/* A message from inside has its own place already. */
		r->err = include(r, value);
		if (r->err && strncmp(r->why->text, "include", 7))
			return 0;
		err = r->err;
	} else if (!strcmp(key, "expect")) {
		err = add_expect(r, value);
	} else if (!*section) {
		err = gp_why(r->why, "'%s' stands before any [section]", key);
	} else {
		err = set_pair(r->sc, section, pair, r->why);
	}
	if (err)
		r->err = at_line(r, err);
	return !r->err;
}

/*
 * fgets() for inih: one line of at most @n - 1 bytes. Blanks at the start go,
 * since inih would take the line for a continuation; so does " # comment".
 */
static char *next_line(char *to, int n, void *user)
{
	struct reader *r = user;
	const char *line = r->text + r->at, *end, *hash;
	size_t length;

	if (r->at >= r->size || r->err)
		return NULL;
	end = memchr(line, '\n', r->size - r->at);
	length = end ? (size_t)(end - line) : r->size - r->at;
	r->at += length + 1;
	r->line++;
	while (length && (*line == ' ' || *line == '\t')) {
		line++;
		length--;
	}
	hash = memmem(line, length, " #", 2);
	if (hash)
		length = (size_t)(hash - line);
	if (length + 2 > (size_t)n || memchr(line, '\0', length)) {
		gp_why(r->why, "a line is text of at most %d bytes", n - 2);
		r->err = at_line(r, -EINVAL);
		return NULL;
	}
	memcpy(to, line, length);
	memcpy(to + length, "\n", 2);
	return to;
}

static int parse_text(struct reader *r)
{
	int line = ini_parse_stream(next_line, r, on_pair, r);

	if (r->err)
		return r->err;
	if (line > 0) {
		r->line = (u32)line;
		gp_why(r->why, "neither '[section]' nor 'key = value'");
		return at_line(r, -EINVAL);
	}
	return line < 0 ? -ENOMEM : 0;
}

/* What no single key can be blamed for. */
static int check_whole(const struct gp_scenario *sc, const struct gp_why *why)
{
	u64 there = BIT_ULL(sc->gpus) - 1;

	if (!sc->nr_tasks)
		return gp_why(why, "%s: no task; a section such as [train] makes one", sc->name);
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		const struct gp_task_spec *t = &sc->task[i];

		if (t->devices & ~there)
			return gp_why(why, "%s: [%s] devices: there are only %u GPUs ([gpu] count)",
				      sc->name, t->name, sc->gpus);
		if (t->gang && t->loop != GP_LOOP_CLOSED)
			return gp_why(why, "%s: [%s] gang: needs loop = closed", sc->name, t->name);
	}
	for (u32 i = 0; i < sc->nr_faults; i++) {
		if (sc->fault[i].task[0] && !gp_scenario_task(sc, sc->fault[i].task))
			return gp_why(why, "%s: [%s] task: there is no task '%s'", sc->name,
				      sc->fault[i].name, sc->fault[i].task);
	}
	for (u32 i = 0; i < sc->nr_expects; i++) {
		const struct gp_expect *e = &sc->expect[i];

		if (strcmp(e->task, "all") && !gp_scenario_task(sc, e->task))
			return gp_why(why, "%s: expect: there is no task '%s'", e->where, e->task);
	}
	return 0;
}

int gp_scenario_load(const char *path, struct gp_scenario *ret, char *err, size_t err_size)
{
	struct gp_why why = { err, err_size };
	struct gp_scenario *sc = malloc(sizeof(*sc));
	int r;

	if (!sc)
		return -ENOMEM;
	err[0] = '\0';
	gp_scenario_init(sc);
	snprintf(sc->name, sizeof(sc->name), "%s", path);
	r = load_into(sc, path, 0, &why);
	if (!r)
		r = check_whole(sc, &why);
	if (!r)
		*ret = *sc;
	free(sc);
	return r;
}

int gp_scenario_parse(const char *text, size_t size, struct gp_scenario *ret, char *err,
		      size_t err_size)
{
	struct gp_why why = { err, err_size };
	struct gp_scenario *sc = malloc(sizeof(*sc));
	struct reader reader = { .sc = sc, .why = &why, .file = "text", .text = text,
				 .size = size };
	int r = sc ? 0 : -ENOMEM;

	if (r)
		return r;
	err[0] = '\0';
	gp_scenario_init(sc);
	strcpy(sc->name, "text");
	r = parse_text(&reader);
	if (!r)
		r = check_whole(sc, &why);
	if (!r)
		*ret = *sc;
	free(sc);
	return r;
}

int gp_scenario_set(struct gp_scenario *sc, const char *key, const char *value, char *err,
		    size_t err_size)
{
	struct gp_why why = { err, err_size };
	const char *dot = strchr(key, '.');
	const char *const pair[2] = { dot ? dot + 1 : "", value };
	struct gp_scenario *copy;
	char section[GP_SCENARIO_NAME];
	int r;

	if (!dot || (size_t)(dot - key) >= sizeof(section))
		return gp_why(&why, "'%s' is not section.key", key);
	snprintf(section, sizeof(section), "%.*s", (int)(dot - key), key);
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *sc;
	r = set_pair(copy, section, pair, &why);
	if (!r && copy->nr_tasks != sc->nr_tasks)
		r = gp_why(&why, "no section '%s' in %s", section, sc->name);
	if (!r)
		r = check_whole(copy, &why);
	if (!r)
		*sc = *copy;
	free(copy);
	return r;
}
