/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the rules want to know about a process, from /proc. */
#ifndef GP_DAEMON_SUBJECT_H
#define GP_DAEMON_SUBJECT_H

#include <sys/types.h>

#include "rules.h"

/*
 * @ret's strings are allocated; gp_subject_free() frees them. What may not be read is NULL.
 * @proc: NULL is /proc. -ESRCH: no such process. -ENOMEM.
 */
int gp_subject_read(const char *proc, pid_t pid, struct gp_subject *ret);
/*
 * gp_subject.owner alone, from /proc/PID/status, which a process cannot make hang. -ESRCH: no such
 * process. Other errors say nothing about the process.
 */
int gp_subject_owner(const char *proc, pid_t pid, u32 *ret);
void gp_subject_free(struct gp_subject *s);

#endif /* GP_DAEMON_SUBJECT_H */
