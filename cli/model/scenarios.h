/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The scenarios that came with gpreempt. */
#ifndef GP_CLI_SCENARIOS_H
#define GP_CLI_SCENARIOS_H

#include "text/nearest.h"

enum { GP_SCENARIOS_PATH = 512 };

/*
 * The file of the scenario called @name, with or without ".ini". Searched in this order: the
 * folder $GPREEMPT_SCENARIOS, the folders beside this program (installed, or built in the source
 * tree), and the data folder given when gpreempt was built. 0, or -ENOENT.
 */
int gp_scenarios_find(const char *name, char path[GP_SCENARIOS_PATH]);
/* Says on stderr that @name is unknown, with the nearest name. */
void gp_scenarios_unknown(const char *name);

#endif /* GP_CLI_SCENARIOS_H */
