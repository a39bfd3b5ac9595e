/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A bench for the null mechanism. */
#include <stdlib.h>

#include "fixture_kinds.h"
#include "core/null_mechanism.h"

struct null_bench {
	struct bench base;
	struct gp_null_mechanism m;
	u64 now_ns;
};

static u64 now(struct bench *b)
{
	return ((struct null_bench *)b)->now_ns;
}

static void advance(struct bench *b, u64 until_ns)
{
	((struct null_bench *)b)->now_ns = until_ns;
}

static u64 work(struct bench *b, u32 task)
{
	struct null_bench *n = (struct null_bench *)b;

	return gp_null_work(&n->m, 0, task, n->now_ns);
}

static void hang(struct bench *b)
{
	u32 i;

	for (i = 0; i < BENCH_TASKS; i++)
		((struct null_bench *)b)->m.fault[i] = GP_NULL_LOSES;
}

static void refuse(struct bench *b, u32 task)
{
	((struct null_bench *)b)->m.fault[task] = GP_NULL_REFUSES;
}

static void fini(struct bench *b)
{
	free(b);
}

struct bench *fixture_null(const struct bench_kind *kind)
{
	struct null_bench *n = calloc(1, sizeof(*n));
	u32 i;

	(void)kind;
	gp_null_init(&n->m, 1);
	for (i = 0; i < BENCH_TASKS; i++)
		gp_null_task(&n->m, 0, i);
	n->base = (struct bench){
		.m = &n->m.base, .now = now, .advance = advance, .work = work, .hang = hang,
		.refuse = refuse, .fini = fini,
	};
	return &n->base;
}
