/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the supervisor (supervisor.h). It asks for holders and readers, and learns
 * when they have started and ended. Never blocks.
 *
 * A process has at most one supervisor, so there is one connection. Each role has one owner, whose
 * functions gp_children_run() calls.
 */
#ifndef GP_DAEMON_CHILDREN_H
#define GP_DAEMON_CHILDREN_H

#include "supervisor.h"

/* Uses @fd as the channel to the supervisor, and owns it from now on. 0 or -errno. */
int gp_children_connect(int fd);
/* Closes the channel, which ends a supervisor of gp_supervisor_fork(). */
void gp_children_disconnect(void);
/* Readable when gp_children_run() has something to do. -1: there is no supervisor. */
int gp_children_fd(void);

struct gp_child_owner {
	/* The child could not be started. */
	void (*failed)(void *ctx, u64 child, int err);
	/* @status as of waitpid(). Not called for a child that could not be started. */
	void (*ended)(void *ctx, u64 child, int status);
	void *ctx;
};

/* Makes @owner the owner of a role. From now on it gets the events of its children. */
void gp_children_own(u32 role, const struct gp_child_owner *owner);
/* Removes the owner of a role if its context is @ctx. Events of its children are then ignored. */
void gp_children_disown(u32 role, const void *ctx);

/*
 * Starts a process that serves @user at @channel, which stays the caller's and may be closed. The
 * process gets messages that were sent over the other end meanwhile. @child: chosen by the owner,
 * never 0, never used twice for @role. 0: failed() or ended() follows; -EPIPE: there is no
 * supervisor; -EAGAIN: try again.
 */
int gp_children_start(u32 role, u64 child, uid_t user, int channel);
/* Sends SIGKILL to a child; ended() follows. A child also ends when its channel is closed. */
void gp_children_kill(u32 role, u64 child);

/* Returns true if @pid is a child that was started and has not ended. */
bool gp_children_has(pid_t pid);

/* Takes messages of the supervisor. 0, or -EPIPE: the supervisor is gone. */
int gp_children_run(void);

#endif /* GP_DAEMON_CHILDREN_H */
