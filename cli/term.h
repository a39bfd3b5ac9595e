/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Output for users: messages, colours, progress and numbers with units.
 *
 * Colours appear only on a terminal and never with NO_COLOR. Progress appears only on stderr.
 * Unless it was requested, it also requires stderr to be a terminal.
 */
#ifndef GP_TERM_H
#define GP_TERM_H

#include <stdio.h>

#include "sim/pool.h"

/* Prints "gpreempt: " and the message as one line on stderr. */
void gp_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum gp_paint { GP_PLAIN, GP_BOLD, GP_DIM, GP_GOOD, GP_BAD, GP_OURS };
/* Returns the escape sequence that starts @paint on stdout, or "". GP_PLAIN ends all paints. */
const char *gp_paint(enum gp_paint paint);
/* Returns the columns of the terminal, or 80 if stdout is no terminal. */
u32 gp_term_width(void);
/* True if the output may contain more than ASCII. */
bool gp_term_utf8(void);

/* Prints @text on stdout, broken at blanks into lines of at most @width. */
void gp_wrap(const char *text, u32 width);

/* A text short enough to be passed around by value. */
struct gp_text {
	char s[24];
};

struct gp_text gp_time(u64 ns);			/* "63.10 us", of equal width in a column */
struct gp_text gp_duration(u64 ns);		/* "60 s", in a sentence */
struct gp_text gp_time_signed(s64 ns);		/* "+63.1 us" */
struct gp_text gp_fraction(bool known, double value, int digits);	/* "-" if not known */
struct gp_text gp_count(u64 value);		/* "12 345" */
struct gp_text gp_number_of(u64 value, const char *noun);	/* "1 queue", "2 processes" */
struct gp_text gp_percent(double fraction);	/* "2.4 %" */

/* For gp_pool.progress; shows nothing unless gp_progress_wanted(). */
bool gp_progress_wanted(bool asked);
void gp_progress(void *ctx, const struct gp_job *job, u32 done, u32 nr);

#endif /* GP_TERM_H */
