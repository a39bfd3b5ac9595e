/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What people see: messages, colours, progress, numbers with units.
 *
 * Colours only on a terminal and never with NO_COLOR; progress only on stderr
 * and only if that is a terminal, unless asked for.
 */
#ifndef GP_TERM_H
#define GP_TERM_H

#include <stdio.h>

#include "sim/pool.h"

/* "gpreempt: " and one line on stderr. */
void gp_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum gp_paint { GP_PLAIN, GP_BOLD, GP_DIM, GP_GOOD, GP_BAD, GP_OURS };
/* The escape sequence that turns @paint on on stdout, or "". GP_PLAIN ends all. */
const char *gp_paint(enum gp_paint paint);
/* Columns of the terminal; 80 if stdout is none. */
u32 gp_term_width(void);
/* May we print more than ASCII? */
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
