/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every fault that a scenario can meet (sys_faults.h): each call of each kind fails with each
 * plausible error, fails many times in a row, or is late.
 *
 * A scenario runs from sys_faults_begin(@fault) to sys_faults_end(), makes its claims about what it
 * saw, and shows that everything works again. The same scenario makes the same calls every time.
 */
#ifndef SYS_SWEEP_H
#define SYS_SWEEP_H

#include "sys_faults.h"

struct sys_sweep {
	const char *name;
	/* @fault NULL: none. Begins and ends the faults itself. */
	void (*scenario)(void *ctx, const struct sys_fault *fault);
	void *ctx;
	u64 late_ns[2];		/* how late a late call is */
	u64 sample;		/* so many faults, chosen by GP_SEED; ./run test --full: all */
};

/* Returns how many faults there were and prints it. */
u64 sys_sweep_run(const struct sys_sweep *s);
/* For the teardown of a test: the fault that the failed claim met. */
void sys_sweep_tell(void);

#endif /* SYS_SWEEP_H */
