/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stories about the driver's debug interface, told in the lab's guest.
 *
 * A story is one claim. It runs in a process of its own, so that whatever it does
 * to the driver ends with it, and under a time limit. Its checks do not stop it: a
 * failed one is shown and the story goes on to its end, where work is verified.
 * need() stops it.
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
 * Those whose claim contains @only (NULL: all), numbered on from *@number. Whether all
 * hold. Shared with tests/lab/kfd_debug, which has a main of its own.
 */
bool tell_all(const struct story *s, const char *only, u32 *number);

/* Each file's, ended by an entry without a claim. */
extern const struct story refusals[], sessions[], suspends[], flags[], ends[], runtimes[],
	events[], hardware[], selves[], no_hws[];

/* Shows where and what, and fails the story. Returns whether it holds. */
bool story_check(bool holds, const char *file, int line, const char *what);
bool story_check_eq(s64 got, s64 want, const char *file, int line, const char *what);
/* Ends the story as failed. */
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
 * Another process of the story: fork(), but the parent's returns once the child is_ready(). The
 * child ends with the story at the latest.
 */
pid_t fork_until_ready(void);
void is_ready(void);
void ready_until_killed(void) __attribute__((noreturn));

/* The device ------------------------------------------------------------------- */

/* Packets of the HIQ, and what the device did. */
struct device_counts {
	u64 unmap, query, run_list, write_data, waves_saved;
};

struct device_counts device_counts(void);
/*
 * What the device has seen since @since is exactly so many packets. The driver does not
 * wait for the last ones, so they may need a moment.
 */
bool device_saw(const struct device_counts *since, u64 unmaps, u64 run_lists, u64 graces,
		const char *file, int line);
/* @unmaps: UNMAP_QUEUES, each with its QUERY_STATUS; @graces: WRITE_DATA. */
#define SAW(since, unmaps, run_lists, graces)				\
	device_saw(since, unmaps, run_lists, graces, __FILE__, __LINE__)
/* Whether the queue of @pid with this ring is, or comes to be, on the device (or off it). */
bool device_maps(pid_t pid, u64 ring, bool on);
/* Whether it is on the device in this moment. */
bool device_maps_now(pid_t pid, u64 ring);
/*
 * The last packets the device has seen are these, as in "WRITE_DATA UNMAP_QUEUES:20";
 * an unmap with its second word in hex, paddings left out.
 */
bool device_ended_with(const char *packets);
/* The graces in the last two WRITE_DATA packets; 0 or -ENOENT. */
int device_graces(u32 *ret_first, u32 *ret_last);
/* The words of the first MAP_PROCESS packet of the driver's runlist. */
int runlist_process(u32 dw[21]);

/* Another process, under our command ----------------------------------------------- */

enum ask {
	ASK_OPEN,		/* a: 1: without RUNTIME_ENABLE */
	ASK_RUNTIME,		/* a: mode; raw: an interruption is -EINTR */
	ASK_QUEUE,		/* creates one; a: its type, 0: AQL; the answer is its id */
	ASK_QUEUE_GTT,		/* an AQL queue whose ring and pointers are the driver's pages */
	ASK_RENEW,		/* a: index: destroyed, made anew; 1: by the same id, there */
	ASK_RING,		/* a: index of the queue; its ring's address */
	ASK_LONG,		/* a: index: three kernels of 100 ms */
	ASK_SHORT,		/* a: index: a kernel of 1 ms */
	ASK_HUGE,		/* a: index: a kernel of 1 s, 400 waves */
	ASK_VRAM,		/* a: allocate so many MB and fill them; 0: are they right? */
	ASK_BARRIER,		/* a: index: a barrier packet that waits for ASK_PASS */
	ASK_PASS,		/* what it waits for has happened */
	ASK_PENDING,		/* kernels that have not completed */
	ASK_DONE,		/* waits for all of them; 0 if every sum is right */
	ASK_UPDATE,		/* of target_update() */
	ASK_RUN,		/* of target_run() */
	ASK_DESTROY,		/* a: index */
	ASK_DESTROY_RAW,	/* the same; an interruption is -EINTR and nothing is freed */
	ASK_WAVE_STATE,		/* a: index */
	ASK_CRIU,		/* a: enum kfd_criu_op */
	ASK_TID,		/* the id of a thread that is not the first */
	ASK_USER,		/* a: the user it becomes */
	ASK_EXEC,		/* becomes its own program with --sleep; no answer */
	ASK_FORK,		/* a child that sleeps; its pid */
	ASK_LEAD_ENDS,		/* another thread goes on, the first one ends */
	ASK_EXIT,
};

struct target {
	pid_t pid;
	int fd;
	u32 queue[4];		/* ids */
	u64 ring[4];
};

/* A child that obeys; it has opened nothing yet. */
struct target target_start(void);
/* What it answers; -ETIME after half a minute. */
s64 target_ask(const struct target *t, enum ask what, u32 a);
/* UPDATE_QUEUE */
s64 target_update(const struct target *t, u32 index, u32 percentage, u32 priority);
/* Calls @call there with what it has. It was forked from us, so functions have our addresses. */
typedef s64 (*target_call)(struct gp_lab_client *c, struct gp_lab_queue *queue);
s64 target_run(const struct target *t, target_call call);
/* In two halves, for what blocks. */
void target_tell(const struct target *t, enum ask what, u32 a);
s64 target_answer(const struct target *t);
/* Whether it has answered within some time: false means blocked. */
bool target_answers(const struct target *t, int ms);
/* Opened, runtime enabled, @queues queues. */
struct target target_ready(u32 queues);
/* The same, with kernels that run on its first queue. */
struct target target_busy(u32 queues);
void target_queue(struct target *t, u32 index);
/* It sleeps in a function of the kernel whose name contains this. */
bool target_sleeps_in(pid_t pid, const char *function);
/* What is put on this queue now does not begin, for a while. */
bool held(const struct target *t, u32 index);
/* All work done and right, then it ends by itself, and the driver has let go of it. */
void target_ends_right(const struct target *t);
/* The driver has no process of this id any more, or comes to have none. */
bool driver_forgot(pid_t pid);

/* Gives up root, and stays open to ptrace by processes of that user. */
int become(u32 user);

/* ptrace: of the calling thread. */
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

/* A client that only debugs: no runtime, no queue. */
void debugger_open(struct debugger *d);
/* ENABLE with our pipe. */
int debugger_enable(struct debugger *d, pid_t pid, u64 exceptions);
/* Opened, target seized and enabled, every queue no longer new. */
void debugger_attach(struct debugger *d, const struct target *t, u64 exceptions);
/* The result of an operation without arguments of its own. */
int debugger_op(struct debugger *d, pid_t pid, u32 op);
int debugger_clear_new(struct debugger *d, pid_t pid, u32 *ret_queues);
int debugger_send_runtime(struct debugger *d, pid_t pid);
int debugger_suspend(struct debugger *d, const struct target *t, u32 index);
int debugger_resume(struct debugger *d, const struct target *t, u32 index);
/* Bytes on the pipe, all of which are '.'; they are taken. */
int debugger_bytes(struct debugger *d);

#endif /* GP_LAB_STORY_H */
