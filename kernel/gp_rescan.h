/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* When the queues of attached processes are scanned. */
#ifndef GP_KERNEL_RESCAN_H
#define GP_KERNEL_RESCAN_H

#include <linux/workqueue.h>

#include "gp_env.h"

int gp_scan_init(void);
void gp_scan_fini(void);
void gp_scan_work(struct work_struct *work);
/* Schedules a scan in @ms. The caller holds home.mutex or has just changed something. */
void gp_scan_soon(u32 ms);
/* Schedules the next periodic scan, unless one is due sooner. */
void gp_scan_in_time(void);

#endif /* GP_KERNEL_RESCAN_H */
