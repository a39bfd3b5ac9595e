/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A policy decides which tasks may be on a device, and never acts. Its decision depends
 * only on its input, so the same policy runs in the daemon, the kernel and the
 * simulator, and every decision can be replayed from a trace.
 *
 * The scheduler does not trust the policy. A policy that breaks one of these rules is
 * ejected: `fifo` takes over, everything is released, and the reason is kept.
 *
 *   - it holds only preemptible seats of the device it was asked about;
 *   - it holds a seat for another seat that claims or lingers, is not held itself, and
 *     whose pointers are known;
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
	 * NULL: every task may.
	 */
	int (*admit)(const struct gp_sched *sched, u32 device, u32 task,
		     const struct gp_class *class, const char **why);

	/**
	 * @watch: could @decide ever hold a seat of @device?
	 *
	 * If not, the home need not look at its pointers. Asked when a task comes,
	 * goes or changes class. NULL: never.
	 */
	bool (*watch)(const struct gp_sched *sched, const struct gp_device *device);

	/**
	 * @decide: hold seats with gp_hold(); all others may run.
	 *
	 * Called whenever something about @verdict->device changed or its wake
	 * time came. Walks only the active seats (gp_active_first/next): a seat
	 * that is ON, IDLE, not hinted and not a cause is not among them.
	 * Required.
	 */
	void (*decide)(struct gp_verdict *verdict);
};

/* Only inside @decide. @cause is the seat it is held for. */
void gp_hold(struct gp_verdict *verdict, struct gp_seat *victim, const struct gp_seat *cause);
/* Only inside @decide: ask again at @ns at the latest. */
void gp_wake_at(struct gp_verdict *verdict, u64 ns);
/* Only inside @decide: ask for a probe whether @seat executes, if the home can. */
void gp_ask(struct gp_verdict *verdict, struct gp_seat *seat);
/* The same, without delay, unless @seat was probed at @ns or later. */
void gp_ask_since(struct gp_verdict *verdict, struct gp_seat *seat, u64 ns);

/* The active seats of the device, in a fixed order. NULL ends the walk. */
struct gp_seat *gp_active_first(const struct gp_verdict *verdict);
struct gp_seat *gp_active_next(const struct gp_verdict *verdict, const struct gp_seat *seat);
/*
 * Since when the seat's task is off: of a gang, the rank that has been off for
 * longest. GP_NEVER if it is on wherever it sits.
 */
u64 gp_off_since(const struct gp_sched *sched, const struct gp_seat *seat);
/* The class of a seat's task. */
const struct gp_class *gp_class_of(const struct gp_sched *sched, const struct gp_seat *seat);
/*
 * How long the victims of @seat should stay off after it fell idle, by GP_LINGER: the
 * cheapest time for the gaps seen and the cost of switches on its device.
 */
u64 gp_linger_ns(const struct gp_sched *sched, const struct gp_seat *seat);
/*
 * Only inside @decide: did @seat, which is idle, fall idle less than @ns ago, and
 * less than a lease? Asks to be woken when that is over.
 */
bool gp_lingers(struct gp_verdict *verdict, const struct gp_seat *seat, u64 ns);

extern const struct gp_policy gp_policy_fifo;		/* the fallback; it cannot fail */
extern const struct gp_policy gp_policy_priority;
extern const struct gp_policy gp_policy_fair;
extern const struct gp_policy gp_policy_deadline;

extern const struct gp_policy *const gp_policies[];	/* all, ends with NULL */
/* NULL if there is none of that name. */
const struct gp_policy *gp_policy_find(const char *name);
/* The index of @policy in gp_policies, which traces store; GP_NONE if it is not in the table. */
u32 gp_policy_number(const struct gp_policy *policy);

#endif /* GP_POLICY_H */
