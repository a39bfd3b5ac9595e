/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rows of a comparison: the same scenario and arrivals, with another way to share the GPU. A
 * row is only a few settings, so one table shows the assumptions of all rows.
 */
#ifndef GP_ROWS_H
#define GP_ROWS_H

#include "run.h"

enum { GP_ROW_SETTINGS = 24, GP_ROW_NAME = 64 };

struct gp_row {
	const char *name;
	const char *what;			/* half a sentence for users */
	const char *profile;			/* only on this one; NULL: on all */
	const char *set[GP_ROW_SETTINGS];	/* "section.key=value", ends with NULL */
};

extern const struct gp_row gp_rows[];	/* in the order of a table; ends with a name of NULL */
/*
 * Returns a row, or NULL if it is unknown. Also finds rows that are not in gp_rows[]:
 * offline-alone, and the second of each pair that gp_row_expand() makes.
 */
const struct gp_row *gp_row_find(const char *name);
/*
 * Checks a name. 0 if the row before the ':' in @row is known, or -EINVAL with a sentence in @err.
 */
int gp_row_check(const char *row, char *err, size_t err_size);
/* Returns @percent of the compute units that @sc has. */
u32 gp_row_cus(const struct gp_scenario *sc, u32 percent);
/* Returns true if the row of this name or spec knows of requests before they arrive. */
bool gp_row_is_ahead(const char *name);

/*
 * Changes @sc into the row called "ROW" or "ROW:section.key=value:...". 0, or -EINVAL with a
 * sentence in @err and @sc as before.
 */
int gp_row_apply(struct gp_scenario *sc, const char *row, char *err, size_t err_size);

/* A row that can be run: a name to print and settings in the form gp_row_apply() takes. */
struct gp_row_concrete {
	char name[GP_ROW_NAME];
	char spec[GP_ROW_NAME * 2];
};

/* The rows for which a row stands. */
struct gp_expansion {
	u32 nr;
	struct gp_row_concrete row[2];
	char why[256];			/* the reason of a failure */
};

/*
 * Gets the one or two rows that stand for @row in @sc. Some rows have a setting that must be found
 * by running (CUs of a mask, kernels in flight). The others stand for themselves. 0, or -errno and
 * @ret->why.
 */
int gp_row_expand(const struct gp_scenario *sc, const char *row, u64 seed,
		  struct gp_expansion *ret);

#endif /* GP_ROWS_H */
