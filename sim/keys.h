/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Keys of a section as a table: name, type, bounds, where the value goes. One
 * place checks them all, and so every message says what is allowed.
 */
#ifndef GP_KEYS_H
#define GP_KEYS_H

#include "scenario.h"

/* Where the sentence of an error goes. */
struct gp_why {
	char *text;
	size_t size;
};

/* Writes the sentence and returns -EINVAL. */
__attribute__((format(printf, 2, 3)))
int gp_why(const struct gp_why *why, const char *format, ...);

enum gp_key_kind {
	GP_KEY_NS, GP_KEY_U32, GP_KEY_U64, GP_KEY_U8, GP_KEY_BOOL, GP_KEY_DIST,
	GP_KEY_CHOICE,		/* a u8: the position in @choices */
	GP_KEY_BY_HAND,		/* @set */
};

struct gp_key {
	const char *name;
	u8 kind;			/* enum gp_key_kind */
	size_t offset;			/* in the section's struct */
	u64 min, max;			/* of numbers and times */
	const char *const *choices;	/* ends with NULL */
	const char *allowed;		/* GP_KEY_BY_HAND: what to say */
	/* 0, or -EINVAL: not @allowed. @sc is being read. */
	int (*set)(struct gp_scenario *sc, void *section, const char *value);
};

/*
 * Set @name of @section, which belongs to @sc. @keys ends with a name of NULL.
 * -ENOENT: no such key, and nothing is said.
 */
int gp_key_set(const struct gp_key *keys, struct gp_scenario *sc, void *section,
	       const char *const pair[2], const struct gp_why *why);
/* "a, b, c" of all names; for messages. */
void gp_key_names(const struct gp_key *keys, char *text, size_t size);

/* ---- the sections (sections.c, task_keys.c) ---- */

/* A section of which there is one. */
struct gp_section {
	const char *name;
	const struct gp_key *keys;
	size_t offset;			/* in struct gp_scenario */
	/* Keys that a table elsewhere names; NULL: none. -ENOENT: not one of them. */
	int (*set_more)(struct gp_scenario *sc, const char *const pair[2],
			const struct gp_why *why);
	const char *more;		/* what those are, for messages */
};

extern const struct gp_section gp_sections[];	/* ends with a name of NULL */
extern const struct gp_key gp_task_keys[];
extern const struct gp_key gp_fault_keys[];

void gp_task_spec_init(struct gp_task_spec *t, const char *name);
/* All sections at their initial values, no task. */
void gp_scenario_init(struct gp_scenario *sc);

#endif /* GP_KEYS_H */
