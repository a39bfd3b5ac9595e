/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Makes the scenario that repeats a history. */
#ifndef GP_RECORDED_H
#define GP_RECORDED_H

#include "scenario.h"
#include "trace/history.h"

/*
 * Makes the scenario that repeats @h. A process that is always busy becomes a closed loop. The
 * periods of the others become requests, each as long as its work takes alone. @ret points into
 * *@arrivals, which the caller frees. 0, or -EINVAL (-ENOMEM) and *@err.
 */
int gp_history_scenario(const struct gp_history *h, struct gp_scenario *ret,
			struct gp_arrival **arrivals, struct gp_tracefile_error *err);

#endif /* GP_RECORDED_H */
