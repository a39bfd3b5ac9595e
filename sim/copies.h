/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* `processes = N`: a task that several processes alike have. */
#ifndef GP_COPIES_H
#define GP_COPIES_H

#include "scenario.h"

/* Is there a task of more than one process in @sc? */
bool gp_has_copies(const struct gp_scenario *sc);

/*
 * Gives each process of @sc a task of its own: NAME, and behind all others NAME-2,
 * NAME-3 and so on, each with random numbers of its own. 0; or with a sentence in @why
 * -E2BIG if they are more than a scenario holds, -EINVAL if a name is there already.
 */
int gp_make_copies(struct gp_scenario *sc, char *why, size_t why_size);

#endif /* GP_COPIES_H */
