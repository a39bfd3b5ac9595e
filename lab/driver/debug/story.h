/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stories about the driver's debug interface, run in the lab's guest.
 *
 * A story is one claim. It runs in its own process, so that its changes to the driver end with it,
 * and under a time limit. A failed check is printed and the story continues to its end, where it
 * verifies the work. need() stops a story.
 */
#ifndef GP_LAB_STORY_H
#define GP_LAB_STORY_H

#include <stdio.h>
#include <sys/types.h>

#include "lab/client/client.h"

struct story {
	const char *claim;
	void (*tell)(void);
};

/*
 * Runs the stories whose claim contains @only (NULL: all) and numbers them from *@number. True if
 * all hold. Also used by tests/lab/kfd_debug, which has its own main().
 */
bool tell_all(const struct story *s, const char *only, u32 *number);

/* The stories of each file. The last entry has no claim. */
extern const struct story refusals[], sessions[], suspends[], flags[], ends[], runtimes[],
	events[], hardware[], selves[], no_hws[];

/* Prints the place and the check and fails the story if the check does not hold. Returns @holds. */
bool story_check(bool holds, const char *file, int line, const char *what);
bool story_check_eq(s64 got, s64 want, const char *file, int line, const char *what);
/* Fails and ends the story. */
void story_stop(const char *file, int line, const char *what) __attribute__((noreturn));

