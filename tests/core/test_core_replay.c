/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A fresh scheduler that gets the recorded inputs makes bit-identical decisions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_random.h"

static bool is_output(const struct gp_rec *rec)
{
	return rec->kind >= GP_REC_ACTION;
}

/* Feeds the inputs of @r to a fresh scheduler. Its records are in *@again. */
static void feed_all(const struct random_run *r, struct random_run *again)
{
	const struct gp_rec *first = &r->recs[0];
	struct gp_sched_args args = {
		.limits = { (u32)first->init.devices, (u32)first->init.tasks,
			    (u32)first->init.seats, (u32)first->init.queues },
		.trace = { random_keep, again },
	};
	u64 i;

	memset(again, 0, sizeof(*again));
	again->size = gp_sched_size(&args.limits);
	again->mem = calloc(1, again->size);
	EXPECT_EQ(gp_sched_init(again->mem, &args, &again->s), 0);
	for (i = 0; i < r->nr; i++)
		if (gp_trace_feed(again->s, &r->recs[i]))
			fail_msg("record %llu, kind %u, is refused", (unsigned long long)i,
				 r->recs[i].kind);
}

static u64 next_output(const struct random_run *r, u64 at)
{
	while (at < r->nr && !is_output(&r->recs[at]))
		at++;
	return at;
}

static u64 compare(const struct random_run *a, const struct random_run *b)
{
	u64 i = next_output(a, 0), j = next_output(b, 0), n = 0;

	while (i < a->nr && j < b->nr) {
		if (memcmp(&a->recs[i], &b->recs[j], sizeof(a->recs[i])))
			fail_msg("output %llu differs: kind %u at %llu, kind %u at %llu",
				 (unsigned long long)n, a->recs[i].kind,
				 (unsigned long long)a->recs[i].now_ns, b->recs[j].kind,
				 (unsigned long long)b->recs[j].now_ns);
		n++;
		i = next_output(a, i + 1);
		j = next_output(b, j + 1);
	}
	EXPECT(i == a->nr && j == b->nr);
	return n;
}

/* A class is copied with its padding, so the test sets the padding. */
static void fill_holes(const struct random_run *r)
{
	const size_t from = offsetof(struct gp_class, flags) + sizeof(u32);
	u32 i;

	for (i = 0; i < RANDOM_TASKS; i++)
		memset((u8 *)&r->s->tasks[i].class + from, 0,
		       offsetof(struct gp_class, period_ns) - from);
}

/* Compares everything a scheduler stores, except its address and its listeners. */
static void same_memory(const struct random_run *a, const struct random_run *b)
{
	const u8 *x = (const u8 *)a->s->pointers, *y = (const u8 *)b->s->pointers;
	u64 head = (u64)(x - (const u8 *)a->mem);

	fill_holes(a);
	fill_holes(b);
	EXPECT_EQ(a->size, b->size);
	EXPECT_EQ(memcmp(x, y, a->size - head), 0);
	EXPECT_EQ(memcmp(a->s->param, b->s->param, sizeof(a->s->param)), 0);
	EXPECT_EQ(a->s->last_action, b->s->last_action);
	EXPECT(a->s->policy == b->s->policy && a->s->enabled == b->s->enabled);
}

static void a_random_run_with_faults_replays_bit_for_bit(void **state)
{
	u64 seed = gp_test_seed(1), runs = gp_test_full() ? 20000 : 500, i, step;
	u64 outputs = 0, stops = 0, faults = 0;
	struct random_run r, again;

	(void)state;
	for (i = 0; i < runs; i++) {
		random_init(&r, seed + i);
		for (step = 0; step < 3000; step++)
			random_step(&r);
		feed_all(&r, &again);
		outputs += compare(&r, &again);
		same_memory(&r, &again);
		stops += r.stops;
		faults += r.faults;
		random_fini(&r);
		random_fini(&again);
	}
	print_message("# %llu runs, %llu outputs, %llu stops, %llu faults\n",
		      (unsigned long long)runs, (unsigned long long)outputs,
		      (unsigned long long)stops, (unsigned long long)faults);
	EXPECT(stops > 20 * runs);
}

static void records_that_make_no_sense_are_refused(void **state)
{
	struct random_run r;
	struct gp_rec rec = { .kind = 0 };
	u32 kind;

	(void)state;
	random_init(&r, 1);
	EXPECT_EQ(gp_trace_feed(r.s, &rec), -EINVAL);
	rec.kind = GP_REC_NR_INPUTS;
	EXPECT_EQ(gp_trace_feed(r.s, &rec), -EINVAL);
	rec.kind = GP_REC_NR_OUTPUTS;
	EXPECT_EQ(gp_trace_feed(r.s, &rec), -EINVAL);
	for (kind = GP_REC_ACTION; kind < GP_REC_NR_OUTPUTS; kind++) {
		rec.kind = kind;
		EXPECT_EQ(gp_trace_feed(r.s, &rec), 0);
	}
	/* inputs about objects that do not exist */
	for (kind = GP_REC_PARAM; kind <= GP_REC_RELEASE; kind++) {
		rec = (struct gp_rec){ .kind = kind, .device = 99, .task = 99, .queue = 9999,
				       .arg = { 99, 99, 99, 99 } };
		EXPECT_EQ(gp_trace_feed(r.s, &rec), -EINVAL);
	}
	random_fini(&r);
}

/* Without a trace nothing is recorded. The decisions are the same. */
static void the_scheduler_decides_the_same_without_a_trace(void **state)
{
	struct random_run a, b;
	u32 i;

	(void)state;
	random_init(&a, 7);
	random_init(&b, 7);
	b.s->trace.emit = NULL;
	for (i = 0; i < 5000; i++) {
		random_step(&a);
		random_step(&b);
	}
	same_memory(&a, &b);
	EXPECT_EQ(a.stops, b.stops);
	random_fini(&a);
	random_fini(&b);
}

PROVE(
	CLAIM(a_random_run_with_faults_replays_bit_for_bit),
	CLAIM(records_that_make_no_sense_are_refused),
	CLAIM(the_scheduler_decides_the_same_without_a_trace),
)
