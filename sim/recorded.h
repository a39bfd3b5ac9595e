/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The scenario that repeats a history. */
#ifndef GP_RECORDED_H
#define GP_RECORDED_H

#include "scenario.h"
#include "trace/history.h"

/*
 * Periods of those who are not always busy become requests, of the length they would have
 * had alone; the others are closed loops. *@arrivals, the caller's to free(), is what @ret
 * points to. 0, or -EINVAL (-ENOMEM) and *@err.
 */
int gp_history_scenario(const struct gp_history *h, struct gp_scenario *ret,
			struct gp_arrival **arrivals, struct gp_tracefile_error *err);

#endif /* GP_RECORDED_H */
