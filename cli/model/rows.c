// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads the rows that the command line names and runs them. */
#include "rows.h"

#include <string.h>

#include "cli/command.h"
#include "cli/term.h"

int gp_row_list_read(struct gp_row_list *list, const struct gp_options *o)
{
	char *word, *rest = NULL, err[1024];
	u32 n = 0;

	memset(list, 0, sizeof(*list));
	if (!o->rows)
		return 0;
	snprintf(list->text, sizeof(list->text), "%s", o->rows);
	for (word = strtok_r(list->text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (gp_row_check(word, err, sizeof(err))) {
			gp_error("--rows: %s", err);
			return -EINVAL;
		}
		if (n == GP_ROWS_MAX) {
			gp_error("--rows: more than %d", GP_ROWS_MAX);
			return -EINVAL;
		}
		list->row[n++] = word;
	}
	if (!n) {
		gp_error("--rows: '%s' names no row", o->rows);
		return -EINVAL;
	}
	return 0;
}

const char *const *gp_row_list_rows(const struct gp_row_list *list)
{
	return list->row[0] ? list->row : NULL;
}

int gp_compare_shown(const struct gp_options *o, struct gp_compare_args *args,
		     struct gp_comparison *ret)
{
	char why[512] = "";
	int err;

	args->pool.width = o->jobs;
	if (!args->pool.progress && gp_progress_wanted(o->progress))
		args->pool.progress = gp_progress;
	err = gp_compare(args, ret, why, sizeof(why));
	if (err) {
		gp_error("%s: %s", args->scenario->name, why);
		return err == -EPROTO ? GP_EXIT_FAILED : GP_EXIT_BAD;
	}
	if (!ret->has_alone) {
		gp_error("%s: it has no online task, so there is nothing to compare",
			 args->scenario->name);
		gp_comparison_fini(ret);
		return GP_EXIT_BAD;
	}
	return GP_EXIT_OK;
}
