/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a task got and what it cost. Counters obey two equations that tests
 * check:
 *
 *	stops_asked  = stopped + stops_failed + stops_lost + stopping
 *	starts_asked = started + starts_failed + starts_lost + starting
 *
 * and the times of all states of a seat add up to its life.
 */
#ifndef GP_ACCOUNT_H
#define GP_ACCOUNT_H

#include "hist.h"

/* The parts of a preemption, in the order in which they happen. */
enum gp_part {
	GP_PART_DETECT,		/* work visible until a look saw it */
	GP_PART_DECIDE,		/* until the command was on its way */
	GP_PART_COMMAND,	/* until the device acted, grace included */
	GP_PART_SAVE,		/* until no wave of the victims held a slot */
	/* Not counted where one call of the driver does all three: then it is all in COMMAND. */
	GP_PART_SWITCH,		/* until the preemptor's queues were mapped */
	GP_PART_TOTAL,
	GP_NR_PARTS,
};

extern const char *const gp_part_names[GP_NR_PARTS];

struct gp_account {
	u64 stops_asked, stopped, stops_failed, stops_lost, stopping;
	u64 starts_asked, started, starts_failed, starts_lost, starting;
	u64 late;			/* answers that brought it back after we gave up */
	u64 preempted_others;		/* actions taken for this task */
	u64 arrivals;			/* write pointers seen to have moved */
	u64 longest_hold_ns;		/* stop asked until started */
	u64 state_ns[5];		/* by enum gp_state, summed over its seats */
	u64 waiting_ns;			/* claiming, and not progressing because others run */
	struct gp_hist part[GP_NR_PARTS];	/* of preemptions made for this task; last, large */
};

/* A seat of the task moves along an arrow of core/seat.h: keeps the two equations. */
void gp_account_move(struct gp_account *a, u32 from, u32 to);

#endif /* GP_ACCOUNT_H */
