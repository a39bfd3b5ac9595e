/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A device as the scheduler sees it: the seats on it, the one action that is
 * under way, and what its switches have cost so far.
 */
#ifndef GP_DEVICE_H
#define GP_DEVICE_H

#include "seat.h"

/* Facts a home knows of a device and the scheduler needs. */
enum gp_device_flag {
	GP_RPTR_IS_COMPLETION	= 1 << 0,	/* tested here: equal pointers are finished */
	GP_CAN_PROBE		= 1 << 1,	/* the home answers GP_DO_PROBE */
};

struct gp_device {
	bool used;
	u32 flags;		/* enum gp_device_flag */
	u32 seats;		/* first seat, GP_NONE */
	u32 active;		/* first seat there is something to decide about */
	u32 nr_seats;

	bool watched;		/* by the policy: looks could change a decision */
	bool critical;		/* a latency-critical task sits here */

	/* the action under way; one per device */
	u64 action;		/* its number, 0 is none */
	u32 action_open;	/* tasks of it not yet answered */
	u64 action_ns;		/* when it was handed out */
	u64 action_command_ns;	/* the first command of it, as far as known; 0 */
	u64 action_deadline_ns;
	u32 action_cause;	/* seat it was taken for, GP_NONE */
	u32 action_stops;	/* tasks it takes off */
	u64 switched_ns;	/* when the last one ended */
	u32 overdue;		/* LOST seats whose answer may still come: no stops until then */

	/* times */
	u64 looked_ns;		/* last look, 0 is never */
	u64 watched_ns;		/* since when looks follow each other */
	u64 judged_ns;		/* last one that was long enough after another to judge progress */
	u64 look_ns;		/* interval wanted, GP_NEVER */
	u64 policy_wake_ns;	/* the policy wants to be asked again */
	u64 wake_ns;		/* decide again at the latest, for whatever reason */
	u64 gap_ns;		/* moving average of the gaps of those who could preempt */

	/* what a switch costs here, moving averages */
	u64 stop_cost_ns;
	u64 start_cost_ns;
	u64 added_ns;		/* latency an arrival pays when a victim is on */

	u64 scratch[GP_SCRATCH];	/* the policy's */
};

#endif /* GP_DEVICE_H */
