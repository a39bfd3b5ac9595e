/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A task: a process, or a gang of processes that only progress together. It is the
 * unit of every decision. A single queue cannot be, because queues of one process
 * wait for each other.
 */
#ifndef GP_TASK_H
#define GP_TASK_H

#include "account.h"
#include "seat.h"

enum gp_task_flag {
	GP_LATENCY_CRITICAL	= 1 << 0,	/* looked for often, ignores the minimum turn */
	GP_PREEMPTIBLE		= 1 << 1,	/* may be taken off */
};

struct gp_class {
	u32 priority;		/* larger goes first */
	u32 weight;		/* fair: relative share, 1..10000 */
	u32 flags;		/* enum gp_task_flag */
	u64 period_ns;		/* deadline: 0 is no reservation */
	u64 budget_ns;
	u64 deadline_ns;	/* relative to the release; 0 is the period */
};

/* Returns a sentence that says what is wrong with @class, or NULL. */
const char *gp_class_wrong(const struct gp_class *class);

struct gp_task {
	bool used;
	struct gp_class class;
	u64 devices;		/* bit per device it sits on */
	u64 held_by;		/* bit per device whose policy wants it off */
	u64 manual_until_ns;	/* held by hand until then, 0 is not */
	u32 seats;		/* first seat, GP_NONE */
	u32 lost;		/* number of LOST seats; while not 0, no seat of it is held */
	bool unknown;		/* gp_task_set_unknown() */
	struct gp_account account;
};

#endif /* GP_TASK_H */
