/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A small world around one scheduler, for the tests of core/ and policy/.
 *
 * A story is a table. Each line has a time in microseconds, an event, the actions that the
 * scheduler then wants, and the states of all tasks after it:
 *
 *	{  100, ARRIVE, INFER, 1, "-train",  "os" },
 *	{  120, DONE,   TRAIN, 0, "",        "o." },
 *
 * Wanted: "-task" stops a task, "+task" starts it, "?task" asks whether it executes. With several
 * devices it is "1:-task", and "|" separates two actions. Where: one letter per seat in the order
 * of the cast (a gang has one per device): o on, s stopping, . off, r starting (resuming), x lost.
 * NULL is not checked.
 *
 * After every line of any story, the invariants of core_check.h hold, the time to wake is in the
 * future, and every action handed out is valid.
 */
#ifndef CORE_WORLD_H
#define CORE_WORLD_H

#include "core/sched.h"
#include "tests/shared/gp_test.h"

#define US(n)	((n) * 1000ull)
#define MS(n)	((n) * 1000000ull)

enum { CW_TASKS = 8, CW_DEVICES = 2, CW_MOVES = 32 };

/* The tasks of a story, ended by a name of NULL. */
struct actor {
	const char *name;
	struct gp_class class;
	u64 devices;			/* 0: the first */
};

#define CLASS(prio, w, f)	.class = { .priority = prio, .weight = w, .flags = f }
#define CRITICAL(prio)		CLASS(prio, 1, GP_LATENCY_CRITICAL)
#define ORDINARY(prio)		CLASS(prio, 1, 0)
#define BATCH(prio)		CLASS(prio, 1, GP_PREEMPTIBLE)
#define SHARE(weight)		CLASS(0, weight, GP_PREEMPTIBLE)
/* Milliseconds. */
#define RESERVED(every, budget)	.class = { \
	.weight = 1, .flags = GP_PREEMPTIBLE, .period_ns = MS(every), .budget_ns = MS(budget) }

struct cast {
	const struct gp_policy *policy;
	const struct actor *actors;
	u32 devices;			/* number of devices, 0: one */
	u32 flags;			/* of each device */
	struct { u32 param; u64 value; } set[8];	/* value 0 ends it */
};

enum verb {
	/* seen by a look at the seat's device, which takes one sample of the seat */
	ARRIVE,		/* arg packets are written */
	PROGRESS,	/* arg packets are read */
	TURNOVER,	/* arg packets are written and arg are read */
	DRAIN,		/* all packets are read */
	AT_BARRIER,	/* a barrier packet is written and is next to be read */
	LOOK,		/* nothing moved; who is unused */
	/* the mechanism answers */
	DONE, REFUSED, TIMED_OUT,
	EXECUTES, EXECUTES_NOT, EXECUTES_PERHAPS,	/* arg: permille */
	/* calls of users and programs */
	HINT,		/* work comes in arg us; the hint expires 1000 us later */
	HOLD,		/* arg: lease in us */
	RELEASE,
	UNKNOWN, KNOWN,	/* its pointers become unreadable, or readable again */
	TURN_OFF, TURN_ON,
	POLICY,		/* arg: number in gp_policies */
	SET,		/* who: parameter, arg: value */
	DIE,
	RESET, UNPLUG,	/* who: device */
	WAIT,		/* time passes */
};

/* A seat on another device than the first. */
#define AT(device, who)	((who) | (device) << 8)
#define NO_TASK		0

struct line {
	u64 us;
	enum verb verb;
	u32 who;
	u64 arg;
	const char *wanted;
	const char *where;
};

struct core_world {
	void *mem;
	u64 size;
	struct gp_sched *s;
	const struct actor *actors;
	u32 nr;
	u32 task[CW_TASKS];			/* number of each task */
	u32 queue[CW_TASKS][CW_DEVICES];	/* queue on each device, GP_NONE */
	u64 rptr[CW_TASKS][CW_DEVICES], wptr[CW_TASKS][CW_DEVICES];
	u64 action[CW_TASKS][CW_DEVICES];	/* last action that moved it */
	u64 now_ns;
	u64 last_id;				/* last id of an action, without its device */
	u64 stops, starts, probes;		/* handed out so far */
	char wanted[256];			/* actions wanted after the last line */
};

struct core_world *cw_new(const struct cast *cast);
void cw_free(struct core_world *w);
/* Runs one line without checking expectations. Returns the scheduler's result. */
int cw_do(struct core_world *w, const struct line *line);
/* Pulls actions until none is wanted. Stores their text in w->wanted. */
void cw_pull(struct core_world *w);
void cw_play(struct core_world *w, const struct line *lines, u32 nr);
const struct gp_seat *cw_seat(const struct core_world *w, u32 who);
void cw_account(const struct core_world *w, u32 who, struct gp_account *ret);

/* Runs a whole story in a world of that cast. */
#define PLAY(cast, lines) do {						\
	struct core_world *w_ = cw_new(cast);				\
									\
	cw_play(w_, lines, sizeof(lines) / sizeof((lines)[0]));		\
	cw_free(w_);							\
} while (0)

/* Runs a part of a longer test. */
#define SCENE(w, ...) do {						\
	const struct line lines_[] = { __VA_ARGS__ };		\
									\
	cw_play(w, lines_, sizeof(lines_) / sizeof(lines_[0]));		\
} while (0)

#endif /* CORE_WORLD_H */
