/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The sections of a scenario and their keys, for scenario.c. */
#ifndef GP_SCENARIO_KEYS_H
#define GP_SCENARIO_KEYS_H

#include "scenario.h"
#include "text/keys.h"

extern const struct gp_key gp_task_keys[];	/* of struct gp_task_spec (task_keys.c) */

/* All sections at their initial values, no task. */
void gp_scenario_init(struct gp_scenario *sc);

/*
 * The keys of section @name of @sc, which must outlive @ret. A name that is new makes a
 * fault or a task. 0, or -EINVAL and a message.
 */
int gp_scenario_section(struct gp_scenario *sc, const char *name, struct gp_section *ret,
			const struct gp_why *why);

#endif /* GP_SCENARIO_KEYS_H */
