// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Claims, each in its own process, and work for them. */
#include "probe.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum {
	LIMIT_S		= 150,
	TRIES		= 3,
	DISTURBED	= 77,
};

static int watched = -1;	/* evictions of this process */

/* True if the kernel moved user pages of this process, which evicts it and costs runlists. */
static bool disturbed(void)
{
	char text[1024];
	ssize_t n = watched < 0 ? 0 : read(watched, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return strstr(text, " 1\n");
}

void probe_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# %s:%d: ", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

void probe_excuse(void)
{
	if (disturbed())
		_exit(DISTURBED);
}

u64 probe_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

void probe_pause(void)
{
	usleep(100000);
}

static void run(const struct probe *p)
{
	struct gp_lab_client c;

	alarm(LIMIT_S);
	if (p->bare) {
		p->fn(NULL);
	} else {
		OK(gp_client_open(&c, &(struct gp_client_args){ 0 }));
		watched = gp_smi_open(&c,
				      KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_QUEUE_EVICTION));
		EXPECT(watched >= 0);
		p->fn(&c);
	}
	fflush(stdout);
	/* Exit without closing, so the driver must free the rest. */
	_exit(0);
}

/* Waits until the driver has freed dead processes, so that its packets do not count as ours. */
static bool all_gone(void)
{
	u64 until = probe_now_ms() + PROBE_SOON_MS;

	while (probe_entries("/sys/class/kfd/kfd/proc") > 0) {
		if (probe_now_ms() > until) {
			printf("# the driver still has the process %d s after its end\n",
			       PROBE_SOON_MS / 1000);
			return false;
		}
		usleep(2000);
	}
	return true;
}

/* Returns 0 if the claim holds. */
static int try_once(const struct probe *p)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run(p);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSIGNALED(status))
		printf("# ended by signal %d%s\n", WTERMSIG(status),
		       WTERMSIG(status) == SIGALRM ? ": it took too long" : "");
	if (!all_gone() || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

static bool holds(const struct probe *p)
{
	int result = DISTURBED;

	for (u32 i = 0; i < TRIES && result == DISTURBED; i++) {
		if (i)
			printf("# the kernel moved its pages while it counted: once more\n");
		result = try_once(p);
	}
	return !result;
}

static bool chosen(const struct probe *p, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(p->title, argv[i]))
			return true;
	return argc < 2;
}

int probe_all(const struct probe *probes, u32 nr, int argc, char **argv)
{
	u32 done = 0, broken = 0;

	for (u32 i = 0; i < nr; i++) {
		u64 start = probe_now_ms();
		bool ok;

		if (!chosen(&probes[i], argc, argv))
			continue;
		ok = holds(&probes[i]);
		broken += !ok;
		printf("%s %u - %s\n", ok ? "ok" : "not ok", ++done, probes[i].title);
		fprintf(stderr, "%llu ms: %s\n", (unsigned long long)(probe_now_ms() - start),
			probes[i].title);
	}
	printf("1..%u\n", done);
	return broken != 0;
}

void probe_queue(struct gp_lab_client *c, struct gp_lab_queue *q)
{
	OK(gp_queue_create(c, q,
			   &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL }));
}

void probe_queue_off(struct gp_lab_client *c, struct gp_lab_queue *q)
{
	struct gp_queue_args args = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, .off = true };

	OK(gp_queue_create(c, q, &args));
}

void probe_work(struct gp_lab_client *c, struct gp_work *w, u32 slots, u64 ns)
{
	OK(gp_work_init(w, c, &(struct gp_work_args){
		.slots = slots, .workgroup_ns = ns, .seed = 11 }));
}

void probe_finish(struct gp_work *w)
{
	for (u32 i = 0; i < w->slots; i++) {
		SOON(gp_work_done(w, i));
		OK(gp_work_check(w, i));
	}
}
