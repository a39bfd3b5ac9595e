/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A history: when each process had work on each GPU, read from a recording of a scheduler
 * (gpreempt record FILE.gptrace).
 *
 * A recording has the pointers of queues at each look. It also says whether waves ran while the
 * queues were empty, because read pointers may move at launch. A period begins with the look that
 * sees work in a queue of the process. It ends with the look that sees all its queues empty, or
 * when its last waves are gone. If other processes were busy during a period, the time that its
 * work takes alone is estimated.
 */
#ifndef GP_HISTORY_H
#define GP_HISTORY_H

#include "core/param.h"
#include "core/task.h"
#include "tracefile.h"

enum { GP_HISTORY_SEATS = 64 };

/* All times are since the recording began. */
struct gp_period {
	u64 at_ns, done_ns;
	u64 units;		/* of pointers, that were read in it */
	bool contended;		/* another process was busy there during it */
};

/* One process on one GPU, as long as it was there. */
struct gp_history_seat {
	u32 task, device;
	struct gp_rec_who who;
	struct gp_class class;
	u32 queues;		/* most at a time */
	u64 from_ns, to_ns;
	u64 busy_ns, off_ns;
	u64 units;
	u64 alone_ns, alone_units;	/* of these, without competition */
	u64 pending_sum, pending_seen;	/* units waiting when sampled */
	struct gp_period *period;	/* ended ones, in order */
	u32 nr, room;

	/* the reader's */
	bool gone, busy, off, arrived;
	bool drained;		/* busy, and its queues are empty since @drained_ns */
	bool executing;		/* drained, and a probe saw waves */
	u64 drained_ns, drained_units;
	u32 live_queues, pending;
	struct gp_period now;
};

struct gp_history {
	u64 length_ns;
	u64 resolution_ns;	/* the longest time between two looks */
	u32 gpus;
	bool acted;		/* a process was preempted meanwhile */
	const struct gp_policy *policy;
	u64 param[GP_NR_PARAMS];
	u32 nr, left_out;	/* seats; seats beyond GP_HISTORY_SEATS */
	struct gp_history_seat seat[GP_HISTORY_SEATS];
};

/* 0, or -EINVAL (-ENOMEM) and *@err. Free it with gp_history_free(). */
int gp_history_read(const struct gp_tracefile *trace, struct gp_history **ret,
		    struct gp_tracefile_error *err);
void gp_history_free(struct gp_history *h);

/* True if it was busy for at least nine tenths of its life, not counting the time it was off. */
bool gp_history_always_busy(const struct gp_history_seat *s);
/* True if its latency matters. */
bool gp_history_online(const struct gp_history_seat *s);
/* Estimates how long a unit of its work takes alone. */
u64 gp_history_unit_ns(const struct gp_history *h, const struct gp_history_seat *s);
/* Estimates how long the work of one period takes alone, at @unit_ns a unit. */
u64 gp_history_work_ns(const struct gp_history *h, const struct gp_period *p, u64 unit_ns);

#endif /* GP_HISTORY_H */
