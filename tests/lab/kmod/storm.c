// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpkmod-storm: threads that attach, detach, preempt, resume, end and replace gploads at the same
 * time, each with a descriptor of /dev/gpreempt of its own, which it closes now and then with all
 * it has attached. Each that was not killed must end with the right sums. See usage().
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/kmod.h"

enum { THREADS = 8, LOADS = 6 };

static u32 seconds = 10;
static u64 seed = 1;
static volatile bool over;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct load {
	pid_t pid;
	bool killed;
} load[LOADS];
static u64 done[8], wrong, ended;

static u32 random_of(u64 *state, u32 below)
{
	u64 z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (u32)((z ^ (z >> 31)) >> 32) % below;
}

/* Some end soon by themselves, some work until they are told to stop. */
static pid_t start_load(u32 number)
{
	char text[16], requests[16];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%u", number);
	snprintf(requests, sizeof(requests), "%u", number % 2 ? 20 : 10000000);
	if (!freopen("/dev/null", "we", stdout))
		_exit(99);
	execlp("gpload", "gpload", "--requests", requests, "--kernel", "200us", "--waves", "200",
	       "--depth", "4", "--seed", text, NULL);
	_exit(98);
}

static void judge(const struct load *l, int status)
{
	ended++;
	/* Told to stop before it could listen. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
		return;
	if (!status || (l->killed && WIFSIGNALED(status)))
		return;
	wrong++;
	printf("# gpload %d ended with status 0x%x\n", l->pid, (unsigned int)status);
}

static void replace(u32 i, u32 number)
{
	int status;

	pthread_mutex_lock(&lock);
	if (waitpid(load[i].pid, &status, WNOHANG) == load[i].pid) {
		judge(&load[i], status);
		load[i] = (struct load){ .pid = start_load(number) };
	}
	pthread_mutex_unlock(&lock);
}

static void end_load(u32 i, bool kill_it)
{
	pthread_mutex_lock(&lock);
	load[i].killed |= kill_it;
	kill(load[i].pid, kill_it ? SIGKILL : SIGTERM);
	pthread_mutex_unlock(&lock);
}

struct actor {
	pthread_t thread;
	u64 random;
	int fd;
	u32 task[LOADS];
	u32 nr;
};

static void count(u32 what, int err)
{
	if (!err)
		__atomic_fetch_add(&done[what], 1, __ATOMIC_RELAXED);
}

static void attach(struct actor *a)
{
	struct gp_process_id p = { .pid = load[random_of(&a->random, LOADS)].pid };
	struct gp_class class = {
		.priority = random_of(&a->random, 10), .weight = 100, .flags = GP_PREEMPTIBLE,
	};

	if (a->nr < LOADS && !gp_kmod_attach(a->fd, &p, 1, &class, &a->task[a->nr])) {
		a->nr++;
		count(0, 0);
	}
}

static void detach(struct actor *a)
{
	if (!a->nr)
		return;
	count(1, gp_kmod_detach(a->fd, a->task[--a->nr]));
}

static void reopen(struct actor *a)
{
	close(a->fd);
	a->nr = 0;
	a->fd = gp_kmod_open(NULL, NULL);
	count(2, a->fd < 0);
}

static void act(struct actor *a)
{
	u32 all = GP_UAPI_ALL;
	struct gp_kmod_move move = {
		.tasks = &all, .nr = 1,
		.timeout_ns = random_of(&a->random, 2) * 50000000ull,
	};
	u32 r = random_of(&a->random, 64), who = random_of(&a->random, LOADS);

	if (r < 20)
		attach(a);
	else if (r < 26)
		detach(a);
	else if (r < 42)
		count(3, gp_kmod_preempt(a->fd, &move, NULL));
	else if (r < 54)
		count(4, gp_kmod_resume(a->fd, &move, NULL));
	else if (r < 57)
		count(5, gp_kmod_trigger(a->fd, all));
	else if (r < 58)
		reopen(a);
	else if (r < 59)
		end_load(who, true);
	else if (r < 60)
		end_load(who, false);
	else
		replace(who, random_of(&a->random, 1000));
}

static void *run(void *ctx)
{
	struct actor *a = ctx;

	while (!over && a->fd >= 0) {
		act(a);
		usleep(random_of(&a->random, 2000));
	}
	if (a->fd >= 0)
		close(a->fd);
	return NULL;
}

static void finish(void)
{
	int status;

	for (u32 i = 0; i < LOADS; i++) {
		kill(load[i].pid, SIGTERM);
		if (waitpid(load[i].pid, &status, 0) == load[i].pid)
			judge(&load[i], status);
	}
}

int main(int argc, char *argv[])
{
	static struct actor actor[THREADS];

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		printf("usage: gpkmod-storm [SECONDS [SEED]]\n");
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		seconds = (u32)atoi(argv[1]);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	for (u32 i = 0; i < LOADS; i++)
		load[i].pid = start_load(i);
	for (u32 i = 0; i < THREADS; i++) {
		actor[i].random = seed * 1000 + i;
		actor[i].fd = gp_kmod_open(NULL, NULL);
		if (actor[i].fd < 0 || pthread_create(&actor[i].thread, NULL, run, &actor[i]))
			return 2;
	}
	sleep(seconds);
	over = true;
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(actor[i].thread, NULL);
	finish();
	printf("# attached %llu, detached %llu, reopened %llu, preempted %llu, resumed %llu, "
	       "triggered %llu; gploads ended %llu, wrong %llu\n",
	       (unsigned long long)done[0], (unsigned long long)done[1],
	       (unsigned long long)done[2], (unsigned long long)done[3],
	       (unsigned long long)done[4], (unsigned long long)done[5],
	       (unsigned long long)ended, (unsigned long long)wrong);
	return wrong || !done[0] || !done[3] || !done[4];
}
