// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/sys.h"

/* States that did not fit into systemd's queue. The next call sends them too. */
static char unsent[256];

static int send_state(const char *state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path ? strlen(path) : 0;
	socklen_t size;
	ssize_t sent;
	int fd, err;

	if (!n)
		return 0;
	/* A path, or an abstract name. */
	if ((path[0] != '/' && path[0] != '@') || n >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, path, n);
	if (path[0] == '@')
		to.sun_path[0] = 0;
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (path[0] == '/'));

	fd = gp_sys->socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	sent = gp_sys->sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
		      (struct sockaddr *)&to, size);
	err = sent < 0 ? -errno : 0;
	close(fd);
	return err;
}

int gp_notify(const char *state)
{
	char all[sizeof(unsent) + 256];
	int err;

	snprintf(all, sizeof(all), "%s%s%s", unsent, unsent[0] && state[0] ? "\n" : "", state);
	if (!all[0])
		return 0;
	err = send_state(all);
	if (err != -EAGAIN)
		unsent[0] = 0;
	/* WATCHDOG=1 is sent again anyway. */
	else if (strcmp(state, "WATCHDOG=1") && strlen(all) < sizeof(unsent))
		memcpy(unsent, all, strlen(all) + 1);
	return err;
}

u64 gp_notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	u64 ns = usec ? strtoull(usec, NULL, 10) * 1000 : 0;

	/* Ignore WATCHDOG_PID. It names the supervisor, and its child sends for it. */
	return getenv("NOTIFY_SOCKET") ? ns / 2 : 0;
}
