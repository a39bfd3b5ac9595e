/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Runs many rows at once, each in its own process. So the simulator needs no threads and locks, and
 * a run that crashes is one failed row. Results do not depend on how many run at a time.
 */
#ifndef GP_POOL_H
#define GP_POOL_H

#include "rows.h"

enum { GP_JOB_RESULTS = 2 };	/* most rows that gp_row_expand() makes of one */

struct gp_job {
	/* in */
	const struct gp_scenario *scenario;
	u64 seed;
	const char *row;		/* NULL: the scenario as it is */
	bool expand;			/* @row may stand for others */
	/* out */
	int err;			/* of gp_run(); -EIO: its process died */
	char why[256];
	u32 nr;				/* results that are valid; the caller ends them */
	struct gp_row_concrete as[GP_JOB_RESULTS];	/* what was run */
	struct gp_result result[GP_JOB_RESULTS];
};

struct gp_pool {
	u32 width;			/* at a time; 0: as many as there are processors */
	/* Called when a job ended; NULL: not called. */
	void (*progress)(void *ctx, const struct gp_job *job, u32 done, u32 nr);
	void *ctx;
};

/* Runs all jobs. 0 if all ran (each job has its own err), or -errno if processes cannot be made. */
int gp_pool_run(const struct gp_pool *pool, struct gp_job *jobs, u32 nr);

#endif /* GP_POOL_H */
