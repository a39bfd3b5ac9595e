/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The log: one line per event, to the journal with fields if stderr is connected to it, else to
 * stderr. Logging never blocks. A line that does not fit is dropped, and the next line that fits is
 * preceded by the number of dropped lines. Lines about a user's processes are limited to bursts of
 * GP_LOG_BURST and one per second after that.
 */
#ifndef GP_DAEMON_LOG_H
#define GP_DAEMON_LOG_H

#include <sys/types.h>

#include "gp_env.h"

/* As in gp_daemon_settings.log. */
enum gp_log_level { GP_LOG_ERROR, GP_LOG_WARNING, GP_LOG_INFO, GP_LOG_DEBUG };

enum {
	GP_LOG_BURST	= 32,
	GP_LOG_USERS	= 64,	/* remembered; the one silent longest is replaced first */
};

/* The process a line is about, for the journal's fields and the limit of its user. */
struct gp_log_subject {
	pid_t pid;
	uid_t user;		/* as lib/user.h says */
	const char *class_name;	/* NULL: none */
	int gpu;		/* -1: none */
};

/* Opens the log. Lines of levels beyond @most are not written. */
void gp_log_open(enum gp_log_level most);
/*
 * Sets whether lines on stderr begin with the local time. Lines in the journal always have a time.
 */
void gp_log_timestamps(bool on);
void gp_log(enum gp_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Logs a line about @subject; NULL: as gp_log(). */
void gp_log_about(enum gp_log_level level, const struct gp_log_subject *subject,
		  const char *format, ...) __attribute__((format(printf, 3, 4)));

/* For tests: the journal's socket, and a clock in ns. NULL: the real ones. */
void gp_log_replace(const char *journal, u64 (*clock)(void));

#endif /* GP_DAEMON_LOG_H */
