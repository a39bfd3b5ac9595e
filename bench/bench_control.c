// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cost of a call on the control socket, against the smallest possible server: one that
 * waits with epoll, reads and sends the same bytes back over such a socket. Both servers are
 * separate processes. They run in turns, and the best run of each counts.
 *
 * Also the cost of one run of the control socket while forty clients send the most expensive
 * calls as fast as they can. A decision may have to wait that long.
 */
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "daemon/methods.h"

enum { CALLS = 4000, ROUNDS = 5, LIMIT = 4, FLOODERS = 40, RUNS = 20000 };

static const char call[] = "{\"method\":\"org.gpreempt.Trigger\",\"parameters\":{\"pid\":1}}";
static struct gp_control *control;
static char path[64];

static void give_up(const char *what)
{
	fprintf(stderr, "bench_control: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the two servers ---- */

/* Handles a call like the daemon, but without a decider: reads its parameters and answers it. */
static int answer(void *ctx, struct gp_call *c, json_t **ret)
{
	struct gp_arguments a;

	(void)ctx, (void)ret;
	return gp_arguments_read(c->parameters, 1u << GP_ARG_PID | 1u << GP_ARG_START, 0, &a,
				 &c->bad, c->why);
}

static void make_control(void)
{
	struct gp_control_args args = { .path = path, .call = answer };
	const char *why;

	if (gp_control_new(&args, &control, &why))
		give_up(why);
}

static int watch(int fd)
{
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		give_up("epoll");
	return epoll;
}

static void serve_control(int listener)
{
	struct epoll_event e;
	int epoll;

	(void)listener;
	epoll = watch(gp_control_fd(control));
	for (;;) {
		if (gp_control_wake_at(control) > bench_clock())
			epoll_wait(epoll, &e, 1, -1);
		gp_control_run(control, bench_clock());
	}
}

static void serve_echo(int listener)
{
	int fd = accept(listener, NULL, NULL), epoll = watch(fd);
	struct epoll_event e;
	char bytes[4096];
	ssize_t n;

	for (;;) {
		epoll_wait(epoll, &e, 1, -1);
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n <= 0 || send(fd, bytes, (size_t)n, MSG_DONTWAIT) != n)
			_exit(0);
	}
}

/* ---- the client ---- */

static struct sockaddr_un address(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	return at;
}

static int connected(int flags)
{
	struct sockaddr_un at = address();
	int fd = socket(AF_UNIX, SOCK_STREAM | flags, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		give_up("connect");
	return fd;
}

/* Nanoseconds per call and answer. */
static u64 round_trips(void (*serve)(int), int listener)
{
	char bytes[4096];
	u64 begin;
	int i, fd;
	pid_t server = fork();

	if (!server) {
		serve(listener);
		_exit(0);
	}
	fd = connected(0);
	begin = bench_clock();
	for (i = 0; i < CALLS; i++)
		if (send(fd, call, sizeof(call), 0) < 0 || recv(fd, bytes, sizeof(bytes), 0) <= 0)
			give_up("no answer");
	begin = bench_clock() - begin;
	close(fd);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return begin / CALLS;
}

static void compare(void)
{
	struct sockaddr_un at;
	u64 echo = GP_NEVER, ours = GP_NEVER, x;
	int i, listener;

	for (i = 0; i < ROUNDS; i++) {
		at = address();
		listener = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1))
			give_up("bind");
		x = round_trips(serve_echo, listener);
		echo = x < echo ? x : echo;
		close(listener);
		unlink(path);
		make_control();
		x = round_trips(serve_control, -1);
		ours = x < ours ? x : ours;
		gp_control_free(control);
	}
	printf("{\"bench\": \"a call on the control socket, against a bare echo\", "
	       "\"value\": %llu, \"unit\": \"ns\", \"baseline\": %llu, \"ratio\": %.2f, "
	       "\"limit\": %d}\n", (unsigned long long)ours, (unsigned long long)echo,
	       (double)ours / (double)echo, LIMIT);
	printf("{\"bench\": \"calls on the control socket\", \"value\": %llu, "
	       "\"unit\": \"per second\", \"baseline\": %llu}\n",
	       (unsigned long long)(GP_SEC / ours), (unsigned long long)(GP_SEC / echo));
}

/* ---- the flood ---- */

static int by_size(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static u64 cpu_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

/*
 * Makes a call of the largest size and the largest number of values, which the daemon then
 * refuses.
 */
static size_t laborious(char *to, size_t size)
{
	size_t n = (size_t)snprintf(to, size, "{\"method\":\"org.gpreempt.Trigger\","
				    "\"parameters\":{\"pid\":[[]");
	int i;

	for (i = 0; i < 60; i++)
		n += (size_t)snprintf(to + n, size - n, ",[]");
	n += (size_t)snprintf(to + n, size - n, ",\"");
	while (n + 12 < size)
		n += (size_t)snprintf(to + n, size - n, "\\u00e4");
	return n + (size_t)snprintf(to + n, size - n, "\"]}}") + 1;
}

static void flood(void)
{
	static u64 took[RUNS];
	char bytes[4096], worst[2048];
	int fd[FLOODERS], i, k;
	size_t size;

	size = laborious(worst, sizeof(worst));
	make_control();
	for (i = 0; i < FLOODERS; i++) {
		fd[i] = connected(SOCK_NONBLOCK);
		gp_control_run(control, bench_clock());
	}
	for (i = 0; i < RUNS; i++) {
		for (k = 0; k < 4; k++) {
			/* Ignore errors: the socket may be full. */
			if (send(fd[(i + k) % FLOODERS], worst, size, MSG_NOSIGNAL) < 0)
				errno = 0;
			if (recv(fd[(i + k) % FLOODERS], bytes, sizeof(bytes), 0) < 0)
				errno = 0;
		}
		took[i] = cpu_clock();
		gp_control_run(control, bench_clock());
		took[i] = cpu_clock() - took[i];
	}
	qsort(took, RUNS, sizeof(took[0]), by_size);
	printf("{\"bench\": \"a run of the control socket under forty floods, 99 %%\", "
	       "\"value\": %llu, \"unit\": \"ns\"}\n",
	       (unsigned long long)took[RUNS - RUNS / 100]);
	for (i = 0; i < FLOODERS; i++)
		close(fd[i]);
	gp_control_free(control);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/gp_bench.%d", (int)getpid());
	compare();
	flood();
	return 0;
}
