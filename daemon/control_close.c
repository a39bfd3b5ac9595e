// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Closes connections of clients.
 *
 * A client can send descriptors with its bytes. The kernel closes them in the process that receives
 * the bytes or closes the connection. The client can make that take without limit, for example with
 * a TCP socket that lingers or a large memory file. So the decider does not receive such bytes. A
 * process made for that closes the connection by exiting, and nothing waits for that process.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_private.h"
#include "core/param.h"
#include "lib/sys.h"

/* Minimum interval at which connections with descriptors are closed, unless there are many. */
#define DISPOSE_NS	(100 * GP_MSEC)

enum { MANY = 64, READS = 16 };

/* Reads what is left on @fd. Returns false if it has a descriptor, or may have one. */
static bool drain(int fd)
{
	static char bytes[64 << 10];
	ssize_t n = 1;

	/* Nothing more can be sent from here on. */
	shutdown(fd, SHUT_RDWR);
	for (u32 i = 0; i < READS && n > 0; i++)
		n = gp_varlink_recv(fd, bytes, sizeof(bytes));
	return !n || n == -ECONNRESET;
}

void gp_control_close(struct gp_control *c, int fd)
{
	/* close() does not remove it while a new process has a copy. */
	gp_sys->epoll_ctl(c->epoll, EPOLL_CTL_DEL, fd, NULL);
	if (drain(fd) || c->nr_doomed == GP_CONTROL_DOOMED)
		close(fd);
	else
		c->doomed[c->nr_doomed++] = fd;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Keeps the connections in the new process until the decider has closed its end of @pipe. */
static _Noreturn void keep_until_closed(struct gp_control *c, int pipe)
{
	unsigned int from = 0;
	char byte;

	prctl(PR_SET_NAME, "gp-close");
	c->doomed[c->nr_doomed++] = pipe;
	qsort(c->doomed, c->nr_doomed, sizeof(*c->doomed), by_number);
	for (u32 i = 0; i < c->nr_doomed; i++) {
		unsigned int fd = (unsigned int)c->doomed[i];

		if (fd > from)
			close_range(from, fd - 1, 0);
		from = fd + 1;
	}
	close_range(from, UINT_MAX, 0);
	while (gp_sys->read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static void reap(struct gp_control *c)
{
	int status;

	for (u32 i = c->nr_closers; i--;)
		if (gp_sys->waitpid(c->closer[i], &status, WNOHANG))
			c->closer[i] = c->closer[--c->nr_closers];
}

/* The process must be the last to close them, so the decider closes its own first. */
static void hand_over(struct gp_control *c)
{
	int ends[2];
	pid_t pid;

	if (gp_sys->pipe2(ends, O_CLOEXEC))
		return;
	pid = gp_sys->fork();
	if (!pid)
		keep_until_closed(c, ends[0]);
	close(ends[0]);
	while (pid > 0 && c->nr_doomed)
		close(c->doomed[--c->nr_doomed]);
	if (pid > 0)
		c->closer[c->nr_closers++] = pid;
	close(ends[1]);
}

u64 gp_control_dispose(struct gp_control *c)
{
	if (!c->nr_doomed && !c->nr_closers)
		return GP_NEVER;
	if (c->now_ns < c->dispose_ns && c->nr_doomed < MANY)
		return c->dispose_ns;
	c->dispose_ns = c->now_ns + DISPOSE_NS;
	reap(c);
	if (c->nr_doomed && c->nr_closers < GP_CONTROL_CLOSERS)
		hand_over(c);
	return c->dispose_ns;
}
