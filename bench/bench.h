/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by the benchmarks: a clock, the line they print, and a scheduler to time. A figure is
 * a ratio against a baseline of the same run, or a count.
 */
#ifndef GP_BENCH_H
#define GP_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/sched.h"

static inline u64 bench_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

static inline u64 bench_clock(void)
{
	return bench_time(CLOCK_MONOTONIC);
}

/* Processor time of this thread, which leaves out the time of other programs. */
static inline u64 bench_own_clock(void)
{
	return bench_time(CLOCK_THREAD_CPUTIME_ID);
}

static inline void bench_keep_least(u64 *least, u64 ns)
{
	if (ns < *least)
		*least = ns;
}

/* Makes a scheduler with room for everything; exits on failure. */
static inline struct gp_sched *bench_sched(const struct gp_policy *policy)
{
	struct gp_sched_args args = {
		.limits = { .devices = 64, .tasks = 1024, .seats = 4096, .queues = 16384 },
		.policy = policy,
	};
	void *mem = calloc(1, gp_sched_size(&args.limits));
	struct gp_sched *s;

	if (!mem || gp_sched_init(mem, &args, &s)) {
		fprintf(stderr, "bench: no scheduler\n");
		exit(1);
	}
	return s;
}

/* Adds a task of @priority on device 0 with @queues empty queues; exits on failure. */
static inline u32 bench_task(struct gp_sched *s, u32 priority, u32 queues)
{
	struct gp_class class = {
		.priority = priority, .weight = 100,
		.flags = priority > 1 ? GP_LATENCY_CRITICAL : GP_PREEMPTIBLE,
	};
	const struct gp_pointers empty = { 0 };
	const char *why;
	u32 task, queue;

	if (gp_task_add(s, 1, &class, 0, &task, &why))
		exit(1);
	while (queues--)
		if (gp_queue_add(s, task, 0, &empty, 0, &queue))
			exit(1);
	return task;
}

#endif /* GP_BENCH_H */
