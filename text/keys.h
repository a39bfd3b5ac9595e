/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Keys of INI sections as tables: name, type, bounds, initial value, description, and the place
 * of the value. One place reads, checks and prints all keys. So every message has the expected
 * value, and the manual can be compared with the tables.
 */
#ifndef GP_TEXT_KEYS_H
#define GP_TEXT_KEYS_H

#include "core/task.h"
#include "nearest.h"

/* The buffer for a message. */
struct gp_why {
	char *text;
	size_t size;
};

/* Writes the message and returns -EINVAL. */
__attribute__((format(printf, 2, 3)))
int gp_why(const struct gp_why *why, const char *format, ...);

/* ---- keys ---- */

enum gp_key_kind {
	GP_KEY_NS,		/* u64 */
	GP_KEY_U32,
	GP_KEY_BOOL,
	GP_KEY_FLAG,		/* bit @flag of a u32, yes or no */
	GP_KEY_CHOICE,		/* u8 or bool: the position in @choices */
	GP_KEY_TEXT,		/* char[@max], not empty */
	GP_KEY_CUSTOM,		/* @parse, and @print unless it is text; shorter than @max */
};

struct gp_key;

/* A value that is being set. */
struct gp_key_value {
	const struct gp_key *key;
	void *to;			/* the struct that contains the value */
	const void *context;		/* of the section */
	const char *text;
	const struct gp_why *why;
};

struct gp_key {
	const char *name;
	u8 kind;			/* enum gp_key_kind */
	u32 flag;
	size_t offset;			/* in the struct of the section */
	u64 min, max;			/* of a number or time; @max also: bytes of a text */
	const char *zero;		/* GP_KEY_NS: the word for 0; NULL: none */
	const char *const *choices;	/* ends with NULL */
	const char *initial;		/* NULL: all bytes 0 */
	const char *what;		/* a phrase for messages; NULL: none */
	const char *expected;		/* GP_KEY_TEXT, GP_KEY_CUSTOM: what to write */
	bool (*valid)(const char *text);	/* GP_KEY_TEXT; NULL: every text is */
	/* 0 or -EINVAL. An empty @v->why means: the text is not @expected. */
	int (*parse)(const struct gp_key_value *v);
	void (*print)(const struct gp_key *key, const void *from, char *text, size_t size);
};

/* Entries of a table; OF is the struct of the section, and more members may follow. */
#define GP_AT(member)	.offset = offsetof(OF, member)
#define GP_TIME(n, m, lo, hi, ...) \
	{ .name = n, .kind = GP_KEY_NS, GP_AT(m), .min = lo, .max = hi, __VA_ARGS__ }
#define GP_NUMBER(n, m, lo, hi, ...) \
	{ .name = n, .kind = GP_KEY_U32, GP_AT(m), .min = lo, .max = hi, __VA_ARGS__ }
#define GP_YES_NO(n, m, ...)	{ .name = n, .kind = GP_KEY_BOOL, GP_AT(m), __VA_ARGS__ }
#define GP_CHOICE(n, m, names, ...) \
	{ .name = n, .kind = GP_KEY_CHOICE, GP_AT(m), .choices = names, __VA_ARGS__ }
#define GP_TEXT(n, m, fn, text, ...) \
	{ .name = n, .kind = GP_KEY_TEXT, GP_AT(m), .max = sizeof(((OF *)NULL)->m), .valid = fn, \
	  .expected = text, __VA_ARGS__ }
#define GP_CUSTOM(n, fn, text, ...) \
	{ .name = n, .kind = GP_KEY_CUSTOM, .parse = fn, .expected = text, __VA_ARGS__ }

/* Sets every key of @keys, which ends with a name of NULL, to its initial value. */
void gp_keys_init(const struct gp_key *keys, void *to);
/* Prints the value as a file would have it; "" for an empty text, which no file can set. */
void gp_key_print(const struct gp_key *key, const void *from, char *text, size_t size);

/* ---- sections ---- */

/* Keys that a table of another type names. */
struct gp_more_keys {
	const char *(*name)(u32 i);	/* NULL after the last one */
	int (*set)(void *to, u32 i, const char *value, const struct gp_why *why);
};

/* The settings of the scheduler, gp_params[]; they go to a u64[GP_NR_PARAMS]. */
extern const struct gp_more_keys gp_param_keys;

/* A table, and the struct that its values go to. */
struct gp_key_table {
	void *to;
	const struct gp_key *keys;
	const struct gp_more_keys *more;	/* instead of @keys */
};

struct gp_section {
	const char *name;		/* for messages */
	const void *context;		/* for gp_key.parse */
	u32 nr;
	struct gp_key_table table[2];
};

/* Position of @key among all keys of the section, or -1. */
int gp_section_find(const struct gp_section *section, const char *key);
/* 0, or -EINVAL and the message. */
int gp_section_set(const struct gp_section *section, int position, const char *value,
		   const struct gp_why *why);
/* Returns -EINVAL and a message with the nearest known key, or with all keys. */
int gp_section_unknown(const struct gp_section *section, const char *key,
		       const struct gp_why *why);

/* ---- classes ---- */

/* Keys of struct gp_class, for tasks of a scenario and classes of a configuration. */
extern const struct gp_key gp_class_keys[];

struct gp_class_preset {
	const char *name;
	struct gp_class is;
};

/* The built-in classes; ends with a name of NULL. */
extern const struct gp_class_preset gp_class_presets[];

#endif /* GP_TEXT_KEYS_H */
