// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cost of a look per queue when no pointer moved, which is the common case: the core's pass
 * over the samples, against a bare loop that compares the same pairs of pointers. Both run in
 * turns, and the best turn of each counts. So other programs and changes of the processor's
 * clock do not matter.
 */
#include "bench.h"

enum { SMALL = 64, MIDDLE = 4096, MOST = 16384, ROUNDS = 2000 };

static struct gp_sample samples[MOST];
static struct gp_pointers last[MOST];

static __attribute__((noinline)) u32 bare_loop(const struct gp_sample *x, u32 nr)
{
	u32 moved = 0, i;

	for (i = 0; i < nr; i++)
		moved += last[i].rptr != x[i].rptr || last[i].wptr != x[i].wptr;
	return moved;
}

static u64 per_queue(u64 ns, u64 queues)
{
	return queues ? ns * 1000 / queues : 0;
}

/* Picoseconds per queue of the bare loop. */
static u64 bare(u32 queues)
{
	u32 repeat = 4 * MOST / queues, i;
	volatile u32 sink = 0;
	u64 begin = bench_own_clock();

	for (i = 0; i < repeat; i++)
		sink += bare_loop(samples, queues);
	return per_queue(bench_own_clock() - begin, (u64)repeat * queues);
}

/* Picoseconds per queue of a look. */
static u64 look(struct gp_sched *s, u32 queues)
{
	u32 repeat = 4 * MOST / queues, i;
	u64 begin = bench_own_clock();

	for (i = 0; i < repeat; i++)
		gp_sched_look(s, 0, samples, queues, s->now_ns + 1);
	return per_queue(bench_own_clock() - begin, (u64)repeat * queues);
}

static void print(const char *name, u64 value, u64 baseline, double limit)
{
	printf("{\"bench\": \"%s\", \"value\": %llu, \"unit\": \"ps per queue\", "
	       "\"baseline\": %llu, \"ratio\": %.2f, \"limit\": %.1f}\n", name,
	       (unsigned long long)value, (unsigned long long)baseline,
	       (double)value / (double)(baseline ? baseline : 1), limit);
}

int main(void)
{
	struct gp_sched *s = bench_sched(&gp_policy_priority);
	u64 loop = GP_NEVER, small = GP_NEVER, middle = GP_NEVER, large = GP_NEVER;
	u32 device, i;

	if (gp_device_add(s, 0, &device))
		return 1;
	for (i = 0; i < 16; i++)
		bench_task(s, i ? 1 : 10, MOST / 16);
	for (i = 0; i < MOST; i++)
		samples[i].queue = i;

	for (i = 0; i < ROUNDS; i++) {
		bench_keep_least(&loop, bare(MIDDLE));
		bench_keep_least(&middle, look(s, MIDDLE));
		bench_keep_least(&small, look(s, SMALL));
		bench_keep_least(&large, look(s, MOST));
	}
	print("a look at 4096 queues, against a bare loop", middle, loop, 3.0);
	print("a look at 16384 queues, against one at 64", large, small, 1.5);
	return 0;
}
