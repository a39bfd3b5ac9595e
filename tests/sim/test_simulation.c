// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Deterministic simulation testing with random scenarios and faults. At every event it checks
 * that no work is lost or repeated, every stop is answered once, holds stay within their leases
 * and the counters add up.
 *
 * A failing seed is reduced to the relevant parts, which are saved in a temporary directory. The
 * test prints the command that runs them again.
 */
#include <stdio.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "random_scenario.h"
#include "sim/run.h"

enum { TEXT = 16384 };

static char why[512];

enum outcome { HELD, BROKEN, NO_SCENARIO };

/* BROKEN and NO_SCENARIO set why[]. */
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

/*
 * Makes a file for the scenario of @seed in a new temporary directory and stores its name in
 * @path. Returns NULL on failure.
 */
static FILE *create(char *path, size_t room, u64 seed)
{
	const char *tmp = getenv("TMPDIR");
	size_t n;

	snprintf(path, room, "%s/gpreempt-failed-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(path))
		return NULL;
	n = strlen(path);
	snprintf(path + n, room - n, "/seed-%llu.ini", (unsigned long long)seed);
	return fopen(path, "w");
}

static void report(struct random_scenario *r, u64 seed)
{
	static char text[TEXT];
	char path[256];
	FILE *f;

	shrink(r, seed);
	random_scenario_text(r, text, sizeof(text));
	f = create(path, sizeof(path), seed);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	fail_msg("GP_SEED=%llu: %s\nshrunk to %s:\n%s\nrun it again: "
		 "gpreempt sim --check --seed %llu %s", (unsigned long long)seed, why, path, text,
		 (unsigned long long)seed, path);
}

static u64 wanted(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 10000;	/* the same code, ten times slower */
#else
	return gp_test_full() ? 1200000 : 200000;
#endif
}

static void no_work_is_lost_or_doubled_in_200000_preemptions_with_faults(void **state)
{
	u64 first = gp_test_seed(1), seed = first, preemptions = 0, n;
	static struct random_scenario r;

	(void)state;
	do {
		random_scenario(&r, seed);
		if (run(&r, seed, &n) != HELD)
			report(&r, seed);
		preemptions += n;
		seed++;
	} while (preemptions < wanted());
	print_message("# %llu preemptions in %llu random scenarios\n",
		      (unsigned long long)preemptions, (unsigned long long)(seed - first));
}

PROVE(
	CLAIM(no_work_is_lost_or_doubled_in_200000_preemptions_with_faults),
)
