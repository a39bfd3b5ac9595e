// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Chapters for who doubts: what if the assumed costs are wrong, could a fixed linger do
 * better, and where does every number come from.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/model/compare.h"
#include "cli/model/facts.h"
#include "evidence.h"

static void keep_quiet(void *ctx, const struct gp_job *job, u32 done, u32 nr)
{
	(void)ctx, (void)job, (void)done, (void)nr;
}

/* What the forms of `gpreempt compare` ask for. 0, or -EINVAL after a message. */
static int ask(struct gp_evidence *e, const struct gp_trial *t, struct gp_asked *ret)
{
	struct gp_scenario *sc;

	if (gp_trial_load(e, t, &sc))
		return -EINVAL;
	*ret = (struct gp_asked){ .o = e->o, .sc = sc, .label = gp_label_of(sc),
				  .progress = keep_quiet };
	return 0;
}

int gp_gather_robust(struct gp_evidence *e, json_t *chapter)
{
	struct gp_trial t = { .scenario = "colocate", .length = "20s" };
	json_t *swapped = json_array();
	struct gp_asked asked;
	char repeat[256];
	int code;

	gp_evidence_step(e, "colocate, every assumed cost x 0.5, x 1, x 3");
	if (ask(e, &t, &asked))
		return GP_EXIT_BAD;
	gp_trial_command(e, &t, "compare --robust", repeat, sizeof(repeat));
	gp_evidence_of(chapter, "pairs of rows", GP_FROM_SIMULATOR, repeat);
	code = gp_robust_swaps(&asked, swapped);
	gp_json_put(chapter, "changed", json_integer((json_int_t)json_array_size(swapped)));
	gp_json_put(chapter, "swapped", swapped);
	free((void *)asked.sc);
	return code;
}

int gp_gather_frontier(struct gp_evidence *e, json_t *chapter)
{
	struct gp_trial t = { .scenario = "colocate-steps", .length = "20s", .quick = "5s" };
	struct gp_asked asked;
	json_t *found = NULL;
	char repeat[256];
	int code;

	gp_evidence_step(e, "colocate-steps, linger learnt and fixed");
	if (ask(e, &t, &asked))
		return GP_EXIT_BAD;
	gp_trial_command(e, &t, "compare --frontier", repeat, sizeof(repeat));
	code = gp_frontier_json(&asked, &found);
	if (!code)
		json_object_update(chapter, found);
	gp_evidence_of(chapter, GP_UNITS_OF_ROWS, GP_FROM_SIMULATOR, repeat);
	json_decref(found);
	free((void *)asked.sc);
	return code;
}

/* ---- where every number comes from ---- */

static const struct {
	const char *name, *what, *hardware;
} sources[] = {
	{ GP_FROM_SIMULATOR,
	  "our scheduler's own code, on a model of the GPU, in virtual time; what an operation "
	  "costs is a fact of the model",
	  "the same scenarios with gpload on the machine: every latency, goodput and part of a "
	  "preemption" },
	{ GP_FROM_LAB,
	  "the real, unmodified amdkfd on the same model in a virtual machine: which packets it "
	  "writes and how many instructions it executes are real, times of the device are not",
	  "lab-colocate and gpcost on the machine: the times; the packets stay what they are" },
	{ GP_FROM_ASSUMED,
	  "a fact of the model that nobody measured; its note says what would replace it",
	  "gpreempt doctor --selftest, and the measurement its note names" },
	{ "read", "a fact of the model read in public code or documents; its note says where",
	  "nothing, unless it differs from the data sheet" },
	{ GP_FROM_DOCUMENTS,
	  "what the documents this project began with expect; shown beside, never used as a result",
	  "nothing: they are claims, and the hardware would judge them" },
};

int gp_gather_sources(struct gp_evidence *e, json_t *chapter)
{
	json_t *kinds = json_array(), *facts = gp_facts_json("mi308x");

	(void)e;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		json_array_append_new(kinds, json_pack("{s:s, s:s, s:s}", "name", sources[i].name,
						       "what", sources[i].what,
						       "hardware", sources[i].hardware));
	gp_json_put(chapter, "kinds", kinds);
	gp_json_put(chapter, "facts", json_incref(json_object_get(facts, "facts")));
	gp_json_put(chapter, "repeat", json_string("gpreempt facts"));
	json_decref(facts);
	return GP_EXIT_OK;
}
