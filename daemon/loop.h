/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The daemon's loop: waits for the decider, the control socket, signals and the time, and for
 * nothing else. It sleeps until one of them has something to do.
 */
#ifndef GP_DAEMON_LOOP_H
#define GP_DAEMON_LOOP_H

#include "supervisor.h"

enum gp_exit {
	GP_EXIT_OK	= 0,	/* told to end */
	GP_EXIT_FAILED	= 1,
	GP_EXIT_USAGE	= 2,	/* or the configuration is refused */
	GP_EXIT_BUSY	= 3,	/* another daemon has the control socket */
};

struct gp_loop_args {
	const char *config;	/* NULL: GP_CONFIG_PATH */
	bool observe;
	bool talkative;		/* log everything */
};

/* One life of the daemon. Returns enum gp_exit, or GP_SUPERVISOR_AGAIN. */
int gp_loop(const struct gp_loop_args *args, struct gp_heart *heart);

#endif /* GP_DAEMON_LOOP_H */
