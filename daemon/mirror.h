/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A scheduler that decides nothing and shows what another one does. */
#ifndef GP_DAEMON_MIRROR_H
#define GP_DAEMON_MIRROR_H

#include "core/sched.h"
#include "uapi/gpreempt.h"

/* @task is in state @to on @device. What was not told in between is taken to have happened. */
void gp_mirror_state(struct gp_sched *s, u32 task, u32 device, u32 to);
/* @is: the arguments of GP_UAPI_EVENT_PREEMPTION. */
void gp_mirror_preemption(struct gp_sched *s, u32 task, u32 device, const __u64 *is);
/* What only counts up, and whether it has work. */
void gp_mirror_seat(struct gp_sched *s, u32 task, u32 device, const struct gp_uapi_seat *is);
/* The policy broke its contract there. */
void gp_mirror_ejected(struct gp_sched *s);

#endif /* GP_DAEMON_MIRROR_H */
