/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The measurements. Counters run from the start of a run. The tally reads them when the warm-up
 * ends and when the measured part ends.
 */
#ifndef GP_TALLY_H
#define GP_TALLY_H

#include "core/account.h"
#include "result.h"
#include "scenario.h"

struct gp_sim;
struct gp_client;

/* Counters of a task. */
struct gp_marks {
	u64 work_ns[GP_SCENARIO_GPUS];
	u64 preempted;		/* times taken off */
	u64 caused;		/* actions taken for it */
	u64 on_ns, off_ns;
	u64 longest_hold_ns;
};

/* Counters of all. */
struct gp_totals {
	struct gp_marks task[GP_SCENARIO_TASKS];
	u64 cpu_ns, looks, probes, wakeups;
	u64 bytes_saved, waves_saved, precious_waves_saved;
};

struct gp_tally {
	struct gp_totals begin, end;
	/* of processes that are gone, and their accounts with them */
	struct gp_marks past[GP_SCENARIO_TASKS];
	struct gp_hist part[GP_NR_PARTS];

	u64 second_work[GP_SCENARIO_TASKS];	/* at the last whole second */
	u64 share_min[GP_SCENARIO_TASKS], share_max[GP_SCENARIO_TASKS];
	bool ended;

	/* of each GPU, and of any */
	struct gp_online {
		u64 clients;	/* with a kernel that could run, a bit each */
		u64 since_ns, ns;
	} online[GP_SCENARIO_GPUS], anywhere;
};

/* Plans the readings. */
void gp_tally_begin(struct gp_sim *sim);
/* Called before the process of client @number ends. */
void gp_tally_life_over(struct gp_sim *sim, u32 number);
/* Called after work of @c came, ended, or was opened to the GPU. */
void gp_tally_online(struct gp_sim *sim, const struct gp_client *c);
/* Computes the result. 0, or -ENOMEM. */
int gp_tally_result(struct gp_sim *sim, struct gp_result *ret);

#endif /* GP_TALLY_H */
