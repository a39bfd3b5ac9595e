/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef GP_DAEMON_PEER_H
#define GP_DAEMON_PEER_H

#include <sys/types.h>

#include "gp_env.h"

/* The other end of a connection, as the kernel says. */
struct gp_peer {
	pid_t pid;		/* 0: not visible from this pid namespace */
	uid_t uid;
	gid_t gid;
	uid_t user;		/* who answers for it: lib/user.h */
	bool privileged;	/* root, or in the group */
};

/* @group: its members are privileged; (gid_t)-1: none. 0 or -errno. */
int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret);
/* The group called @name; (gid_t)-1 if there is none. */
gid_t gp_peer_group(const char *name);

#endif /* GP_DAEMON_PEER_H */
