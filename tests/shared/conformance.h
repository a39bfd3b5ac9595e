/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The promises of core/mechanism.h, as tests of any mechanism. A mechanism is put
 * on trial by a bench: something that makes tasks with work that never ends, lets
 * time pass and can say how far the work of a task has come.
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
	/* The next action never ends. NULL: that cannot be had. */
	void (*hang)(struct bench *b);
	/* The next stop of @task is refused. NULL: that cannot be had. */
	void (*refuse)(struct bench *b, u32 task);
	void (*fini)(struct bench *b);

	bool stops_all;			/* no task progresses while one is off */
	u64 actions;			/* begun so far */
};

/* What makes benches of one kind. */
struct bench_kind {
	const char *name;
	struct bench *(*make)(const struct bench_kind *kind);
	u32 arg;
};

/* A promise and the test of it. */
struct promise {
	const char *text;
	void (*test)(struct bench *b);
};

extern const struct promise promises[];	/* ends with a text of NULL */

#endif /* CONFORMANCE_H */
