/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The keeper: the parent of the daemon, and all that is left when the daemon is not.
 *
 * Whoever debugs a process and is stopped (SIGSTOP, a frozen cgroup) keeps its queues off
 * for as long as he is. Nobody else may resume them; but when he ends, the driver does. So
 * the daemon, while anybody is or could be off, says every moment that it is well, and the
 * keeper ends it when it does not.
 */
#ifndef GP_DAEMON_KEEPER_H
#define GP_DAEMON_KEEPER_H

#include "gp_env.h"

enum {
	GP_KEEPER_AGAIN	= 75,	/* exit code of a daemon that wants to be started again at once */
	GP_KEEPER_ENDS	= 5,	/* more abnormal ends within a minute: it gives up */
};

/* The daemon's side. */
struct gp_heart {
	int fd;			/* -1: nobody listens */
	u64 every_ns;
	bool busy;
	u64 next_ns;
};

/* Called in the child; @heart is its. Returns the exit code. */
typedef int (*gp_keeper_child)(void *ctx, struct gp_heart *heart);

/*
 * Starts @child in a process of its own, again after every abnormal end; returns the exit code
 * when it ended normally. SIGTERM, SIGINT and SIGHUP are passed on to it; after the first two it
 * is not started again, and an abnormal end is 0.
 */
int gp_keeper_run(u64 heartbeat_ns, gp_keeper_child child, void *ctx);

/* I am well, and must not be stopped from now on. */
void gp_heart_beat(struct gp_heart *heart, u64 now_ns);
/* I do no harm: nothing more will be heard of me. */
void gp_heart_rest(struct gp_heart *heart);

/* For poll(): milliseconds until then, rounded up; 0: it has passed; -1: never. */
int gp_keeper_timeout(u64 until_ns, u64 now_ns);

/* Wakes every process that sleeps because its debugger died. Returns how many. */
u32 gp_keeper_poke_all(void);

#endif /* GP_DAEMON_KEEPER_H */
