// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "rng.h"

/* splitmix64: tiny, passes BigCrush, and any state is a good one. */
u64 gp_rng_next(struct gp_rng *rng)
{
	u64 z = (rng->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void gp_rng_init(struct gp_rng *rng, u64 seed, const char *stream)
{
	u64 hash = 0xcbf29ce484222325ull;	/* FNV-1a */

	for (; *stream; stream++)
		hash = (hash ^ (u8)*stream) * 0x100000001b3ull;
	rng->state = seed;
	rng->state = gp_rng_next(rng) ^ hash;
	gp_rng_next(rng);
}

u64 gp_rng_below(struct gp_rng *rng, u64 below)
{
	return (u64)(((unsigned __int128)gp_rng_next(rng) * below) >> 64);
}

s64 gp_log2(u64 x)
{
	int whole = 63 - __builtin_clzll(x);
	u64 m = x << (63 - whole);	/* 1.63 fixed point, 1 <= m < 2 */
	s64 log = (s64)whole << 32;

	/* Squaring doubles the logarithm; each carry is one more bit of it. */
	for (int bit = 31; bit >= 0; bit--) {
		unsigned __int128 square = (unsigned __int128)m * m;

		if (square >> 127) {
			log |= 1ll << bit;
			m = (u64)(square >> 64);
		} else {
			m = (u64)(square >> 63);
		}
	}
	return log;
}

/* 2^(1/2), 2^(1/4), 2^(1/8) ... in 1.63 fixed point. */
static const u64 roots[32] = {
	0xb504f333f9de6484ull, 0x9837f0518db8a96full, 0x8b95c1e3ea8bd6e7ull, 0x85aac367cc487b15ull,
	0x82cd8698ac2ba1d7ull, 0x8164d1f3bc030773ull, 0x80b1ed4fd999ab6cull, 0x8058d7d2d5e5f6b1ull,
	0x802c6436d0e04f51ull, 0x8016302f17467628ull, 0x800b179c82028fd1ull, 0x80058baf7fee3b5dull,
	0x8002c5d00fdcfcb7ull, 0x800162e61bed4a49ull, 0x8000b17292f702a4ull, 0x800058b92abbae02ull,
	0x80002c5c8dade4d7ull, 0x8000162e44eaf636ull, 0x80000b1721fa7c19ull, 0x8000058b90de7e4dull,
	0x800002c5c8678f37ull, 0x80000162e431dba0ull, 0x800000b1721872d1ull, 0x80000058b90c1aa9ull,
	0x8000002c5c8605a4ull, 0x800000162e4300e6ull, 0x8000000b17217ff8ull, 0x800000058b90bfddull,
	0x80000002c5c85fe7ull, 0x8000000162e42ff2ull, 0x80000000b17217f8ull, 0x8000000058b90bfcull,
};

/* 2^(@fraction / 2^32) in 1.63 fixed point. */
static u64 exp2_fraction(u32 fraction)
{
	u64 m = 1ull << 63;

	for (int i = 0; i < 32; i++) {
		if (fraction & (0x80000000u >> i))
			m = (u64)(((unsigned __int128)m * roots[i]) >> 63);
	}
	return m;
}

u64 gp_scale2(u64 value, s64 exponent)
{
	s64 whole = exponent >> 32;
	u64 m = exp2_fraction((u32)exponent);
	unsigned __int128 v = ((unsigned __int128)value * m) >> 63;

	if (whole < -63)
		return 0;
	if (whole < 0)
		return (u64)(v >> -whole);
	if (whole > 62 || (v >> (63 - whole)))
		return ~0ull >> 1;
	return (u64)(v << whole);
}

u64 gp_rng_exponential(struct gp_rng *rng, u64 mean)
{
	/* u in (0, 1] as 64 bits; -ln u = (64 - log2) * ln 2 */
	s64 log = gp_log2(gp_rng_next(rng) | 1);
	u64 minus_ln = (u64)(((__int128)((64ll << 32) - log) * GP_FIXED_LN2) >> 32);

	return (u64)(((unsigned __int128)minus_ln * mean) >> 32);
}

s64 gp_rng_normal(struct gp_rng *rng)
{
	/* The sum of twelve uniforms has variance 1; beyond 3 sigma it is a little thin. */
	s64 sum = -6 * GP_FIXED_ONE;

	for (int i = 0; i < 6; i++) {
		u64 two = gp_rng_next(rng);

		sum += (s64)(two >> 32) + (s64)(u32)two;
	}
	return sum;
}
