/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The null mechanism pretends to have GPUs. It tests everything above a mechanism, and it is the
 * one to read before writing another.
 *
 * A task that is on does one nanosecond of work per nanosecond, whichever others are on. The test
 * holds the clock, says how long a move takes and which moves fail:
 *
 *	struct gp_null_mechanism m;
 *
 *	gp_null_init(&m, 1);
 *	gp_null_task(&m, 0, 7);			// task 7 sits on device 0, and runs
 *	m.fault[7] = GP_NULL_LOSES;
 *	m.base.ops->begin(&m.base, &action, now);
 *	while (!m.base.ops->poll(&m.base, now, &answer))
 *		...
 *
 * How to write a mechanism, with this one as the example:
 *
 * 1. Embed struct gp_mechanism as the first member and point its ops at a const table. Callbacks
 *    get back to their own structure by a cast: of().
 * 2. Describe the mechanism truthfully in the table: the smallest thing it stops, what happens to
 *    running waves, which processes a stop disturbs. The scheduler plans with these facts, and
 *    gp_mechanism_check() refuses a table that promises a callback it lacks.
 * 3. begin() checks everything that it can refuse before it changes anything. After -errno nothing
 *    has changed and no answer follows: null_begin() has two loops for that reason.
 * 4. begin() never waits for the device. It records what was asked (here plan(), on hardware a
 *    command) and returns; a home that cannot do that without blocking uses a thread.
 * 5. After 0, every task of the action is answered exactly once by poll(), at the deadline at the
 *    latest: GP_DONE if it was confirmed, GP_REFUSED if nothing changed, else GP_TIMED_OUT.
 * 6. A move that completes after its time-out is answered once more, as GP_DONE with the number
 *    of its action, so that the scheduler learns where the task is: late_action.
 * 7. Never report success that was not confirmed. A task that already is where it should be is
 *    GP_REFUSED here, because nothing was done.
 * 8. Fill in the times that are known; 0 means unknown. They become the parts of a latency.
 * 9. Run tests/shared/conformance.c on it. Every mechanism has to pass the same promises;
 *    tests/sim/fixture_null.c is the fixture of this one.
 */
#ifndef GP_NULL_MECHANISM_H
#define GP_NULL_MECHANISM_H

#include "mechanism.h"

enum { GP_NULL_DEVICES = 4, GP_NULL_TASKS = 16 };

/* The result of the moves of a task. */
enum gp_null_fault {
	GP_NULL_WORKS,		/* done after takes_ns, or late_ns if that is set */
	GP_NULL_REFUSES,		/* refused after takes_ns */
	GP_NULL_LOSES,		/* no answer: timed out at the deadline, nothing happened */
	GP_NULL_LATE,		/* timed out at the deadline, done takes_ns after it */
};

/* One task on one device. */
struct gp_null_seat {
	bool there;
	bool on;
	u64 since_ns;		/* on since */
	u64 done_ns;		/* work until then */
	/* the move under way */
	u64 action;		/* its number, 0 is none */
	bool out;		/* it leaves */
	u32 outcome;
	u64 begun_ns, answer_ns;
	u64 effect_ns;		/* when it leaves or comes; GP_NEVER: it does not */
	/* the answer that comes after it was given up */
	u64 late_action;	/* 0 is none */
	u64 late_ns;
};

struct gp_null_mechanism {
	struct gp_mechanism base;
	u32 devices;
	u64 takes_ns;
	u64 late_ns[GP_NULL_TASKS];	/* not 0: this task's moves take so long */
	u32 fault[GP_NULL_TASKS];		/* enum gp_null_fault */
	u32 permille[GP_NULL_TASKS];	/* of the slots, while it is on */
	struct gp_null_seat seat[GP_NULL_DEVICES][GP_NULL_TASKS];
};

extern const struct gp_mechanism_ops gp_null_ops;

void gp_null_init(struct gp_null_mechanism *m, u32 devices);
void gp_null_task(struct gp_null_mechanism *m, u32 device, u32 task);
/* It is gone, whatever it was doing; no answer comes for it. */
void gp_null_task_gone(struct gp_null_mechanism *m, u32 task);
/* Nanoseconds of work that @task has done on @device. */
u64 gp_null_work(struct gp_null_mechanism *m, u32 device, u32 task, u64 now_ns);
/* When the next answer is ready; GP_NEVER. */
u64 gp_null_next(const struct gp_null_mechanism *m);

#endif /* GP_NULL_MECHANISM_H */
