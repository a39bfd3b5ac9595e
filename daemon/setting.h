/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The keys of a section as a table: name, kind, bounds, where the value goes. One
 * place reads, checks and prints them all, so every message says what is
 * allowed, and the manual page can be compared with the tables.
 */
#ifndef GP_DAEMON_SETTING_H
#define GP_DAEMON_SETTING_H

#include <jansson.h>

#include "gp_env.h"

enum gp_setting_kind {
	GP_SET_NS,		/* u64 */
	GP_SET_U32,
	GP_SET_BOOL,
	GP_SET_CHOICE,		/* u8 or bool: the place in @choices */
	GP_SET_FLAG,		/* bit @flag of a u32, yes or no */
	GP_SET_TEXT,		/* char[@max] */
	GP_SET_LIST,		/* the same; words with single commas between them */
	GP_SET_GLOB,		/* char[@max] */
	GP_SET_POLICY,		/* const struct gp_policy *, "none" is NULL */
	GP_SET_USERS,		/* struct gp_ids */
	GP_SET_GROUPS,
};

struct gp_setting {
	const char *name;
	u8 kind;			/* enum gp_setting_kind */
	u32 flag;
	size_t offset;			/* in the section's struct */
	u64 min, max;
	const char *const *choices;	/* ends with NULL */
	/* What a text (each word of a list) must be, if @value is not; NULL: fine. */
	const char *(*wrong)(const char *value);
};

enum { GP_SETTING_WHY = 512, GP_SETTING_TEXT = 1024, GP_SETTING_LINE = 180 };

/* 0, or -EINVAL with "key: what; what to do" in @why (GP_SETTING_WHY bytes). */
int gp_setting_set(const struct gp_setting *s, void *section, const char *value, char *why);
/* As it would be written; "" if it is empty, which no file can say. */
void gp_setting_print(const struct gp_setting *s, const void *section,
		      char text[GP_SETTING_TEXT]);
/* A new reference, NULL without memory: number, true/false, text, or list of id ranges. */
json_t *gp_setting_json(const struct gp_setting *s, const void *section);

/* The place of @name in @table, which ends with a name of NULL; -1: none. */
int gp_setting_find(const struct gp_setting *table, const char *name);
/* "a, b, c" */
void gp_setting_names(const struct gp_setting *table, char *text, size_t size);

/* ---- the sections (keys.c) ---- */

enum { GP_MAX_SETTINGS = 24 };		/* of a section */

extern const struct gp_setting gp_daemon_settings[];	/* of struct gp_config */
extern const struct gp_setting gp_class_settings[];	/* of struct gp_named_class */
extern const struct gp_setting gp_rule_settings[];	/* of struct gp_rule */

#endif /* GP_DAEMON_SETTING_H */
