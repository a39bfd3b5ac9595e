/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user to whom a process belongs, as the daemon separates users.
 *
 * That is its real uid. A process in a user namespace of its own (a rootless container) has a uid
 * out of a range that /etc/subuid gives to a user: then it belongs to that user. Without such a
 * range its uid is taken as it is.
 */
#ifndef GP_LIB_PROCESS_USER_H
#define GP_LIB_PROCESS_USER_H

#include <sys/types.h>

#include "gp_env.h"

/* Where to look. NULL: /proc, /etc/subuid, /etc/passwd. */
struct gp_user_files {
	const char *proc, *subuid, *passwd;
};

/* 0; -ESRCH: no such process; or -errno of reading it. @files may be NULL. */
int gp_process_user(const struct gp_user_files *files, pid_t pid, uid_t *ret);

#endif /* GP_LIB_PROCESS_USER_H */
