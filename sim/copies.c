// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* `processes = N`: a task with several equal processes. */
#include "copies.h"

#include <stdio.h>

bool gp_has_copies(const struct gp_scenario *sc)
{
	for (u32 i = 0; i < sc->nr_tasks; i++) {
		if (sc->task[i].processes > 1)
			return true;
	}
	return false;
}

int gp_make_copies(struct gp_scenario *sc, char *why, size_t why_size)
{
	u32 nr = sc->nr_tasks;

	for (u32 i = 0; i < nr; i++) {
		struct gp_task_spec *first = &sc->task[i];

		for (u32 k = 2; k <= first->processes; k++) {
			struct gp_task_spec *copy = &sc->task[sc->nr_tasks];

			if (sc->nr_tasks == GP_SCENARIO_TASKS) {
				snprintf(why, why_size, "[%s]: more than %d processes in all",
					 first->name, GP_SCENARIO_TASKS);
				return -E2BIG;
			}
			*copy = *first;
			copy->processes = 1;
			snprintf(copy->name, sizeof(copy->name), "%.32s-%u", first->name, k);
			/* Its random numbers come from its name. */
			if (gp_scenario_task(sc, copy->name)) {
				snprintf(why, why_size,
					 "[%s]: another task has the name of its process %s",
					 first->name, copy->name);
				return -EINVAL;
			}
			sc->nr_tasks++;
		}
		first->processes = 1;
	}
	return 0;
}
