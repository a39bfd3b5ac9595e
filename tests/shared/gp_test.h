/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by all test programs, on top of cmocka.
 *
 * A test is a function named after the claim that it proves. A program ends with the list of its
 * claims:
 *
 *	static void low_never_stops_high(void **state)
 *	{
 *		...
 *		EXPECT_EQ(stops, 0);
 *	}
 *
 *	PROVE(
 *		CLAIM(low_never_stops_high),
 *		CLAIM(a_lost_stop_is_reported_once),
 *	)
 *
 * List the program in the meson.build of its folder and `./run test` prints one line per
 * claim. Run by hand (build/tests/test_x) it prints the same.
 */
#ifndef GP_TEST_H
#define GP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define CLAIM(fn)	cmocka_unit_test(fn)
/* A test with a fixture. @up sets *state. @down runs even if the test fails. */
#define CLAIM_WITH(fn, up, down) cmocka_unit_test_setup_teardown(fn, up, down)

#define PROVE(...)							\
int main(void)								\
{									\
	const struct CMUnitTest claims[] = { __VA_ARGS__ };		\
									\
	return cmocka_run_group_tests_name(__FILE__, claims, NULL, NULL) != 0; \
}

/* Does not return if @cond is false. */
#define EXPECT(cond)							\
do {									\
	if (!(cond))							\
		fail_msg("expected %s", #cond);				\
} while (0)

/* Compares any two integers and prints both. Negative ones compare as int64_t. */
#define EXPECT_EQ(got, want)						\
do {									\
	int64_t got_ = (int64_t)(got);					\
	int64_t want_ = (int64_t)(want);				\
									\
	if (got_ != want_)						\
		fail_msg("%s is %lld, expected %s = %lld", #got,	\
			 (long long)got_, #want, (long long)want_);	\
} while (0)

/* The limit of every wait. It ends only a test that hangs, because no machine is this slow. */
enum { GP_TEST_PATIENCE_MS = 600000 };

/* Waits until @cond, which another thread or process makes true. */
#define AWAIT(cond)							\
do {									\
	uint32_t naps_ = 0;						\
									\
	while (!(cond)) {						\
		if (naps_++ == GP_TEST_PATIENCE_MS)			\
			fail_msg("waited in vain for %s", #cond);	\
		usleep(1000);						\
	}								\
} while (0)

/* True in the long tier (./run test --full), in which tests run longer. */
static inline bool gp_test_full(void)
{
	const char *full = getenv("GP_FULL");

	return full && *full && *full != '0';
}

/*
 * The seed of a random test: GP_SEED, which ./run test sets for every test, or @otherwise. Prints
 * the seed as a comment, which tools/run-tests shows beside a claim that fails. A test that needs
 * several seeds counts up from this one, so that GP_SEED=N makes a failure at seed N the first.
 */
static inline uint64_t gp_test_seed(uint64_t otherwise)
{
	const char *given = getenv("GP_SEED");
	uint64_t seed = given && *given ? strtoull(given, NULL, 0) : otherwise;

	print_message("# GP_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

/* splitmix64. Every start value of *@state is valid, including 0. */
static inline uint64_t gp_test_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

#endif /* GP_TEST_H */
