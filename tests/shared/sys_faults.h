/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * System calls that fail or take long on purpose (lib/sys.h).
 *
 * A test of all faults runs its scenario once without a fault to count its calls, and then once for
 * each of them:
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
	u64 times;	/* so many calls in a row; 0 is 1 */
	int err;	/* the errno of the failed call; 0: it succeeds, late */
	u64 late_ns;	/* the call takes so much longer by gp_sys->monotonic_ns() */
	bool half;	/* read() and write() of half of the bytes */
};

/*
 * The table that the calls go to, NULL: gp_sys_real. @late, if not NULL, moves the clock of @table
 * when a call is late. Call it while there are no faults.
 */
void sys_faults_on(const struct gp_sys *table, void (*late)(void *ctx, u64 ns), void *ctx);

/* Replaces gp_sys until sys_faults_end(). All threads share the counts. NULL: only counts. */
void sys_faults_begin(const struct sys_fault *fault);
/* The same with @nr faults, SYS_FAULTS at most. */
void sys_faults_begin_all(const struct sys_fault *faults, u32 nr);
/* Calls of this kind since sys_faults_begin(), those that failed included. */
u64 sys_faults_calls(enum gp_sys_call call);
/* The name of a call, for messages. */
const char *sys_faults_name(enum gp_sys_call call);
/* Calls that met a fault. */
u64 sys_faults_met(void);
/* The same. Puts the table of sys_faults_on() back. */
u64 sys_faults_end(void);

#endif /* SYS_FAULTS_H */
