/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The supervisor: the main process of the daemon and the parent of all others.
 *
 * It has one thread and forks on request. At start it reads which users have GPU processes, to wake
 * processes that a dead daemon left asleep (roles.c). The decider is its first child. Over a
 * channel (channel.h) the decider asks for a holder or a reader of a user. The request carries the
 * channel that the new process is to serve. Only the supervisor kills and reaps, so a pid that it
 * signals is always its own child's.
 *
 * A decider that died abnormally is started again. One that is silent while it should beat is
 * killed and started again. First its holders and readers must have ended. Holders do so when their
 * channels close, and are killed if they take too long. Readers hold nothing and are killed at
 * once.
 */
#ifndef GP_DAEMON_SUPERVISOR_H
#define GP_DAEMON_SUPERVISOR_H

#include <sys/types.h>

#include "channel.h"
#include "confine.h"

enum {
	GP_SUPERVISOR_AGAIN	= 75,	/* exit code of a decider that asks to be started again */
	GP_SUPERVISOR_ENDS	= 5,	/* more abnormal ends within a minute: give up */
	GP_SUPERVISOR_CHILDREN	= 512,	/* holders, readers and pokes at a time */
};

/* ---- the protocol ---- */

enum gp_supervisor_kind {
	/* by the decider */
	GP_SUP_START = 1,	/* @role, @child, @user, and its channel as a descriptor */
	GP_SUP_KILL,		/* @role, @child */
	GP_SUP_BEAT,		/* heartbeat; more follow */
	GP_SUP_REST,		/* no heartbeats from now on: nothing is held */
	/* by the supervisor */
	GP_SUP_STARTED,		/* @role, @child: @err, or 0 with @pid */
	GP_SUP_ENDED,		/* @role, @child ended: @err is its wait status */
};

struct gp_supervisor_message {
	struct gp_message is;
	u64 child;		/* of @role; chosen by the decider, never 0, never used twice */
	u32 role;
	u32 user;
	int pid;
	int err;
};

static_assert(sizeof(struct gp_supervisor_message) == 32, "size is part of the protocol");

/* ---- roles ---- */

enum gp_role_id { GP_ROLE_HOLDER, GP_ROLE_READER, GP_ROLE_POKE, GP_NR_ROLES };

struct gp_role {
	const char *name;
	int nice;		/* if it may be set */
	struct gp_confinement may;
	/*
	 * Runs the process until the other side closes @channel. Returns its exit code. NULL: there
	 * is no such role.
	 */
	int (*main)(int channel, uid_t user);
	bool kill_stopped;	/* kill it if it is stopped (SIGSTOP) */
};

/* All roles of gpreemptd, by enum gp_role_id. */
extern const struct gp_role gp_roles[GP_NR_ROLES];

/* ---- the decider's side ---- */

/* The heartbeat of the decider, and how the decider before it ended. */
struct gp_heart {
	int fd;			/* its channel to the supervisor; -1: there is none */
	u64 every_ns;
	bool busy;
	u64 next_ns;
	u32 restarts;		/* of the decider, since the supervisor started */
	char reason[96];	/* why the last one ended; "": this is the first */
};

/* Sends a heartbeat. From now on silence gets the decider killed. */
void gp_heart_beat(struct gp_heart *heart, u64 now_ns);
/* Stops the heartbeats, because the decider holds nothing. */
void gp_heart_rest(struct gp_heart *heart);

/* ---- the supervisor ---- */

struct gp_supervisor_args {
	u64 heartbeat_ns;
	/* Called in the child. Returns the exit code. */
	int (*decider)(void *ctx, struct gp_heart *heart);
	void *ctx;
	const struct gp_confinement *decider_may;	/* NULL: everything */
	const struct gp_role *roles;	/* GP_NR_ROLES; NULL: none */
};

/*
 * Starts the decider, and restarts it after every abnormal end. Returns its exit code when it ended
 * normally. SIGTERM, SIGINT and SIGHUP are passed on. After SIGTERM or SIGINT the decider is not
 * restarted, and the exit code after an abnormal end is 0.
 */
int gp_supervisor_run(const struct gp_supervisor_args *args);

/*
 * A supervisor without a decider, in a child of the caller: the caller is the decider, and the
 * supervisor ends when the caller closes *@channel. 0 or -errno.
 */
int gp_supervisor_fork(const struct gp_role *roles, int *channel);

/*
 * Returns the timeout for poll(): milliseconds until @until_ns, rounded up; 0: passed; -1: never.
 */
int gp_supervisor_timeout(u64 until_ns, u64 now_ns);

#endif /* GP_DAEMON_SUPERVISOR_H */
