/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every fault that a scenario can meet (sys_faults.h): each call of each kind fails with each
 * plausible error, fails many times in a row, or is late.
 *
 * A scenario runs from sys_faults_begin_all(@faults, @nr) to sys_faults_end(), makes its claims
 * about what it saw, and shows that everything works again. The same scenario makes the same calls
 * every time. A fault that breaks a promise is printed with its number: GP_SWEEP_AT=NUMBER begins
 * with it, and GP_SWEEP_ALL=1 goes on after failures.
 */
#ifndef SYS_SWEEP_H
#define SYS_SWEEP_H

#include "sys_faults.h"

struct sys_sweep {
	const char *name;
	/* Begins and ends the faults, of which there are @nr, itself. */
	void (*scenario)(void *ctx, const struct sys_fault *faults, u32 nr);
	void *ctx;
	u64 late_ns[2];		/* how late a late call is */
	u64 spared;		/* bit per call that is only late: it cannot fail there */
	u64 sample;		/* so many faults, chosen by GP_SEED; ./run test --full: all */
	u64 rounds;		/* with several faults at once; 300 times more with --full */
};

/* Faults that were tried, and calls that met them. Prints both. */
struct sys_sweep_sum {
	u64 tried, met;
};

void sys_sweep_run(const struct sys_sweep *s, struct sys_sweep_sum *sum);
/* Prints @tried; with --full it must be @least. */
void sys_sweep_enough(u64 tried, u64 least);
/* For the teardown of a test: the fault that the failed claim met. */
void sys_sweep_tell(void);

#endif /* SYS_SWEEP_H */
