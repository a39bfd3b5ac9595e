/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The decider's side of the holders, holder processes and their session threads in one thread, on a
 * simulated driver and in virtual time, so that the same calls happen in the same order every time.
 *
 * Holders and sessions are coroutines that run between their calls of ppoll(), nanosleep() and
 * pthread_join(). The calls go through gp_sys: ptrace(), waitpid(), ioctl() and the clock are
 * simulated, sockets, pipes and files are real. The linker redirects what ends a process or a
 * thread (tests/daemon/meson.build).
 */
#ifndef HOLDER_SIM_H
#define HOLDER_SIM_H

#include <sys/types.h>

#include "gp_env.h"

enum { SIM_TARGETS = 2, SIM_QUEUES = 3, SIM_GPU = 77 };

struct sim_target {
	pid_t pid;		/* a child of the test that sleeps */
	u64 start;
	u32 debugger;		/* the number of the holder process; 0: none */
	int pipe;		/* the driver's end; -1: none */
	u32 queues;
	u32 held;		/* bit per queue */
	u64 until_ns;		/* when the lease that the decider gave ends */
	u32 tracer;		/* a coroutine; 0: none */
	bool stops;		/* PTRACE_INTERRUPT; not yet waited for */
	bool new_queue;		/* an event that was not fetched yet */
};

struct sim {
	struct sim_target target[SIM_TARGETS];
	u64 now_ns;
	u64 late_ns;		/* by which calls were late */
	u32 holders;		/* started so far */
	u32 died;		/* by _exit() */
	const char *broken;	/* the first promise that did not hold */
};

extern struct sim sim;

/* CLAIM_WITH(fn, sim_up, sim_down) */
int sim_up(void **state);
int sim_down(void **state);
/* The supervisor: starts what is asked for at its end of gp_children. */
void sim_supervise(int channel);
/* All coroutines run until none has anything to do now. */
void sim_settle(void);
/* When the next coroutine wants to run; ~0: none does by itself. */
u64 sim_wake_at(void);
/* SIGKILL of every holder. The driver releases what they held. */
void sim_kill_holders(void);
/* True if no coroutine is left. */
bool sim_is_empty(void);

#endif /* HOLDER_SIM_H */