#define CHECK(cond)	story_check(cond, __FILE__, __LINE__, #cond)
#define EQ(got, want)							\
	story_check_eq((s64)(got), (s64)(want), __FILE__, __LINE__, #got " is " #want)
#define NEED(cond)							\
do {									\
	if (!(cond))							\
		story_stop(__FILE__, __LINE__, #cond);			\
} while (0)

/*
 * Starts another process of the story. Like fork(), but returns in the parent after the child calls
 * is_ready(). The child ends with the story at the latest.
 */
pid_t fork_until_ready(void);
void is_ready(void);
void ready_until_killed(void) __attribute__((noreturn));

/* The device ------------------------------------------------------------------- */

/* Packets on the HIQ and actions of the device. */
struct device_counts {
	u64 unmap, query, run_list, write_data, waves_saved;
};

struct device_counts device_counts(void);
/*
 * True if the device has seen exactly these packets since @since. Waits a moment for the last ones,
 * because the driver does not wait for them.
 */
bool device_saw(const struct device_counts *since, u64 unmaps, u64 run_lists, u64 graces,
		const char *file, int line);
/* @unmaps: UNMAP_QUEUES, each with its QUERY_STATUS; @graces: WRITE_DATA. */
#define SAW(since, unmaps, run_lists, graces)				\
	device_saw(since, unmaps, run_lists, graces, __FILE__, __LINE__)
/* True if the queue of @pid with this ring is on the device (or off it) within some time. */
bool device_maps(pid_t pid, u64 ring, bool on);
/* True if the queue is on the device now. */
bool device_maps_now(pid_t pid, u64 ring);
/*
 * True if these were the last packets, for instance "WRITE_DATA UNMAP_QUEUES:20". An unmap has its
 * second word in hex. Padding is left out.
 */
bool device_ended_with(const char *packets);
/* Returns the grace periods of the last two WRITE_DATA packets. 0 or -ENOENT. */
int device_graces(u32 *ret_first, u32 *ret_last);
/* Returns the words of the first MAP_PROCESS packet of the driver's runlist. */
int runlist_process(u32 dw[21]);

/* Another process that executes commands ------------------------------------------- */

enum ask {
	ASK_OPEN,		/* a: 1: without RUNTIME_ENABLE */
	ASK_RUNTIME,		/* a: mode; raw: returns -EINTR when interrupted */
	ASK_QUEUE,		/* creates a queue; a: its type, 0: AQL; returns its id */
	ASK_QUEUE_GTT,		/* an AQL queue whose ring and pointers are in the driver's pages */
	ASK_RENEW,		/* a: index: destroys and creates; 1: same id, same addresses */
	ASK_RING,		/* a: index of the queue; returns its ring's address */
	ASK_LONG,		/* a: index: three kernels of 100 ms */
	ASK_SHORT,		/* a: index: a kernel of 1 ms */
	ASK_HUGE,		/* a: index: a kernel of 1 s, 400 waves */
	ASK_VRAM,		/* a: allocates so many MB and fills them; 0: checks them */
	ASK_BARRIER,		/* a: index: a barrier packet that waits for ASK_PASS */
	ASK_PASS,		/* sets the signal that the barrier waits for */
	ASK_PENDING,		/* returns the number of incomplete kernels */
	ASK_DONE,		/* waits for all kernels; 0 if every sum is right */
	ASK_UPDATE,		/* see target_update() */
	ASK_RUN,		/* see target_run() */
	ASK_DESTROY,		/* a: index */
	ASK_DESTROY_RAW,	/* the same, but -EINTR when interrupted, and frees nothing */
	ASK_WAVE_STATE,		/* a: index */
	ASK_CRIU,		/* a: enum kfd_criu_op */
	ASK_TID,		/* returns the id of a thread other than the first */
	ASK_USER,		/* a: the user to become */
	ASK_EXEC,		/* executes this program with --sleep; no answer */
	ASK_FORK,		/* starts a child that sleeps; returns its pid */
	ASK_LEAD_ENDS,		/* ends the first thread; another thread continues */
	ASK_EXIT,
};

struct target {
	pid_t pid;
	int fd;
	u32 queue[4];		/* ids */
	u64 ring[4];
};

/* Starts a child that executes commands. It has not opened the device yet. */
struct target target_start(void);
/* Sends a command and returns the answer; -ETIME after half a minute. */
s64 target_ask(const struct target *t, enum ask what, u32 a);
/* UPDATE_QUEUE */
s64 target_update(const struct target *t, u32 index, u32 percentage, u32 priority);
/*
 * Calls @call in the child. The child was forked from this process, so functions have the same
 * addresses.
 */
typedef s64 (*target_call)(struct gp_lab_client *c, struct gp_lab_queue *queue);
s64 target_run(const struct target *t, target_call call);
/* The two halves of target_ask(), for commands that block. */
void target_tell(const struct target *t, enum ask what, u32 a);
s64 target_answer(const struct target *t);
/* True if the child answers within @ms. False means that it is blocked. */
bool target_answers(const struct target *t, int ms);
/* Starts a child, opens it, enables the runtime and creates @queues queues. */
struct target target_ready(u32 queues);
/* The same, with running kernels on the first queue. */
struct target target_busy(u32 queues);
void target_queue(struct target *t, u32 index);
/* True if the process sleeps in a kernel function whose name contains @function. */
bool target_sleeps_in(pid_t pid, const char *function);
/* True if new work on this queue does not start within some time. */
bool held(const struct target *t, u32 index);
/*
 * Checks that all work completes with right sums, that the child exits by itself, and that the
 * driver has freed its process.
 */
void target_ends_right(const struct target *t);
/* True if the driver frees the process of this id within some time. */
bool driver_forgot(pid_t pid);

/* Drops root. Processes of that user may still ptrace this one. */
int become(u32 user);

/* ptrace belongs to the calling thread. */
void seize(pid_t pid);
void detach(pid_t pid);

/* The debugger ----------------------------------------------------------------------- */

enum { NEW = 1 << 30 };		/* KFD_EC_MASK(EC_QUEUE_NEW) */
#define DELETE	KFD_EC_MASK(EC_DEVICE_QUEUE_DELETE)
#define RUNTIME	KFD_EC_MASK(EC_PROCESS_RUNTIME)

struct debugger {
	struct gp_lab_client c;
	struct kfd_runtime_info info;
	int pipe[2];		/* O_NONBLOCK */
};

/* Opens a client for debugging only, without runtime and queues. */
void debugger_open(struct debugger *d);
/* Calls ENABLE with the debugger's pipe. */
int debugger_enable(struct debugger *d, pid_t pid, u64 exceptions);
/* Opens a debugger, seizes and enables the target, and clears the "new" exception of its queues. */
void debugger_attach(struct debugger *d, const struct target *t, u64 exceptions);
/* Returns the result of an operation that has no arguments. */
int debugger_op(struct debugger *d, pid_t pid, u32 op);
int debugger_clear_new(struct debugger *d, pid_t pid, u32 *ret_queues);
int debugger_send_runtime(struct debugger *d, pid_t pid);
int debugger_suspend(struct debugger *d, const struct target *t, u32 index);
int debugger_resume(struct debugger *d, const struct target *t, u32 index);
/* Reads the pipe and returns the number of bytes. All must be '.'. */
int debugger_bytes(struct debugger *d);

#endif /* GP_LAB_STORY_H */
