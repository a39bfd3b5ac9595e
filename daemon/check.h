/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* gpreemptd --check FILE: would this configuration be taken? */
#ifndef GP_DAEMON_CHECK_H
#define GP_DAEMON_CHECK_H

#include <stdbool.h>
#include <stdio.h>

enum gp_check_exit {
	GP_CHECK_GOOD		= 0,
	GP_CHECK_REFUSED	= 1,	/* one line per fault on @err */
	GP_CHECK_UNREADABLE	= 2,	/* a file is not there or cannot be read */
};

/* Prints the effective configuration to @out. Returns enum gp_check_exit. */
int gp_check(const char *path, bool json, FILE *out, FILE *err);

#endif /* GP_DAEMON_CHECK_H */
