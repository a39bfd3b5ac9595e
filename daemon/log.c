// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/param.h"
#include "lib/sys.h"
#include "text/value.h"

#define JOURNAL		"/run/systemd/journal/socket"

/* Limits the lines about one user's processes. */
struct log_user {
	uid_t user;
	bool used;
	u64 paid_ns;		/* the lines so far are paid for until then */
	u32 suppressed;
};

static enum gp_log_level most = GP_LOG_INFO;
static bool timestamps;
static const char *journal_path = JOURNAL;
static u64 (*clock_of_test)(void);
static struct log_user users[GP_LOG_USERS];
static u32 dropped;

void gp_log_open(enum gp_log_level level)
{
	most = level;
}

void gp_log_timestamps(bool on)
{
	timestamps = on;
}

void gp_log_replace(const char *journal, u64 (*clock)(void))
{
	journal_path = journal ? journal : JOURNAL;
	clock_of_test = clock;
	memset(users, 0, sizeof(users));
	dropped = 0;
}

static u64 now_ns(void)
{
	return clock_of_test ? clock_of_test() : gp_sys->monotonic_ns();
}

/* Returns true if stderr is connected to the journal. systemd sets "DEVICE:INODE" of its stream. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !gp_sys->fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

/*
 * Sends one entry in the journal's native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): fields,
 * each on a line, in one datagram. @line has no newline. 0 or -errno.
 */
static int send_journal(enum gp_log_level level, const struct gp_log_subject *s, const char *line)
{
	static const int priority[] = { 3, 4, 6, 7 };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char text[1024];
	size_t n;
	int fd, err = 0;

	n = (size_t)snprintf(text, sizeof(text), "MESSAGE=%s\nPRIORITY=%d\n"
			     "SYSLOG_IDENTIFIER=gpreemptd\n", line, priority[level]);
	if (s)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "GPREEMPT_PID=%d\nGPREEMPT_USER=%u\n", (int)s->pid, s->user);
	if (s && s->class_name)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "GPREEMPT_CLASS=%.63s\n",
				      s->class_name);
	if (s && s->gpu >= 0)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "GPREEMPT_GPU=%d\n", s->gpu);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", journal_path);
	fd = gp_sys->socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || gp_sys->sendto(fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL,
				     (struct sockaddr *)&to, sizeof(to)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static size_t print_time(char *to, size_t size)
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (!localtime_r(&ts.tv_sec, &tm))
		return 0;
	n = strftime(to, size, "%Y-%m-%d %H:%M:%S", &tm);
	return n + (size_t)snprintf(to + n, size - n, ".%03ld ", ts.tv_nsec / 1000000);
}

/* @levels: as in sd-daemon(3), for a journal that reads stderr. */
static bool write_stderr(enum gp_log_level level, const char *line, bool levels)
{
	static const char *const journal[] = { "<3>", "<4>", "<6>", "<7>" };
	static const char *const people[] = { "error: ", "warning: ", "", "" };
	struct pollfd to = { .fd = STDERR_FILENO, .events = POLLOUT };
	char text[640], time[40] = "";
	int n;

	/* A pipe that is ready takes a whole line, so the write does not block. */
	if (gp_sys->poll(&to, 1, 0) != 1 || to.revents != POLLOUT)
		return false;
	if (timestamps && !levels)
		print_time(time, sizeof(time));
	n = snprintf(text, sizeof(text), "%s%sgpreemptd: %s%s\n", levels ? journal[level] : "",
		     time, people[level], line);
	return n > 0 && gp_sys->write(STDERR_FILENO, text, (size_t)n) == n;
}

static bool write_line(enum gp_log_level level, const struct gp_log_subject *s, const char *line)
{
	bool levels = is_journal();
	int err = levels ? send_journal(level, s, line) : -ENOENT;

	/*
	 * Without the native socket the journal still reads stderr. Holders and readers may not
	 * make a socket (-ENOSYS).
	 */
	if (err == -ENOENT || err == -ECONNREFUSED || err == -EACCES || err == -ENOSYS ||
	    err == -EPERM)
		return write_stderr(level, line, levels);
	return !err;
}

/* Returns the entry of @user. Reuses the entry of the user who was silent longest. */
static struct log_user *find_user(uid_t user)
{
	struct log_user *u, *oldest = users;

	for (u = users; u < users + GP_LOG_USERS; u++) {
		if (u->used && u->user == user)
			return u;
		if (u->paid_ns < oldest->paid_ns)
			oldest = u;
	}
	*oldest = (struct log_user){ .user = user, .used = true };
	return oldest;
}

/* Returns true if a line about a process of @user may be written. Reports suppressed lines. */
static bool within_limit(uid_t user)
{
	struct log_user *u = find_user(user);
	u64 now = now_ns();
	char line[96];

	if (u->paid_ns < now)
		u->paid_ns = now;
	if (u->paid_ns >= now + GP_LOG_BURST * GP_SEC) {
		u->suppressed++;
		return false;
	}
	u->paid_ns += GP_SEC;
	if (!u->suppressed)
		return true;
	snprintf(line, sizeof(line), "%u lines about processes of user %u were suppressed",
		 u->suppressed, user);
	if (write_line(GP_LOG_WARNING, NULL, line))
		u->suppressed = 0;
	return true;
}

__attribute__((format(printf, 3, 0)))
static void log_args(enum gp_log_level level, const struct gp_log_subject *s, const char *format,
		     va_list args)
{
	char line[512], note[64];

	if (level > most || (s && !within_limit(s->user)))
		return;
	vsnprintf(line, sizeof(line), format, args);
	gp_text_clean(line);
	if (dropped) {
		snprintf(note, sizeof(note), "%u lines of the log were dropped", dropped);
		if (write_line(GP_LOG_WARNING, NULL, note))
			dropped = 0;
	}
	if (!write_line(level, s, line))
		dropped++;
}

void gp_log(enum gp_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_args(level, NULL, format, args);
	va_end(args);
}

void gp_log_about(enum gp_log_level level, const struct gp_log_subject *subject,
		  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_args(level, subject, format, args);
	va_end(args);
}
