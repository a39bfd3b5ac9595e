// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A table of text whose columns are as wide as their widest cell. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static void grow(struct gp_table *t)
{
	t->room = t->room ? 2 * t->room : 32;
	t->paint = reallocarray(t->paint, t->room, sizeof(*t->paint));
	t->cell = reallocarray(t->cell, t->room, sizeof(*t->cell));
	if (!t->paint || !t->cell)
		abort();
}

void gp_table_row(struct gp_table *t, enum gp_paint paint)
{
	if (t->rows == t->room)
		grow(t);
	memset(t->cell[t->rows], 0, sizeof(t->cell[t->rows]));
	t->paint[t->rows++] = paint;
	t->at = 0;
}

void gp_table_init(struct gp_table *t, const char *const *head, u32 left)
{
	memset(t, 0, sizeof(*t));
	t->left = left;
	gp_table_row(t, GP_DIM);
	for (; *head && t->columns < GP_TABLE_COLUMNS; head++, t->columns++)
		gp_table_cell(t, *head);
}


void gp_table_cell(struct gp_table *t, const char *text)
{
	if (t->at < GP_TABLE_COLUMNS)
		snprintf(t->cell[t->rows - 1][t->at++], GP_TABLE_CELL, "%s", text);
}

static int width(const struct gp_table *t, u32 column)
{
	size_t w = 0;

	for (u32 i = 0; i < t->rows; i++) {
		size_t n = strlen(t->cell[i][column]);

		w = n > w ? n : w;
	}
	return (int)w;
}

/* Returns the last cell of a row that is not empty. */
static u32 last(const struct gp_table *t, u32 row)
{
	u32 i = t->columns;

	while (i && !*t->cell[row][i - 1])
		i--;
	return i;
}

static void print_row(const struct gp_table *t, u32 row, const int *widths, FILE *to)
{
	u32 end = last(t, row);

	fputs(gp_paint(t->paint[row]), to);
	for (u32 i = 0; i < end; i++) {
		bool left = t->left & (1u << i);

		/* Prints no blanks after the last cell. */
		if (left && i + 1 == end)
			fputs(t->cell[row][i], to);
		else
			fprintf(to, left ? "%-*s" : "%*s", widths[i], t->cell[row][i]);
		if (i + 1 < end)
			fputs("  ", to);
	}
	fputs(gp_paint(GP_PLAIN), to);
	fputc('\n', to);
}

void gp_table_print(struct gp_table *t, FILE *to)
{
	int widths[GP_TABLE_COLUMNS];

	for (u32 i = 0; i < t->columns; i++)
		widths[i] = width(t, i);
	for (u32 i = 0; i < t->rows; i++)
		print_row(t, i, widths, to);
	gp_table_drop(t);
}

void gp_table_drop(struct gp_table *t)
{
	free(t->cell);
	free(t->paint);
	t->cell = NULL;
	t->paint = NULL;
}
