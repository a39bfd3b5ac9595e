// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A module that is core, policy and vgpu, to prove that they compile and link in
 * the kernel. It is built by the test run and not meant to be loaded.
 */
#include <linux/init.h>
#include <linux/module.h>

static int __init gp_freestanding_init(void)
{
	return 0;
}

static void __exit gp_freestanding_exit(void)
{
}

module_init(gp_freestanding_init);
module_exit(gp_freestanding_exit);
MODULE_DESCRIPTION("gpreempt: core, policy and vgpu compile in the kernel");
MODULE_LICENSE("Dual MIT/GPL");
