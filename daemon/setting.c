// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "setting.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/policy.h"
#include "rules.h"
#include "text/value.h"

__attribute__((format(printf, 2, 3)))
static int refuse(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, GP_SETTING_WHY, format, args);
	va_end(args);
	return -EINVAL;
}

/* Adds ", more" to a list of names. */
static void list_name(char *text, size_t size, const char *name)
{
	size_t at = strlen(text);

	snprintf(text + at, size - at, "%s%s", at ? ", " : "", name);
}

/* ---- setting ---- */

static int set_ns(const struct gp_setting *s, u64 *to, const char *value, char *why)
{
	char min[24], max[24];
	u64 ns;

	if (!gp_parse_ns(value, &ns) && s->min <= ns && ns <= s->max) {
		*to = ns;
		return 0;
	}
	gp_print_ns(s->min, min, sizeof(min));
	gp_print_ns(s->max, max, sizeof(max));
	return refuse(why, "%s: '%s' will not do; write a time from %s to %s, with unit ns, us, "
		      "ms, s or min", s->name, value, min, max);
}

static int set_u32(const struct gp_setting *s, u32 *to, const char *value, char *why)
{
	u64 n;

	if (gp_parse_u64(value, &n) || n < s->min || n > s->max)
		return refuse(why, "%s: '%s' will not do; write a number from %llu to %llu",
			      s->name, value, (unsigned long long)s->min,
			      (unsigned long long)s->max);
	*to = (u32)n;
	return 0;
}

static int set_flag(const struct gp_setting *s, u32 *to, const char *value, char *why)
{
	bool on;

	if (gp_parse_bool(value, &on))
		return refuse(why, "%s: '%s' will not do; write yes or no", s->name, value);
	*to = on ? *to | s->flag : *to & ~s->flag;
	return 0;
}

static int set_choice(const struct gp_setting *s, u8 *to, const char *value, char *why)
{
	char names[160] = "";

	for (u8 i = 0; s->choices[i]; i++) {
		if (!strcmp(s->choices[i], value)) {
			*to = i;
			return 0;
		}
		list_name(names, sizeof(names), s->choices[i]);
	}
	return refuse(why, "%s: '%s' will not do; write one of %s", s->name, value, names);
}

static int set_text(const struct gp_setting *s, char *to, const char *value, char *why)
{
	const char *wrong = s->kind == GP_SET_GLOB ? gp_glob_wrong(value) : NULL;

	if (strlen(value) >= s->max)
		return refuse(why, "%s: the value is too long; write at most %llu bytes", s->name,
			      (unsigned long long)s->max - 1);
	if (wrong)
		return refuse(why, "%s: the pattern '%s' %s; write \\ before *, ?, [ or \\ that "
			      "mean themselves", s->name, value, wrong);
	wrong = s->wrong ? s->wrong(value) : NULL;
	if (wrong)
		return refuse(why, "%s: '%s' will not do; write %s", s->name, value, wrong);
	snprintf(to, s->max, "%s", value);
	return 0;
}

static int set_list(const struct gp_setting *s, char *to, const char *value, char *why)
{
	char list[GP_SETTING_LINE] = "", word[GP_SETTING_LINE];
	const char *at = value, *wrong = NULL;
	size_t used = 0;

	for (;;) {
		size_t n;

		at += strspn(at, " \t,");
		n = strcspn(at, " \t,");
		if (!n)
			break;
		if (used + n + 2 > sizeof(list) || used + n + 2 > s->max)
			return refuse(why, "%s: the value is too long; write at most %llu bytes",
				      s->name, (unsigned long long)s->max - 1);
		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		wrong = wrong ? wrong : s->wrong(word);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? "," : "",
					 word);
		at += n;
	}
	wrong = used ? wrong : s->wrong("");
	if (wrong)
		return refuse(why, "%s: '%s' will not do; write %s", s->name, value, wrong);
	snprintf(to, s->max, "%s", list);
	return 0;
}

static int set_policy(const struct gp_setting *s, const struct gp_policy **to, const char *value,
		      char *why)
{
	const struct gp_policy *policy = gp_policy_find(value);
	char names[160] = "none";

	if (policy || !strcmp(value, "none")) {
		*to = policy;
		return 0;
	}
	for (u32 i = 0; gp_policies[i]; i++)
		list_name(names, sizeof(names), gp_policies[i]->name);
	return refuse(why, "%s: there is no policy '%s'; write one of %s", s->name, value, names);
}

static void print_ids(const struct gp_ids *ids, char *text, size_t size)
{
	text[0] = '\0';
	for (u32 i = 0; i < ids->nr; i++) {
		const struct gp_id_range *r = &ids->range[i];
		char word[32];

		if (r->first == r->last)
			snprintf(word, sizeof(word), "%u", r->first);
		else
			snprintf(word, sizeof(word), "%u-%u", r->first, r->last);
		list_name(text, size, word);
	}
}

