/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Exhaustive search of the real scheduler.
 *
 * Searches all orders of events breadth first, on the compiled core itself. The scheduler lives in
 * one block of memory, which is saved before an event and restored after it. Two states are equal
 * if no future comparison of the scheduler can distinguish them. Absolute times, counters and
 * histograms are ignored. Ages count up to the age at which nothing more happens.
 *
 * In every state reached, the invariants of core_check.h hold, no task is off without reason, no
 * wake-up repeats without progress, and every action is answered once. If every action is then
 * answered and time passes, every task that is not LOST is on again in time, whether the others
 * become idle or stay busy.
 *
 * A search that finds a violation returns the shortest sequence of events that leads to it.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "core/sched.h"

/* All times of a search are multiples of this. */
#define EX_UNIT		(100 * GP_USEC)

enum { EX_TASKS = 3, EX_DEVICES = 2, EX_SEATS = 4, EX_PATH = 128 };

/* Optional events, in addition to work, looks, answers and time. */
enum ex_may {
	EX_BARRIERS	= 1 << 0,
	EX_FAULTS	= 1 << 1,	/* refused, timed out, late */
	EX_DEATH	= 1 << 2,
	EX_RESETS	= 1 << 3,
	EX_HINTS	= 1 << 4,
	EX_HANDS	= 1 << 5,	/* hold and release */
	EX_SWITCH	= 1 << 6,	/* off and on */
	EX_POLICIES	= 1 << 7,	/* to fifo and back */
	EX_EARLY	= 1 << 8,	/* read pointers move while off (seen late) */
};

struct ex_task {
	const char *name;
	struct gp_class class;
	u64 devices;
};

struct explore {
	const char *name;
	const struct gp_policy *policy;
	u32 devices, flags;		/* number of devices, and gp_device_flag of each */
	struct ex_task task[EX_TASKS];	/* ended by a name of NULL */
	u32 may;			/* enum ex_may */
	u64 max_states;
	u32 max_depth;			/* 0: unlimited */
};

enum ex_kind {
	EX_ARRIVE, EX_ARRIVE_BARRIER, EX_PROGRESS, EX_LOOK,
	EX_DONE, EX_REFUSED, EX_TIMED_OUT,
	EX_YES, EX_NO, EX_PERHAPS,
	EX_NEXT, EX_UNIT_PASSES, EX_SLEEP,
	EX_DIE, EX_RESET, EX_HINT, EX_HOLD, EX_RELEASE, EX_ENABLE, EX_POLICY,
};

struct ex_event {
	u8 kind, task, device;
	u8 later;		/* units after the last event */
};

struct ex_result {
	u64 states, transitions, completions;
	u32 depth;
	bool complete;			/* no state was left out */
	const char *wrong;		/* what is wrong, or NULL */
	bool later;			/* found when time passed after the end of the path, */
	bool busy;			/* while the other tasks stayed busy */
	u32 length;
	struct ex_event path[EX_PATH];
};

/* Returns 0, or -ENOMEM. */
int explore(const struct explore *config, struct ex_result *ret);
/* Prints the path into @to, one line per event. */
void explore_tell(const struct explore *config, const struct ex_result *result, char *to,
		  size_t size);

/* ---- between the files of the search ---- */

enum { EX_WORDS = 640, EX_EVENTS = 96, EX_CANON = 512 };

struct ex_model {
	const struct explore *config;
	struct gp_sched *s;
	void *mem;
	u32 nr;				/* tasks */
	u32 queue[EX_TASKS][EX_DEVICES];
	u64 base[EX_WORDS];		/* the first state */
	u32 words;
	u64 began_ns;
	char *tell;			/* receives a description of events, or NULL */
	size_t tell_size;
};

int ex_model_init(struct ex_model *m, const struct explore *config);
void ex_model_fini(struct ex_model *m);

/* explore_state.c */
void ex_save(const struct ex_model *m, u64 *to);
void ex_restore(const struct ex_model *m, const u64 *from);
/* Writes the canonical form and returns its length. Equal states have equal forms. */
u32 ex_canon(const struct ex_model *m, u8 *to);

/* explore_events.c */
u32 ex_events(const struct ex_model *m, struct ex_event *to);
/* Applies the event, then pulls until nothing is wanted. Returns NULL, or what is wrong. */
const char *ex_apply(struct ex_model *m, const struct ex_event *event);
const char *ex_pull(struct ex_model *m);
/* Answers every action and lets time pass. Returns NULL if every task comes on again. */
const char *ex_complete(struct ex_model *m, bool busy);

#endif /* EXPLORE_H */
