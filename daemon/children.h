/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the supervisor (supervisor.h): asks for holders and readers, and hears
 * when they are there and when they have ended. Never blocks.
 *
 * A process has at most one supervisor, so there is one connection. Each role has one owner, whose
 * functions gp_children_run() calls.
 */
#ifndef GP_DAEMON_CHILDREN_H
#define GP_DAEMON_CHILDREN_H

#include "supervisor.h"

/* Uses @fd, which becomes ours, as the channel to the supervisor. 0 or -errno. */
int gp_children_connect(int fd);
/* Closes it: the supervisor of gp_supervisor_fork() ends. */
void gp_children_disconnect(void);
/* Readable when gp_children_run() has something to do. -1: there is no supervisor. */
int gp_children_fd(void);

struct gp_child_owner {
	/* It could not be started. */
	void (*failed)(void *ctx, u64 child, int err);
	/* @status as of waitpid(). Not called for one that could not be started. */
	void (*ended)(void *ctx, u64 child, int status);
	void *ctx;
};

/* The latest owner of a role hears about its children. */
void gp_children_own(u32 role, const struct gp_child_owner *owner);
/* If @ctx is the owner's, the role has no owner any more, and its children are ignored. */
void gp_children_disown(u32 role, const void *ctx);

/*
 * Starts a process that serves @user at @channel, which stays the caller's and may be closed. What
 * is sent over the other end meanwhile is not lost. @child: chosen by the owner, never 0, never
 * used twice for @role. 0: failed() or, one day, ended() follows; -EPIPE: there is no supervisor;
 * -EAGAIN.
 */
int gp_children_start(u32 role, u64 child, uid_t user, int channel);
/* SIGKILL; ended() follows. A child also ends when its channel is closed. */
void gp_children_kill(u32 role, u64 child);

/* Is it the pid of one that was started and has not ended? */
bool gp_children_has(pid_t pid);

/* Takes what the supervisor said. 0, or -EPIPE: it is gone. */
int gp_children_run(void);

#endif /* GP_DAEMON_CHILDREN_H */
