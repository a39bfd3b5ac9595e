/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A process gives up the rights that it does not need, for good.
 *
 * Capabilities, the way back to them (no_new_privs, bounding set, securebits), core dumps and
 * being traced by its own user; then every system call that is not on its list fails with
 * EPERM. A call of another architecture kills the process.
 */
#ifndef GP_DAEMON_SANDBOX_H
#define GP_DAEMON_SANDBOX_H

#include "gp_env.h"

/* What is checked of a call's arguments. */
enum gp_call_check {
	GP_CALL_ANY,
	GP_CALL_READ_ONLY,	/* openat: opens for reading, creates nothing */
	GP_CALL_NO_EXEC,	/* mmap, mprotect: no executable memory */
};

struct gp_call {
	u32 number;		/* SYS_... */
	u32 check;		/* enum gp_call_check */
};

enum { GP_SANDBOX_CALLS = 64 };

struct gp_sandbox_args {
	u64 capabilities;	/* bit per capability that stays, if the process has it */
	const struct gp_call *calls;	/* NULL: all are allowed */
	u32 nr_calls;		/* at most GP_SANDBOX_CALLS */
	u32 files;		/* RLIMIT_NOFILE; 0: as it is */
};

/*
 * 0 or -errno; after an error the process may have lost some rights already and should end.
 * A process without CAP_SETPCAP keeps its bounding set, which is of no use without execve.
 */
int gp_sandbox(const struct gp_sandbox_args *args);

#endif /* GP_DAEMON_SANDBOX_H */
