/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A configuration while it is being read: where everything was set, so that
 * faults seen only at the end can name their line. Private to config.c,
 * sections.c and whole.c.
 */
#ifndef GP_DAEMON_LOAD_H
#define GP_DAEMON_LOAD_H

#include "config.h"
#include "faults.h"
#include "reader.h"
#include "setting.h"

struct gp_place {
	const char *file;	/* NULL: not set */
	u32 line;
};

/* Parameters for every policy, then for each. */
enum { GP_FOR_ALL = 0, GP_PARAM_SETS = GP_CONFIG_POLICIES + 1 };

struct gp_load {
	struct gp_config *config;
	struct gp_faults faults;
	struct gp_reader reader;

	/* the section lines belong to; none: keys are ignored, the fault is told */
	const struct gp_setting *table;
	void *section;
	const char *section_name;
	struct gp_place *at;		/* by key */
	u64 *params;			/* [policy]: instead of @table */
	bool *broken;			/* set when a line of it is refused */
	bool outside;			/* before any section */

	struct gp_place daemon_at[GP_MAX_SETTINGS];
	struct gp_place here_at[GP_MAX_SETTINGS];
	struct gp_place param_at[GP_PARAM_SETS][GP_NR_PARAMS];
	u64 param[GP_PARAM_SETS][GP_NR_PARAMS];
	struct gp_place class_of_rule[GP_RULES];
	bool class_broken[GP_CLASSES], rule_broken[GP_RULES];
};

/* For gp_reader (sections.c). */
void gp_load_section(void *load, const char *kind, const char *name);
void gp_load_pair(void *load, const char *key, const char *value);

/* All files are read: what only the whole can show (whole.c). Fills config->rules. */
void gp_load_finish(struct gp_load *load);

#endif /* GP_DAEMON_LOAD_H */
