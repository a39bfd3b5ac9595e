/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Compares the histogram with the exact values. */
#include <stdio.h>
#include <string.h>

#include "core/hist.h"
#include "tests/shared/gp_test.h"

enum { MANY = 20000 };

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 exact(const u64 *sorted, u64 n, u32 permyriad)
{
	u64 rank = (n * permyriad + 9999) / 10000;

	return sorted[rank ? rank - 1 : 0];
}

static void compare(u64 *values, u64 n)
{
	static const u32 asked[] = { 1, 100, 2500, 5000, 9000, 9900, 9990, 10000 };
	static struct gp_hist h;
	u64 i, sum = 0, off;

	memset(&h, 0, sizeof(h));
	for (i = 0; i < n; i++) {
		gp_hist_add(&h, values[i]);
		sum += values[i];
	}
	qsort(values, n, sizeof(*values), by_size);
	EXPECT_EQ(h.count, n);
	EXPECT_EQ(h.max, values[n - 1]);
	EXPECT_EQ(gp_hist_mean(&h), sum / n);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		u64 want = exact(values, n, asked[i]), got = gp_hist_quantile(&h, asked[i]);

		off = got > want ? got - want : want - got;
		if (off * 100 > want)
			fail_msg("p%u of %llu values is %llu, exactly %llu", asked[i],
				 (unsigned long long)n, (unsigned long long)got,
				 (unsigned long long)want);
		EXPECT(got <= h.max);
	}
}

static void quantiles_are_off_by_less_than_1_percent(void **state)
{
	static u64 values[MANY];
	u64 seed = gp_test_seed(1), n, i, bits;

	(void)state;
	for (bits = 1; bits <= 37; bits++) {
		for (n = 1; n <= MANY; n *= 27) {
			for (i = 0; i < n; i++)
				values[i] = gp_test_random(&seed) >> (64 - bits);
			compare(values, n);
			/* and values of all orders of magnitude */
			for (i = 0; i < n; i++)
				values[i] = gp_test_random(&seed) >>
					    (27 + gp_test_random(&seed) % bits);
			compare(values, n);
		}
	}
}

static void values_beyond_the_last_bucket_are_the_maximum(void **state)
{
	static struct gp_hist h;

	(void)state;
	EXPECT_EQ(gp_hist_quantile(&h, 5000), 0);
	EXPECT_EQ(gp_hist_mean(&h), 0);
	gp_hist_add(&h, ~0ull);
	EXPECT_EQ(gp_hist_quantile(&h, 5000), ~0ull);
	EXPECT_EQ(h.bucket[GP_HIST_BUCKETS - 1], 1);
	memset(&h, 0, sizeof(h));
	gp_hist_add(&h, 1ull << 37);
	EXPECT_EQ(gp_hist_quantile(&h, 9990), 1ull << 37);
}

/* p99 of 100 values is the 99th, of 10 the 10th. */
static void ranks_are_rounded_up(void **state)
{
	static struct gp_hist h;
	u64 i;

	(void)state;
	for (i = 1; i <= 10; i++)
		gp_hist_add(&h, i);
	EXPECT_EQ(gp_hist_quantile(&h, 9900), 10);
	EXPECT_EQ(gp_hist_quantile(&h, 5000), 5);
	EXPECT_EQ(gp_hist_quantile(&h, 5001), 6);
	EXPECT_EQ(gp_hist_quantile(&h, 0), 1);
	memset(&h, 0, sizeof(h));
	for (i = 1; i <= 100; i++)
		gp_hist_add(&h, i < 64 ? i : 63);
	EXPECT_EQ(gp_hist_quantile(&h, 100), 1);
	EXPECT_EQ(gp_hist_quantile(&h, 101), 2);
}

/* Most saves take the same time. Their p99 is above the mean, not in the middle of a bucket. */
static void equal_values_are_exact_and_p99_is_not_below_the_mean(void **state)
{
	static struct gp_hist h;

	(void)state;
	for (u32 i = 0; i < 1000; i++)
		gp_hist_add(&h, 17324);
	EXPECT_EQ(gp_hist_quantile(&h, 5000), 17324);
	EXPECT_EQ(gp_hist_quantile(&h, 9900), 17324);
	gp_hist_add(&h, 17000);
	gp_hist_add(&h, 17330);
	EXPECT(gp_hist_quantile(&h, 9900) >= gp_hist_mean(&h));
}

PROVE(
	CLAIM(quantiles_are_off_by_less_than_1_percent),
	CLAIM(values_beyond_the_last_bucket_are_the_maximum),
	CLAIM(ranks_are_rounded_up),
	CLAIM(equal_values_are_exact_and_p99_is_not_below_the_mean),
)
