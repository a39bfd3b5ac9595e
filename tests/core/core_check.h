/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is true of a scheduler after every call, whatever went in. Shared by the
 * stories, the random runs and the exhaustive search.
 */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include "core/sched.h"

/* NULL, or the sentence that says which of its books does not balance. */
const char *core_books_wrong(const struct gp_sched *s);
/* The same once everything wanted has been pulled. */
const char *core_rest_wrong(const struct gp_sched *s);

#endif /* CORE_CHECK_H */
