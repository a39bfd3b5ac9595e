// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * No task is ever held: the hardware runs whatever was submitted, in its order.
 *
 * The fallback. It cannot fail. When it takes over, everything that was off is
 * released. It does nothing for latency: a short kernel waits behind a long one.
 */
#include "../core/policy.h"

static void fifo_decide(struct gp_verdict *v)
{
	(void)v;
}

const struct gp_policy gp_policy_fifo = {
	.name	= "fifo",
	.decide	= fifo_decide,
};
