/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Results for people: tables of a run and of a comparison. */
#ifndef GP_RESULTS_H
#define GP_RESULTS_H

#include "sim/compare.h"
#include "cli/table.h"

/* What was run, and that it is a model. */
void gp_results_head(const struct gp_scenario *sc, const char *label, u64 seed, u64 last_seed);
/* The five parts of the preemptions of one run. */
void gp_results_parts(const struct gp_result *r);
/* Both tables of a comparison, and the rows that could not be run. */
void gp_results_rows(const struct gp_comparison *c);
/* What the tables mean: where others are better, closed form, weakest source. */
void gp_results_notes(const struct gp_scenario *sc, const struct gp_comparison *c);

bool gp_is_ours(const char *row);
/* The paint of a row: ours, saturated, or plain. */
enum gp_paint gp_row_paint(const struct gp_compared *row);

/* In verdict.c: where a row beats the best of ours by more than 1 %. */
void gp_results_verdict(const struct gp_comparison *c);

enum { GP_BEATEN_METRICS = 6, GP_BEATEN_ROWS = 64 };

struct gp_beaten {
	const char *metric, *unit;		/* "ns" or "fraction" */
	const struct gp_compared *best;		/* of ours without hints; NULL: none has it */
	double ours, hinted;
	bool has_hinted;			/* and with hints it is better still */
	u32 nr;					/* rows that are better */
	const struct gp_compared *row[GP_BEATEN_ROWS];
	double value[GP_BEATEN_ROWS];
};
/* By metric number @metric, below GP_BEATEN_METRICS. Is another row better? */
bool gp_beaten_by(const struct gp_comparison *c, u32 metric, struct gp_beaten *ret);

#endif /* GP_RESULTS_H */
