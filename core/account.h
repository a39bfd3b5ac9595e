/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a task received and what it cost. Tests check two equations of the counters:
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
	GP_PART_DETECT,		/* from visible work until a look saw it */
	GP_PART_DECIDE,		/* until the command was sent */
	GP_PART_COMMAND,	/* until the device acted, grace included */
	GP_PART_SAVE,		/* until no wave of the victims held a slot */
	/* Where one driver call does the last three, all of it counts as COMMAND. */
	GP_PART_SWITCH,		/* until the preemptor's queues were mapped */
	GP_PART_TOTAL,
	GP_NR_PARTS,
};

extern const char *const gp_part_names[GP_NR_PARTS];

struct gp_account {
	u64 stops_asked, stopped, stops_failed, stops_lost, stopping;
	u64 starts_asked, started, starts_failed, starts_lost, starting;
	u64 late;			/* late answers that brought a LOST seat back */
	u64 preempted_others;		/* actions that stopped other tasks for this one */
	u64 arrivals;			/* samples whose write pointer had moved */
	u64 longest_hold_ns;		/* from asking for the stop until started */
	u64 state_ns[5];		/* by enum gp_state, summed over its seats */
	u64 waiting_ns;			/* pending without progress */
	struct gp_hist part[GP_NR_PARTS];	/* of preemptions for this task; large, so last */
};

/* Counts that a seat of the task moved from state @from to @to. Keeps the two equations. */
void gp_account_move(struct gp_account *a, u32 from, u32 to);

#endif /* GP_ACCOUNT_H */
