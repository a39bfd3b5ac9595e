// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reports broken invariants in user space: prints the first one and counts all. Tests check
 * that the count stays 0.
 */
#include <stdio.h>

#include "gp_env.h"

u64 gp_warnings;

bool gp_warn_on(bool broken, const char *what)
{
	if (broken && !gp_warnings++)
		fprintf(stderr, "gpreempt: broken invariant: %s\n", what);
	return broken;
}
