/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One line per event on stderr, with the journal's levels where the journal reads it. */
#ifndef GP_DAEMON_LOG_H
#define GP_DAEMON_LOG_H

#include "gp_env.h"

/* As in gp_daemon_settings.log. */
enum gp_log_level { GP_LOG_ERROR, GP_LOG_WARNING, GP_LOG_INFO, GP_LOG_DEBUG };

/* What is beyond @most is not written. */
void gp_log_open(enum gp_log_level most);
void gp_log(enum gp_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* GP_DAEMON_LOG_H */
