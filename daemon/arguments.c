// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arguments.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/param.h"

enum kind { NUMBER, TEXT, FLAG, TEXTS, TEXT_OF_NAME };

#define AT(member) offsetof(struct gp_arguments, member)

static const struct {
	const char *name;
	u8 kind;
	size_t at;
	s64 min, max;		/* of a number; of the bytes of a text */
} table[GP_NR_ARGUMENTS] = {
	[GP_ARG_PID]		= { "pid", NUMBER, AT(pid), 1, INT_MAX },
	[GP_ARG_START]		= { "start", NUMBER, AT(start), 1, INT64_MAX },
	[GP_ARG_CLASS]		= { "class", TEXT, AT(class), 1, 63 },
	[GP_ARG_GPU]		= { "gpu", TEXT, AT(gpu), 1, 31 },
	[GP_ARG_POLICY]		= { "policy", TEXT, AT(policy), 1, 31 },
	[GP_ARG_PARAMETERS]	= { "parameters", TEXT_OF_NAME, AT(parameters), 0, 127 },
	[GP_ARG_DRY_RUN]	= { "dry_run", FLAG, AT(dry_run), 0, 0 },
	[GP_ARG_IN_NS]		= { "in_ns", NUMBER, AT(in_ns), 0, 3600 * (s64)GP_SEC },
	[GP_ARG_FOR_NS]		= { "for_ns", NUMBER, AT(for_ns), 0, 3600 * (s64)GP_SEC },
	[GP_ARG_LEASE_NS]	= { "lease_ns", NUMBER, AT(lease_ns), 1, 3600 * (s64)GP_SEC },
	[GP_ARG_WAIT]		= { "wait", FLAG, AT(wait), 0, 0 },
	[GP_ARG_KINDS]		= { "kinds", TEXTS, AT(kinds), 1, 31 },
};

/* Printable, so that it can be shown and logged as it is. */
static bool is_text(const json_t *value, s64 min, s64 max)
{
	const char *text = json_string_value(value);
	size_t i, n = json_string_length(value);

	if (!text || (s64)n < min || (s64)n > max)
		return false;
	for (i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return true;
}

static bool all_texts(json_t *values, s64 min, s64 max)
{
	const json_t *value;
	const char *name;
	size_t i;

	if (json_is_array(values)) {
		json_array_foreach(values, i, value)
			if (!is_text(value, min, max))
				return false;
		return true;
	}
	json_object_foreach(values, name, value)
		if (!is_text(value, min, max))
			return false;
	return true;
}

static int read_one(u32 i, json_t *value, struct gp_arguments *ret)
{
	const size_t size = sizeof(ret->why);
	void *to = (char *)ret + table[i].at;
	s64 min = table[i].min, max = table[i].max;
	char *why = ret->why;
	bool good = false;

	switch (table[i].kind) {
	case NUMBER:
		*(s64 *)to = json_integer_value(value);
		good = json_is_integer(value) && *(s64 *)to >= min && *(s64 *)to <= max;
		snprintf(why, size, "%s must be an integer from %lld to %lld", table[i].name,
			 (long long)min, (long long)max);
		break;
	case TEXT:
		*(const char **)to = json_string_value(value);
		good = is_text(value, min, max);
		snprintf(why, size, "%s must be a text of %lld to %lld bytes", table[i].name,
			 (long long)min, (long long)max);
		break;
	case FLAG:
		*(bool *)to = json_is_true(value);
		good = json_is_boolean(value);
		snprintf(why, size, "%s must be true or false", table[i].name);
		break;
	case TEXTS:
		*(json_t **)to = value;
		good = json_is_array(value) && all_texts(value, min, max);
		snprintf(why, size, "%s must be an array of texts", table[i].name);
		break;
	case TEXT_OF_NAME:
		*(json_t **)to = value;
		good = json_is_object(value) && all_texts(value, min, max);
		snprintf(why, size, "%s must be an object of texts", table[i].name);
		break;
	}
	return good ? 0 : -EINVAL;
}

/* GP_NR_ARGUMENTS: there is none by this name. */
static u32 by_name(const char *name)
{
	u32 i = 0;

	while (i < GP_NR_ARGUMENTS && strcmp(table[i].name, name))
		i++;
	return i;
}

int gp_arguments_read(const json_t *parameters, u32 takes, u32 needs, struct gp_arguments *ret)
{
	json_t *value;
	u32 i;

	*ret = (struct gp_arguments){ 0 };
	json_object_foreach((json_t *)parameters, ret->bad, value) {
		i = by_name(ret->bad);
		if (i == GP_NR_ARGUMENTS || !(takes & (1u << i))) {
			snprintf(ret->why, sizeof(ret->why), "there is no parameter %.64s",
				 ret->bad);
			return -EINVAL;
		}
		if (json_is_null(value))
			continue;
		if (read_one(i, value, ret))
			return -EINVAL;
		ret->given |= 1u << i;
	}
	for (i = 0; i < GP_NR_ARGUMENTS; i++) {
		if (!(needs & ~ret->given & (1u << i)))
			continue;
		ret->bad = table[i].name;
		snprintf(ret->why, sizeof(ret->why), "%s is missing", ret->bad);
		return -EINVAL;
	}
	return 0;
}
