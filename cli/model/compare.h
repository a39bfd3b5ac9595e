/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The forms of gpreempt compare, one file each. All return an exit code. */
#ifndef GP_CLI_COMPARE_H
#define GP_CLI_COMPARE_H

#include "cli/command.h"
#include "load.h"
#include "rows.h"
#include "sim/json.h"

/* A comparison as the command line asks for it. */
struct gp_asked {
	const struct gp_options *o;
	const struct gp_scenario *sc;
	const char *const *rows;	/* NULL: all */
	struct gp_label label;
};

int gp_compare_robust(const struct gp_asked *asked);	/* costs scaled */
int gp_compare_frontier(const struct gp_asked *asked);	/* latency against goodput */
int gp_compare_seeds(const struct gp_asked *asked);	/* many seeds */

/* Returns the object that --json prints for a comparison. The demo uses it, too. */
json_t *gp_compare_json(const struct gp_scenario *sc, const struct gp_comparison *c);

#endif /* GP_CLI_COMPARE_H */
