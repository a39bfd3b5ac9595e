// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: gpcall [--uid UID | --more] METHOD [PARAMETERS]
 *
 * One call to gpreemptd, for tests in the lab: prints the answer as it came. Exit 0: an
 * answer; 1: an error of the interface; 3: no daemon; 4: it denies it. --more: all answers, a
 * line each, until the daemon or this one ends. Nothing of ours but the wire is used.
 */
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int call(int fd, const char *method, const char *parameters)
{
	static char text[1 << 20];
	size_t n = 0;
	ssize_t got;
	int len;

	len = snprintf(text, sizeof(text), "{\"method\":\"org.gpreempt.%s\",\"parameters\":%s}",
		       method, parameters);
	if (len < 0 || write(fd, text, (size_t)len + 1) != len + 1)
		return 3;
	while (n < sizeof(text) && (got = read(fd, text + n, sizeof(text) - n)) > 0) {
		n += (size_t)got;
		if (!text[n - 1])
			break;
	}
	if (!n || n == sizeof(text) || text[n - 1])
		return 3;
	puts(text);
	if (strstr(text, "\"error\":\"org.gpreempt.PermissionDenied\""))
		return 4;
	return strstr(text, "\"error\":\"org.") ? 1 : 0;
}

static int follow(int fd, const char *method, const char *parameters)
{
	static char text[1 << 16];
	ssize_t got;
	int len;

	len = snprintf(text, sizeof(text), "{\"method\":\"org.gpreempt.%s\",\"more\":true,"
		       "\"parameters\":%s}", method, parameters);
	if (len < 0 || write(fd, text, (size_t)len + 1) != len + 1)
		return 3;
	while ((got = read(fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++)
			putchar(text[i] ? text[i] : '\n');
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/run/gpreempt/control" };
	struct timeval patience = { .tv_sec = 20 };
	bool more = argc > 2 && !strcmp(argv[1], "--more");
	int fd, code;

	argc -= more;
	argv += more;
	if (argc > 3 && !strcmp(argv[1], "--uid")) {
		uid_t uid = (uid_t)strtoul(argv[2], NULL, 10);

		if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
			return 2;
		argc -= 2;
		argv += 2;
	}
	if (argc < 2 || argc > 3) {
		fputs("usage: gpcall [--uid UID | --more] METHOD [PARAMETERS]\n", stderr);
		return 2;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!more)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		fputs("gpcall: no daemon\n", stderr);
		return 3;
	}
	code = (more ? follow : call)(fd, argv[1], argc == 3 ? argv[2] : "{}");
	close(fd);
	return code;
}
