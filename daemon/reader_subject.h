/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the rules want to know about a process, read from /proc by its user's reader. */
#ifndef GP_DAEMON_READER_SUBJECT_H
#define GP_DAEMON_READER_SUBJECT_H

#include <sys/types.h>

#include "reader_wire.h"

/* A process's directory in /proc, held open: it never comes to mean another process. */
struct gp_reader_process {
	int dir;
	u64 start;
	u32 uid, gid;		/* real ones */
	u32 owner;		/* the uid; 0 if its four user ids differ (set-uid programs) */
};

/*
 * Opens process @pid that started at @start. -ESRCH: it is gone, or the pid is another process's.
 * Any other error says nothing about the process.
 */
int gp_reader_process_open(pid_t pid, u64 start, struct gp_reader_process *ret);
/* Is it still there? 0, -ESRCH, or another error. */
int gp_reader_process_check(const struct gp_reader_process *p);
void gp_reader_process_close(struct gp_reader_process *p);

/*
 * The texts of @p. What the process hides or is too long is not known. -EAGAIN: it executed
 * another program again and again meanwhile.
 */
int gp_reader_subject_read(const struct gp_reader_process *p, struct gp_report_subject *ret);

/* Replaces what is not printable UTF-8 in @text by '?', and makes it end within @room. */
void gp_reader_clean(char *text, size_t room);

#endif /* GP_DAEMON_READER_SUBJECT_H */
