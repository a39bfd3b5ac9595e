// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "text/value.h"

int gp_why(const struct gp_why *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->size, format, args);
	va_end(args);
	return -EINVAL;
}

/* A time for a message: 1500000 is "1500us". */
static void print_ns(u64 ns, char *text, size_t size)
{
	static const struct { const char *unit; u64 ns; } units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};
	int i = 0;

	while (i < 3 && ns % units[i].ns)
		i++;
	snprintf(text, size, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].unit);
}

static int set_ns(const struct gp_key *key, u64 *to, const char *value, const struct gp_why *why)
{
	char min[24], max[24];
	u64 ns;

	print_ns(key->min, min, sizeof(min));
	print_ns(key->max, max, sizeof(max));
	if (gp_parse_ns(value, &ns) || ns < key->min || ns > key->max)
		return gp_why(why, "%s: '%s' is not a time from %s to %s (units ns, us, ms, s)",
			      key->name, value, min, max);
	*to = ns;
	return 0;
}

static int set_number(const struct gp_key *key, void *to, const char *value,
		      const struct gp_why *why)
{
	u64 n;

	if (gp_parse_u64(value, &n) || n < key->min || n > key->max)
		return gp_why(why, "%s: '%s' is not a number from %llu to %llu", key->name, value,
			      (unsigned long long)key->min, (unsigned long long)key->max);
	if (key->kind == GP_KEY_U8)
		*(u8 *)to = (u8)n;
	else if (key->kind == GP_KEY_U32)
		*(u32 *)to = (u32)n;
	else
		*(u64 *)to = n;
	return 0;
}

static int set_choice(const struct gp_key *key, u8 *to, const char *value,
		      const struct gp_why *why)
{
	char names[160] = "";
	size_t at = 0;

	for (u8 i = 0; key->choices[i]; i++) {
		if (!strcmp(key->choices[i], value)) {
			*to = i;
			return 0;
		}
		if (at < sizeof(names))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
					       i ? ", " : "", key->choices[i]);
	}
	return gp_why(why, "%s: '%s' is none of %s", key->name, value, names);
}

static int set_dist(const struct gp_key *key, struct gp_dist *to, const char *value,
		    const struct gp_why *why)
{
	struct gp_dist d;

	if (gp_dist_parse(value, &d) || d.a_ns < key->min || d.a_ns > key->max ||
	    d.b_ns > key->max)
		return gp_why(why, "%s: '%s' is none of T, uniform A..B, lognormal MEDIAN SIGMA, "
			      "lognormal MEDIAN p95 T, lognormal P5..P95", key->name, value);
	*to = d;
	return 0;
}

int gp_key_set(const struct gp_key *keys, struct gp_scenario *sc, void *section,
	       const char *const pair[2], const struct gp_why *why)
{
	const struct gp_key *key = keys;
	const char *value = pair[1];
	void *to;

	while (key->name && strcmp(key->name, pair[0]))
		key++;
	if (!key->name)
		return -ENOENT;
	to = (char *)section + key->offset;
	switch (key->kind) {
	case GP_KEY_NS:
		return set_ns(key, to, value, why);
	case GP_KEY_BOOL:
		if (gp_parse_bool(value, to))
			return gp_why(why, "%s: '%s' is neither yes nor no", key->name, value);
		return 0;
	case GP_KEY_DIST:
		return set_dist(key, to, value, why);
	case GP_KEY_CHOICE:
		return set_choice(key, to, value, why);
	case GP_KEY_BY_HAND:
		if (key->set(sc, section, value))
			return gp_why(why, "%s: '%s' is not %s", key->name, value, key->allowed);
		return 0;
	default:
		return set_number(key, to, value, why);
	}
}

void gp_key_names(const struct gp_key *keys, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (const struct gp_key *key = keys; key->name && at < size; key++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", key == keys ? "" : ", ",
				       key->name);
}
