/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The turn owed to a seat that was kept off for the maximum hold.
 *
 * A task that is held again and again still progresses: after GP_MAX_HOLD, at once or
 * in pieces, it gets the GPU beside the others for so long that its share is
 * GP_MIN_SHARE. Uses the last scratch words of the seat; policies that hold
 * without a bound of their own ask gp_turn_owed() before every gp_hold().
 */
#ifndef GP_TURN_H
#define GP_TURN_H

#include "../core/sched.h"

enum { GP_TURN_SCRATCH = GP_SCRATCH - 3 };

/*
 * True while @seat must not be held: it has been off for as long as any seat may
 * be, or has not yet had the turn it got for that. Asks to be woken when that
 * changes.
 */
bool gp_turn_owed(struct gp_verdict *v, struct gp_seat *seat);

#endif /* GP_TURN_H */
