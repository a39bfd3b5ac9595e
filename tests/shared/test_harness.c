/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Tests the harness. tests/tools/run-tests.sh shows that a failing test fails the run. */
#include "gp_test.h"

#include <string.h>

static void equal_numbers_of_different_types_are_equal(void **state)
{
	(void)state;
	EXPECT_EQ((uint8_t)200, 200ull);
	EXPECT_EQ(-22, (int64_t)-22);
}

/* gp_test_random() is part of every reported seed, so its values must not change. */
static void a_seed_gives_the_same_numbers_for_ever(void **state)
{
	uint64_t s = 0;

	(void)state;
	EXPECT_EQ(gp_test_random(&s), 0xe220a8397b1dcdafull);
	EXPECT_EQ(gp_test_random(&s), 0x6e789e6aa1b965f4ull);
}

static void the_seed_is_that_of_the_environment_if_there_is_one(void **state)
{
	const char *given = getenv("GP_SEED");
	char *kept = given ? strdup(given) : NULL;

	(void)state;
	setenv("GP_SEED", "0x10", 1);
	EXPECT_EQ(gp_test_seed(7), 16);
	setenv("GP_SEED", "", 1);
	EXPECT_EQ(gp_test_seed(7), 7);
	unsetenv("GP_SEED");
	EXPECT_EQ(gp_test_seed(7), 7);
	if (kept)
		setenv("GP_SEED", kept, 1);
	free(kept);
}

PROVE(
	CLAIM(equal_numbers_of_different_types_are_equal),
	CLAIM(a_seed_gives_the_same_numbers_for_ever),
	CLAIM(the_seed_is_that_of_the_environment_if_there_is_one),
)
