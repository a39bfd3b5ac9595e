/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every fault that a scenario can meet (sys_faults.h). Each call of each kind fails with each
 * plausible error, fails many times in a row, or is late.
 *
 * A scenario calls sys_faults_begin_all(@faults, @nr) and sys_faults_end(), checks what happened
 * in between, and shows that everything works again. It must make the same calls every time. A
 * fault that breaks a promise is printed with its number. GP_SWEEP_AT=NUMBER starts with that
 * fault. GP_SWEEP_ALL=1 continues after failures.
 */
#ifndef SYS_SWEEP_H
#define SYS_SWEEP_H

#include "sys_faults.h"

struct sys_sweep {
	const char *name;
	/* Begins and ends the @nr faults itself. */
	void (*scenario)(void *ctx, const struct sys_fault *faults, u32 nr);
	void *ctx;
	u64 late_ns[2];		/* delays of a late call */
	u64 spared;		/* bit per call that never fails here, only is late */
	u64 sample;		/* number of faults chosen by GP_SEED; --full: all */
	u64 rounds;		/* with several faults at once; 300 times more with --full */
};

/* Numbers of faults and of calls that met them. sys_sweep_run() prints both. */
struct sys_sweep_sum {
	u64 tried, met;
};

void sys_sweep_run(const struct sys_sweep *s, struct sys_sweep_sum *sum);
/* Prints @tried. With --full it must be at least @least. */
void sys_sweep_enough(u64 tried, u64 least);
/* Prints the fault that the failed test met. For the teardown of a test. */
void sys_sweep_tell(void);

#endif /* SYS_SWEEP_H */
