/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the rules want to know about a process. Its command line, environment and program are read
 * by the reader of its user only (descriptions.c): a process can make that take for ever.
 */
#ifndef GP_DAEMON_SUBJECT_H
#define GP_DAEMON_SUBJECT_H

#include <sys/types.h>

#include "reader_wire.h"
#include "rules.h"

/*
 * Its ids and its cgroup, from /proc/PID/status and cgroup, which no process can delay. The other
 * texts are NULL. gp_subject_free() frees @ret's strings. @proc: NULL is /proc. -ESRCH: no such
 * process.
 */
int gp_subject_read(const char *proc, pid_t pid, struct gp_subject *ret);
/*
 * gp_subject.owner alone, from /proc/PID/status, which a process cannot make hang. -ESRCH: no such
 * process. Other errors say nothing about the process.
 */
int gp_subject_owner(const char *proc, pid_t pid, u32 *ret);
/* All of it, as a reader reported it. A text for which there is no memory is NULL. */
void gp_subject_copy(const struct gp_report_subject *from, struct gp_subject *ret);
void gp_subject_free(struct gp_subject *s);

#endif /* GP_DAEMON_SUBJECT_H */
