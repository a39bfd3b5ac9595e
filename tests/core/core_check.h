/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Invariants of a scheduler that hold after every call with any input. The stories, the random
 * runs and the exhaustive search share them.
 */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include "core/sched.h"

/* Returns NULL, or a sentence about the invariant that does not hold. */
const char *core_books_wrong(const struct gp_sched *s);
/* The same once every wanted action has been pulled. */
const char *core_rest_wrong(const struct gp_sched *s);

#endif /* CORE_CHECK_H */
