/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The figures of a row of a comparison: its result compared with the same requests on the same GPU
 * without the other half of the work.
 */
#ifndef GP_FIGURES_H
#define GP_FIGURES_H

#include "result.h"

/* Signed: a request may also be served sooner than alone. */
struct gp_added {
	u64 count;
	s64 mean, p50, p99, max;
};

struct gp_figures {
	bool saturated;		/* served less than 99 % of what was offered: no ratio */
	bool has_added, has_ratio, has_goodput, has_total, has_total_work, has_cost;
	struct gp_added added;		/* latency of a request - the same request alone */
	double ratio_mean, ratio_p99;	/* online latency / alone */
	double goodput;			/* offline work / what fits on the slots and time left */
	double total_work;		/* all work / all slots of all GPUs */
	double cost;			/* ns of offline GPU time per request */
	double total_vs_native;		/* all work / all work of the row `native` */
	double monitor_cpu;		/* fraction of one core */
};

/* The runs to compare a row with; NULL if there is none. */
struct gp_baseline {
	const struct gp_result *alone;		/* only the online tasks */
	const struct gp_result *offline_alone;	/* only the offline tasks */
	const struct gp_result *native;
};

/* Computes the figures. 0, or -ENOMEM. */
int gp_figures(const struct gp_result *r, const struct gp_baseline *base,
	       struct gp_figures *ret);

#endif /* GP_FIGURES_H */
