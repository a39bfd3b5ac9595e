/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Scenarios as the command line names and changes them. */
#ifndef GP_LOAD_H
#define GP_LOAD_H

#include "cli/options.h"
#include "sim/scenario.h"

/*
 * The scenario o->file with --policy, --mechanism, --length and --set applied.
 * A plain name that is no file is looked for among the scenarios that came with
 * gpreempt. 0, or -EINVAL after one line on stderr. *@ret is to be free()d.
 */
int gp_load(const struct gp_options *o, struct gp_scenario **ret);
/* The same options on a scenario that is there already. 0, or -EINVAL after one line. */
int gp_load_apply(const struct gp_options *o, struct gp_scenario *sc);

/* "colocate" of "scenarios/colocate.ini". */
struct gp_label {
	char s[64];
};
struct gp_label gp_label_of(const struct gp_scenario *sc);

#endif /* GP_LOAD_H */
