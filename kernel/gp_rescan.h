/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* When the queues of attached processes are looked for. */
#ifndef GP_KERNEL_RESCAN_H
#define GP_KERNEL_RESCAN_H

#include <linux/workqueue.h>

#include "gp_env.h"

int gp_scan_init(void);
void gp_scan_fini(void);
void gp_scan_work(struct work_struct *work);
/* When the next periodic scan is wanted. With home.mutex or after a change. */
void gp_scan_soon(u32 ms);
/* The next one comes as they do while they matter, unless it comes sooner. */
void gp_scan_in_time(void);

#endif /* GP_KERNEL_RESCAN_H */
