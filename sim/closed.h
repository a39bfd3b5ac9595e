/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Computes the latency that a preemption adds to a request from the costs alone. Tests compare it
 * with the simulator's measurement.
 */
#ifndef GP_CLOSED_H
#define GP_CLOSED_H

#include "compare.h"

struct gp_closed {
	u64 poll_ns;		/* half the interval of the looks */
	u64 wake_ns, decide_ns, command_ns, grace_ns;
	u64 save_ns;		/* fixed + bytes / bandwidth */
	u64 runlist_ns;
	u64 map_ns;		/* maps the remaining processes and queues; first dispatch */
	u64 sum_ns;
	double victim_on;	/* share of the requests whose busy period began with a victim on */
	u64 added_ns;		/* sum x victim_on */
};

/*
 * Computes it for @row, a row of the kernel path in @sc. 0, or -EINVAL if the row's costs have
 * another form.
 */
int gp_closed_form(const struct gp_scenario *sc, const struct gp_compared *row,
		   struct gp_closed *ret);

#endif /* GP_CLOSED_H */
