// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "value.h"

int gp_why(const struct gp_why *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->size, format, args);
	va_end(args);
	return -EINVAL;
}

/* ---- setting ---- */

/* Writes "KEY: invalid value ...; expected ..." and returns -EINVAL. */
static int refuse(const struct gp_key_value *v, const char *expected)
{
	const char *what = v->key->what;

	return gp_why(v->why, "%s: invalid value '%s'%s%s%s; expected %s", v->key->name, v->text,
		      what ? " (" : "", what ? what : "", what ? ")" : "", expected);
}

/* A u32, or a u64 that is a time. */
static int set_number(const struct gp_key_value *v, void *to)
{
	const struct gp_key *key = v->key;
	bool time = key->kind == GP_KEY_NS, zero = key->zero && !strcmp(key->zero, v->text);
	char min[24], max[24], expected[128];
	u64 n = 0;

	if (zero || (!(time ? gp_parse_ns(v->text, &n) : gp_parse_u64(v->text, &n)) &&
		     key->min <= n && n <= key->max)) {
		if (time)
			*(u64 *)to = n;
		else
			*(u32 *)to = (u32)n;
		return 0;
	}
	if (!time) {
		snprintf(expected, sizeof(expected), "a number from %llu to %llu",
			 (unsigned long long)key->min, (unsigned long long)key->max);
		return refuse(v, expected);
	}
	gp_print_ns(key->min, min, sizeof(min));
	gp_print_ns(key->max, max, sizeof(max));
	snprintf(expected, sizeof(expected), "%s%sa time from %s to %s with a unit (ns, us, ms, s, "
		 "min, h)", key->zero ? key->zero : "", key->zero ? " or " : "", min, max);
	return refuse(v, expected);
}

static int set_switch(const struct gp_key_value *v, void *to)
{
	bool on;

	if (gp_parse_bool(v->text, &on))
		return refuse(v, "yes or no");
	if (v->key->kind == GP_KEY_BOOL)
		*(bool *)to = on;
	else if (on)
		*(u32 *)to |= v->key->flag;
	else
		*(u32 *)to &= ~v->key->flag;
	return 0;
}

static int set_choice(const struct gp_key_value *v, u8 *to)
{
	struct gp_nearest nearest = { .word = v->text };
	char expected[sizeof(nearest.all) + 64];

	for (u8 i = 0; v->key->choices[i]; i++) {
		if (!strcmp(v->key->choices[i], v->text)) {
			*to = i;
			return 0;
		}
		gp_nearest_try(&nearest, v->key->choices[i]);
	}
	snprintf(expected, sizeof(expected), "one of %s%s%s%s", nearest.all,
		 nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
		 nearest.name ? "'?" : "");
	return refuse(v, expected);
}

static_assert(sizeof(bool) == sizeof(u8), "a choice of two is stored in a bool");

static int set_text(const struct gp_key_value *v, char *to)
{
	if (!v->text[0] || (v->key->valid && !v->key->valid(v->text)))
		return refuse(v, v->key->expected);
	snprintf(to, v->key->max, "%s", v->text);
	return 0;
}

static int set_custom(const struct gp_key_value *v)
{
	int err;

	v->why->text[0] = '\0';
	err = v->key->parse(v);
	return err && !v->why->text[0] ? refuse(v, v->key->expected) : err;
}

static int set_key(const struct gp_key_value *v)
{
	void *to = (char *)v->to + v->key->offset;
	bool text = v->key->kind == GP_KEY_TEXT || v->key->kind == GP_KEY_CUSTOM;

	if (text && v->key->max && strlen(v->text) >= v->key->max)
		return gp_why(v->why, "%s: the value is too long; expected at most %llu bytes",
			      v->key->name, (unsigned long long)v->key->max - 1);
	switch ((enum gp_key_kind)v->key->kind) {
	case GP_KEY_NS:
	case GP_KEY_U32:
		return set_number(v, to);
	case GP_KEY_BOOL:
	case GP_KEY_FLAG:
		return set_switch(v, to);
	case GP_KEY_CHOICE:
		return set_choice(v, to);
	case GP_KEY_TEXT:
		return set_text(v, to);
	default:
		return set_custom(v);
	}
}

void gp_keys_init(const struct gp_key *keys, void *to)
{
	char text[256];
	const struct gp_why why = { text, sizeof(text) };

	for (; keys->name; keys++) {
		const struct gp_key_value v = { .key = keys, .to = to, .text = keys->initial,
						.why = &why };

		GP_WARN_ON(keys->initial && set_key(&v));
	}
}

