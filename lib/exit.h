/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Exit codes of gpreempt(1) and gpreemptd(8). The lab and tests/cli rely on the numbers. */
#ifndef GP_EXIT_H
#define GP_EXIT_H

enum gp_exit {
	GP_EXIT_OK	= 0,
	GP_EXIT_FAILED	= 1,	/* an expectation, a difference, a check; refused */
	GP_EXIT_BAD	= 2,	/* bad usage, a bad file, a bad configuration */
	GP_EXIT_ABSENT	= 3,	/* gpreempt: gpreemptd does not run */
	GP_EXIT_BUSY	= 3,	/* gpreemptd: another daemon has the control socket */
	GP_EXIT_DENIED	= 4,	/* permission denied */
	GP_EXIT_UNKNOWN	= 5,	/* process or GPU not found */
	GP_EXIT_TIMEOUT	= 6,	/* no answer in time */
	/* of `gpreempt run`, as in env(1) */
	GP_EXIT_OURS	= 125,	/* gpreempt failed before it tried the command */
	GP_EXIT_NOEXEC	= 126,	/* the command cannot be executed */
	GP_EXIT_NOENT	= 127,	/* the command was not found */
};

#endif /* GP_EXIT_H */
