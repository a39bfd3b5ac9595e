/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tests that the search finds a bug. This program has its own copy of one file of the core
 * without the call by which a LOST rank releases its gang.
 */
#include <stdio.h>
#include <string.h>

#include "core/internal.h"
#define gp_task_changed(s, t) do { } while (0)
#include "core/action.c"
#undef gp_task_changed

#include "explore.h"
#include "tests/shared/gp_test.h"

static void a_bug_planted_in_the_core_is_found_by_the_shortest_way(void **state)
{
	struct explore config = {
		.name = "planted", .policy = &gp_policy_priority, .devices = 2,
		.flags = GP_RPTR_IS_COMPLETION, .max_states = 300000,
		.task = {
			{ "infer", { .priority = 9, .weight = 1,
				     .flags = GP_LATENCY_CRITICAL }, 1 },
			{ "gang", { .priority = 1, .weight = 1, .flags = GP_PREEMPTIBLE }, 3 },
		},
		.may = EX_FAULTS,
	};
	static char text[4096];
	struct ex_result r;

	(void)state;
	EXPECT_EQ(explore(&config, &r), 0);
	EXPECT(r.wrong);
	explore_tell(&config, &r, text, sizeof(text));
	fputs(text, stderr);
	assert_string_equal(r.wrong, "off, wanted off by no task, and not being started");
	/* work for both, one rank stopped, the other LOST: no shorter path exists */
	EXPECT_EQ(r.length, 4);
	EXPECT(strstr(text, "timed out"));
	EXPECT(strstr(text, "stop gang on 0"));
}

PROVE(
	CLAIM(a_bug_planted_in_the_core_is_found_by_the_shortest_way),
)
