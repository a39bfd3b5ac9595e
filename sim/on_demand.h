/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The policy of other published designs. An online task that has work takes the GPU from every
 * offline task, and returns it when its work is over.
 *
 * It has none of gpreempt's bounds: no longest hold, no minimum share, no small victims. A linger
 * is taken from [policy] linger, which the rows of other designs set to 0. A hold ends with the
 * lease, as the scheduler demands of every policy.
 */
#ifndef GP_ON_DEMAND_H
#define GP_ON_DEMAND_H

#include "core/policy.h"

extern const struct gp_policy gp_policy_on_demand;

#endif /* GP_ON_DEMAND_H */
