/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The workers of a home, one per GPU. They ask the scheduler for actions and carry them out. Driver
 * calls block, so a worker does one thing at a time.
 */
#ifndef GP_WORKER_H
#define GP_WORKER_H

#include "home.h"

/*
 * Called after any call of the scheduler. Wakes the workers that must decide, and sets the timers
 * for the next look and the next tick.
 */
void gp_home_settle(struct gp_home *h);
/* Takes the answers of the home's mechanism from now on. */
void gp_worker_serve(struct gp_home *h);

#endif /* GP_WORKER_H */
