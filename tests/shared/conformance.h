/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tests the contract of core/mechanism.h on any mechanism. A bench makes tasks with endless work,
 * lets time pass and measures how far the work of a task has progressed.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "core/sched.h"
#include "gp_test.h"

enum { BENCH_TASKS = 3, BENCH_NO_TASK = 13, BENCH_NO_DEVICE = 60 };

struct bench {
	struct gp_mechanism *m;
	/* Tasks 0 .. BENCH_TASKS - 1 are on device 0 and run. */
	u64 (*now)(struct bench *b);
	void (*advance)(struct bench *b, u64 until_ns);
	u64 (*work)(struct bench *b, u32 task);
	/* Makes the next action hang. NULL: not supported. */
	void (*hang)(struct bench *b);
	/* Makes the mechanism refuse the next stop of @task. NULL: not supported. */
	void (*refuse)(struct bench *b, u32 task);
	void (*fini)(struct bench *b);

	bool stops_all;			/* no task progresses while one is off */
	u64 actions;			/* begun so far */
};

/* Creates benches of one kind. */
struct bench_kind {
	const char *name;
	struct bench *(*make)(const struct bench_kind *kind);
	u32 arg;
};

/* A promise and its test. */
struct promise {
	const char *text;
	void (*test)(struct bench *b);
};

extern const struct promise promises[];	/* ended by a text of NULL */

#endif /* CONFORMANCE_H */
