/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reads INI text for scenarios and configuration: sections, keys, comments, the
 * number of every line, and a message for every bad line instead of the first.
 */
#ifndef GP_TEXT_INI_H
#define GP_TEXT_INI_H

#include "gp_env.h"

enum {
	GP_INI_LINE	= 198,		/* bytes of a line without its comment */
	GP_INI_BYTES	= 1 << 20,	/* a file must be smaller */
	GP_INI_LISTED	= 20,		/* messages; the others are only counted */
};

/* ---- messages ---- */

/* Messages about files: whole lines, each "file:line: what is wrong; what to do". */
struct gp_ini_errors {
	char *text;		/* owned by the caller, always terminated */
	size_t size, at;
	u32 nr, listed;		/* found, and how many of these are in @text */
};

void gp_ini_errors_init(struct gp_ini_errors *errors, char *text, size_t size);
/* @line 0: the message is about the file as a whole. */
__attribute__((format(printf, 4, 5)))
void gp_ini_error(struct gp_ini_errors *errors, const char *file, u32 line, const char *format,
		  ...);
/* Adds the number of messages that were not listed. Call it once, last. */
void gp_ini_errors_end(struct gp_ini_errors *errors);

/* ---- reading ---- */

struct gp_ini {
	const char *file;		/* for messages */
	const char *text;		/* needs no terminator */
	size_t size;
	struct gp_ini_errors *errors;
	void *user;			/* first argument of the two functions */
	/*
	 * "[name] rest"; @rest is "" unless something follows the bracket. A NULL @name
	 * is a header that was reported as invalid: ignore the keys below it.
	 */
	void (*section)(void *user, const char *name, const char *rest);
	void (*pair)(void *user, const char *key, const char *value);

	u32 line;			/* the current one, from 1 */
};

/* Reads all of the text and calls @section and @pair in the order of the lines. */
void gp_ini_parse(struct gp_ini *ini);

/*
 * Reads all of @fd, fewer than GP_INI_BYTES, into new memory. 0; -EFBIG; another
 * -errno of read() or malloc().
 */
int gp_ini_read(int fd, char **text, size_t *size);

#endif /* GP_TEXT_INI_H */
