/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which user a client or a process counts for. A uid of a subuid range (subuid(5)) counts
 * for the owner of the range, so that a user with 65536 of them has the limits of one.
 */
#ifndef GP_DAEMON_USER_H
#define GP_DAEMON_USER_H

#include <sys/types.h>

#include "gp_env.h"

struct gp_subuid_range {
	uid_t first;
	u32 count;
	uid_t owner;
};

enum { GP_SUBUID_RANGES = 4096 };	/* further ranges are ignored */

struct gp_subuids {
	const char *subuid, *passwd, *proc;	/* NULL: the usual files */
	struct gp_subuid_range *range;
	u32 nr;
	u64 read_ns;		/* when the file was last checked */
	u64 stamp;		/* its change time then */
};

/* Reads the file if it changed, at most once a second. A file that is missing has no ranges. */
void gp_subuids_refresh(struct gp_subuids *s, u64 now_ns);
void gp_subuids_fini(struct gp_subuids *s);
/*
 * The user for whom a process with @uid counts: the owner of the range that holds @uid, or
 * @uid if no range does, or if @pid is a process of that uid in the initial user namespace.
 */
uid_t gp_subuids_user(const struct gp_subuids *s, uid_t uid, pid_t pid);

/* The same with the files of this machine, refreshed when they change. */
uid_t gp_user_of(uid_t uid, pid_t pid);

/* The other end of a connection, as the kernel says. */
struct gp_peer {
	pid_t pid;		/* 0: not visible from this pid namespace */
	uid_t uid;
	gid_t gid;
	uid_t user;		/* for whom it counts */
	bool privileged;	/* root, or in the group */
};

/* @group: its members are privileged; (gid_t)-1: none. 0 or -errno. */
int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret);
/* The group called @name; (gid_t)-1 if there is none. */
gid_t gp_peer_group(const char *name);

#endif /* GP_DAEMON_USER_H */
