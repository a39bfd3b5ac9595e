// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hist.h"

enum { ENOUGH = 16 };	/* values of a bucket that are taken to be spread evenly */

/* The first GP_HIST_SUB buckets are one nanosecond wide, then they double per octave. */
static u32 bucket_of(u64 ns)
{
	u32 octave;
	u64 bucket;

	if (ns < GP_HIST_SUB)
		return (u32)ns;

	octave = 63 - (u32)__builtin_clzll(ns) - 6;	/* 6 = log2(GP_HIST_SUB) */
	bucket = (octave + 1) * GP_HIST_SUB + ((ns >> octave) - GP_HIST_SUB);
	return bucket < GP_HIST_BUCKETS ? (u32)bucket : GP_HIST_BUCKETS - 1;
}

/* The lower end of a bucket; the next one's is its upper end. */
static u64 low_of(u32 bucket)
{
	u32 octave = bucket / GP_HIST_SUB;

	if (!octave)
		return bucket;
	return (u64)(GP_HIST_SUB + bucket % GP_HIST_SUB) << (octave - 1);
}

/*
 * Value @number, from 1 on, of the @count in a bucket. Few values may all lie at one end:
 * then the middle is off by half a bucket at most, 0.8 % of its lower end.
 */
static u64 value_in(u32 bucket, u64 number, u32 count)
{
	u64 width = low_of(bucket + 1) - low_of(bucket);

	if (count < ENOUGH)
		return low_of(bucket) + width / 2;
	return low_of(bucket) + (u64)((width * (2 * number - 1)) / (2 * (u64)count));
}

void gp_hist_add(struct gp_hist *h, u64 ns)
{
	if (!h->count || ns < h->min)
		h->min = ns;
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
	h->bucket[bucket_of(ns)]++;
}

u64 gp_hist_quantile(const struct gp_hist *h, u32 permyriad)
{
	u64 rank = gp_rank(h->count, permyriad), seen = 0, value;
	u32 i;

	if (!h->count)
		return 0;
	for (i = 0; i < GP_HIST_BUCKETS - 1 && seen + h->bucket[i] < rank; i++)
		seen += h->bucket[i];
	if (i == GP_HIST_BUCKETS - 1)
		return h->max;
	value = value_in(i, rank - seen, h->bucket[i]);
	if (value < h->min)
		return h->min;
	return value < h->max ? value : h->max;
}

u64 gp_hist_mean(const struct gp_hist *h)
{
	return h->count ? h->sum / h->count : 0;
}
