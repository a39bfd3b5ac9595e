/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Unforeseen scenarios: random tasks, policies, mechanisms, settings and
 * faults from a seed, as parts of text that can be left out one by one. So a
 * scenario that fails can be shrunk to the parts that matter, saved and run
 * again by any developer.
 */
#ifndef RANDOM_SCENARIO_H
#define RANDOM_SCENARIO_H

#include "sim/rng.h"

enum { RANDOM_PARTS = 24, RANDOM_PART_TEXT = 512 };

struct random_scenario {
	u32 nr;
	bool left_out[RANDOM_PARTS];
	char part[RANDOM_PARTS][RANDOM_PART_TEXT];	/* a section, or a few keys of one */
};

void random_scenario(struct random_scenario *r, u64 seed);
/* All parts not left out. */
void random_scenario_text(const struct random_scenario *r, char *text, size_t size);

#endif /* RANDOM_SCENARIO_H */
