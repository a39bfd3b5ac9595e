// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deterministic simulation testing: random scenarios with random faults, and at
 * every event of each of them no work is lost or done twice, every stop is
 * answered once, holds stay within their leases, the counters add up.
 *
 * A seed that fails is shrunk to the parts that matter, saved, and the command
 * that runs it again is printed.
 *
 * GP_SEED=N runs that one scenario only.
 */
#include <stdio.h>
#include <string.h>

#include "gp_test.h"
#include "random_scenario.h"
#include "sim/run.h"

enum { TEXT = 16384 };

static char why[512];

enum outcome { HELD, BROKEN, NO_SCENARIO };

/* BROKEN, NO_SCENARIO: with a sentence in why[]. */
static enum outcome run(const struct random_scenario *r, u64 seed, u64 *preemptions)
{
	static struct gp_scenario scenario;
	static char text[TEXT];
	struct gp_run_args args = { .seed = seed, .invariants = true };
	struct gp_result result = { 0 };
	enum outcome outcome = HELD;
	int err;

	gp_warnings = 0;
	*preemptions = 0;
	random_scenario_text(r, text, sizeof(text));
	if (gp_scenario_parse(text, strlen(text), &scenario, why, sizeof(why)))
		return NO_SCENARIO;
	err = gp_run(&scenario, &args, &result, why, sizeof(why));
	if (err)
		return err == -EINVAL ? NO_SCENARIO : BROKEN;
	if (result.work_lost || result.work_doubled) {
		snprintf(why, sizeof(why), "%llu workgroups lost, %llu done twice",
			 (unsigned long long)result.work_lost,
			 (unsigned long long)result.work_doubled);
		outcome = BROKEN;
	}
	if (gp_warnings) {
		snprintf(why, sizeof(why), "an invariant of the core broke");
		outcome = BROKEN;
	}
	*preemptions = result.preemptions;
	gp_result_fini(&result);
	return outcome;
}

static void shrink(struct random_scenario *r, u64 seed)
{
	static char before[sizeof(why)];
	bool smaller = true;
	u64 n;
	u32 i;

	while (smaller) {
		smaller = false;
		for (i = r->nr; i-- > 0;) {
			if (r->left_out[i])
				continue;
			memcpy(before, why, sizeof(why));
			r->left_out[i] = true;
			if (run(r, seed, &n) == BROKEN) {
				smaller = true;
				continue;
			}
			r->left_out[i] = false;
			memcpy(why, before, sizeof(why));
		}
	}
}

static void report(struct random_scenario *r, u64 seed)
{
	static char text[TEXT];
	char path[64];
	FILE *f;

	shrink(r, seed);
	random_scenario_text(r, text, sizeof(text));
	snprintf(path, sizeof(path), "failed-seed-%llu.ini", (unsigned long long)seed);
	f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	fail_msg("seed %llu: %s\nshrunk to %s:\n%s\nrun it again: "
		 "gpreempt sim --check --seed %llu %s", (unsigned long long)seed, why, path, text,
		 (unsigned long long)seed, path);
}

static u64 wanted(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 10000;	/* ten times as slow, and the same code */
#else
	return getenv("GP_FULL") ? 1200000 : 200000;
#endif
}

static void no_work_is_lost_or_doubled_in_200000_preemptions_with_faults(void **state)
{
	const char *only = getenv("GP_SEED");
	u64 seed = only ? strtoull(only, NULL, 0) : 1, preemptions = 0, n;
	static struct random_scenario r;

	(void)state;
	do {
		random_scenario(&r, seed);
		if (run(&r, seed, &n) != HELD)
			report(&r, seed);
		preemptions += n;
		seed++;
	} while (!only && preemptions < wanted());
	print_message("# %llu preemptions in %llu random scenarios\n",
		      (unsigned long long)preemptions, (unsigned long long)(seed - 1));
}

PROVE(
	CLAIM(no_work_is_lost_or_doubled_in_200000_preemptions_with_faults),
)
