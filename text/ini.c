// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ini.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "value.h"

/* ---- messages ---- */

void gp_ini_errors_init(struct gp_ini_errors *errors, char *text, size_t size)
{
	*errors = (struct gp_ini_errors){ .text = text, .size = size };
	if (size)
		text[0] = '\0';
}

/*
 * Leaves out a line that does not fit, but cuts the first one, so that there is always a
 * message.
 */
static void add_line(struct gp_ini_errors *errors, char *line)
{
	size_t n = strlen(line);

	gp_text_clean(line);
	if (!errors->at && errors->size > 2 && n + 2 > errors->size)
		n = errors->size - 2;
	if (errors->at + n + 2 > errors->size)
		return;
	memcpy(errors->text + errors->at, line, n);
	memcpy(errors->text + errors->at + n, "\n", 2);
	errors->at += n + 1;
	errors->listed++;
}

void gp_ini_error(struct gp_ini_errors *errors, const char *file, u32 line, const char *format,
		  ...)
{
	char text[1024], place[16] = "";
	va_list args;
	int n;

	if (++errors->nr > GP_INI_LISTED)
		return;
	if (line)
		snprintf(place, sizeof(place), ":%u", line);
	n = snprintf(text, sizeof(text), "%.300s%s: ", file, place);
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	add_line(errors, text);
}

void gp_ini_errors_end(struct gp_ini_errors *errors)
{
	char text[80];

	if (errors->nr == errors->listed)
		return;
	snprintf(text, sizeof(text), "and %u more; fix these first", errors->nr - errors->listed);
	add_line(errors, text);
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c && strchr(" \t\r\v\f", c);
}

/* Cuts the blanks at both ends of @text. */
static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (is_blank(*text))
		text++;
	while (end > text && is_blank(end[-1]))
		end--;
	*end = '\0';
	return text;
}

/* Returns the length of the line without its comment, which is '#' or ';' after a blank. */
static size_t without_comment(const char *line, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		bool starts = line[i] == '#' || line[i] == ';';

		if (starts && (line[i - 1] == ' ' || line[i - 1] == '\t'))
			return i;
	}
	return n;
}

static void read_section(struct gp_ini *ini, char *line)
{
	char *end = strchr(line, ']'), *name = NULL;

	if (end) {
		*end = '\0';
		name = trim(line + 1);
	}
	if (name && *name) {
		ini->section(ini->user, name, trim(end + 1));
		return;
	}
	gp_ini_error(ini->errors, ini->file, ini->line,
		     "invalid section header; expected [NAME] and nothing else on the line");
	ini->section(ini->user, NULL, "");
}

/* "key = value" or "key : value" */
static void read_pair(struct gp_ini *ini, char *line)
{
	char *separator = strpbrk(line, "=:");

	if (!separator || separator == line) {
		gp_ini_error(ini->errors, ini->file, ini->line,
			     "invalid line; expected [NAME] or KEY = VALUE");
		return;
	}
	*separator = '\0';
	ini->pair(ini->user, trim(line), trim(separator + 1));
}

static void read_line(struct gp_ini *ini, const char *from, size_t n)
{
	char line[GP_INI_LINE + 1];

	n = without_comment(from, n);
	for (; n && is_blank(*from); n--)
		from++;
	while (n && is_blank(from[n - 1]))
		n--;
	if (memchr(from, '\0', n)) {
		gp_ini_error(ini->errors, ini->file, ini->line,
			     "the line has a zero byte; expected a text file");
		return;
	}
	if (!n || *from == '#' || *from == ';')
		return;
	if (n > GP_INI_LINE) {
		gp_ini_error(ini->errors, ini->file, ini->line,
			     "the line is too long; expected at most %d bytes", GP_INI_LINE);
		return;
	}
	memcpy(line, from, n);
	line[n] = '\0';
	if (*line == '[')
		read_section(ini, line);
	else
		read_pair(ini, line);
}

void gp_ini_parse(struct gp_ini *ini)
{
	static const char bom[] = "\xef\xbb\xbf";
	size_t at = 0;

	if (ini->size >= 3 && !memcmp(ini->text, bom, 3))
		at = 3;
	for (ini->line = 1; at < ini->size; ini->line++) {
		const char *line = ini->text + at, *end = memchr(line, '\n', ini->size - at);
		size_t n = end ? (size_t)(end - line) : ini->size - at;

		read_line(ini, line, n);
		at += n + 1;
	}
}

/* ---- files ---- */

int gp_ini_read(int fd, char **text, size_t *size)
{
	char *buffer = malloc(GP_INI_BYTES);
	size_t at = 0;
	ssize_t n;
	int err;

	if (!buffer)
		return -ENOMEM;
	do {
		n = read(fd, buffer + at, GP_INI_BYTES - at);
		at += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && at < GP_INI_BYTES) || (n < 0 && errno == EINTR));
	err = n < 0 ? -errno : at == GP_INI_BYTES ? -EFBIG : 0;
	if (err) {
		free(buffer);
		return err;
	}
	*text = buffer;
	*size = at;
	return 0;
}
