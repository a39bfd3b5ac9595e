/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The evidence that gpreempt report gathers: one JSON object, a chapter per claim, from
 * which alone the page is drawn.
 *
 * Every number has three things beside it or in an object around it: its unit, its
 * source, and what to type to get it again. Nothing of the wall clock is in it except
 * under one key, so equal runs give equal bytes.
 */
#ifndef GP_EVIDENCE_H
#define GP_EVIDENCE_H

#include "command.h"
#include "sim/compare.h"
#include "sim/json.h"

enum { GP_EVIDENCE_SCHEMA = 1, GP_TRIAL_ROWS = 32, GP_TRIAL_SETS = 12 };

struct gp_evidence {
	const struct gp_options *o;
	json_t *root;			/* report.json */
	struct gp_comparison main;	/* colocate, every row; nr 0 before it ran */
	char repeat_main[256];		/* what gives it again */
	const char *chapter;		/* being gathered */
	u32 step, nr_steps;		/* of all chapters */
	u32 failed;			/* bars that must or should hold and do not */
};

/* A chapter of report.json. 0, or an exit code after a line on stderr. */
struct gp_chapter {
	const char *name;		/* its key */
	u32 steps;			/* how often it calls gp_evidence_step() */
	bool lab;			/* only with --lab */
	int (*gather)(struct gp_evidence *e, json_t *chapter);
};

int gp_gather_compare(struct gp_evidence *e, json_t *chapter);
int gp_gather_better(struct gp_evidence *e, json_t *chapter);
int gp_gather_steps(struct gp_evidence *e, json_t *chapter);
int gp_gather_interfaces(struct gp_evidence *e, json_t *chapter);
int gp_gather_placements(struct gp_evidence *e, json_t *chapter);
int gp_gather_vendors(struct gp_evidence *e, json_t *chapter);
int gp_gather_scale(struct gp_evidence *e, json_t *chapter);
int gp_gather_robust(struct gp_evidence *e, json_t *chapter);
int gp_gather_frontier(struct gp_evidence *e, json_t *chapter);
int gp_gather_suite(struct gp_evidence *e, json_t *chapter);
int gp_gather_lab(struct gp_evidence *e, json_t *chapter);
int gp_gather_acceptance(struct gp_evidence *e, json_t *chapter);
int gp_gather_sources(struct gp_evidence *e, json_t *chapter);

/* ---- running: evidence_run.c ---- */

/* One comparison. */
struct gp_trial {
	const char *scenario;
	const char *length, *quick;		/* virtual time; with --quick */
	const char *rows[GP_TRIAL_ROWS];	/* ends with NULL; none: all */
	const char *set[GP_TRIAL_SETS];		/* "section.key=value", ends with NULL */
};

/* The next step: draws the bar, or prints a line if stderr is no terminal. */
void gp_evidence_step(struct gp_evidence *e, const char *what);
/* Erases the bar. */
void gp_evidence_end_steps(void);

/* A step. 0 and *@ret, or an exit code after a message. */
int gp_trial_run(struct gp_evidence *e, const struct gp_trial *t, struct gp_comparison *ret);
/* A scenario as @t wants it; not as a row. 0, or -EINVAL after a message. */
int gp_trial_load(const struct gp_evidence *e, const struct gp_trial *t,
		  struct gp_scenario **ret);
/* The command that repeats it; @form is "compare" or "sim". */
void gp_trial_command(const struct gp_evidence *e, const struct gp_trial *t, const char *form,
		      char *text, size_t size);

/* How long mechanisms hold a task between on and off: spans of its states. */
struct gp_switches {
	u64 stops, starts;
	u64 stop_sum_ns, stop_max_ns, start_sum_ns, start_max_ns;
};
/* Runs @t, whose one row is @row, and watches its task @task. */
int gp_trial_switches(struct gp_evidence *e, const struct gp_trial *t, const char *task,
		      struct gp_switches *ret);

/* ---- writing: evidence_json.c ---- */

#define GP_UNITS_OF_ROWS "times in ns, shares and ratios as fractions, the rest counted"
#define GP_FROM_SIMULATOR	"simulator"
#define GP_FROM_LAB		"lab"
#define GP_FROM_DOCUMENTS	"documents"
#define GP_FROM_ASSUMED		"assumed"

/* {"unit", "source", "repeat"} on @object: for all numbers below it without their own. */
void gp_evidence_of(json_t *object, const char *unit, const char *source, const char *repeat);
/* {"value", "unit", "source", "repeat"} */
json_t *gp_evidence_figure(double value, const char *unit, const char *source,
			   const char *repeat);
/* The few figures of a row that tables show. */
json_t *gp_evidence_row(const struct gp_compared *row);
/* The same for each row of @c: an array, with "state" where a row was not run. */
json_t *gp_evidence_rows(const struct gp_comparison *c);
/* @object[@key] as text, or "". */
const char *gp_evidence_text(const json_t *object, const char *key);

/* ---- the lab: evidence_lab.c ---- */

/* The source tree this program was built in. 0, or -ENOENT after a message. */
int gp_lab_tree(char *tree, size_t size);

/* ---- the page: evidence_page.c ---- */

/* Writes index.html for @report. 0, or -errno. */
int gp_evidence_page(const json_t *report, FILE *to);

#endif /* GP_EVIDENCE_H */
