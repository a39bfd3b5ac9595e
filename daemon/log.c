// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "text/value.h"

static enum gp_log_level most = GP_LOG_INFO;

void gp_log_open(enum gp_log_level level)
{
	most = level;
}

void gp_log(enum gp_log_level level, const char *format, ...)
{
	/* sd-daemon(3): the level of a line in angle brackets. */
	static const char *const journal[] = { "<3>", "<4>", "<6>", "<7>" };
	static const char *const people[] = { "error: ", "warning: ", "", "" };
	struct pollfd to = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[512];
	va_list args;

	if (level > most)
		return;
	/* Who holds somebody, or watches over who does, waits for no reader: the line is lost. */
	if (poll(&to, 1, 0) != 1 || to.revents != POLLOUT)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	gp_text_clean(line);
	fprintf(stderr, "%sgpreemptd: %s%s\n", getenv("JOURNAL_STREAM") ? journal[level] : "",
		people[level], line);
}
