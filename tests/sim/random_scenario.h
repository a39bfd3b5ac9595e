/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Random scenarios from a seed: tasks, policies, mechanisms, settings and faults. A scenario
 * consists of parts of text that can be left out one by one. A failing scenario can therefore be
 * reduced to the relevant parts, saved and run again.
 */
#ifndef RANDOM_SCENARIO_H
#define RANDOM_SCENARIO_H

#include "sim/rng.h"

enum { RANDOM_PARTS = 24, RANDOM_PART_TEXT = 512 };

struct random_scenario {
	u32 nr;
	bool left_out[RANDOM_PARTS];
	char part[RANDOM_PARTS][RANDOM_PART_TEXT];	/* a section, or some keys of one */
};

void random_scenario(struct random_scenario *r, u64 seed);
/* Returns all parts not left out as text. */
void random_scenario_text(const struct random_scenario *r, char *text, size_t size);

#endif /* RANDOM_SCENARIO_H */
