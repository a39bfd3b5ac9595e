/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Feeds the inputs of a trace to a fresh scheduler and compares everything that
 * comes out with what was recorded. The same code must decide the same, bit by
 * bit; other code shows where it first decides otherwise.
 */
#ifndef GP_REPLAY_H
#define GP_REPLAY_H

#include "tracefile.h"

struct gp_replay {
	u64 records, inputs, outputs;	/* of the trace, names aside */
	u64 actions;			/* outputs that asked for something */
	u64 same;			/* outputs that came again, in order */
	bool differs;
	/* the first difference; kind 0: there was no record on that side */
	u64 at;				/* record of the trace */
	struct gp_rec recorded, replayed;
};

/* 0 and *@ret; -EINVAL and *@err if the trace makes no sense; -ENOMEM. */
int gp_replay(const struct gp_tracefile *trace, struct gp_replay *ret,
	      struct gp_tracefile_error *err);

#endif /* GP_REPLAY_H */
