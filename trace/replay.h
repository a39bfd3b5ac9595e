/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Feeds the inputs of a trace to a fresh scheduler and compares its outputs with those recorded.
 * The same code gives the same bits; for other code the first difference is shown.
 */
#ifndef GP_REPLAY_H
#define GP_REPLAY_H

#include "tracefile.h"

struct gp_replay {
	u64 records, inputs, outputs;	/* of the trace, names aside */
	u64 actions;			/* outputs of kind GP_REC_ACTION */
	u64 same;			/* outputs that are equal, in order */
	bool differs;
	/* the first difference; kind 0: no record on that side */
	u64 at;				/* record of the trace */
	struct gp_rec recorded, replayed;
};

/* 0 and *@ret; -EINVAL and *@err if the trace is invalid; -ENOMEM. */
int gp_replay(const struct gp_tracefile *trace, struct gp_replay *ret,
	      struct gp_tracefile_error *err);

#endif /* GP_REPLAY_H */
