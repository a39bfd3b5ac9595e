/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rights of a process of the daemon. Right after fork(), each process permanently drops every
 * right that its role does not need.
 */
#ifndef GP_DAEMON_CONFINE_H
#define GP_DAEMON_CONFINE_H

#include "gp_env.h"

/* The system calls of a role. A call that is not listed fails with ENOSYS. */
struct gp_syscalls {
	const int *number;
	u32 nr;
	/*
	 * Restricts the listed calls: openat() only for reading, ioctl() only with the driver's
	 * numbers, no new namespaces, no executable memory.
	 */
	bool narrow;
};

struct gp_confinement {
	u64 caps;		/* bit per CAP_* to keep */
	int oom;		/* oom_score_adj, if it may be set */
	u32 files;		/* RLIMIT_NOFILE; 0: unchanged */
};

/*
 * Drops capabilities and the ways back to them, sets no_new_privs and makes the process undumpable.
 * Works also for a process that has few rights. 0 or -errno.
 */
int gp_confine(const struct gp_confinement *to);

/*
 * Limits the process to these calls. The role itself calls it after it has opened all the files
 * that it needs. No effect under a sanitizer and on other processors than x86-64. 0 or -errno.
 */
int gp_confine_syscalls(const struct gp_syscalls *to);

#endif /* GP_DAEMON_CONFINE_H */
