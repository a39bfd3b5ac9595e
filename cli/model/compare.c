// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt compare: runs a scenario with every row and compares the results. */
#include "compare.h"
#include "results.h"

#include <stdlib.h>


/* A row that breaks an invariant is a bug. A row that is not modelled is not. */
static int code_of(const struct gp_comparison *c)
{
	for (u32 i = 0; i < c->nr; i++) {
		if (c->row[i].err && c->row[i].err != -EINVAL)
			return GP_EXIT_FAILED;
	}
	return GP_EXIT_OK;
}

static int once(const struct gp_asked *asked)
{
	struct gp_compare_args args = {
		.scenario = asked->sc, .seed = asked->o->seed, .rows = asked->rows,
	};
	struct gp_comparison c;
	int code = gp_compare_shown(asked->o, &args, &c);

	if (code)
		return code;
	code = code_of(&c);
	if (asked->o->json) {
		if (gp_json_print(gp_compare_json(asked->sc, &c), stdout))
			code = GP_EXIT_BAD;
	} else {
		gp_results_head(asked->sc, asked->label.s, c.seed, c.seed);
		gp_results_rows(&c);
		gp_results_notes(asked->sc, &c);
	}
	gp_comparison_fini(&c);
	return code;
}

static int dispatch(const struct gp_asked *asked)
{
	const struct gp_options *o = asked->o;
	bool seeds = o->given & GP_TAKES(SEEDS);

	if (o->robust + o->frontier + seeds > 1) {
		gp_error("--robust, --frontier and --seeds exclude each other");
		return GP_EXIT_BAD;
	}
	if (o->robust)
		return gp_compare_robust(asked);
	if (o->frontier)
		return gp_compare_frontier(asked);
	return seeds ? gp_compare_seeds(asked) : once(asked);
}

int gp_cmd_compare(const struct gp_options *o)
{
	struct gp_row_list list;
	struct gp_scenario *sc;
	struct gp_asked asked = { .o = o };
	int code;

	if (gp_row_list_read(&list, o) || gp_load(o, &sc))
		return GP_EXIT_BAD;
	asked.sc = sc;
	asked.rows = gp_row_list_rows(&list);
	asked.label = gp_label_of(sc);
	code = dispatch(&asked);
	free(sc);
	return code;
}
