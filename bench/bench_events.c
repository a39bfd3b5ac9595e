// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cost of an event of the simulator, against the smallest possible simulator: a bare binary
 * heap that takes out the earliest of a few pending events and puts in another. Both run in
 * many short turns, and the best turn of each counts, so that both have some undisturbed turns.
 */
#include <string.h>

#include "bench.h"
#include "sim/heap.h"
#include "sim/rng.h"
#include "sim/run.h"

enum { PENDING = 64, BARE_EVENTS = 1000000, ROUNDS = 25, LIMIT = 8 };

static void nothing(void *ctx, u64 arg)
{
	*(u64 *)ctx += arg;
}

/* Picoseconds per event of a bare heap. */
static u64 bare(void)
{
	struct gp_heap heap = { 0 };
	struct gp_event e;
	struct gp_rng rng;
	u64 begin, sum = 0;
	u32 i;

	gp_rng_init(&rng, 1, "bench");
	for (i = 0; i < PENDING; i++)
		gp_heap_push(&heap, &(struct gp_event){ .at_ns = gp_rng_below(&rng, 1000000),
							 .fire = nothing, .ctx = &sum, .arg = i });
	begin = bench_own_clock();
	for (i = 0; i < BARE_EVENTS; i++) {
		gp_heap_pop(&heap, &e);
		e.fire(e.ctx, e.arg);
		e.at_ns += gp_rng_below(&rng, 1000000);
		gp_heap_push(&heap, &e);
	}
	begin = bench_own_clock() - begin;
	gp_heap_fini(&heap);
	return begin * 1000 / BARE_EVENTS;
}

static u64 simulated(const struct gp_scenario *sc)
{
	struct gp_run_args args = { .seed = 1 };
	struct gp_result result = { 0 };
	char why[256];
	u64 begin = bench_own_clock(), events;

	if (gp_run(sc, &args, &result, why, sizeof(why))) {
		fprintf(stderr, "bench_events: %s\n", why);
		exit(1);
	}
	begin = bench_own_clock() - begin;
	events = result.events;
	gp_result_fini(&result);
	return begin * 1000 / (events ? events : 1);
}

int main(void)
{
	static struct gp_scenario sc;
	u64 heap = GP_NEVER, whole = GP_NEVER;
	char err[256], path[1024];
	const char *top = getenv("GP_TOP");
	u32 i;

	snprintf(path, sizeof(path), "%s/scenarios/colocate.ini", top ? top : ".");
	if (gp_scenario_load(path, &sc, err, sizeof(err)) ||
	    gp_scenario_set(&sc, "run.length", "6s", err, sizeof(err))) {
		fprintf(stderr, "bench_events: %s (GP_TOP is the project's folder)\n", err);
		return 1;
	}
	for (i = 0; i < ROUNDS; i++) {
		bench_keep_least(&heap, bare());
		bench_keep_least(&whole, simulated(&sc));
	}
	printf("{\"bench\": \"an event of the simulator, against a bare heap\", \"value\": %llu, "
	       "\"unit\": \"ps\", \"baseline\": %llu, \"ratio\": %.2f, \"limit\": %d}\n",
	       (unsigned long long)whole, (unsigned long long)heap,
	       (double)whole / (double)heap, LIMIT);
	return 0;
}
