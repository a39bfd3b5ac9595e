/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scheduler in the kernel (gpreempt.ko) as the home's: it looks, decides and acts, by the same
 * core and policies. The home's own scheduler then only shows: what people want of it goes on to
 * the kernel, what the kernel did comes back to it, and whoever reads it (status, list, stats,
 * events) sees no difference.
 *
 *	rules, wishes --> h->sched --(its trace)--> /dev/gpreempt
 *	status, stats <-- h->sched <--(events)----- /dev/gpreempt
 *
 * If the daemon ends, however, the module puts everybody back; if it is stopped, leases end in the
 * kernel: nobody has to watch over it.
 */
#ifndef GP_DAEMON_KERNEL_H
#define GP_DAEMON_KERNEL_H

#include "home.h"

/*
 * The doer of @h that decides by itself. 0, or -errno and a sentence in @why (GP_HOME_WHY bytes):
 * -ENOENT: the module is not loaded.
 */
int gp_kernel_open(struct gp_home *h, struct gp_doer **ret, char *why);

/* For the home, whose doer it is: */

/* What the kernel did since the last time. */
void gp_kernel_take(struct gp_home *h);
/* Every task is attached in the kernel, with the processes it has now. */
void gp_kernel_tend(struct gp_home *h);
/* Numbers that come with no event: work, arrivals, waiting. */
void gp_kernel_refresh(struct gp_home *h);
/* All queues are looked at now. */
void gp_kernel_trigger(struct gp_home *h);
/* ---- kernel_record.c ---- */

/*
 * The kernel's scheduler is described to the home's recorder, and what goes into and comes out of
 * it follows; or no more.
 */
void gp_kernel_record(struct gp_home *h, bool on);
/* Those that have come since the last time. */
void gp_kernel_take_records(struct gp_home *h);

#endif /* GP_DAEMON_KERNEL_H */
