/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The smallest home: the scheduler and the null mechanism in virtual time. A task has endless
 * work or the amount it was given. Each kernel is one packet, and the work of a running task
 * moves its pointers.
 */
#ifndef CORE_HOME_H
#define CORE_HOME_H

#include "core/sched.h"
#include "tests/shared/gp_test.h"
#include "core/null_mechanism.h"

#define US(n)	((n) * 1000ull)
#define MS(n)	((n) * 1000000ull)

struct home_task {
	bool there;
	u32 task, queue;
	u32 device;
	u64 kernel_ns;
	u64 given_ns;		/* work submitted so far */
};

struct home {
	struct gp_sched *s;
	void *mem;
	struct gp_null_mechanism m;
	struct home_task task[GP_NULL_TASKS];
	u32 nr;
	u64 now_ns;
	u64 actions;
};

void home_init(struct home *h, const struct gp_policy *policy, u32 devices);
void home_fini(struct home *h);
/* Adds a task and returns its index. Fails the test if the task is not admitted. */
u32 home_task(struct home *h, u32 device, const struct gp_class *class);
/* Gives the task @ns more work. */
void home_give(struct home *h, u32 i, u64 ns);
u64 home_done(struct home *h, u32 i);
/* Runs until @ns. */
void home_run(struct home *h, u64 until_ns);

#endif /* CORE_HOME_H */
