/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Results as text: the tables of a run and of a comparison. */
#ifndef GP_RESULTS_H
#define GP_RESULTS_H

#include "sim/compare.h"
#include "cli/table.h"

/* Prints the scenario that was run and the note that it is a model. */
void gp_results_head(const struct gp_scenario *sc, const char *label, u64 seed, u64 last_seed);
/* Prints the five parts of the preemptions of one run. */
void gp_results_parts(const struct gp_result *r);
/* Prints both tables of a comparison and the rows that could not be run. */
void gp_results_rows(const struct gp_comparison *c);
/* Explains the tables: rows that are better, the closed form and the weakest source. */
void gp_results_notes(const struct gp_scenario *sc, const struct gp_comparison *c);

bool gp_is_ours(const char *row);
/* The paint of a row: ours, saturated, or plain. */
enum gp_paint gp_row_paint(const struct gp_compared *row);

/* Prints where a row beats the best own row by more than 1 %. In verdict.c. */
void gp_results_verdict(const struct gp_comparison *c);

enum { GP_BEATEN_METRICS = 6, GP_BEATEN_ROWS = 64 };

struct gp_beaten {
	const char *metric, *unit;		/* "ns" or "fraction" */
	const struct gp_compared *best;		/* own row without hints; NULL: no such figure */
	double ours, hinted;
	bool has_hinted;			/* the own row with hints is even better */
	u32 nr;					/* rows that are better */
	const struct gp_compared *row[GP_BEATEN_ROWS];
	double value[GP_BEATEN_ROWS];
};
/* Fills *@ret for @metric, which is below GP_BEATEN_METRICS. True if another row is better. */
bool gp_beaten_by(const struct gp_comparison *c, u32 metric, struct gp_beaten *ret);

#endif /* GP_RESULTS_H */
