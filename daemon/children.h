/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the supervisor (supervisor.h): asks for holders and readers, and hears
 * when they are there and when they have ended. Never blocks.
 *
 * A process has at most one supervisor, so there is one connection. Each role has one owner, whose
 * functions are called by gp_children_run(), whoever calls that.
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
	/* @channel is the owner's from here on. -1: it could not be started, @err says why. */
	void (*started)(void *ctx, u32 child, int channel, int err);
	/* @status as of waitpid(). Not called for one that could not be started. */
	void (*ended)(void *ctx, u32 child, int status);
	void *ctx;
};

/* NULL: the role has no owner any more; what is said about its children is ignored. */
void gp_children_own(u32 role, const struct gp_child_owner *owner);

/* 0 and its number in *@ret; started() or ended() follows. -EPIPE: the supervisor is gone. */
int gp_children_start(u32 role, uid_t user, u32 *ret);
/* SIGKILL; ended() follows. A child also ends when its channel is closed. */
void gp_children_kill(u32 child);

/* Is it the pid of one that was started and has not ended? */
bool gp_children_has(pid_t pid);

/* Takes what the supervisor said. 0, or -EPIPE: it is gone. */
int gp_children_run(void);

#endif /* GP_DAEMON_CHILDREN_H */
