/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A comparison: one scenario, the same arrivals, every row in turn, each compared with runs of only
 * the online and only the offline work.
 */
#ifndef GP_COMPARE_H
#define GP_COMPARE_H

#include "figures.h"
#include "pool.h"

struct gp_compared {
	char name[GP_ROW_NAME];
	char spec[GP_ROW_NAME * 2];	/* as given to gp_row_apply() */
	const char *what;		/* of gp_rows[], or "" */
	int err;			/* -errno of a failed run, which has no result */
	char why[256];
	struct gp_result result;
	struct gp_figures figures;
};

struct gp_comparison {
	u64 seed;
	u32 nr;
	struct gp_compared *row;	/* in the requested order */
	/* The runs to compare with. Missing if a scenario has no such tasks. */
	bool has_alone, has_offline_alone, has_native;
	struct gp_result alone, offline_alone, native;
};

struct gp_compare_args {
	const struct gp_scenario *scenario;
	u64 seed;
	/* names or specs of rows, ends with NULL; NULL: all that fit the profile */
	const char *const *rows;
	struct gp_pool pool;
};

/*
 * Runs a comparison. 0 and *@ret, to be freed by gp_comparison_fini(). A row that fails has its own
 * err. -errno with a sentence in @why if the runs to compare with fail.
 */
int gp_compare(const struct gp_compare_args *args, struct gp_comparison *ret, char *why,
	       size_t why_size);
void gp_comparison_fini(struct gp_comparison *c);

/* Returns the baseline, which points into @c. */
struct gp_baseline gp_comparison_baseline(const struct gp_comparison *c);

/* Returns a row, or NULL if there is no such row or it failed. */
const struct gp_compared *gp_compared_find(const struct gp_comparison *c, const char *name);

#endif /* GP_COMPARE_H */
