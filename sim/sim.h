/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The state of one run. */
#ifndef GP_SIM_H
#define GP_SIM_H

#include "client.h"
#include "home.h"
#include "tally.h"

struct gp_sim {
	struct gp_engine engine;
	const struct gp_scenario *sc;
	const struct gp_run_args *args;
	struct gp_costs costs;
	u64 begin_ns, end_ns;	/* the measured part */
	u64 due;		/* unanswered requests that arrived before @end_ns */

	u32 nr_gpus, nr_clients;
	struct gp_gpu *gpu;
	struct gp_client *client;
	struct gp_home home;
	struct gp_rng fault_rng;
	struct gp_tally tally;
};

/* @sim is zeroed. 0, or -errno and the engine's sentence; gp_sim_fini() in both cases. */
int gp_sim_init(struct gp_sim *sim, const struct gp_scenario *sc, const struct gp_run_args *args);
/* Runs the next event. Returns false if it is after @until_ns or the run has failed. */
bool gp_sim_step(struct gp_sim *sim, u64 until_ns);
void gp_sim_fini(struct gp_sim *sim);

#endif /* GP_SIM_H */
