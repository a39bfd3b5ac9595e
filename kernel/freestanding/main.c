// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A module that is core, policy and vgpu, to prove that they compile and link in
 * the kernel. It is built by the test run and not meant to be loaded.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "core/sched.h"
#include "vgpu/facts.h"

/* One thing of each folder. */
static int __init gp_freestanding_init(void)
{
	static const struct gp_limits limits = {
		.devices = 1, .tasks = 2, .seats = 2, .queues = 2,
	};

	if (!gp_sched_size(&limits) || !gp_policy_find("fifo") || !vgpu_profile("mi308x"))
		return -EINVAL;
	return 0;
}

static void __exit gp_freestanding_exit(void)
{
}

module_init(gp_freestanding_init);
module_exit(gp_freestanding_exit);
MODULE_DESCRIPTION("gpreempt: core, policy and vgpu compile in the kernel");
MODULE_LICENSE("Dual MIT/GPL");
