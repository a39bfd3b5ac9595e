// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <string.h>

#include "dist.h"
#include "text/value.h"

/* The normal distribution's 95 % point, 1.6448536, as its inverse in millionths. */
#define P95_INVERSE	607957ull

/* Sigma, in millionths, of a lognormal whose 95 % point is @ratio = @p95 / @median. */
static u64 sigma_of(u64 median, u64 p95)
{
	s64 log2_ratio = gp_log2(p95) - gp_log2(median);
	s64 ln_millionths = (s64)(((__int128)log2_ratio * GP_FIXED_LN2 >> 32) * 1000000 >> 32);

	return (u64)ln_millionths * P95_INVERSE / 1000000;
}

/* Parses "A..B" with 0 < A <= B. */
static int parse_range(const char *text, u64 *a, u64 *b)
{
	const char *dots = strstr(text, "..");
	char low[32];
	size_t n = dots ? (size_t)(dots - text) : 0;

	if (!dots || n >= sizeof(low))
		return -EINVAL;
	memcpy(low, text, n);
	low[n] = '\0';
	/* "20..100ms": the unit of the second goes for both. */
	if (gp_parse_range_ns(low, dots + 2, a, b) || !*a || *a > *b)
		return -EINVAL;
	return 0;
}

/* Parses "MEDIAN SIGMA" or "MEDIAN p95 T". */
static int parse_median(const char *text, struct gp_dist *d)
{
	char word[3][24];
	u32 n = gp_split(text, word, 3);
	u64 p95;

	if (n < 2 || gp_parse_ns(word[0], &d->a_ns) || !d->a_ns)
		return -EINVAL;
	if (n == 2)
		return gp_parse_millionths(word[1], &d->sigma);
	if (strcmp(word[1], "p95") || gp_parse_ns(word[2], &p95) || p95 < d->a_ns)
		return -EINVAL;
	d->sigma = sigma_of(d->a_ns, p95);
	return 0;
}

static int parse_lognormal(const char *text, struct gp_dist *d)
{
	u64 a, b;

	if (strstr(text, "..")) {
		if (parse_range(text, &a, &b))
			return -EINVAL;
		/* The median of a lognormal is the geometric mean of its ends. */
		d->a_ns = gp_scale2(1u << 20, ((gp_log2(a) + gp_log2(b)) / 2) - (20ll << 32));
		d->sigma = sigma_of(d->a_ns, b);
		return 0;
	}
	return parse_median(text, d);
}

int gp_dist_parse(const char *text, struct gp_dist *ret)
{
	struct gp_dist d = { 0 };
	int err;

	if (!strncmp(text, "uniform ", 8)) {
		d.kind = GP_DIST_UNIFORM;
		err = parse_range(text + 8, &d.a_ns, &d.b_ns);
	} else if (!strncmp(text, "lognormal ", 10)) {
		d.kind = GP_DIST_LOGNORMAL;
		err = parse_lognormal(text + 10, &d);
		if (!err && (!d.a_ns || d.sigma > 4000000))
			err = -EINVAL;
	} else {
		err = gp_parse_ns(text, &d.a_ns);
	}
	if (!err)
		*ret = d;
	return err;
}

u64 gp_dist_draw(const struct gp_dist *d, struct gp_rng *rng)
{
	s64 exponent;

	switch (d->kind) {
	case GP_DIST_UNIFORM:
		return d->a_ns + gp_rng_below(rng, d->b_ns - d->a_ns + 1);
	case GP_DIST_LOGNORMAL:
		exponent = (s64)((__int128)gp_rng_normal(rng) * (s64)d->sigma / 1000000);
		exponent = (s64)(((__int128)exponent * GP_FIXED_LOG2E) >> 32);
		return gp_scale2(d->a_ns, exponent);
	default:
		return d->a_ns;
	}
}
