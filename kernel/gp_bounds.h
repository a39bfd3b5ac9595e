/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sizes of the module's tables, and bounds that no caller can exceed. */
#ifndef GP_KERNEL_BOUNDS_H
#define GP_KERNEL_BOUNDS_H

#include "gp_env.h"
#include "uapi/gpreempt.h"

enum {
	GP_HOME_DEVICES	= GP_UAPI_GPUS,
	GP_HOME_TASKS	= GP_UAPI_TASKS,
	GP_HOME_SEATS	= 1024,
	GP_HOME_QUEUES	= 4096,
	GP_HOME_MEMBERS	= 1024,		/* processes of all tasks */
	GP_HOME_LOOK	= 64,		/* samples passed to the scheduler at once */
};

/* Bounds that no caller can exceed: module parameters (gp_main.c). */
struct gp_bounds {
	uint look_min_us;	/* shortest time between two looks */
	uint look_share;	/* permille of a processor that looking may take, per GPU */
	uint lease_max_ms;
	uint stop_deadline_ms;
	bool allow_direct;	/* allow `direct` although its self test has not passed here */
};
extern struct gp_bounds gp_bounds;

#endif /* GP_KERNEL_BOUNDS_H */
