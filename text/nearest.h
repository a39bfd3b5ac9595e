/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Suggestions for an unknown word: the nearest of the known words, or all of them.
 *
 *	struct gp_nearest n = { .word = "prioriti" };
 *
 *	gp_nearest_try(&n, "fifo");
 *	gp_nearest_try(&n, "priority");
 *	gp_nearest_print(&n, text, sizeof(text));	"did you mean 'priority'?"
 */
#ifndef GP_TEXT_NEAREST_H
#define GP_TEXT_NEAREST_H

#include <stddef.h>

#include "gp_env.h"

struct gp_nearest {
	const char *word;
	const char *name;	/* the nearest name tried, if near enough; NULL: none */
	u32 score;		/* of @name; a smaller score is nearer */
	char all[800];		/* every name tried */
};

/* @known must stay valid until the suggestion is printed. */
void gp_nearest_try(struct gp_nearest *n, const char *known);
/* "did you mean 'NAME'?" or "expected one of NAME, NAME". */
void gp_nearest_print(const struct gp_nearest *n, char *text, size_t size);

/* Adds ", name" to a list, or ", ..." if @text is full. */
void gp_list_name(char *text, size_t size, const char *name);

#endif /* GP_TEXT_NEAREST_H */
