/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Compares the learnt linger with the cost of every candidate. */
#include <string.h>

#include "core/gaps.h"
#include "tests/shared/gp_test.h"

/* Returns the candidates: no linger, then the ends of quarter octaves from 1 us. */
static u64 candidate(u32 i)
{
	u64 octave = i ? (i - 1) / 4 : 0, quarter = i ? (i - 1) % 4 : 0;

	return i ? (1000ull << octave) + (250ull << octave) * quarter : 0;
}

/* Returns E[min(gap, L)] + P(gap > L) x price, times the number of gaps. */
static u64 cost(const u64 *gaps, u32 n, u64 linger, u64 price)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += gaps[i] < linger ? gaps[i] : linger + price;
	return sum;
}

static u64 cheapest(const u64 *gaps, u32 n, u64 price)
{
	u64 best = cost(gaps, n, 0, price), c;
	u32 i;

	for (i = 1; i < GP_GAPS_BUCKETS; i++) {
		c = cost(gaps, n, candidate(i), price);
		if (c < best)
			best = c;
	}
	return best;
}

static void the_linger_chosen_is_the_cheapest_of_all_candidates(void **state)
{
	static u64 ring[GP_GAPS_KEPT];
	u64 seed = gp_test_seed(1), round, price, best;
	static struct gp_gaps g;
	u32 n, i;

	(void)state;
	for (round = 0; round < 400; round++) {
		u32 bits = 10 + (u32)(gp_test_random(&seed) % 24), more = (u32)(round % 5) * 100;

		memset(&g, 0, sizeof(g));
		n = GP_GAPS_ENOUGH + (u32)(gp_test_random(&seed) % 200) + more;
		for (i = 0; i < n; i++) {
			u64 gap = gp_test_random(&seed) >> (64 - bits);

			/* two kinds of gaps: within a request, between requests */
			if (gp_test_random(&seed) % 3)
				gap /= 100;
			ring[i % GP_GAPS_KEPT] = gap;
			gp_gaps_add(&g, gap);
		}
		n = n < GP_GAPS_KEPT ? n : GP_GAPS_KEPT;
		price = gp_test_random(&seed) >> (64 - 10 - gp_test_random(&seed) % 24);
		best = gp_gaps_best(&g, price);
		EXPECT_EQ(cost(ring, n, best, price), cheapest(ring, n, price));
	}
}

static void only_the_last_256_count(void **state)
{
	static struct gp_gaps g;
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		gp_gaps_add(&g, 90000000);
	EXPECT_EQ(g.sum, GP_GAPS_KEPT * 90000000ull);
	EXPECT_EQ(gp_gaps_best(&g, 100000), 0);
	for (i = 0; i < GP_GAPS_KEPT; i++)
		gp_gaps_add(&g, 20000);
	EXPECT_EQ(g.sum, GP_GAPS_KEPT * 20000ull);
	EXPECT(gp_gaps_best(&g, 100000) > 20000);
	EXPECT(gp_gaps_best(&g, 10000) == 0);
}

static void a_few_gaps_say_nothing(void **state)
{
	static struct gp_gaps g;
	u32 i;

	(void)state;
	EXPECT_EQ(g.sum, 0);
	for (i = 0; i < GP_GAPS_ENOUGH; i++) {
		EXPECT_EQ(gp_gaps_best(&g, 12345), 12345);
		gp_gaps_add(&g, 1000000000);
	}
	EXPECT_EQ(gp_gaps_best(&g, 12345), 0);
}

static void the_longest_gaps_are_never_waited_for(void **state)
{
	static struct gp_gaps g;
	u32 i;

	(void)state;
	for (i = 0; i < GP_GAPS_ENOUGH; i++)
		gp_gaps_add(&g, ~0ull >> 9);
	EXPECT_EQ(gp_gaps_best(&g, 1000000000000ull), 0);
}

PROVE(
	CLAIM(the_linger_chosen_is_the_cheapest_of_all_candidates),
	CLAIM(only_the_last_256_count),
	CLAIM(a_few_gaps_say_nothing),
	CLAIM(the_longest_gaps_are_never_waited_for),
)