void gp_key_print(const struct gp_key *key, const void *from, char *text, size_t size)
{
	const void *at = (const char *)from + key->offset;

	if (key->print) {
		key->print(key, from, text, size);
		return;
	}
	switch ((enum gp_key_kind)key->kind) {
	case GP_KEY_NS:
		if (key->zero && !*(const u64 *)at)
			snprintf(text, size, "%s", key->zero);
		else
			gp_print_ns(*(const u64 *)at, text, size);
		break;
	case GP_KEY_U32:
		snprintf(text, size, "%u", *(const u32 *)at);
		break;
	case GP_KEY_BOOL:
		snprintf(text, size, "%s", *(const bool *)at ? "yes" : "no");
		break;
	case GP_KEY_FLAG:
		snprintf(text, size, "%s", *(const u32 *)at & key->flag ? "yes" : "no");
		break;
	case GP_KEY_CHOICE:
		snprintf(text, size, "%s", key->choices[*(const u8 *)at]);
		break;
	default:
		snprintf(text, size, "%s", (const char *)at);
	}
}

/* ---- sections ---- */

static const char *name_in(const struct gp_key_table *table, u32 i)
{
	return table->more ? table->more->name(i) : table->keys[i].name;
}

int gp_section_find(const struct gp_section *section, const char *key)
{
	int position = 0;

	for (u32 t = 0; t < section->nr; t++) {
		const char *name;

		for (u32 i = 0; (name = name_in(&section->table[t], i)); i++, position++) {
			if (!strcmp(name, key))
				return position;
		}
	}
	return -1;
}

int gp_section_set(const struct gp_section *section, int position, const char *value,
		   const struct gp_why *why)
{
	const struct gp_key_table *table = section->table;
	struct gp_key_value v = { .context = section->context, .text = value, .why = why };
	u32 i = 0;

	for (; position; position--) {
		if (!name_in(table, ++i)) {
			table++;
			i = 0;
		}
	}
	if (table->more)
		return table->more->set(table->to, i, value, why);
	v.key = &table->keys[i];
	v.to = table->to;
	return set_key(&v);
}

int gp_section_unknown(const struct gp_section *section, const char *key,
		       const struct gp_why *why)
{
	struct gp_nearest nearest = { .word = key };
	char instead[sizeof(nearest.all) + 32];
	const char *name;

	for (u32 t = 0; t < section->nr; t++) {
		for (u32 i = 0; (name = name_in(&section->table[t], i)); i++)
			gp_nearest_try(&nearest, name);
	}
	gp_nearest_print(&nearest, instead, sizeof(instead));
	return gp_why(why, "unknown key '%s' in [%s]; %s", key, section->name, instead);
}

/* ---- settings of the scheduler ---- */

static const char *param_name(u32 i)
{
	return i < GP_NR_PARAMS ? gp_params[i].name : NULL;
}

static int set_param(void *to, u32 i, const char *value, const struct gp_why *why)
{
	const struct gp_param_info *info = &gp_params[i];
	char range[96];

	if (!gp_parse_param(info, value, (u64 *)to + i))
		return 0;
	gp_print_param_range(info, range, sizeof(range));
	return gp_why(why, "%s: invalid value '%s' (%s); expected %s", info->name, value,
		      info->what, range);
}

const struct gp_more_keys gp_param_keys = { param_name, set_param };

/* ---- classes ---- */

#define OF	struct gp_class
#define FLAG(n, bit, text) \
	{ .name = n, .kind = GP_KEY_FLAG, GP_AT(flags), .flag = bit, .what = text }

enum { HOUR = 3600 };	/* s; the most that gp_class_wrong() accepts */

const struct gp_key gp_class_keys[] = {
	GP_NUMBER("priority", priority, 0, 1000, .what = "the larger preempts the smaller"),
	GP_NUMBER("weight", weight, 1, 10000, .what = "relative share under the policy fair"),
	FLAG("latency_critical", GP_LATENCY_CRITICAL, "whether its arrivals are looked for often"),
	FLAG("preemptible", GP_PREEMPTIBLE, "whether it may be preempted"),
	GP_TIME("period", period_ns, 0, HOUR * GP_SEC, .what = "renews the reservation"),
	GP_TIME("budget", budget_ns, 0, HOUR * GP_SEC, .what = "GPU time reserved per period"),
	GP_TIME("deadline", deadline_ns, 0, HOUR * GP_SEC, .what = "0 is the period"),
	{ 0 },
};

const struct gp_class_preset gp_class_presets[] = {
	{ "online", { .priority = 10, .weight = 100, .flags = GP_LATENCY_CRITICAL } },
	{ "interactive", { .priority = 7, .weight = 100,
			   .flags = GP_LATENCY_CRITICAL | GP_PREEMPTIBLE } },
	{ "offline", { .priority = 1, .weight = 100, .flags = GP_PREEMPTIBLE } },
	{ "idle", { .priority = 0, .weight = 1, .flags = GP_PREEMPTIBLE } },
	{ 0 },
};
