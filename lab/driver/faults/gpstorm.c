// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpstorm: random use of the driver by several processes, with kills. See usage().
 *
 * The parent keeps a number of actors (storm_actor.c) and one debugger (storm_debugger.c) alive and
 * kills some of them. Each of the others must end by itself with the right sums. Every process is a
 * function of the seed and of its number, so on a deterministic machine the whole run is
 * deterministic.
 */
#include "storm.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LEAST_LIFE_MS	= 50,
	MOST_LIFE_MS	= 4000,		/* longest life of a process that is killed */
	KILLED_IN_4	= 2,		/* this many of four are killed */
	OLD_MS		= 120000,	/* longer than any process takes by itself */
};

struct storm *storm;

static struct options {
	u64 seed;
	u32 seconds;
	u32 actors;
	u32 gpus;
} options = { .seed = 1, .seconds = 10, .actors = 4, .gpus = 1 };

struct seat {
	pid_t pid;
	u64 number;		/* number of the process among all */
	u64 born_ms;
	u64 kill_ms;		/* 0: never */
	bool killed;
};

static u64 started, ended, killed, failed;

static void usage(int code)
{
	fprintf(code ? stderr : stdout,
		"usage: gpstorm [--seed N] [--seconds S] [--processes N] [--gpus N]\n"
		"\n"
		"Random use of the lab's GPUs by N (4) processes and a debugger, with kills, for\n"
		"S (10) seconds. Exit: 0 if each survivor had the right sums, else 1.\n");
	exit(code);
}

static void parse(int argc, char *argv[])
{
	static const struct option table[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "processes", required_argument, NULL, 'p' },
		{ "gpus", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		char *end = NULL;
		u64 n;

		if (c == 'h' || c == '?')
			usage(c == 'h' ? 0 : 2);
		n = strtoull(optarg, &end, 0);
		if (*end || (!n && c != 's') || (c == 'p' && n > STORM_ACTORS))
			usage(2);
		if (c == 's')
			options.seed = n;
		else if (c == 't')
			options.seconds = (u32)n;
		else if (c == 'p')
			options.actors = (u32)n;
		else
			options.gpus = (u32)n;
	}
	if (optind < argc)
		usage(2);
}

u32 storm_random(u64 *state, u32 below)
{
	u64 z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (u32)((z ^ (z >> 31)) >> 32) % below;
}

static void start(struct seat *s, u32 index, u64 *random)
{
	u64 number = started++, seed = options.seed * 1000003 + number;

	*s = (struct seat){ .number = number, .born_ms = now_ms() };
	if (storm_random(random, 4) < KILLED_IN_4)
		s->kill_ms = s->born_ms + LEAST_LIFE_MS + storm_random(random, MOST_LIFE_MS);
	fflush(NULL);
	s->pid = fork();
	if (s->pid)
		return;
	/* A process whose parent died must not continue into the next test. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (index == options.actors)
		storm_debug(seed, options.actors);
	_exit(storm_act(seed, number, storm_random(&seed, options.gpus), (int)index));
}

/* Checks the exit status of a process, which says whether its sums were right. */
static void judge(struct seat *s, int status)
{
	if (s->killed && WIFSIGNALED(status)) {
		killed++;
		return;
	}
	ended++;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	failed++;
	note("process %llu (pid %d) ended with status 0x%x", (unsigned long long)s->number, s->pid,
	     status);
}

/* Prints the state, the tracer and the kernel stack of a process that hangs. */
static void show(pid_t pid)
{
	static const char *const files[] = { "status", "stack", "wchan" };
	char path[64], line[256];

	for (u32 i = 0; i < 3; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (i || !strncmp(line, "State", 5) || !strncmp(line, "Tracer", 6))
				printf("# %s%s", line, strchr(line, '\n') ? "" : "\n");
		if (f)
			fclose(f);
	}
}

static void look(struct seat *s, u32 index, u64 now)
{
	if (!s->killed && s->kill_ms && now >= s->kill_ms) {
		storm->pid[index] = 0;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (storm->enabling == s->pid)
			return;
		s->killed = true;
		kill(s->pid, SIGKILL);
	} else if (!s->killed && now > s->born_ms + OLD_MS) {
		failed++;
		s->killed = true;
		note("process %llu (pid %d) does not end; it last did: %s",
		     (unsigned long long)s->number, s->pid, storm->doing[s->pid % STORM_NAMES]);
		show(s->pid);
		kill(s->pid, SIGKILL);
	}
}

static u32 reap(struct seat *seats, u32 nr)
{
	u32 alive = 0;

	for (u32 i = 0; i < nr; i++) {
		int status;

		if (seats[i].pid && waitpid(seats[i].pid, &status, WNOHANG) == seats[i].pid) {
			storm->pid[i] = 0;
			/* The last seat is the debugger's. */
			if (i + 1 == nr)
				storm->enabling = 0;
			judge(&seats[i], status);
			seats[i].pid = 0;
		}
		alive += seats[i].pid != 0;
	}
	return alive;
}

int main(int argc, char *argv[])
{
	struct seat seats[STORM_ACTORS + 1] = { 0 };
	u64 random, end;
	u32 nr;

	parse(argc, argv);
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (storm == MAP_FAILED)
		return 1;
	random = options.seed;
	nr = options.actors + 1;
	end = now_ms() + options.seconds * 1000ull;
	while (now_ms() < end) {
		reap(seats, nr);
		for (u32 i = 0; i < nr; i++) {
			if (!seats[i].pid)
				start(&seats[i], i, &random);
			look(&seats[i], i, now_ms());
		}
		sleep_us(5000);
	}
	storm->over = 1;
	while (reap(seats, nr)) {
		for (u32 i = 0; i < nr; i++)
			if (seats[i].pid)
				look(&seats[i], i, now_ms());
		sleep_us(5000);
	}
	for (u32 i = 0; i < STORM_OPS; i++)
		note("%-10s %llu", storm_op_name(i), (unsigned long long)storm->ops[i]);
	note("debugger: %llu sessions, %llu suspends; sums checked: %llu",
	     (unsigned long long)storm->sessions, (unsigned long long)storm->suspends,
	     (unsigned long long)storm->checked);
	claim(!failed && ended && storm->checked,
	      "random use by %llu processes, %llu of them killed: all others were right "
	      "(seed %llu)",
	      (unsigned long long)started, (unsigned long long)killed,
	      (unsigned long long)options.seed);
	return claims_end();
}
