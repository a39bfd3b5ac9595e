/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The null mechanism pretends to have GPUs. Its purpose is to test everything
 * above it, and to be the first mechanism a newcomer reads.
 *
 * A task that is on does one nanosecond of work per nanosecond, whichever others are
 * on. The test holds the clock, says how long a move takes and which moves fail:
 *
 *	struct null_mechanism m;
 *
 *	null_init(&m, 1);
 *	null_task(&m, 0, 7);			// task 7 sits on device 0, and runs
 *	m.fault[7] = NULL_LOSES;
 *	m.base.ops->begin(&m.base, &action, now);
 *	while (!m.base.ops->poll(&m.base, now, &answer))
 *		...
 */
#ifndef NULL_MECHANISM_H
#define NULL_MECHANISM_H

#include "core/mechanism.h"

enum { NULL_DEVICES = 4, NULL_TASKS = 16 };

/* What becomes of the moves of a task. */
enum null_fault {
	NULL_WORKS,		/* done after takes_ns, or late_ns if that is set */
	NULL_REFUSES,		/* refused after takes_ns */
	NULL_LOSES,		/* no answer: timed out at the deadline, nothing happened */
	NULL_LATE,		/* timed out at the deadline, done takes_ns after it */
};

/* One task on one device. */
struct null_seat {
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

struct null_mechanism {
	struct gp_mechanism base;
	u32 devices;
	u64 takes_ns;
	u64 late_ns[NULL_TASKS];	/* not 0: this task's moves take so long */
	u32 fault[NULL_TASKS];		/* enum null_fault */
	u32 permille[NULL_TASKS];	/* of the slots, while it is on */
	struct null_seat seat[NULL_DEVICES][NULL_TASKS];
};

extern const struct gp_mechanism_ops null_ops;

void null_init(struct null_mechanism *m, u32 devices);
void null_task(struct null_mechanism *m, u32 device, u32 task);
/* It is gone, whatever it was doing; no answer comes for it. */
void null_task_gone(struct null_mechanism *m, u32 task);
/* Nanoseconds of work that @task has done on @device. */
u64 null_work(struct null_mechanism *m, u32 device, u32 task, u64 now_ns);
/* When the next answer is ready; GP_NEVER. */
u64 null_next(const struct null_mechanism *m);

#endif /* NULL_MECHANISM_H */
