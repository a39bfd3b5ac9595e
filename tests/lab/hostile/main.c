// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * usage: lab-hostile ATTACK [--uid UID] [--class CLASS] [--count N]
 *        lab-hostile as UID COMMAND [ARGUMENT]...
 *        lab-hostile now
 *
 * One attack of an ordinary user (--uid) on gpreemptd, for tests/lab/hostile.sh. Prints
 * "ready PID" when the attacker is like any other process, "sprung NS" (CLOCK_MONOTONIC) when it
 * has attacked on SIGUSR1, and "held N" (requests for pages that waited) when it has ended on
 * SIGTERM. The attacker has the command line of this program, so that rules can give it a class.
 */
#include "hostile.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attacks.h"

struct attack {
	const char *name;
	void (*prepare)(void);		/* NULL: an ordinary process with two queues */
	void (*spring)(void);		/* NULL: nothing more happens */
	void (*finish)(void);		/* NULL: the attacker is killed */
};

struct hostile_options hostile_options = { .uid = 1001, .count = 1 };

static struct hostile_fuse fuse;
static struct target x;
static char *class_text;	/* of our command line */

u64 hostile_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* ---- the attacker ---- */

static void start_attacker(bool no_runtime)
{
	x = target_start();
	NEED(target_ask(&x, ASK_USER, hostile_options.uid) == 0);
	NEED(target_ask(&x, ASK_OPEN, no_runtime) == 0);
}

static void ordinary(void)
{
	start_attacker(false);
	target_queue(&x, 0);
	target_queue(&x, 1);
	NEED(target_ask(&x, ASK_HUGE, 0) == 0);
}

/* Its pointers are in the driver's memory. */
static void ordinary_gtt(void)
{
	start_attacker(false);
	NEED(target_ask(&x, ASK_QUEUE_GTT, 0) >= 0);
	NEED(target_ask(&x, ASK_SHORT, 0) == 0);
}

static void ordinary_idle(void)
{
	start_attacker(false);
	target_queue(&x, 0);
	target_queue(&x, 1);
	NEED(target_ask(&x, ASK_SHORT, 0) == 0);
}

static void run_held(target_call call)
{
	hostile_fuse_hold(&fuse, true);
	NEED(target_run(&x, call) == 0);
}

static void cover_pointers(void)
{
	run_held(hostile_cover_pointers);
}

static void move_pointers(void)
{
	run_held(hostile_move_pointers);
}

static void cover_save_area(void)
{
	run_held(hostile_cover_save_area);
}

static void lock_kfd(void)
{
	run_held(hostile_lock_kfd);
}

static void lock_memory(void)
{
	run_held(hostile_lock_memory);
	hostile_wait_held(&fuse);
}

static void exec_file(void)
{
	run_held(hostile_exec);
	hostile_wait_held(&fuse);
}

/* ---- what cannot be preempted ---- */

static void traced(void)
{
	x = target_start();
	NEED(target_ask(&x, ASK_USER, hostile_options.uid) == 0);
	seize(x.pid);
	NEED(target_ask(&x, ASK_OPEN, false) == 0);
	target_queue(&x, 0);
	NEED(target_ask(&x, ASK_LONG, 0) == 0);
}

static void no_runtime(void)
{
	start_attacker(true);
	target_queue(&x, 0);
	NEED(target_ask(&x, ASK_HUGE, 0) == 0);
}

/* ---- other texts, other processes ---- */

/* Both have the same length. */
static void *rewrite(void *arg)
{
	static const char *const classes[] = { "offline", "online " };

	for (u32 i = 0;; i++) {
		memcpy(class_text, classes[i & 1], strlen(classes[i & 1]));
		usleep(20);
	}
	return arg;
}

static s64 start_rewriting(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	pthread_t thread;

	(void)c;
	(void)queue;
	return pthread_create(&thread, NULL, rewrite, NULL) ? -EAGAIN : 0;
}

static void change_cmdline(void)
{
	NEED(class_text && strlen(class_text) == strlen("offline"));
	NEED(target_run(&x, start_rewriting) == 0);
}

static void set_last_pid(pid_t pid)
{
	FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "we");

	NEED(f);
	fprintf(f, "%d", pid);
	NEED(fclose(f) == 0);
}

