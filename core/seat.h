/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A seat: one task on one device. The scheduler decides about tasks; each seat has
 * its own state.
 */
#ifndef GP_SEAT_H
#define GP_SEAT_H

#include "gaps.h"
#include "param.h"

#define GP_NONE		0xffffffffu	/* no such task, seat, queue or device */

/*
 * A state says who owns the task's queues.
 *
 *            stop asked              confirmed
 *      ON ----------------> STOPPING ----------> OFF
 *      ^ ^ <--- refused ------/  \              |  ^
 *      |  \                       \             |  |
 *      |   \--- late or reset --- LOST <--------|--|--- no answer, reset
 *      |                          /  \--- late -|--/
 *      '------- confirmed --- STARTING <--------'
 *                                 '---- refused ---> OFF
 *
 * Only gp_seat_move() changes it, and only along these arrows.
 */
enum gp_state {
	GP_ON,		/* owned by the hardware */
	GP_STOPPING,	/* owned by the mechanism, asked to stop */
	GP_OFF,		/* owned by the scheduler: held, must be started later */
	GP_STARTING,	/* owned by the mechanism, asked to start */
	GP_LOST,	/* owner unknown: no answer by the deadline; reported, not waited for */
	GP_NR_STATES,
};

/* By enum gp_state, as programs print them. */
extern const char *const gp_state_name[GP_NR_STATES];

/* Whether a seat has work; independent of its state. */
enum gp_work {
	GP_IDLE,	/* confirmed: nothing to run, nothing running */
	GP_DRAINED,	/* pointers equal, not confirmed: counts as work */
	GP_PENDING,	/* pointers differ */
	GP_BLOCKED,	/* pending, has the GPU but does not use it: no claim */
	GP_UNKNOWN,	/* its pointers cannot be read: busy, stoppable, no claim */
	GP_NR_WORKS,
};

enum gp_executing { GP_EXEC_UNKNOWN, GP_EXEC_NO, GP_EXEC_YES };

enum {
	GP_SCRATCH = 8,
	GP_RETRY_DOUBLINGS = 6,		/* how often the wait before a retried stop doubles */
};

struct gp_seat {
	/* fixed while the seat exists */
	u32 task;
	u32 device;
	u32 next_of_task;	/* list of the task's seats, GP_NONE ends it */
	u32 next_of_device;

	/* state, and the holds of the policy */
	u8 state;		/* enum gp_state */
	bool held;		/* the last decision wants it off */
	bool cause;		/* the last decision holds another seat for it */
	bool causing;		/* so does the decision being made */
	bool absent;		/* the policy does not see it in the decision being made */
	u8 overdue;		/* LOST: the move (STOPPING, STARTING) that may still be answered */
	u64 cause_ns;		/* since when it is a cause */
	u64 action;		/* the last one that asked it to move */
	u64 since_ns;		/* in this state */
	u64 held_ns;		/* when the running hold began; valid unless ON */
	u64 retry_ns;		/* no stop or start before this */
	u32 refused;		/* refused stops in a row, at most GP_RETRY_DOUBLINGS */

	/* its work */
	u8 work;		/* enum gp_work */
	u8 executing;		/* enum gp_executing, from the last probe */
	bool at_barrier;	/* the head packet last seen to stop was a barrier */
	bool starved;		/* pending, and the last look saw no progress */
	bool touched;		/* a pointer moved in the look under way */
	bool unknown;		/* gp_task_set_unknown(): work is GP_UNKNOWN */
	bool hinted;		/* work announced; expires at hint_until_ns */
	bool ask;		/* the policy wants a probe */
	bool probing;		/* a probe is under way */
	bool active;		/* on its device's list of seats to decide about */
	u32 occupancy;		/* permille of the slots at the last probe, GP_OCCUPANCY_UNKNOWN */
	u32 queues;
	u32 pending;		/* queues whose pointers differ */
	u64 visible_ns;		/* when the oldest unserved work became visible, as far as known */
	u64 arrived_ns;		/* the look that saw it */
	u64 moved_ns;		/* last look that saw a pointer move */
	u64 progress_ns;	/* last look that saw a read pointer move or probe that saw waves */
	u64 drained_ns;		/* the look that saw all pointers equal */
	u64 idle_ns;		/* confirmed idle since (valid while IDLE or BLOCKED) */
	u64 starved_ns;		/* valid while starved */
	u64 probe_ns;		/* next probe not before */
	u64 asked_ns;		/* when the last probe was asked for */
	u64 probed_ns;		/* when the last probe was answered, 0 is never */
	u64 hint_from_ns;	/* 0: none */
	u64 hint_until_ns;
	struct gp_gaps gaps;

	u32 prev_active, next_active;

	/* for the policy; zeroed when the policy changes */
	u64 scratch[GP_SCRATCH];
};

#define GP_OCCUPANCY_UNKNOWN	0xffffu

/* Returns 0, or -EPROTO and leaves @seat alone if there is no such arrow. */
int gp_seat_move(struct gp_seat *seat, enum gp_state to, u64 now_ns);

/* True if @seat may claim the GPU now: it has known, unblocked work, or a hint. */
static inline bool gp_seat_claims(const struct gp_seat *seat)
{
	return seat->work == GP_PENDING || seat->work == GP_DRAINED ||
	       (seat->hinted && !seat->unknown);
}

#endif /* GP_SEAT_H */