static int set_ids(const struct gp_setting *s, struct gp_ids *to, const char *value, char *why)
{
	bool group = s->kind == GP_SET_GROUPS;
	char what[160], text[GP_SETTING_TEXT];
	struct gp_ids ids;

	if (gp_ids_parse(value, group, &ids, what, sizeof(what)))
		return refuse(why, "%s: %s; write names, numbers or ranges of %s, with commas",
			      s->name, what, group ? "groups" : "users");
	/* As numbers it can be longer, and what is printed must be readable again. */
	print_ids(&ids, text, sizeof(text));
	if (strlen(text) > GP_SETTING_LINE)
		return refuse(why, "%s: as numbers the list is longer than %d bytes; write ranges, "
			      "or a second rule", s->name, GP_SETTING_LINE);
	*to = ids;
	return 0;
}

int gp_setting_set(const struct gp_setting *s, void *section, const char *value, char *why)
{
	void *to = (char *)section + s->offset;

	switch ((enum gp_setting_kind)s->kind) {
	case GP_SET_NS:
		return set_ns(s, to, value, why);
	case GP_SET_U32:
		return set_u32(s, to, value, why);
	case GP_SET_BOOL:
		if (gp_parse_bool(value, to))
			return refuse(why, "%s: '%s' will not do; write yes or no", s->name, value);
		return 0;
	case GP_SET_CHOICE:
		return set_choice(s, to, value, why);
	case GP_SET_FLAG:
		return set_flag(s, to, value, why);
	case GP_SET_TEXT:
	case GP_SET_GLOB:
		return set_text(s, to, value, why);
	case GP_SET_LIST:
		return set_list(s, to, value, why);
	case GP_SET_POLICY:
		return set_policy(s, to, value, why);
	case GP_SET_USERS:
	case GP_SET_GROUPS:
		return set_ids(s, to, value, why);
	}
	return -EINVAL;
}

/* ---- printing ---- */

void gp_setting_print(const struct gp_setting *s, const void *section,
		      char text[GP_SETTING_TEXT])
{
	const void *at = (const char *)section + s->offset;
	const struct gp_policy *policy;

	switch ((enum gp_setting_kind)s->kind) {
	case GP_SET_NS:
		gp_print_ns(*(const u64 *)at, text, GP_SETTING_TEXT);
		break;
	case GP_SET_U32:
		snprintf(text, GP_SETTING_TEXT, "%u", *(const u32 *)at);
		break;
	case GP_SET_BOOL:
		snprintf(text, GP_SETTING_TEXT, "%s", *(const bool *)at ? "yes" : "no");
		break;
	case GP_SET_CHOICE:
		snprintf(text, GP_SETTING_TEXT, "%s", s->choices[*(const u8 *)at]);
		break;
	case GP_SET_FLAG:
		snprintf(text, GP_SETTING_TEXT, "%s", *(const u32 *)at & s->flag ? "yes" : "no");
		break;
	case GP_SET_TEXT:
	case GP_SET_LIST:
	case GP_SET_GLOB:
		snprintf(text, GP_SETTING_TEXT, "%s", (const char *)at);
		break;
	case GP_SET_POLICY:
		policy = *(const struct gp_policy *const *)at;
		snprintf(text, GP_SETTING_TEXT, "%s", policy ? policy->name : "none");
		break;
	case GP_SET_USERS:
	case GP_SET_GROUPS:
		print_ids(at, text, GP_SETTING_TEXT);
		break;
	}
}

static json_t *json_ids(const struct gp_ids *ids)
{
	json_t *list = json_array();

	for (u32 i = 0; list && i < ids->nr; i++)
		json_array_append_new(list, json_pack("[II]", (json_int_t)ids->range[i].first,
						      (json_int_t)ids->range[i].last));
	return list;
}

/* A file may be in any encoding; JSON is UTF-8. */
static json_t *json_text(char *text)
{
	json_t *value = json_string(text);

	for (char *c = text; !value && *c; c++)
		*c = *c & 0x80 ? '?' : *c;
	return value ? value : json_string(text);
}

json_t *gp_setting_json(const struct gp_setting *s, const void *section)
{
	const void *at = (const char *)section + s->offset;
	char text[GP_SETTING_TEXT];

	switch ((enum gp_setting_kind)s->kind) {
	case GP_SET_NS:
		return json_integer((json_int_t)*(const u64 *)at);
	case GP_SET_U32:
		return json_integer(*(const u32 *)at);
	case GP_SET_BOOL:
		return json_boolean(*(const bool *)at);
	case GP_SET_FLAG:
		return json_boolean(*(const u32 *)at & s->flag);
	case GP_SET_USERS:
	case GP_SET_GROUPS:
		return json_ids(at);
	default:
		gp_setting_print(s, section, text);
		return json_text(text);
	}
}

/* ---- tables ---- */

int gp_setting_find(const struct gp_setting *table, const char *name)
{
	for (int i = 0; table[i].name; i++) {
		if (!strcmp(table[i].name, name))
			return i;
	}
	return -1;
}

void gp_setting_names(const struct gp_setting *table, char *text, size_t size)
{
	text[0] = '\0';
	for (; table->name; table++)
		list_name(text, size, table->name);
}
