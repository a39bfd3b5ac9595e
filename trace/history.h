/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A history: when which process had work on which GPU, read from a recording of a
 * scheduler (gpreempt record FILE.gptrace), and the scenario that repeats it.
 *
 * What is seen are pointers, look by look, and whether waves run where the pointers say that
 * there is nothing (they may move at launch). A process is busy from the look that sees work
 * in one of its queues to the look that sees all of them empty, or until its last waves are
 * gone: a period. How long its work would have taken alone is not seen where others were
 * busy too; it is estimated.
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
	bool contended;		/* somebody else was busy there at some time of it */
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
	u64 alone_ns, alone_units;	/* of that while nobody else was busy there */
	u64 pending_sum, pending_seen;	/* units waiting, at samples */
	struct gp_period *period;	/* ended ones, in order */
	u32 nr, room;

	/* the reader's */
	bool gone, busy, off, arrived;
	bool drained;		/* busy, and its queues are empty since then */
	bool executing;		/* and yet waves were seen */
	u64 drained_ns, drained_units;
	u32 live_queues, pending;
	struct gp_period now;
};

struct gp_history {
	u64 length_ns;
	u64 resolution_ns;	/* at most so long between two looks */
	u32 gpus;
	bool acted;		/* somebody was taken off meanwhile */
	const struct gp_policy *policy;
	u64 param[GP_NR_PARAMS];
	u32 nr, left_out;	/* seats; those for which there was no room */
	struct gp_history_seat seat[GP_HISTORY_SEATS];
};

/* 0, or -EINVAL (-ENOMEM) and *@err. End with gp_history_free(). */
int gp_history_read(const struct gp_tracefile *trace, struct gp_history **ret,
		    struct gp_tracefile_error *err);
void gp_history_free(struct gp_history *h);

/* Nearly all the time it was there and not held off. */
bool gp_history_always_busy(const struct gp_history_seat *s);
/* Is its latency what matters? */
bool gp_history_online(const struct gp_history_seat *s);
/* What a unit of its work takes alone, as far as one can tell. */
u64 gp_history_unit_ns(const struct gp_history *h, const struct gp_history_seat *s);
/* How long the work of one period would have taken alone, at @unit_ns a unit. */
u64 gp_history_work_ns(const struct gp_history *h, const struct gp_period *p, u64 unit_ns);

#endif /* GP_HISTORY_H */
