// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nearest.h"

#include <stdio.h>
#include <string.h>

void gp_list_name(char *text, size_t size, const char *name)
{
	size_t at = strlen(text);

	if (at + strlen(name) + sizeof(", , ...") <= size)
		snprintf(text + at, size - at, "%s%s", at ? ", " : "", name);
	else if (at && text[at - 1] != '.')
		snprintf(text + at, size - at, ", ...");
}

enum { NAME_MAX_LENGTH = 32 };

/* Returns how many letters must be changed, added or left out to get from @a to @b. */
static u32 distance(const char *a, const char *b)
{
	u32 row[NAME_MAX_LENGTH + 1], nr = (u32)strlen(b);

	if (strlen(a) > NAME_MAX_LENGTH || nr > NAME_MAX_LENGTH)
		return ~0u;
	for (u32 j = 0; j <= nr; j++)
		row[j] = j;
	for (u32 i = 0; a[i]; i++) {
		u32 diagonal = row[0];

		row[0] = i + 1;
		for (u32 j = 0; j < nr; j++) {
			u32 best = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j + 1] = diagonal + 1 < best ? diagonal + 1 : best;
		}
	}
	return row[nr];
}

/* Names that begin with the word are nearest, the shortest of them first. */
static u32 score(const char *word, const char *known)
{
	size_t length = strlen(word), extra;
	u32 changes;

	if (length > 2 && !strncmp(known, word, length)) {
		extra = strlen(known) - length;
		return extra < NAME_MAX_LENGTH ? (u32)extra : NAME_MAX_LENGTH;
	}
	/* Allows one wrong letter, and one more per four letters. */
	changes = distance(word, known);
	return changes < 2 + length / 4 ? (changes + 1) * NAME_MAX_LENGTH : ~0u;
}

void gp_nearest_try(struct gp_nearest *n, const char *known)
{
	u32 s = score(n->word, known);

	gp_list_name(n->all, sizeof(n->all), known);
	if (s != ~0u && (!n->name || s < n->score)) {
		n->name = known;
		n->score = s;
	}
}

void gp_nearest_print(const struct gp_nearest *n, char *text, size_t size)
{
	if (n->name)
		snprintf(text, size, "did you mean '%s'?", n->name);
	else
		snprintf(text, size, "expected one of %s", n->all);
}
