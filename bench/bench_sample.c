// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a look costs per queue when nothing moved, which is nearly always: the
 * core's pass over the samples against a bare loop that compares the same
 * pointer pairs. Both loops run in turns, and the best of each counts, so that
 * another program on the machine does not.
 */
#include "bench.h"

enum { MOST = 16384, ROUNDS = 60 };

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

/* Picoseconds per queue, best of ROUNDS: of the core and of the bare loop. */
static void measure(struct gp_sched *s, u32 queues, u64 *core, u64 *bare)
{
	u32 repeat = 4 * MOST / queues, r, i;
	volatile u32 sink = 0;
	u64 begin, now = 1;

	*core = *bare = GP_NEVER;
	for (r = 0; r < ROUNDS; r++) {
		begin = bench_clock();
		for (i = 0; i < repeat; i++)
			sink += bare_loop(samples, queues);
		begin = per_queue(bench_clock() - begin, (u64)repeat * queues);
		if (begin < *bare)
			*bare = begin;

		begin = bench_clock();
		for (i = 0; i < repeat; i++)
			gp_sched_look(s, 0, samples, queues, now++);
		begin = per_queue(bench_clock() - begin, (u64)repeat * queues);
		if (begin < *core)
			*core = begin;
	}
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
	u64 core, bare, small, large;
	u32 device, i;

	if (gp_device_add(s, 0, &device))
		return 1;
	for (i = 0; i < 16; i++)
		bench_task(s, i ? 1 : 10, MOST / 16);
	for (i = 0; i < MOST; i++)
		samples[i].queue = i;

	measure(s, 64, &small, &bare);
	measure(s, 4096, &core, &bare);
	print("a look at 4096 queues, against a bare loop", core, bare, 3.0);
	measure(s, MOST, &large, &bare);
	print("a look at 16384 queues, against one at 64", large, small, 1.5);
	return 0;
}
