/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The costs of the paths other than the kernel module: daemons, interposed libraries, ioctls. They
 * have the form of the facts of the device and, in a scenario, the same section [costs].
 */
#ifndef GP_COSTS_H
#define GP_COSTS_H

#include "vgpu/facts.h"

enum gp_cost {
	GP_COST_DAEMON_WAKE,	/* timer until a daemon's thread runs */
	GP_COST_DAEMON_READ,	/* all pointers of one process, one process_vm_readv */
	GP_COST_IOCTL,		/* into the driver and back */
	GP_COST_DEBUG_COPY,	/* after a debug suspend: control stacks and headers copied */
	GP_COST_USER_EVENT,	/* submission until a user-space monitor gets an event */
	GP_COST_SHIM,		/* interposed library: event or message, one way */
	GP_COST_REPEATS,	/* finished kernels a reset makes run again, per queue */
	GP_COST_HALT_CALL,	/* the second call of stop_sched / start_sched */
	GP_NR_COSTS,
};

struct gp_costs {
	struct vgpu_facts device;
	struct vgpu_fact path[GP_NR_COSTS];
};

extern const struct vgpu_fact gp_costs_initial[GP_NR_COSTS];
/* Returns the key in a scenario, or NULL behind the last cost. */
const char *gp_cost_name(enum gp_cost cost);

static inline u64 gp_cost(const struct gp_costs *costs, enum gp_cost cost)
{
	return costs->path[cost].value;
}

struct gp_scenario;
/* Computes the costs of a run of @scenario: profile, set, scale, then single values. */
int gp_costs_of(const struct gp_scenario *scenario, struct gp_costs *ret);
/* Returns the weakest source of all costs. */
enum vgpu_source gp_costs_weakest(const struct gp_costs *costs);

#endif /* GP_COSTS_H */
