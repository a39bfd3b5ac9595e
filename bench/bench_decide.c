// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cost of a decision: the instructions from seeing an arrival to handing out the action,
 * with 1000 tasks on one GPU of which eight keep it busy. The program runs itself under
 * callgrind, which counts instructions, so clocks and other programs do not matter.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { TASKS = 1000, BUSY = 8, LIMIT = 8000 };

/* External and never inlined: callgrind collects between its entry and exit. */
__attribute__((noinline)) bool gp_bench_decision(struct gp_sched *s, u64 now, u32 *tasks,
						 struct gp_todo *todo);

bool gp_bench_decision(struct gp_sched *s, u64 now, u32 *tasks, struct gp_todo *todo)
{
	struct gp_sample arrival = { .queue = 0, .rptr = 0, .wptr = 12 };

	gp_sched_look(s, 0, &arrival, 1, now);
	return gp_sched_pull(s, now, tasks, todo);
}

/* Starts from the same state every time, and counts one decision, the first. */
static int be_measured(void)
{
	struct gp_sched *s = bench_sched(&gp_policy_priority);
	struct gp_sample work = { .wptr = 4 };
	static u32 tasks[1024];
	struct gp_todo todo;
	u32 device, i;

	if (gp_device_add(s, GP_RPTR_IS_COMPLETION, &device))
		return 1;
	for (i = 0; i < TASKS; i++)
		bench_task(s, i ? 1 : 10, 1);
	for (i = 1; i <= BUSY; i++) {
		work.queue = i;
		gp_sched_look(s, 0, &work, 1, i * GP_MSEC);
	}
	while (gp_sched_pull(s, 20 * GP_MSEC, tasks, &todo))
		;
	if (!gp_bench_decision(s, 21 * GP_MSEC, tasks, &todo) || todo.verb != GP_DO_SWITCH ||
	    todo.action.nr_out != BUSY) {
		fprintf(stderr, "bench_decide: the arrival stopped %u tasks, not %d\n",
			todo.action.nr_out, BUSY);
		return 1;
	}
	return 0;
}

static int count(const char *self, u64 *instructions)
{
	char command[4096], line[512];
	bool found = false;
	FILE *f;

	snprintf(command, sizeof(command),
		 "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
		 "--toggle-collect=gp_bench_decision '%s' measured 2>&1", self);
	f = popen(command, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "Collected : ");
		unsigned long long n;

		if (at && sscanf(at, "Collected : %llu", &n) == 1) {
			*instructions = n;
			found = true;
		}
	}
	return pclose(f) == 0 && found ? 0 : -1;
}

int main(int argc, char **argv)
{
	u64 instructions;

	(void)argv;
	if (argc > 1)
		return be_measured();
	if (count(argv[0], &instructions)) {
		fprintf(stderr, "bench_decide: valgrind counted nothing; is it installed?\n");
		return 1;
	}
	printf("{\"bench\": \"a decision with %d tasks, %d of them busy\", \"value\": %llu, "
	       "\"unit\": \"instructions\", \"baseline\": %d, \"ratio\": %.2f, \"limit\": 1.0}\n",
	       TASKS, BUSY, (unsigned long long)instructions, LIMIT,
	       (double)instructions / LIMIT);
	return 0;
}
