// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <ctype.h>
#include <string.h>

#include "value.h"

static const struct unit {
	const char *name;
	u64 ns;
} units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "min", 60000000000 },
};

/* Largest value accepted anywhere: half the range, so that sums of two cannot wrap. */
#define MOST	(~0ull >> 1)

/* "12.5" times @scale, exactly; *@end is behind it. */
static int parse_decimal(const char *text, u64 scale, u64 *ret, const char **end)
{
	unsigned __int128 value = 0;
	u64 below = 1;
	bool point = false;
	int digits = 0;

	for (; isdigit((unsigned char)*text) || (*text == '.' && !point && text[1] != '.');
	     text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		value = value * 10 + (u64)(*text - '0');
		if (point)
			below *= 10;
		if (++digits > 18)
			return -EINVAL;
	}
	if (!digits)
		return -EINVAL;
	value *= scale;
	if (value % below || value / below > MOST)
		return -EINVAL;
	*ret = (u64)(value / below);
	*end = text;
	return 0;
}

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(units[i].name, name))
			return &units[i];
	}
	return NULL;
}

/* Where the number at the start of @text ends. */
static const char *skip_number(const char *text)
{
	while (isdigit((unsigned char)*text) || *text == '.')
		text++;
	while (*text == ' ')
		text++;
	return text;
}

int gp_parse_ns(const char *text, u64 *ret)
{
	const struct unit *unit = find_unit(skip_number(text));
	const char *end;

	if (!strcmp(text, "0")) {
		*ret = 0;
		return 0;
	}
	return unit ? parse_decimal(text, unit->ns, ret, &end) : -EINVAL;
}

int gp_parse_range_ns(const char *low, const char *high, u64 *a, u64 *b)
{
	const struct unit *unit = find_unit(skip_number(high));
	const char *end;
	u64 x, y;

	if (!unit || gp_parse_ns(high, &y))
		return -EINVAL;
	if (*skip_number(low) ? gp_parse_ns(low, &x) : parse_decimal(low, unit->ns, &x, &end))
		return -EINVAL;
	*a = x;
	*b = y;
	return 0;
}

int gp_parse_u64(const char *text, u64 *ret)
{
	const char *end;
	u64 value;

	if (strchr(text, '.') || parse_decimal(text, 1, &value, &end) || *end)
		return -EINVAL;
	*ret = value;
	return 0;
}

int gp_parse_millionths(const char *text, u64 *ret)
{
	const char *end;
	u64 value;
	bool percent = strchr(text, '%') != NULL;

	if (parse_decimal(text, percent ? 10000 : 1000000, &value, &end) ||
	    strcmp(end, percent ? "%" : ""))
		return -EINVAL;
	*ret = value;
	return 0;
}

int gp_parse_bool(const char *text, bool *ret)
{
	if (!strcmp(text, "yes"))
		*ret = true;
	else if (!strcmp(text, "no"))
		*ret = false;
	else
		return -EINVAL;
	return 0;
}

u32 gp_split(const char *text, char word[][24], u32 max)
{
	u32 nr = 0;

	for (;;) {
		size_t n;

		text += strspn(text, " \t,");
		if (!*text)
			return nr;
		n = strcspn(text, " \t,");
		if (nr == max || n >= 24)
			return 0;
		memcpy(word[nr], text, n);
		word[nr++][n] = '\0';
		text += n;
	}
}
