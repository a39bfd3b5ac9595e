/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a process of the daemon may do. Each process gives up, right after fork() and for good,
 * every right that its role does not need.
 */
#ifndef GP_DAEMON_CONFINE_H
#define GP_DAEMON_CONFINE_H

#include "gp_env.h"

/* The system calls of a role. A call that is not listed fails with ENOSYS. */
struct gp_syscalls {
	const int *number;
	u32 nr;
	/*
	 * Of the listed calls: openat() only for reading, ioctl() only with the driver's
	 * numbers, no new namespaces, no executable memory.
	 */
	bool narrow;
};

struct gp_confinement {
	u64 caps;		/* bit per CAP_*: the rest is dropped */
	int oom;		/* oom_score_adj, if it may be set */
	u32 files;		/* RLIMIT_NOFILE; 0: as it is */
};

/*
 * Drops capabilities and the ways back to them, sets no_new_privs and makes the process
 * undumpable. Also where the process has few rights to begin with. 0 or -errno.
 */
int gp_confine(const struct gp_confinement *to);

/*
 * From now on the process makes only these calls. Called by the role itself, once it has opened
 * what it needs. No effect under a sanitizer and on other processors than x86-64. 0 or -errno.
 */
int gp_confine_syscalls(const struct gp_syscalls *to);

#endif /* GP_DAEMON_CONFINE_H */