/* The process of another user gets the number of the attacker, which dies while it is held. */
static void reuse_pid(void)
{
	pid_t wanted = x.pid;

	kill(x.pid, SIGKILL);
	close(x.fd);
	NEED(waitpid(x.pid, NULL, 0) == x.pid);
	for (u32 tries = 0; tries < 100; tries++) {
		set_last_pid(wanted - 1);
		x = target_start();
		if (x.pid == wanted)
			break;
		kill(x.pid, SIGKILL);
		close(x.fd);
		waitpid(x.pid, NULL, 0);
	}
	NEED(x.pid == wanted);
	NEED(target_ask(&x, ASK_USER, hostile_options.uid + 100) == 0);
	NEED(target_ask(&x, ASK_OPEN, 0) == 0);
	target_queue(&x, 0);
	NEED(target_ask(&x, ASK_LONG, 0) == 0);
}

static void ends_right(void)
{
	target_ends_right(&x);
	printf("sums right\n");
}

/* ---- the program ---- */

static const struct attack attacks[] = {
	{ "idle", ordinary_idle, NULL, NULL },
	{ "busy", ordinary, NULL, NULL },
	{ "pointers", ordinary_idle, cover_pointers, NULL },
	{ "pointers-gtt", ordinary_gtt, move_pointers, NULL },
	{ "save-area", ordinary, cover_save_area, NULL },
	{ "kfd-mutex", ordinary, lock_kfd, NULL },
	{ "exec", ordinary_idle, exec_file, NULL },
	{ "memory-lock", ordinary_idle, lock_memory, NULL },
	{ "traced", traced, NULL, NULL },
	{ "no-runtime", no_runtime, NULL, NULL },
	{ "cmdline", ordinary_idle, change_cmdline, NULL },
	{ "pid-reuse", ordinary, reuse_pid, ends_right },
	{ "config", hostile_nothing, hostile_nothing, NULL },
	{ "openers", hostile_open_many, NULL, hostile_end_many },
	{ "flood", hostile_nothing, hostile_flood, hostile_end_many },
};

void hostile_nothing(void)
{
}

static const struct attack *find_attack(const char *name)
{
	for (u32 i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (!strcmp(attacks[i].name, name))
			return &attacks[i];
	return NULL;
}

static void run(const struct attack *a)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fuse = hostile_start();
	a->prepare();
	printf("ready %d\n", x.pid);
	fflush(stdout);
	while (sigwait(&set, &signal) == 0 && signal == SIGUSR1) {
		if (!strcmp(a->name, "config"))
			hostile_fuse_hold(&fuse, true);
		if (a->spring)
			a->spring();
		printf("sprung %llu\n", (unsigned long long)hostile_now_ns());
		fflush(stdout);
	}
	hostile_fuse_hold(&fuse, false);
	printf("held %u\n", hostile_fuse_held(&fuse));
	if (a->finish) {
		a->finish();
	} else if (x.pid) {
		kill(x.pid, SIGKILL);
		CHECK(driver_forgot(x.pid));
	}
	hostile_fuse_stop(&fuse);
}

static int run_as(int argc, char **argv)
{
	uid_t uid;

	if (argc < 2)
		return 2;
	uid = (uid_t)strtoul(argv[0], NULL, 10);
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		return 2;
	execvp(argv[1], argv + 1);
	return 127;
}

int main(int argc, char **argv)
{
	const struct attack *a;

	if (argc > 1 && !strcmp(argv[1], "as"))
		return run_as(argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], "now"))
		return printf("%llu\n", (unsigned long long)hostile_now_ns()) < 0;
	a = argc > 1 ? find_attack(argv[1]) : NULL;
	if (!a) {
		fputs("usage: lab-hostile ATTACK [--uid UID] [--class CLASS] [--count N]\n",
		      stderr);
		return 2;
	}
	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--class"))
			class_text = argv[i + 1];
		else if (!strcmp(argv[i], "--count"))
			hostile_options.count = (u32)strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--uid"))
			hostile_options.uid = (u32)strtoul(argv[i + 1], NULL, 10);
	}
	run(a);
	return 0;
}
