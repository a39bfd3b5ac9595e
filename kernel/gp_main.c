// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Load and unload, and the module parameters that bound what callers may set. */
#include <linux/init.h>
#include <linux/module.h>

#include "gp_bounds.h"
#include "gp_dev.h"
#include "gp_gpu.h"
#include "gp_home.h"

struct gp_bounds gp_bounds = {
	.look_min_us = 20,
	.look_share = 100,
	.lease_max_ms = 10000,
	.stop_deadline_ms = 1000,
};

module_param_named(look_min_us, gp_bounds.look_min_us, uint, 0644);
MODULE_PARM_DESC(look_min_us, "never look at a GPU's queues more often than this (us)");
module_param_named(look_share, gp_bounds.look_share, uint, 0644);
MODULE_PARM_DESC(look_share, "permille of a processor that looking may take, per GPU");
module_param_named(lease_max_ms, gp_bounds.lease_max_ms, uint, 0444);
MODULE_PARM_DESC(lease_max_ms, "nobody is held off a GPU for longer (ms)");
module_param_named(stop_deadline_ms, gp_bounds.stop_deadline_ms, uint, 0444);
MODULE_PARM_DESC(stop_deadline_ms, "a GPU that has not answered by then is not waited for (ms)");
module_param_named(allow_direct, gp_bounds.allow_direct, bool, 0644);
MODULE_PARM_DESC(allow_direct, "mechanism direct although its self test has not passed here");

static int __init gp_main_init(void)
{
	char why[128] = "";
	int err = gp_kfd_check_driver(why, sizeof(why));

	if (err) {
		pr_err("gpreempt: not loaded: %s\n", why);
		return err;
	}
	err = gp_home_init();
	if (err)
		return err;
	err = gp_gpu_init();
	if (err)
		goto no_gpus;
	err = gp_dev_init();
	if (err)
		goto no_device;
	return 0;

no_device:
	gp_gpu_fini();
no_gpus:
	gp_home_fini();
	return err;
}

static void __exit gp_main_exit(void)
{
	gp_dev_fini();
	gp_gpu_fini();
	gp_home_fini();
}

module_init(gp_main_init);
module_exit(gp_main_exit);
MODULE_DESCRIPTION("Preemptive scheduling of AMD GPUs beside the stock driver");
MODULE_LICENSE("Dual MIT/GPL");
