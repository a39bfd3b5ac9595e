/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The supervisor: the main process of the daemon and the parent of all others.
 *
 * It has one thread, touches no process of a user, and forks on request. The decider is its first
 * child. Over a channel (channel.h) the decider asks for a holder or a reader of a user. The
 * request carries the channel that the new process is to serve. Only the supervisor kills and
 * reaps, so a pid that it signals is always its own child's.
 *
 * A decider that died abnormally, or is silent while it should beat, is started again. First its
 * holders and readers must have ended. Holders do so when their channels close, and are killed if
 * they take too long. Readers hold nothing and are killed at once.
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
	GP_SUP_BEAT,		/* I am well, and will say so again */
	GP_SUP_REST,		/* my silence does no harm from now on */
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
	 * The process, from here to its end. It ends when @channel is closed by the other side.
	 * Returns its exit code. NULL: there is no such role.
	 */
	int (*main)(int channel, uid_t user);
	bool kill_stopped;	/* harmful while stopped (SIGSTOP): then it is killed */
};

/* All roles of gpreemptd, by enum gp_role_id. */
extern const struct gp_role gp_roles[GP_NR_ROLES];

/* ---- the decider's side ---- */

/* How the decider shows that it lives; and what it is told about the one before. */
struct gp_heart {
	int fd;			/* its channel to the supervisor; -1: there is none */
	u64 every_ns;
	bool busy;
	u64 next_ns;
	u32 restarts;		/* of the decider, since the supervisor started */
	char reason[96];	/* why the last one ended; "": this is the first */
};

/* I am well, and must not be silent from now on. */
void gp_heart_beat(struct gp_heart *heart, u64 now_ns);
/* I hold nothing: my silence does no harm. */
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
 * Starts the decider, again after every abnormal end; returns its exit code when it ended
 * normally. SIGTERM, SIGINT and SIGHUP are passed on. After the first two the decider is not
 * started again, and an abnormal end is 0.
 */
int gp_supervisor_run(const struct gp_supervisor_args *args);

/*
 * A supervisor without a decider, in a child of the caller: the caller is the decider, and the
 * supervisor ends when the caller closes *@channel. 0 or -errno.
 */
int gp_supervisor_fork(const struct gp_role *roles, int *channel);

/* For poll(): milliseconds until then, rounded up; 0: it has passed; -1: never. */
int gp_supervisor_timeout(u64 until_ns, u64 now_ns);

#endif /* GP_DAEMON_SUPERVISOR_H */
