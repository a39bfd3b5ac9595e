/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * System calls that fail or take long on purpose (lib/sys.h).
 *
 * A test of all faults first runs its scenario without a fault to count the calls, then once for
 * each call:
 *
 *	sys_faults_begin(NULL);
 *	scenario();
 *	calls = sys_faults_calls(GP_SYS_read);
 *	sys_faults_end();
 *	for (u64 n = 1; n <= calls; n++) {
 *		sys_faults_begin(&(struct sys_fault){ .call = GP_SYS_read, .nth = n, .err = EIO });
 *		scenario();
 *		EXPECT(sys_faults_end());
 *	}
 */
#ifndef SYS_FAULTS_H
#define SYS_FAULTS_H

#include "lib/sys.h"

enum { SYS_FAULTS = 8 };

struct sys_fault {
	enum gp_sys_call call;
	u64 nth;	/* which call of this kind, from 1 */
	u64 times;	/* number of calls in a row; 0 is 1 */
	int err;	/* errno of the failed call; 0: it succeeds late */
	u64 late_ns;	/* delay of the call by gp_sys->monotonic_ns() */
	bool half;	/* read() and write() transfer half of the bytes */
};

/*
 * Sets the table that handles the calls; NULL: gp_sys_real. @late, if not NULL, moves the clock
 * of @table for a late call. Call it while no faults are active.
 */
void sys_faults_on(const struct gp_sys *table, void (*late)(void *ctx, u64 ns), void *ctx);

/* Replaces gp_sys until sys_faults_end(). All threads share the counts. NULL: counts only. */
void sys_faults_begin(const struct sys_fault *fault);
/* The same with @nr faults, at most SYS_FAULTS. */
void sys_faults_begin_all(const struct sys_fault *faults, u32 nr);
/* Returns the calls of this kind since sys_faults_begin(), including those that failed. */
u64 sys_faults_calls(enum gp_sys_call call);
/* Returns the name of a call for messages. */
const char *sys_faults_name(enum gp_sys_call call);
/* Returns the number of calls that met a fault. */
u64 sys_faults_met(void);
/* Returns the same and restores the table of sys_faults_on(). */
u64 sys_faults_end(void);

#endif /* SYS_FAULTS_H */
