/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A GPU that is a directory, processes that sleep, and the null mechanism: what the daemon's
 * decider needs to run without a driver. The processes are real children of the test and share
 * a page with it, where the pointers of their queues are.
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
 * The age of queues is real: the scanner's. The world is so far ahead that all are old; a test
 * of their age takes that back before it makes its decider.
 */
#define WORLD_AHEAD	(1000 * GP_SEC)

struct world_queue {
	bool there;
	u32 gpu;
	u64 *rptr, *wptr;	/* in the shared page */
};

struct world_process {
	pid_t pid;		/* 0: not there */
	struct world_queue queue[WORLD_QUEUES];
};

/* daemon/holders.h on the null mechanism: its functions are in decider_world.c. */
struct world_debug {
	struct gp_null_mechanism m;
	int bell;		/* gp_holders_fd(); never readable */
	int attach_error;	/* what attaching ends with */
	bool attach_hangs;	/* it does not end */
	bool attaching;		/* one hangs, and is heard of no more */
	bool acting;		/* it is in a call of the driver */
	u32 troubles;		/* odd: the holder of @hung hangs */
	uid_t hung;
	bool leave_hangs;	/* gp_holders_leave() does not end */
	u32 made, freed;	/* how often it was */
	u32 attaches, deletes;
	struct gp_holders_event event[64];
	u32 nr_events;
	/* for the module: each process is asked for one descriptor of the driver */
	struct gp_holders_process ask[128];
	u32 nr_asks;
	pid_t asks_hang;	/* those for this process are not answered */
	u32 asked;		/* so far */
	int ask_error;		/* what asking ends with */
	u32 descriptors;	/* that each process has; 0: 1 */
};

/* A reader of daemon/reader.h in this process and in the world's time. */
struct world_reader {
	struct gp_reader_args args;	/* channel 0: unused */
	struct gp_reader_self *self;	/* NULL: it has not begun */
	u64 id;
	bool killed;
};

struct world {
	struct fake_tree *tree;
	char kfd[128], mqds[128], state[128];
	const char *kmod;	/* NULL: there is no module */
	char proc[128];		/* "": /proc; else its processes, and those of world_idle() */
	u64 calls_max;		/* system calls of one run, while sys_faults.h counts them */
	u64 *shared;
	u32 xccs;		/* of GPUs made from now on; 0: 4 */
	struct world_process process[WORLD_PROCESSES];
	struct world_debug debug;
	struct gp_decider *decider;
	struct world_reader reader[WORLD_READERS];
	uid_t hung;		/* the readers of this user do nothing, and survive SIGKILL */
	bool hangs;		/* @hung is a user */
	u32 readers;		/* of users, made so far */
	u64 now_ns;		/* goes on in world_run() alone: a busy machine changes nothing */
	u64 slow_ns;		/* and by so much whenever the decider looks at the clock */
	u32 clocks;		/* how often it did */
	u32 holding;		/* how often the decider said so */
	char news[1024];	/* the last */
};

/* Configurations: it preempts at once; it looks often. */
#define WORLD_ACTING \
	"policy = priority\ndefault_class = offline\nattach_after = 0\nscan = 10ms\n"
#define WORLD_LOOKS \
	"[policy priority]\nlook_min = 100us\nlook_max = 500us\nmin_share = 0\n"

/* CLAIM_WITH(fn, world_up, world_down) */
int world_up(void **state);
int world_down(void **state);
/* One GPU more; before there is a decider. */
void world_gpu(struct world *w);
/* A decider with @config, the rest of [daemon] and further sections. */
void world_decider(struct world *w, const char *config);
/* A process that sleeps, without queues; returns its place. */
u32 world_process(struct world *w);
/* The same of another user; only root can. */
u32 world_process_of(struct world *w, uid_t uid);
void world_end(struct world *w, u32 i);
/* Has a /proc of its own from now on; before there is a decider. */
void world_own_proc(struct world *w);
/* @nr processes of @uid that have the driver open and no queue; with a /proc of its own. */
void world_idle(struct world *w, uid_t uid, u32 nr);
void world_queue(struct world *w, u32 i, u32 queue);
void world_queue_on(struct world *w, u32 i, u32 queue, u32 gpu);
void world_queue_gone(struct world *w, u32 i, u32 queue);
/* @nr packets more, or done. */
void world_submit(struct world *w, u32 i, u32 queue, u64 nr);
void world_complete(struct world *w, u32 i, u32 queue, u64 nr);
/* Compute units that it occupies. */
void world_occupy(struct world *w, u32 i, u32 cus);
void world_class(struct world *w, u32 i, const char *name);
/* Time goes on by @ns, in steps of at most 1 ms, and the decider runs. */
void world_run(struct world *w, u64 ns);
/* The scheduler of the backend, which must have one. */
struct gp_sched *world_sched(struct world *w);
struct gp_gpu_process *world_find(struct world *w, u32 i);
u32 world_state(struct world *w, u32 i);
/* A decider with an online and an offline process, a queue each, the latter busy and attached. */
void world_two(struct world *w, u32 *online, u32 *offline);
/* The same, and the online one has work, for which the other is off. */
void world_two_preempted(struct world *w, u32 *online, u32 *offline);
/* Only the two processes, with a queue each. */
void world_pair(struct world *w, u32 *online, u32 *offline);

#endif /* DECIDER_WORLD_H */
