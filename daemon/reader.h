/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Lines of an INI file. inih splits them; what it lacks is done here: the number
 * of the line, sections without keys, every bad line instead of the first, and
 * no name cut short in silence.
 */
#ifndef GP_DAEMON_READER_H
#define GP_DAEMON_READER_H

#include "faults.h"

struct gp_reader {
	const char *file;		/* for messages */
	const char *text;		/* needs no terminator */
	size_t size;
	struct gp_faults *faults;
	u32 line;			/* the one being read, from 1 */

	/* "[kind name]", @name "" if there is none. */
	void (*section)(void *user, const char *kind, const char *name);
	void (*pair)(void *user, const char *key, const char *value);
	void *user;

	size_t at;
};

/* Reads all of it; what is wrong goes to @r->faults. */
void gp_reader_run(struct gp_reader *r);

#endif /* GP_DAEMON_READER_H */
