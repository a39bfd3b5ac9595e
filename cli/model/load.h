/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Scenarios as the command line names and changes them. */
#ifndef GP_LOAD_H
#define GP_LOAD_H

#include "cli/options.h"
#include "sim/scenario.h"

/*
 * Loads the scenario o->file and applies --policy, --mechanism, --length and --set. A plain name
 * that is no file is searched among the scenarios installed with gpreempt. Returns 0, or -EINVAL
 * after one line on stderr. The caller frees *@ret with free().
 */
int gp_load(const struct gp_options *o, struct gp_scenario **ret);
/* Applies the same options to a loaded scenario. Returns 0, or -EINVAL after one line on stderr. */
int gp_load_apply(const struct gp_options *o, struct gp_scenario *sc);

/* "colocate" of "scenarios/colocate.ini". */
struct gp_label {
	char s[64];
};
struct gp_label gp_label_of(const struct gp_scenario *sc);

#endif /* GP_LOAD_H */
