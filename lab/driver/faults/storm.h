/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the processes of a storm share. */
#ifndef GP_LAB_STORM_H
#define GP_LAB_STORM_H

#include "lab_test.h"

enum { STORM_ACTORS = 16, STORM_OPS = 12, STORM_NAMES = 64 };

/* In memory that all of them see. */
struct storm {
	volatile int over;		/* finish what you do */
	volatile pid_t pid[STORM_ACTORS + 1];	/* of actors that can be debugged */
	/*
	 * The process that the debugger enables now. The driver crashes if it ends meanwhile, so
	 * an actor that ends or kills takes the pid out of the table and then waits for this.
	 */
	volatile pid_t enabling;
	u64 ops[STORM_OPS];		/* how often each was done */
	u64 sessions, suspends;		/* of debuggers */
	u64 checked;			/* sums */
	char doing[STORM_NAMES][16];	/* by pid, for a look at one that hangs */
};

extern struct storm *storm;

/* Below @below, from *@state, which it moves on. */
u32 storm_random(u64 *state, u32 below);

static inline void storm_count(u64 *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* The exit code: 0 if everything it saw was right. @seat: of its pid; -1: it has none. */
int storm_act(u64 seed, u64 number, u32 gpu, int seat);
const char *storm_op_name(u32 op);
void storm_debug(u64 seed, u32 actors) __attribute__((noreturn));

#endif /* GP_LAB_STORM_H */
