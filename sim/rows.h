/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rows of a comparison: the same scenario, the same arrivals, another way to
 * share the GPU. A row is nothing but a few settings, and so what it assumes can
 * be read in one table.
 */
#ifndef GP_ROWS_H
#define GP_ROWS_H

#include "run.h"

enum { GP_ROW_SETTINGS = 24, GP_ROW_NAME = 64 };

struct gp_row {
	const char *name;
	const char *what;			/* half a sentence, for people */
	const char *profile;			/* only on this one; NULL: on all */
	const char *set[GP_ROW_SETTINGS];	/* "section.key=value", ends with NULL */
};

extern const struct gp_row gp_rows[];	/* in the order of a table; ends with a name of NULL */
/*
 * NULL if the row is unknown. Also finds rows that are not in gp_rows[]: offline-alone, and the
 * second of each pair that gp_row_expand() makes.
 */
const struct gp_row *gp_row_find(const char *name);
/* 0 if the row before the ':' in @row is known, or -EINVAL with a sentence in @err. */
int gp_row_check(const char *row, char *err, size_t err_size);
/* @percent of the compute units that @sc has. */
u32 gp_row_cus(const struct gp_scenario *sc, u32 percent);
/* Is the row of this name, or of this spec, told of requests before they arrive? */
bool gp_row_is_ahead(const char *name);

/*
 * Change @sc into the row called "ROW" or "ROW:section.key=value:...".
 * 0, or -EINVAL with a sentence in @err and @sc as before.
 */
int gp_row_apply(struct gp_scenario *sc, const char *row, char *err, size_t err_size);

/* A row that can be run: a name to print and settings in the form gp_row_apply() takes. */
struct gp_row_concrete {
	char name[GP_ROW_NAME];
	char spec[GP_ROW_NAME * 2];
};

/* What a row stands for. */
struct gp_expansion {
	u32 nr;
	struct gp_row_concrete row[2];
	char why[256];			/* if it could not be found out */
};

/*
 * Some rows have a setting that must be found by running (CUs of a mask, kernels
 * in flight): give the one or two rows that stand for @row in @sc. Others stand
 * for themselves. 0, or -errno and @ret->why.
 */
int gp_row_expand(const struct gp_scenario *sc, const char *row, u64 seed,
		  struct gp_expansion *ret);

#endif /* GP_ROWS_H */
