// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: gpcall METHOD [PARAMETERS]
 *
 * One call to gpreemptd, for tests in the lab: prints the answer as it came. Exit 0: an
 * answer; 1: an error of the interface; 3: no daemon. Nothing of ours but the wire is used.
 */
#include <stdio.h>
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
	return strstr(text, "\"error\":\"org.") ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/run/gpreempt/control" };
	struct timeval patience = { .tv_sec = 20 };
	int fd, code;

	if (argc < 2 || argc > 3) {
		fputs("usage: gpcall METHOD [PARAMETERS]\n", stderr);
		return 2;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		fputs("gpcall: no daemon\n", stderr);
		return 3;
	}
	code = call(fd, argv[1], argc == 3 ? argv[2] : "{}");
	close(fd);
	return code;
}
