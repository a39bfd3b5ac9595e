/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shared by the processes of a storm. */
#ifndef GP_LAB_STORM_H
#define GP_LAB_STORM_H

#include "lab_test.h"

enum { STORM_ACTORS = 16, STORM_OPS = 12, STORM_NAMES = 64 };

/* In memory that all processes share. */
struct storm {
	volatile int over;		/* finish the current operation and end */
	volatile pid_t pid[STORM_ACTORS + 1];	/* of actors that can be debugged */
	/*
	 * The process that the debugger enables now. The driver crashes if the process ends
	 * meanwhile. So an actor that ends or kills removes the pid from the table and then waits
	 * for this.
	 */
	volatile pid_t enabling;
	u64 ops[STORM_OPS];		/* count of each operation */
	u64 sessions, suspends;		/* of debuggers */
	u64 checked;			/* number of checked sums */
	char doing[STORM_NAMES][16];	/* by pid, to diagnose a process that hangs */
};

extern struct storm *storm;

/* Returns a number below @below and advances *@state. */
u32 storm_random(u64 *state, u32 below);

static inline void storm_count(u64 *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Returns the exit code, 0 if all results were right. @seat: entry for its pid; -1: none. */
int storm_act(u64 seed, u64 number, u32 gpu, int seat);
const char *storm_op_name(u32 op);
void storm_debug(u64 seed, u32 actors) __attribute__((noreturn));

#endif /* GP_LAB_STORM_H */
