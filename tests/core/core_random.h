/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Random calls of a scheduler: every function in any order, with valid and invalid arguments.
 * Every record that the scheduler emits is kept.
 */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include "core/sched.h"
#include "tests/shared/gp_test.h"

enum { RANDOM_DEVICES = 3, RANDOM_TASKS = 6, RANDOM_QUEUES = 12 };

struct random_run {
	struct gp_sched *s;
	void *mem;
	u64 size;
	u64 began, seed, now_ns;	/* the first seed, the current seed, the time */
	struct gp_rec *recs;
	u64 nr, room;
	u64 stops, faults, refused;	/* counts so far */
};

void random_init(struct random_run *r, u64 seed);
void random_fini(struct random_run *r);
/* Makes one random call. Fails the test if an invariant does not hold after it. */
void random_step(struct random_run *r);
/* Receives records; ctx is a struct random_run. */
void random_keep(void *ctx, const struct gp_rec *rec);

#endif /* CORE_RANDOM_H */
