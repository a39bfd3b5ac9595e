// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hist.h"

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

/* The middle of a bucket: half a bucket is 0.8 % of its lower end. */
static u64 middle_of(u32 bucket)
{
	u32 octave = bucket / GP_HIST_SUB;
	u64 low;

	if (!octave)
		return bucket;

	low = (u64)(GP_HIST_SUB + bucket % GP_HIST_SUB) << (octave - 1);
	return low + ((1ull << (octave - 1)) >> 1);
}

void gp_hist_add(struct gp_hist *h, u64 ns)
{
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
	h->bucket[bucket_of(ns)]++;
}

u64 gp_hist_quantile(const struct gp_hist *h, u32 permyriad)
{
	u64 rank, seen = 0;
	u32 i;

	if (!h->count)
		return 0;

	/* Rounded up: p99 of 100 values is the 99th, of 10 the 10th. */
	rank = (h->count * permyriad + 9999) / 10000;
	if (!rank)
		rank = 1;
	for (i = 0; i < GP_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	if (i >= GP_HIST_BUCKETS - 1)
		return h->max;
	return middle_of(i) < h->max ? middle_of(i) : h->max;
}

u64 gp_hist_mean(const struct gp_hist *h)
{
	return h->count ? h->sum / h->count : 0;
}
