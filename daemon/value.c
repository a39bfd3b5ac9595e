// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "value.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
	const char *name;
	u64 ns;
} units[] = {
	{ "min", 60 * GP_SEC }, { "s", GP_SEC }, { "ms", GP_MSEC }, { "us", GP_USEC }, { "ns", 1 },
};

enum { NR_UNITS = sizeof(units) / sizeof(units[0]), DIGITS = 18 };

/* "12.5" times @scale, exactly; *@end is behind it. */
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
	/* Half the range at most: sums of two cannot wrap. */
	if (!digits || value % below || value / below > ~0ull >> 1)
		return -EINVAL;
	*ret = (u64)(value / below);
	*end = text;
	return 0;
}

int gp_value_ns(const char *text, u64 *ret)
{
	size_t number = strspn(text, "0123456789.");
	const char *unit = text + number + strspn(text + number, " \t");
	const char *end;

	if (!strcmp(text, "0")) {
		*ret = 0;
		return 0;
	}
	for (int i = 0; i < NR_UNITS; i++) {
		u64 value;

		if (strcmp(units[i].name, unit))
			continue;
		if (read_decimal(text, units[i].ns, &value, &end) || end != text + number)
			return -EINVAL;
		*ret = value;
		return 0;
	}
	return -EINVAL;
}

int gp_value_u64(const char *text, u64 *ret)
{
	const char *end;
	u64 value;

	if (strchr(text, '.') || read_decimal(text, 1, &value, &end) || *end)
		return -EINVAL;
	*ret = value;
	return 0;
}

int gp_value_bool(const char *text, bool *ret)
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
	/* A time of one or two ns would be taken for one of the words. */
	if (gp_value_ns(text, &ns) || (ns && ns < GP_LINGER_MODES))
		return -EINVAL;
	*ret = ns;
	return 0;
}

int gp_value_param(const struct gp_param_info *info, const char *text, u64 *ret)
{
	u64 value;
	int err;

	if (info->unit == GP_UNIT_LINGER)
		err = read_linger(text, &value);
	else if (info->unit == GP_UNIT_NS)
		err = gp_value_ns(text, &value);
	else
		err = gp_value_u64(text, &value);
	if (err)
		return err;
	if (value < info->min || value > info->max)
		return -ERANGE;
	*ret = value;
	return 0;
}

void gp_value_print_ns(u64 ns, char *text, size_t size)
{
	int i = 1;	/* minutes are only read */

	if (!ns) {
		snprintf(text, size, "0");
		return;
	}
	while (i < NR_UNITS - 1 && ns % units[i].ns)
		i++;
	snprintf(text, size, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

void gp_value_print_param(const struct gp_param_info *info, u64 value, char *text, size_t size)
{
	bool word = info->unit == GP_UNIT_LINGER && value && value < GP_LINGER_MODES;

	if (word)
		snprintf(text, size, "%s", lingers[value]);
	else if (info->unit == GP_UNIT_NS || info->unit == GP_UNIT_LINGER)
		gp_value_print_ns(value, text, size);
	else
		snprintf(text, size, "%llu", (unsigned long long)value);
}

void gp_text_clean(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}
