// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Computes the latency that a preemption adds to a request, from the costs alone. */
#include "closed.h"

#include <stdlib.h>

#include "costs.h"

/* Returns the time to map the online tasks after the victims are gone. */
static u64 map_ns(const struct gp_scenario *sc, const struct vgpu_facts *f)
{
	u64 ns = vgpu_value(f, VGPU_DISPATCH_NS);

	for (u32 i = 0; i < sc->nr_tasks; i++) {
		if (sc->task[i].online)
			ns += vgpu_value(f, VGPU_MAP_PROCESS_NS) +
			      sc->task[i].queues * vgpu_value(f, VGPU_MAP_QUEUE_NS);
	}
	return ns;
}

/* Returns the time of a save, from the bytes that the workload has. */
static u64 save_ns(const struct vgpu_facts *f, const struct gp_result *r)
{
	bool host = vgpu_value(f, VGPU_SAVE_AREA) == VGPU_SAVE_HOST;
	u64 bytes_per_us = vgpu_value(f, host ? VGPU_BANDWIDTH_HOST : VGPU_BANDWIDTH_VRAM) *
			   vgpu_value(f, VGPU_SAVE_EFFICIENCY) / 1000;

	return vgpu_value(f, VGPU_SAVE_FIXED_NS) +
	       r->bytes_saved / r->preemptions * 1000 / bytes_per_us;
}

/*
 * Returns true if each arrival causes one preemption, which delays the requests behind it equally.
 * That holds for one server on one GPU whose requests come as a whole.
 */
static bool has_the_form(const struct gp_scenario *sc)
{
	u32 online = 0;

	for (u32 i = 0; i < sc->nr_tasks; i++) {
		online += sc->task[i].online;
		if (sc->task[i].online && (sc->task[i].sync || sc->task[i].barrier_host_ns))
			return false;
	}
	return online == 1 && sc->gpus == 1 && sc->monitor.placement == GP_AT_KERNEL &&
	       !sc->monitor.hint_ahead_ns && !sc->seed_costs && sc->how == GP_BY_EVICT;
}

static void fill(const struct gp_scenario *sc, const struct gp_result *r,
		 const struct vgpu_facts *f, struct gp_closed *c)
{
	u64 interval = sc->monitor.interval_ns ? sc->monitor.interval_ns : sc->param[GP_LOOK_MAX];

	c->poll_ns = interval / 2;
	c->wake_ns = vgpu_value(f, VGPU_WAKE_NS);
	c->decide_ns = vgpu_value(f, VGPU_DECIDE_NS);
	c->command_ns = vgpu_value(f, VGPU_COMMAND_NS);
	c->grace_ns = vgpu_value(f, sc->grace_default ? VGPU_GRACE_DEFAULT_NS : VGPU_GRACE_NS);
	c->save_ns = save_ns(f, r);
	c->runlist_ns = vgpu_value(f, VGPU_RUNLIST_NS);
	c->map_ns = map_ns(sc, f);
	c->sum_ns = c->poll_ns + c->wake_ns + c->decide_ns + c->command_ns + c->grace_ns +
		    c->save_ns + c->runlist_ns + c->map_ns;
	c->victim_on = (double)r->victim_on / (double)r->served;
	c->added_ns = (u64)((double)c->sum_ns * c->victim_on);
}

int gp_closed_form(const struct gp_scenario *sc, const struct gp_compared *row,
		   struct gp_closed *ret)
{
	struct gp_scenario *as = malloc(sizeof(*as));
	struct gp_costs costs;
	int err = -EINVAL;
	char why[256];

	if (!as)
		return -EINVAL;
	*as = *sc;
	if (!row->result.served || !row->result.preemptions ||
	    gp_row_apply(as, row->spec, why, sizeof(why)))
		goto free_as;
	if (!has_the_form(as) || gp_costs_of(as, &costs))
		goto free_as;
	fill(as, &row->result, &costs.device, ret);
	err = 0;

free_as:
	free(as);
	return err;
}
