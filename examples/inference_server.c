// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * An inference server that says what it is and hints before it works.
 *
 * It reads requests, one per line, from its standard input. A request is first prepared on the
 * processor (here: a short sleep; in a real server tokenizing, copying) and then computed on the
 * GPU (here: a function you replace). At the moment a request arrives the server knows that GPU
 * work follows, and says so: gpreemptd has the GPU cleared by the time the kernels are there.
 *
 * The rule for such a server: gpreempt is an improvement, never a condition. Without the daemon,
 * or if it goes away, requests are served all the same, only later.
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
	FORGET_NS = 5 * 1000 * 1000,		/* it never came: the GPU is given back */
};

struct server {
	struct gp_daemon *gpreempt;	/* NULL: works without */
	unsigned long served, hinted;
};

/* Once, before the first use of the GPU. */
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

/* A hint that is not heard costs latency, not the request. */
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

/* Launch kernels and wait for them: replace this. */
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
