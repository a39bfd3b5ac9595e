/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A small world around one scheduler, for the tests of core/ and policy/.
 *
 * A story is a table. Each line says what happens at which microsecond, what
 * the scheduler then wants done and where all tasks then are:
 *
 *	{  100, ARRIVE, INFER, 1, "-train",  "os" },
 *	{  120, DONE,   TRAIN, 0, "",        "o." },
 *
 * Wanted: "-task" stops it, "+task" starts it, "?task" asks whether it executes;
 * with several devices "1:-task", and "|" between two actions. Where: a letter
 * per seat in the order of the cast (a gang has one per device): o on, s
 * stopping, . off, r starting (resuming), x lost. NULL: not said.
 *
 * Whatever the story, after every line the scheduler's books must balance
 * (core_check.h), time to wake must lie ahead, and what it hands out must be
 * legal.
 */
#ifndef CORE_WORLD_H
#define CORE_WORLD_H

#include "core/sched.h"
#include "tests/shared/gp_test.h"

#define US(n)	((n) * 1000ull)
#define MS(n)	((n) * 1000000ull)

enum { CW_TASKS = 8, CW_DEVICES = 2, CW_MOVES = 32 };

/* Who is on stage. Ends with a name of NULL. */
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
	u32 devices;			/* how many, 0: one */
	u32 flags;			/* of each device */
	struct { u32 param; u64 value; } set[8];	/* value 0 ends it */
};

enum verb {
	/* seen by a look at the seat's device, which takes one sample of it */
	ARRIVE,		/* arg packets are written */
	PROGRESS,	/* arg packets are read */
	TURNOVER,	/* arg packets are written and as many read */
	DRAIN,		/* all are read */
	AT_BARRIER,	/* one is written, and the packet to read is a barrier */
	LOOK,		/* nothing moved; who is not used */
	/* the mechanism answers */
	DONE, REFUSED, TIMED_OUT,
	EXECUTES, EXECUTES_NOT, EXECUTES_PERHAPS,	/* arg: permille */
	/* people and programs */
	HINT,		/* work comes in arg us, forget it after 1000 more */
	HOLD,		/* arg: lease in us */
	RELEASE,
	UNKNOWN, KNOWN,	/* its pointers cannot be read, or can be again */
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
	u32 task[CW_TASKS];			/* number of each actor */
	u32 queue[CW_TASKS][CW_DEVICES];	/* its queue there, GP_NONE */
	u64 rptr[CW_TASKS][CW_DEVICES], wptr[CW_TASKS][CW_DEVICES];
	u64 action[CW_TASKS][CW_DEVICES];	/* the last that moved it */
	u64 now_ns;
	u64 last_id;				/* of an action, without its device */
	u64 stops, starts, probes;		/* handed out so far */
	char wanted[256];			/* by the last line */
};

struct core_world *cw_new(const struct cast *cast);
void cw_free(struct core_world *w);
/* One line, without expectations; returns what the scheduler returned. */
int cw_do(struct core_world *w, const struct line *line);
/* Carries on until nothing is wanted; the text is in w->wanted. */
void cw_pull(struct core_world *w);
void cw_play(struct core_world *w, const struct line *lines, u32 nr);
const struct gp_seat *cw_seat(const struct core_world *w, u32 who);
void cw_account(const struct core_world *w, u32 who, struct gp_account *ret);

/* The whole story with the cast's world around it. */
#define PLAY(cast, lines) do {						\
	struct core_world *w_ = cw_new(cast);				\
									\
	cw_play(w_, lines, sizeof(lines) / sizeof((lines)[0]));		\
	cw_free(w_);							\
} while (0)

/* A scene of a longer test. */
#define SCENE(w, ...) do {						\
	const struct line lines_[] = { __VA_ARGS__ };		\
									\
	cw_play(w, lines_, sizeof(lines_) / sizeof(lines_[0]));		\
} while (0)

#endif /* CORE_WORLD_H */
