// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Output for users: messages, colours, progress and numbers with units. */
#include "term.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void gp_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("gpreempt: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool colours(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !is_set("NO_COLOR") && term && strcmp(term, "dumb");
}

const char *gp_paint(enum gp_paint paint)
{
	static const char *const codes[] = {
		[GP_PLAIN]	= "\033[0m",
		[GP_BOLD]	= "\033[1m",
		[GP_DIM]	= "\033[2m",
		[GP_GOOD]	= "\033[32m",
		[GP_BAD]	= "\033[31m",
		[GP_OURS]	= "\033[1;36m",
	};

	return colours() ? codes[paint] : "";
}

u32 gp_term_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

bool gp_term_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return strstr(value, "UTF-8") || strstr(value, "utf8") ||
			       strstr(value, "utf-8") || strstr(value, "UTF8");
	}
	return false;
}

void gp_wrap(const char *text, u32 width)
{
	u32 at = 0;

	while (*text) {
		u32 n = (u32)strcspn(text, " ");
		bool breaks = at && at + 1 + n > width;

		if (at)
			putchar(breaks ? '\n' : ' ');
		at = (breaks || !at ? 0 : at + 1) + n;
		printf("%.*s", (int)n, text);
		text += n + strspn(text + n, " ");
	}
	putchar('\n');
}

/* Four digits match the precision of the model and the width of a column. */
static struct gp_text scaled(double value, const char *unit)
{
	int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
	struct gp_text t;

	snprintf(t.s, sizeof(t.s), "%.*f %s", digits, value, unit);
	return t;
}

struct gp_text gp_time(u64 ns)
{
	struct gp_text t;

	if (ns >= 1000000000)
		return scaled((double)ns / 1e9, "s ");
	if (ns >= 1000000)
		return scaled((double)ns / 1e6, "ms");
	if (ns >= 1000)
		return scaled((double)ns / 1e3, "us");
	snprintf(t.s, sizeof(t.s), "%" PRIu64 " ns", ns);
	return t;
}

struct gp_text gp_duration(u64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	struct gp_text t;
	int i = 0;

	for (; value >= 1000 && i < 3; i++)
		value /= 1000;
	snprintf(t.s, sizeof(t.s), "%.4g %s", value, units[i]);
	return t;
}

struct gp_text gp_time_signed(s64 ns)
{
	struct gp_text size = gp_time(ns < 0 ? (u64)-ns : (u64)ns), t;

	snprintf(t.s, sizeof(t.s), "%c%.22s", ns < 0 ? '-' : '+', size.s);
	return t;
}

struct gp_text gp_fraction(bool known, double value, int digits)
{
	struct gp_text t = { "-" };

	if (known)
		snprintf(t.s, sizeof(t.s), "%.*f", digits, value);
	return t;
}

struct gp_text gp_number_of(u64 value, const char *noun)
{
	bool es = noun[0] && noun[strlen(noun) - 1] == 's';
	struct gp_text t;

	snprintf(t.s, sizeof(t.s), "%" PRIu64 " %.10s%s", value, noun,
		 value == 1 ? "" : es ? "es" : "s");
	return t;
}

struct gp_text gp_count(u64 value)
{
	struct gp_text t;

	if (value >= 1000000)
		snprintf(t.s, sizeof(t.s), "%" PRIu64 " %03u %03u", value / 1000000,
			 (unsigned int)(value / 1000 % 1000), (unsigned int)(value % 1000));
	else if (value >= 10000)
		snprintf(t.s, sizeof(t.s), "%" PRIu64 " %03u", value / 1000,
			 (unsigned int)(value % 1000));
	else
		snprintf(t.s, sizeof(t.s), "%" PRIu64, value);
	return t;
}

struct gp_text gp_percent(double fraction)
{
	struct gp_text t;

	snprintf(t.s, sizeof(t.s), "%.1f %%", fraction * 100);
	return t;
}

bool gp_progress_wanted(bool asked)
{
	return asked || isatty(STDERR_FILENO);
}

/* A terminal shows one line that is overwritten and erased at the end. */
void gp_progress(void *ctx, const struct gp_job *job, u32 done, u32 nr)
{
	const char *what = ctx ? ctx : "";

	if (!isatty(STDERR_FILENO)) {
		fprintf(stderr, "%s%" PRIu32 "/%" PRIu32 " %s\n", what, done, nr,
			job->row ? job->row : "run");
		return;
	}
	fprintf(stderr, "\r\033[K%s%" PRIu32 "/%" PRIu32 " %s", what, done, nr,
		job->row ? job->row : "run");
	if (done == nr)
		fputs("\r\033[K", stderr);
	fflush(stderr);
}
