/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Looks of each placement of the monitor: their times, targets and costs. */
#ifndef GP_LOOK_H
#define GP_LOOK_H

#include "sim.h"

/* The costs of a placement. */
struct gp_look_costs {
	u64 cpu_ns;		/* processor time of one look at a device */
	u64 delay_ns;		/* timer until the pointers are read */
	u64 wake_ns;		/* pointers read until the worker decides */
	u64 decide_ns;		/* until the command is on its way */
};

void gp_look_costs(const struct gp_home *h, const struct gp_gpu *g, struct gp_look_costs *ret);
/* Looks at @g now. */
void gp_look(struct gp_home *h, struct gp_gpu *g);
/* Returns when the timer of @g must look next; GP_NEVER: it has no timer. */
u64 gp_look_at(const struct gp_home *h, const struct gp_gpu *g);

#endif /* GP_LOOK_H */
