// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a broken invariant does in user space: it is said once and counted, as
 * WARN_ON_ONCE does in the kernel. Tests check that the count stays 0.
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
