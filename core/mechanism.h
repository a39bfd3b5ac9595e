/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A mechanism is one way to make a device stop and start tasks.
 *
 * Asking and finishing are separate: begin() only begins, and every task of an action
 * is answered exactly once. A mechanism refuses an action that it cannot carry out;
 * it never reports success for work that it did not do.
 */
#ifndef GP_MECHANISM_H
#define GP_MECHANISM_H

#include "gp_env.h"

enum gp_grain { GP_GRAIN_QUEUE = 1, GP_GRAIN_PROCESS, GP_GRAIN_GPU };
enum gp_keeps { GP_KEEPS_SAVE = 1, GP_KEEPS_DRAIN, GP_KEEPS_RESET };
enum gp_reach { GP_REACH_VICTIM = 1, GP_REACH_EVERYBODY };

/*
 * Take the tasks out[] off @device and put in[] on it, as one step where the
 * mechanism can. The arrays are the caller's and live until begin() returns.
 */
struct gp_action {
	u64 id;			/* never 0, never reused; the low 6 bits are the device */
	u32 device;
	u32 cause;		/* the task that preempts, GP_NONE if none waits */
	u32 nr_out, nr_in;
	u32 *tasks;		/* nr_out to stop, then nr_in to start */
	u64 deadline_ns;	/* the scheduler stops waiting then */
};

enum gp_outcome {
	GP_DONE,
	GP_REFUSED,		/* nothing changed for this task */
	GP_TIMED_OUT,		/* outcome unknown; the task is LOST */
};

/* The end of an action for one task, or with GP_NONE for all not yet answered. */
struct gp_answer {
	u64 action;
	u32 task;
	u32 outcome;		/* enum gp_outcome */
	/* when it happened, for the parts of a latency; 0 where not known */
	u64 command_ns;		/* command on its way */
	u64 acted_ns;		/* the device acted, grace over; kmod/direct: command given */
	u64 saved_ns;		/* no wave of the victims holds a slot */
	u64 switched_ns;	/* the queues that stay or start are mapped */
};

struct gp_mechanism;

struct gp_mechanism_ops {
	const char *name;
	u8 grain;		/* enum gp_grain: the smallest thing it can stop */
	u8 keeps;		/* enum gp_keeps: what becomes of running waves */
	u8 reach;		/* enum gp_reach: which processes a stop disturbs */
	bool probes;		/* @probe is implemented */

	/**
	 * @begin: start carrying @action out. Required.
	 *
	 * 0 promises exactly one answer per task by the deadline (GP_TIMED_OUT
	 * then). -EBUSY: an action is under way on that device. -ENODEV, -ENOENT:
	 * no such device, task. Refused: nothing changed, no answer comes.
	 */
	int (*begin)(struct gp_mechanism *m, const struct gp_action *action, u64 now_ns);

	/**
	 * @poll: the next answer that is ready at @now_ns. Required.
	 *
	 * 0 and *@ret, or -EAGAIN and *@ret untouched.
	 */
	int (*poll)(struct gp_mechanism *m, u64 now_ns, struct gp_answer *ret);

	/**
	 * @probe: is a task executing on a device? Required if @probes.
	 *
	 * 0 with *@waves and *@permille of the device's slots, or -errno.
	 */
	int (*probe)(struct gp_mechanism *m, u32 device, u32 task, u32 *waves, u32 *permille);
};

struct gp_mechanism {
	const struct gp_mechanism_ops *ops;
};

/* Returns 0, or -EINVAL if @ops promises what it does not implement. */
int gp_mechanism_check(const struct gp_mechanism_ops *ops);

#endif /* GP_MECHANISM_H */
