/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A policy decides who may be on a device, and never acts. It is a function of
 * what it is shown, so the same policy runs in the daemon, the kernel and the
 * simulator, and every decision can be replayed from a trace.
 *
 * Nobody trusts it. A policy that breaks one of the rules below is ejected:
 * `fifo` takes over, everything it held is released, the reason is kept.
 *
 *   - it holds only preemptible seats of the device it was asked about;
 *   - it holds a seat for another seat, which claims or lingers and is itself
 *     not held;
 *   - it wakes in the future;
 *   - it ends every hold before the lease.
 */
#ifndef GP_POLICY_H
#define GP_POLICY_H

#include "device.h"
#include "task.h"

struct gp_sched;

/* One decision about one device while it is being made. */
struct gp_verdict {
	struct gp_sched *sched;
	struct gp_device *device;
	u32 device_id;
	u64 now_ns;
	u64 wake_ns;		/* earliest asked for so far, GP_NEVER */
	const char *broken;	/* first rule broken, or NULL */
};

struct gp_policy {
	const char *name;

	/**
	 * @admit: may a task of this class join the tasks on @device?
	 *
	 * Called before anything is changed, for every device of the task; and
	 * for every task already there when the policy is to take over (@task is
	 * then its index, else GP_NONE). 0, or -ENOSPC with a sentence in *@why.
	 * NULL: everybody may.
	 */
	int (*admit)(const struct gp_sched *sched, u32 device, u32 task,
		     const struct gp_class *class, const char **why);

	/**
	 * @look_ns: how often to look at the pointers of @device.
	 *
	 * GP_NEVER: nothing that could be seen would change a decision. NULL is
	 * GP_NEVER.
	 */
	u64 (*look_ns)(const struct gp_sched *sched, const struct gp_device *device);

	/**
	 * @decide: say who is held, with gp_hold(); all others may run.
	 *
	 * Called whenever something about @verdict->device changed or its wake
	 * time came. Walks only the active seats: a seat that is ON, IDLE and
	 * not hinted needs no decision. Required.
	 */
	void (*decide)(struct gp_verdict *verdict);
};

/* Only inside @decide. @cause is the seat it is held for. */
void gp_hold(struct gp_verdict *verdict, struct gp_seat *victim, const struct gp_seat *cause);
/* Only inside @decide: ask again at @ns at the latest. */
void gp_wake_at(struct gp_verdict *verdict, u64 ns);

extern const struct gp_policy gp_policy_fifo;		/* the fallback: cannot fail */
extern const struct gp_policy gp_policy_priority;
extern const struct gp_policy gp_policy_fair;
extern const struct gp_policy gp_policy_deadline;

extern const struct gp_policy *const gp_policies[];	/* all, ends with NULL */
/* NULL if there is none of that name. */
const struct gp_policy *gp_policy_find(const char *name);

#endif /* GP_POLICY_H */
