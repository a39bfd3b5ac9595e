/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A scheduler at the mercy of chance: everything that may be called is called, in
 * any order, with sense and without, and every record it emits is kept.
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
	u64 began, seed, now_ns;	/* the seed it began with, and now */
	struct gp_rec *recs;
	u64 nr, room;
	u64 stops, faults, refused;	/* how much happened */
};

void random_init(struct random_run *r, u64 seed);
void random_fini(struct random_run *r);
/* One random call; fails the test if the books do not balance after it. */
void random_step(struct random_run *r);
/* Receives records; ctx is a struct random_run. */
void random_keep(void *ctx, const struct gp_rec *rec);

#endif /* CORE_RANDOM_H */
