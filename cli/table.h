/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A table of text whose columns are as wide as their widest cell. */
#ifndef GP_TABLE_H
#define GP_TABLE_H

#include "term.h"

enum { GP_TABLE_COLUMNS = 16, GP_TABLE_CELL = 160 };

struct gp_table {
	u32 columns;		/* in the header */
	u32 rows, room;
	u32 left;		/* bit per column that is aligned left */
	u32 at;			/* next cell of the last row */
	enum gp_paint *paint;				/* [room] */
	char (*cell)[GP_TABLE_COLUMNS][GP_TABLE_CELL];	/* [room] */
};

/* @head: names of the columns, ended by NULL. A failed allocation ends the program. */
void gp_table_init(struct gp_table *t, const char *const *head, u32 left);
void gp_table_row(struct gp_table *t, enum gp_paint paint);
/* Sets the next cell of the last row. */
void gp_table_cell(struct gp_table *t, const char *text);
/* Prints the table without trailing blanks and frees it. */
void gp_table_print(struct gp_table *t, FILE *to);
/* Frees the table without printing it. */
void gp_table_drop(struct gp_table *t);

#endif /* GP_TABLE_H */
