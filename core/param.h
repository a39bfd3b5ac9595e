/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The settings of the scheduler: one table for every home, so that a scenario,
 * a configuration file and an ioctl know the same names and the same bounds.
 */
#ifndef GP_PARAM_H
#define GP_PARAM_H

#include "gp_env.h"

#define GP_USEC		1000ull
#define GP_MSEC		1000000ull
#define GP_SEC		1000000000ull
#define GP_NEVER	(~0ull)

static inline u64 gp_sooner(u64 a_ns, u64 b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

enum gp_param {
	/* looking */
	GP_LOOK_MIN,		/* never look more often than this */
	GP_LOOK_MAX,		/* longest interval while a latency-critical task could arrive */
	GP_LOOK_RELAXED,	/* longest interval while only ordinary tasks could arrive */
	GP_LOOK_COST,		/* processor time of one look */
	GP_LOOK_WEIGHT,		/* us of processor time one us of online latency is worth */
	/* what a sample means */
	GP_SETTLE,		/* drained this long counts as idle where nothing can confirm it */
	GP_PROBE_AFTER,		/* pending without progress this long: read the wave counters */
	GP_BARRIER_AFTER,	/* without progress at a barrier this long: blocked */
	GP_STALL_AFTER,		/* without progress this long: blocked, whatever the packet is */
	GP_SMALL_VICTIM,	/* a victim below this share of the slots may stay; permille */
	GP_OCCUPANCY_EVERY,	/* how often a victim's share of the slots is read */
	/* bounds that no policy can exceed */
	GP_LEASE,		/* every hold ends after this */
	GP_STOP_DEADLINE,	/* a stop or start unanswered by then is LOST */
	GP_RETRY_AFTER,		/* a failed stop or start is tried again */
	GP_HINT_MAX,		/* the longest a hint can claim the GPU */
	/* priority */
	GP_MIN_TURN,		/* ordinary classes wait this long after a task started */
	GP_MAX_HOLD,
	GP_MIN_SHARE,		/* of a task held off again and again; permille */
	GP_LINGER,		/* enum gp_linger_mode, or a fixed time */
	GP_LATENCY_WEIGHT,	/* us of offline GPU time one us of online latency is worth */
	/* fair */
	GP_SLICE,
	/* deadline */
	GP_RESERVE,		/* share of the GPU that is never promised; permille */
	GP_NR_PARAMS,
};

/* Values of GP_LINGER that are not times. */
enum gp_linger_mode {
	GP_LINGER_LEARNT	= 1,	/* cheapest by the gaps seen */
	GP_LINGER_SKI		= 2,	/* as long as a switch costs */
	GP_LINGER_MODES		= 3,	/* from here on: nanoseconds; 0 is no linger */
};

enum gp_param_unit { GP_UNIT_NS, GP_UNIT_PERMILLE, GP_UNIT_NUMBER, GP_UNIT_LINGER };

struct gp_param_info {
	const char *name;
	const char *what;	/* half a sentence, for people */
	u8 unit;		/* enum gp_param_unit */
	u64 min, max, initial;
};

extern const struct gp_param_info gp_params[GP_NR_PARAMS];

#endif /* GP_PARAM_H */
