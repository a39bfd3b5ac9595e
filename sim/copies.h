/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* `processes = N`: a task with several equal processes. */
#ifndef GP_COPIES_H
#define GP_COPIES_H

#include "scenario.h"

/* Returns true if @sc has a task of more than one process. */
bool gp_has_copies(const struct gp_scenario *sc);

/*
 * Gives each process of @sc its own task: NAME, and after all other tasks NAME-2, NAME-3 and so on,
 * each with its own random numbers. 0; or with a sentence in @why -E2BIG if there are more than a
 * scenario holds, -EINVAL if a name exists already.
 */
int gp_make_copies(struct gp_scenario *sc, char *why, size_t why_size);

#endif /* GP_COPIES_H */
