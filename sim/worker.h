/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The workers of a home, one per GPU: they ask the scheduler what to do and do it.
 * Driver calls block, so a worker does one thing at a time.
 */
#ifndef GP_WORKER_H
#define GP_WORKER_H

#include "home.h"

/*
 * After anything the scheduler was told: wake the workers that have something to
 * decide, set the timers for the next look and the next tick.
 */
void gp_home_settle(struct gp_home *h);
/* Take the answers of the home's mechanism from now on. */
void gp_worker_serve(struct gp_home *h);

#endif /* GP_WORKER_H */
