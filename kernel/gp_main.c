// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Life of the module. */
#include <linux/init.h>
#include <linux/module.h>

static int __init gp_main_init(void)
{
	return 0;
}

static void __exit gp_main_exit(void)
{
}

module_init(gp_main_init);
module_exit(gp_main_exit);
MODULE_DESCRIPTION("Preemptive scheduling of AMD GPUs beside the stock driver");
MODULE_LICENSE("Dual MIT/GPL");
