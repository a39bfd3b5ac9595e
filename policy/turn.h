/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The turn that a seat is owed after it was kept off for the maximum hold.
 *
 * A task that is held again and again still progresses. After GP_MAX_HOLD of holds, in one
 * piece or several, it runs beside the others until its share is GP_MIN_SHARE. This uses
 * the last scratch words of the seat. Policies without a bound of their own call
 * gp_turn_owed() before every gp_hold().
 */
#ifndef GP_TURN_H
#define GP_TURN_H

#include "../core/sched.h"

enum { GP_TURN_SCRATCH = GP_SCRATCH - 3 };

/*
 * True while @seat must not be held: it has been off for the longest time allowed, or its
 * turn after that is not over. Asks to be woken when that changes.
 */
bool gp_turn_owed(struct gp_verdict *v, struct gp_seat *seat);

#endif /* GP_TURN_H */
