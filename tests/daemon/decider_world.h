/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Runs the daemon's decider without a driver. The GPU is a directory, the processes sleep, and
 * the mechanism is the null mechanism. The processes are children of the test and share a page
 * with it, which has the pointers of their queues.
 */
#ifndef DECIDER_WORLD_H
#define DECIDER_WORLD_H

#include "daemon/holders.h"
#include "daemon/reader.h"
#include "daemon/scheduler.h"
#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "core/null_mechanism.h"

enum { WORLD_PROCESSES = 72, WORLD_READERS = 16, WORLD_QUEUES = 4, WORLD_GPU = 0xd5ae };

/*
 * The age of queues comes from the scanner, which uses real time. The world's clock is so far
 * ahead that all queues are old. A test of their age sets the clock back before it makes its
 * decider.
 */
#define WORLD_AHEAD	(1000 * GP_SEC)

struct world_queue {
	bool there;
	u32 gpu;
	u64 *rptr, *wptr;	/* in the shared page */
};

struct world_process {
	pid_t pid;		/* 0: none */
	struct world_queue queue[WORLD_QUEUES];
};

/* Implements daemon/holders.h on the null mechanism. The functions are in decider_world.c. */
struct world_debug {
	struct gp_null_mechanism m;
	int bell;		/* gp_holders_fd(); never readable */
	int attach_error;	/* the result of attaching */
	bool attach_hangs;	/* attaching does not end */
	bool attaching;		/* an attach hangs without a result */
	bool acting;		/* a call of the driver is under way */
	u32 troubles;		/* odd: the holder of @hung hangs */
	uid_t hung;
	bool leave_hangs;	/* gp_holders_leave() does not end */
	u32 made, freed;	/* number of times */
	u32 attaches, deletes;
	struct gp_holders_event event[64];
	u32 nr_events;
	/* for the module: requests for a descriptor of the driver, one per process */
	struct gp_holders_process ask[128];
	u32 nr_asks;
	pid_t asks_hang;	/* requests for this process get no answer */
	u32 asked;		/* number of requests so far */
	int ask_error;		/* result of a request */
	u32 descriptors;	/* of each process; 0: 1 */
};

/* A reader of daemon/reader.h in this process, in the world's time. */
struct world_reader {
	struct gp_reader_args args;	/* channel 0: unused */
	struct gp_reader_self *self;	/* NULL: not started */
	u64 id;
	bool killed;
};

struct world {
	struct fake_tree *tree;
	char kfd[128], mqds[128], state[128];
	const char *kmod;	/* NULL: no module */
	char proc[128];		/* "": /proc; else own processes and those of world_idle() */
	u64 calls_max;		/* most system calls of one run, while sys_faults.h counts */
	u64 *shared;
	u32 xccs;		/* of GPUs made later; 0: 4 */
	struct world_process process[WORLD_PROCESSES];
	struct world_debug debug;
	struct gp_decider *decider;
	struct world_reader reader[WORLD_READERS];
	uid_t hung;		/* readers of this user do nothing and survive SIGKILL */
	bool hangs;		/* @hung is a user */
	u32 readers;		/* readers of users made so far */
	u64 now_ns;		/* advances only in world_run(), so load does not matter */
	u64 slow_ns;		/* added at each time that the decider reads the clock */
	u32 clocks;		/* number of those reads */
	u32 holding;		/* calls of its holding callback */
	char news[1024];	/* the last message */
};

/* Configurations: the decider preempts at once, or looks often. */
#define WORLD_ACTING \
	"policy = priority\ndefault_class = offline\nattach_after = 0\nscan = 10ms\n"
#define WORLD_LOOKS \
	"[policy priority]\nlook_min = 100us\nlook_max = 500us\nmin_share = 0\n"

/* CLAIM_WITH(fn, world_up, world_down) */
int world_up(void **state);
int world_down(void **state);
/* Adds a GPU. Call it before there is a decider. */
void world_gpu(struct world *w);
/* Makes a decider with @config: the rest of [daemon] and further sections. */
void world_decider(struct world *w, const char *config);
/* Makes a sleeping process without queues. Returns its index. */
u32 world_process(struct world *w);
/* The same for another user. Only root can call it. */
u32 world_process_of(struct world *w, uid_t uid);
void world_end(struct world *w, u32 i);
/* Gives the world its own /proc. Call it before there is a decider. */
void world_own_proc(struct world *w);
/* Adds @nr processes of @uid that have the driver open and no queue. Needs an own /proc. */
void world_idle(struct world *w, uid_t uid, u32 nr);
void world_queue(struct world *w, u32 i, u32 queue);
void world_queue_on(struct world *w, u32 i, u32 queue, u32 gpu);
void world_queue_gone(struct world *w, u32 i, u32 queue);
/* Writes, or completes, @nr more packets. */
void world_submit(struct world *w, u32 i, u32 queue, u64 nr);
void world_complete(struct world *w, u32 i, u32 queue, u64 nr);
/* Sets the number of compute units that the process occupies. */
void world_occupy(struct world *w, u32 i, u32 cus);
void world_class(struct world *w, u32 i, const char *name);
/* Advances time by @ns in steps of at most 1 ms and runs the decider. */
void world_run(struct world *w, u64 ns);
/* Returns the scheduler of the backend, which must have one. */
struct gp_sched *world_sched(struct world *w);
struct gp_gpu_process *world_find(struct world *w, u32 i);
u32 world_state(struct world *w, u32 i);
/*
 * Makes a decider with an online and an offline process with a queue each. The offline one is
 * busy and attached.
 */
void world_two(struct world *w, u32 *online, u32 *offline);
/* The same, and the online process has work for which the offline one is off. */
void world_two_preempted(struct world *w, u32 *online, u32 *offline);
/* Makes only the two processes, with a queue each. */
void world_pair(struct world *w, u32 *online, u32 *offline);

#endif /* DECIDER_WORLD_H */
