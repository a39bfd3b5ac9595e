/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Runs the decider's side of the holders, holder processes and their session threads in one
 * thread, on a simulated driver in virtual time. The same calls therefore happen in the same
 * order every time.
 *
 * Holders and sessions are coroutines that run between their calls of ppoll(), nanosleep() and
 * pthread_join(). Their calls use gp_sys. ptrace(), waitpid(), ioctl() and the clock are
 * simulated. Sockets, pipes and files are real. The linker redirects functions that end a process
 * or a thread (tests/daemon/meson.build).
 */
#ifndef HOLDER_SIM_H
#define HOLDER_SIM_H

#include <sys/types.h>

#include "gp_env.h"

enum { SIM_TARGETS = 2, SIM_QUEUES = 3, SIM_GPU = 77 };

struct sim_target {
	pid_t pid;		/* a child of the test that sleeps */
	u64 start;
	u32 debugger;		/* number of the holder process; 0: none */
	int pipe;		/* the driver's end; -1: none */
	u32 queues;
	u32 held;		/* bit per queue */
	u64 until_ns;		/* end of the lease from the decider */
	u32 tracer;		/* a coroutine; 0: none */
	bool stops;		/* PTRACE_INTERRUPT before waitpid() */
	bool new_queue;		/* an event that the holder has not fetched */
};

struct sim {
	struct sim_target target[SIM_TARGETS];
	u64 now_ns;
	u64 late_ns;		/* total delay of calls */
	u32 holders;		/* started so far */
	u32 died;		/* by _exit() */
	const char *broken;	/* the first broken promise */
};

extern struct sim sim;

/* CLAIM_WITH(fn, sim_up, sim_down) */
int sim_up(void **state);
int sim_down(void **state);
/* Acts as the supervisor: starts the children requested at its end of gp_children. */
void sim_supervise(int channel);
/* Runs all coroutines until none can run now. */
void sim_settle(void);
/* Returns when the next coroutine wants to run, or ~0 if none has a timeout. */
u64 sim_wake_at(void);
/* Kills every holder with SIGKILL. The driver releases the processes that they held. */
void sim_kill_holders(void);
/* True if no coroutine is left. */
bool sim_is_empty(void);

#endif /* HOLDER_SIM_H */
