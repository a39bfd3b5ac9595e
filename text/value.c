// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "value.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
	const char *name;
	u64 ns;
} units[] = {
	{ "h", 3600 * GP_SEC }, { "min", 60 * GP_SEC }, { "s", GP_SEC }, { "ms", GP_MSEC },
	{ "us", GP_USEC }, { "ns", 1 },
};

enum { NR_UNITS = sizeof(units) / sizeof(units[0]), DIGITS = 18 };

/* Reads "12.5" times @scale exactly. *@end is the position after it. */
static int read_decimal(const char *text, u64 scale, u64 *ret, const char **end)
{
	unsigned __int128 value = 0;
	u64 below = 1;
	bool point = false;
	int digits = 0;

	for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		value = value * 10 + (u64)(*text - '0');
		if (point)
			below *= 10;
		if (++digits > DIGITS)
			return -EINVAL;
	}
	value *= scale;
	/* Allow half the range at most, so that a sum of two values cannot wrap. */
	if (!digits || value % below || value / below > ~0ull >> 1)
		return -EINVAL;
	*ret = (u64)(value / below);
	*end = text;
	return 0;
}

/* Finds the unit after the number at the start of @text, and the end of the number. NULL: none. */
static const struct unit *find_unit(const char *text, const char **number_end)
{
	const char *end = text + strspn(text, "0123456789."), *name = end + strspn(end, " \t");

	*number_end = end;
	for (int i = 0; i < NR_UNITS; i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

int gp_parse_ns(const char *text, u64 *ret)
{
	const char *end, *number_end;
	const struct unit *unit = find_unit(text, &number_end);
	u64 value;

	if (!strcmp(text, "0")) {
		*ret = 0;
		return 0;
	}
	if (!unit || read_decimal(text, unit->ns, &value, &end) || end != number_end)
		return -EINVAL;
	*ret = value;
	return 0;
}

int gp_parse_range_ns(const char *low, const char *high, u64 *a, u64 *b)
{
	const char *end, *number_end;
	const struct unit *unit = find_unit(high, &number_end);
	u64 x, y;

	if (!unit || gp_parse_ns(high, &y))
		return -EINVAL;
	if (gp_parse_ns(low, &x) &&
	    (read_decimal(low, unit->ns, &x, &end) || end[strspn(end, " \t")]))
		return -EINVAL;
	*a = x;
	*b = y;
	return 0;
}

int gp_parse_u64(const char *text, u64 *ret)
{
	const char *end;
	u64 value;

	if (strchr(text, '.') || read_decimal(text, 1, &value, &end) || *end)
		return -EINVAL;
	*ret = value;
	return 0;
}

int gp_parse_millionths(const char *text, u64 *ret)
{
	bool percent = strchr(text, '%') != NULL;
	const char *end;
	u64 value;

	if (read_decimal(text, percent ? 10000 : 1000000, &value, &end) ||
	    strcmp(end, percent ? "%" : ""))
		return -EINVAL;
	*ret = value;
	return 0;
}

int gp_parse_bool(const char *text, bool *ret)
{
	if (strcmp(text, "yes") && strcmp(text, "no"))
		return -EINVAL;
	*ret = !strcmp(text, "yes");
	return 0;
}

static const char *const lingers[] = {
	[GP_LINGER_LEARNT] = "learnt", [GP_LINGER_SKI] = "ski",
};

static int read_linger(const char *text, u64 *ret)
{
	u64 ns;

	for (u64 mode = GP_LINGER_LEARNT; mode < GP_LINGER_MODES; mode++) {
		if (!strcmp(text, lingers[mode])) {
			*ret = mode;
			return 0;
		}
	}
	/* Refuse times of one or two ns, because these values stand for the words. */
	if (gp_parse_ns(text, &ns) || (ns && ns < GP_LINGER_MODES))
		return -EINVAL;
	*ret = ns;
	return 0;
}

int gp_parse_param(const struct gp_param_info *info, const char *text, u64 *ret)
{
	u64 value;
	int err;

	if (info->unit == GP_UNIT_LINGER)
		err = read_linger(text, &value);
	else if (info->unit == GP_UNIT_NS)
		err = gp_parse_ns(text, &value);
	else
		err = gp_parse_u64(text, &value);
	if (err)
		return err;
	if (value < info->min || value > info->max)
		return -ERANGE;
	*ret = value;
	return 0;
}

size_t gp_next_word(const char **text, char *word, size_t size)
{
	size_t n;

	*text += strspn(*text, " \t,");
	n = strcspn(*text, " \t,");
	snprintf(word, size, "%.*s", (int)n, *text);
	*text += n;
	return n;
}

u32 gp_split(const char *text, char word[][24], u32 max)
{
	char next[24];
	size_t n;
	u32 nr = 0;

	for (; (n = gp_next_word(&text, next, sizeof(next))); nr++) {
		if (nr == max || n >= sizeof(next))
			return 0;
		memcpy(word[nr], next, sizeof(next));
	}
	return nr;
}

void gp_print_ns(u64 ns, char *text, size_t size)
{
	int i = 2;	/* skip hours and minutes, which are only read */

	if (!ns) {
		snprintf(text, size, "0");
		return;
	}
	while (i < NR_UNITS - 1 && ns % units[i].ns)
		i++;
	snprintf(text, size, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

void gp_print_param(const struct gp_param_info *info, u64 value, char *text, size_t size)
{
	bool word = info->unit == GP_UNIT_LINGER && value && value < GP_LINGER_MODES;

	if (word)
		snprintf(text, size, "%s", lingers[value]);
	else if (info->unit == GP_UNIT_NS || info->unit == GP_UNIT_LINGER)
		gp_print_ns(value, text, size);
	else
		snprintf(text, size, "%llu", (unsigned long long)value);
}

void gp_print_param_range(const struct gp_param_info *info, char *text, size_t size)
{
	static const char *const kinds[] = {
		[GP_UNIT_NS] = "a time", [GP_UNIT_PERMILLE] = "thousandths",
		[GP_UNIT_NUMBER] = "a number", [GP_UNIT_LINGER] = "learnt, ski or a time",
	};
	char min[24], max[24];

	gp_print_param(info, info->min, min, sizeof(min));
	gp_print_param(info, info->max, max, sizeof(max));
	snprintf(text, size, "%s from %s to %s", kinds[info->unit], min, max);
}

bool gp_is_name(const char *text, size_t size, const char *also)
{
	const char *c = text;

	/* Not isalnum(), because its result depends on the locale. */
	while (*c && (strchr(also, *c) || (*c >= '0' && *c <= '9') ||
		      ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z')))
		c++;
	return c > text && !*c && (size_t)(c - text) < size;
}

/* Bytes of the printable character at @at; 0: it is none. */
static u32 printable(const u8 *at)
{
	static const struct {
		u8 mask, is;
		u32 least;
	} lead[] = { { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };
	u32 i, j, code;

	if (at[0] < 0x80)
		return at[0] >= ' ' && at[0] != 0x7f;
	for (i = 0; i < 3; i++) {
		if ((at[0] & lead[i].mask) != lead[i].is)
			continue;
		code = at[0] & (u8)~lead[i].mask;
		for (j = 1; j <= i + 1; j++) {
			if ((at[j] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (at[j] & 0x3f);
		}
		/* no long forms, no surrogates, no C1 controls */
		if (code < lead[i].least || code > 0x10ffff || code < 0xa0 ||
		    (code >= 0xd800 && code < 0xe000))
			return 0;
		return i + 2;
	}
	return 0;
}

void gp_text_clean(char *text)
{
	u8 *at = (u8 *)text;

	while (*at) {
		u32 bytes = printable(at);

		if (!bytes)
			*at = '?';
		at += bytes ? bytes : 1;
	}
}
