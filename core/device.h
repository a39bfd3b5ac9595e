/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A device as the scheduler sees it: the seats on it, the one action that is
 * under way, and what its switches have cost so far.
 */
#ifndef GP_DEVICE_H
#define GP_DEVICE_H

#include "seat.h"

/* Properties of a device, which the home sets. */
enum gp_device_flag {
	GP_RPTR_IS_COMPLETION	= 1 << 0,	/* tested here: equal pointers are finished */
	GP_CAN_PROBE		= 1 << 1,	/* the home answers GP_DO_PROBE */
};

struct gp_device {
	bool used;
	u32 flags;		/* enum gp_device_flag */
	u32 seats;		/* first seat, GP_NONE */
	u32 active;		/* first seat of the list to decide about */
	u32 nr_seats;

	bool watched;		/* the policy may hold a seat here, so looks are needed */
	bool critical;		/* a latency-critical task sits here */

	/* the action under way, at most one per device */
	u64 action;		/* its number, 0 is none */
	u32 action_open;	/* tasks of it not yet answered */
	u64 action_ns;		/* when it was handed out */
	u64 action_command_ns;	/* the first command of it, as far as known; 0 */
	u64 action_deadline_ns;
	u32 action_cause;	/* seat that preempts, GP_NONE */
	u32 action_stops;	/* tasks it takes off */
	u64 switched_ns;	/* when the last action ended */
	u32 overdue;		/* LOST seats whose answer may still come; no stops until then */

	/* times */
	u64 looked_ns;		/* last look, 0 is never */
	u64 watched_ns;		/* when regular looks began */
	u64 judged_ns;		/* last look late enough after another to judge progress */
	u64 look_ns;		/* wanted interval between looks, GP_NEVER */
	u64 policy_wake_ns;	/* when the policy asked to decide again */
	u64 wake_ns;		/* next decision at the latest, for any reason */
	u64 gap_ns;		/* moving average of the gaps of latency-critical tasks */

	/* the cost of a switch here, moving averages */
	u64 stop_cost_ns;
	u64 start_cost_ns;
	u64 added_ns;		/* latency that a preemption adds to an arrival */

	u64 scratch[GP_SCRATCH];	/* for the policy */
};

#endif /* GP_DEVICE_H */
