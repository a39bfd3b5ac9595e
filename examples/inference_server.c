// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * An inference server that registers as online and sends a hint for each request.
 *
 * It reads requests, one per line, from its standard input. A request is first prepared on the
 * processor (here a short sleep; in a real server tokenizing and copying) and then computed on
 * the GPU (here a function that you replace). When a request arrives the server knows that GPU
 * work follows. It sends a hint, so that gpreemptd has cleared the GPU when the kernels come.
 *
 * Such a server must not depend on gpreempt. Without the daemon, or if the daemon goes away, it
 * still serves all requests, only later.
 *
 *	cc inference_server.c -o inference_server $(pkg-config --cflags --libs libgpreempt)
 *	inference_server [SOCKET] <requests
 */
#include <gpreempt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	PREPARE_NS = 200 * 1000,		/* from a request's arrival to its first kernel */
	FORGET_NS = 5 * 1000 * 1000,		/* the hint expires if no work came */
};

struct server {
	struct gp_daemon *gpreempt;	/* NULL: works without the daemon */
	unsigned long served, hinted;
};

/* Registers this process. Call it once, before the first use of the GPU. */
static void join(struct server *s, const char *socket)
{
	int err = gp_daemon_open(socket, &s->gpreempt);

	if (!err)
		err = gp_daemon_register(s->gpreempt, "online");
	if (!err)
		return;
	fprintf(stderr, "inference_server: serving without gpreempt: %s\n", gp_strerror(err));
	gp_daemon_close(s->gpreempt);
	s->gpreempt = NULL;
}

/* A hint that fails costs latency, not the request. */
static void hint(struct server *s)
{
	if (s->gpreempt && !gp_daemon_hint(s->gpreempt, NULL, PREPARE_NS, FORGET_NS))
		s->hinted++;
}

static void prepare(const char *request)
{
	struct timespec t = { .tv_nsec = PREPARE_NS };

	(void)request;
	nanosleep(&t, NULL);
}

/* Launches kernels and waits for them. Replace this function. */
static size_t compute(const char *request)
{
	return strcspn(request, "\n");
}

int main(int argc, char **argv)
{
	struct server s = { 0 };
	char request[4096];

	join(&s, argc > 1 ? argv[1] : NULL);
	while (fgets(request, sizeof(request), stdin)) {
		hint(&s);
		prepare(request);
		printf("%zu\n", compute(request));
		s.served++;
	}
	fprintf(stderr, "inference_server: %lu served, %lu hinted\n", s.served, s.hinted);
	gp_daemon_close(s.gpreempt);
	return 0;
}
