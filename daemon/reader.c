// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "reader.h"

#include <ini.h>
#include <stdio.h>
#include <string.h>

#define BLANKS	" \t\r\v\f"

/* Of the @n bytes at *@line: without blanks at both ends. */
static size_t trim(const char **line, size_t n)
{
	while (n && strchr(BLANKS, **line)) {
		(*line)++;
		n--;
	}
	while (n && strchr(BLANKS, (*line)[n - 1]))
		n--;
	return n;
}

/* "[kind name]" */
static void read_section(struct gp_reader *r, const char *line, size_t n)
{
	char text[256], *name;
	bool closed = n > 2 && line[n - 1] == ']';

	line++;
	n = closed ? trim(&line, n - 2) : 0;
	if (!n) {
		gp_fault(r->faults, r->file, r->line, "a section has no name or is not closed; "
			 "write [NAME] and nothing else on the line");
		r->section(r->user, NULL, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%.*s", (int)n, line);
	name = text + strcspn(text, " \t");
	if (*name)
		*name++ = '\0';
	name += strspn(name, " \t");
	r->section(r->user, text, name);
}

/* Length without a comment: '#' or ';' behind a blank. */
static size_t without_comment(const char *line, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		bool starts = line[i] == '#' || line[i] == ';';

		if (starts && (line[i - 1] == ' ' || line[i - 1] == '\t'))
			return i;
	}
	return n;
}

/* fgets() for inih, which sees only what it can split. */
static char *next_line(char *to, int size, void *user)
{
	struct gp_reader *r = user;
	const char *line = r->text + r->at, *end;
	size_t n, most = (size_t)size - 2;

	if (r->at >= r->size)
		return NULL;
	end = memchr(line, '\n', r->size - r->at);
	n = end ? (size_t)(end - line) : r->size - r->at;
	r->at += n + 1;
	r->line++;
	memcpy(to, "\n", 2);
	if (r->line == 1 && n >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		n -= 3;
	}
	if (memchr(line, '\0', n)) {
		gp_fault(r->faults, r->file, r->line, "a zero byte; this is no text file");
		return to;
	}
	n = without_comment(line, n);
	/* Blanks at the start go: inih would take the line for a continuation. */
	n = trim(&line, n);
	if (!n || *line == '#' || *line == ';')
		return to;
	if (n > most) {
		gp_fault(r->faults, r->file, r->line, "the line is too long; write at most %zu "
			 "bytes", most);
	} else if (*line == '[') {
		read_section(r, line, n);
	} else if (!memchr(line, '=', n) || *line == '=') {
		gp_fault(r->faults, r->file, r->line,
			 "neither a section nor a setting; write [NAME] or KEY = VALUE");
	} else {
		memcpy(to, line, n);
		memcpy(to + n, "\n", 2);
	}
	return to;
}

static int on_pair(void *user, const char *section, const char *key, const char *value)
{
	struct gp_reader *r = user;

	(void)section;	/* cut at 49 bytes; ours is not */
	r->pair(r->user, key, value);
	return 1;
}

void gp_reader_run(struct gp_reader *r)
{
	r->at = 0;
	r->line = 0;
	/* It refuses nothing that next_line() lets through. */
	GP_WARN_ON(ini_parse_stream(next_line, r, on_pair, r) != 0);
}
