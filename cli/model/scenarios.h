/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The scenarios that are installed with gpreempt. */
#ifndef GP_CLI_SCENARIOS_H
#define GP_CLI_SCENARIOS_H

#include "text/nearest.h"

enum { GP_SCENARIOS_PATH = 512 };

/*
 * Finds the file of the scenario @name, with or without ".ini". Searches the folder
 * $GPREEMPT_SCENARIOS, then the folders beside this program (installed, or built in the source
 * tree), then the data folder given when gpreempt was built. Returns 0, or -ENOENT.
 */
int gp_scenarios_find(const char *name, char path[GP_SCENARIOS_PATH]);
/* Prints on stderr that @name is unknown, with the nearest name. */
void gp_scenarios_unknown(const char *name);

#endif /* GP_CLI_SCENARIOS_H */
