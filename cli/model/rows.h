/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reads the rows that the command line names and runs them. */
#ifndef GP_CLI_ROWS_H
#define GP_CLI_ROWS_H

#include "cli/options.h"
#include "sim/compare.h"

enum { GP_ROWS_MAX = 64 };

struct gp_row_list {
	char text[1024];		/* the names, each ended by NUL */
	const char *row[GP_ROWS_MAX + 1];	/* ends with NULL; empty: all rows */
};

/*
 * Reads --rows. Returns 0, or -EINVAL after one line on stderr. The caller must not move the
 * list.
 */
int gp_row_list_read(struct gp_row_list *list, const struct gp_options *o);
/* Returns the argument for gp_compare(). NULL stands for all rows. */
const char *const *gp_row_list_rows(const struct gp_row_list *list);

/*
 * Runs gp_compare() with messages, and with progress unless @args has its own. Returns an exit
 * code.
 */
int gp_compare_shown(const struct gp_options *o, struct gp_compare_args *args,
		     struct gp_comparison *ret);

#endif /* GP_CLI_ROWS_H */
