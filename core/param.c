// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "param.h"

#define NS(n, w, lo, hi, is)	{ .name = n, .what = w, .unit = GP_UNIT_NS, .min = lo, \
				  .max = hi, .initial = is }
#define PERMILLE(n, w, is)	{ .name = n, .what = w, .unit = GP_UNIT_PERMILLE, .min = 0, \
				  .max = 1000, .initial = is }

const struct gp_param_info gp_params[GP_NR_PARAMS] = {
	[GP_LOOK_MIN]	 = NS("look_min", "shortest time between two looks",
			      1 * GP_USEC, GP_SEC, 20 * GP_USEC),
	[GP_LOOK_MAX]	 = NS("look_max", "longest, while a latency-critical task could arrive",
			      1 * GP_USEC, GP_SEC, 50 * GP_USEC),
	[GP_LOOK_RELAXED] = NS("look_relaxed", "longest, while only ordinary tasks could",
			       1 * GP_USEC, GP_SEC, 1 * GP_MSEC),
	[GP_LOOK_COST]	 = NS("look_cost", "processor time of one look",
			      0, GP_MSEC, 1200),
	[GP_SETTLE]	 = NS("settle", "drained for so long is finished, if nothing confirms it",
			      0, GP_SEC, 500 * GP_USEC),
	[GP_PROBE_AFTER] = NS("probe_after", "no progress for so long: read the wave counters",
			      1 * GP_USEC, GP_SEC, 200 * GP_USEC),
	[GP_BARRIER_AFTER] = NS("barrier_after", "no progress at a barrier for so long is blocked",
				1 * GP_USEC, 10 * GP_SEC, 1 * GP_MSEC),
	[GP_STALL_AFTER] = NS("stall_after", "no progress for so long is blocked",
			      1 * GP_USEC, 10 * GP_SEC, 2 * GP_MSEC),
	[GP_SMALL_VICTIM] = PERMILLE("small_victim",
				     "share of the slots below which a victim may stay", 250),
	[GP_OCCUPANCY_EVERY] = NS("occupancy_every", "how often a victim's share is read",
				  100 * GP_USEC, 10 * GP_SEC, 10 * GP_MSEC),
	[GP_LEASE]	 = NS("lease", "a hold ends after this, whoever wanted it",
			      1 * GP_MSEC, 60 * GP_SEC, 1 * GP_SEC),
	[GP_STOP_DEADLINE] = NS("stop_deadline", "a stop or start unanswered by then is lost",
				100 * GP_USEC, 60 * GP_SEC, 100 * GP_MSEC),
	[GP_RETRY_AFTER] = NS("retry_after", "a refused stop or start is tried again",
			      10 * GP_USEC, 10 * GP_SEC, 1 * GP_MSEC),
	[GP_HINT_MAX]	 = NS("hint_max", "longest claim by a hint alone",
			      10 * GP_USEC, GP_SEC, 5 * GP_MSEC),
	[GP_MIN_TURN]	 = NS("min_turn", "a started task is left alone by ordinary classes",
			      0, 10 * GP_SEC, 1 * GP_MSEC),
	[GP_MAX_HOLD]	 = NS("max_hold", "nobody is kept off for longer",
			      100 * GP_USEC, 60 * GP_SEC, 100 * GP_MSEC),
	[GP_MIN_SHARE]	 = PERMILLE("min_share", "of a task held off again and again", 50),
	[GP_LINGER]	 = { .name = "linger",
			     .what = "how long victims stay off after the last work",
			     .unit = GP_UNIT_LINGER, .min = 0, .max = 10 * GP_SEC,
			     .initial = GP_LINGER_LEARNT },
	[GP_LATENCY_WEIGHT] = { .name = "latency_weight",
				.what = "us of offline GPU time one us of latency is worth",
				.unit = GP_UNIT_NUMBER, .min = 0, .max = 10000, .initial = 5 },
	[GP_SLICE]	 = NS("slice", "turn of a fair share",
			      100 * GP_USEC, 10 * GP_SEC, 2 * GP_MSEC),
	[GP_RESERVE]	 = PERMILLE("reserve", "of the GPU never promised to anybody", 50),
};
