// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The decider and the readers of its users: one that hangs harms its own user only. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decider_world.h"

enum { OTHER = 1001 };		/* a user without a name */

#define BY_CMDLINE	"[rule tests]\ncmdline = *test_decider*\nclass = online\n"

static const char *trouble_of(struct world *w, u32 i)
{
	static char text[GP_DECIDER_WHY];

	return gp_decider_trouble(w->decider, world_find(w, i), text) ? text : "";
}

static void the_command_line_comes_from_the_reader(void **state)
{
	struct world *w = *state;
	u32 a;

	world_decider(w, WORLD_ACTING BY_CMDLINE);
	a = world_process(w);
	world_queue(w, a, 0);
	w->hangs = true;
	w->hung = getuid();
	world_run(w, 15 * GP_MSEC);
	/* seen, but nothing is known of it yet: it is not managed */
	EXPECT_EQ(world_find(w, a)->task, GP_NONE);
	EXPECT(strstr(world_find(w, a)->class_from, "not known yet"));
	EXPECT(!strstr(w->news, "uses the GPU"));
	w->hangs = false;
	world_run(w, GP_MSEC);
	EXPECT(!strcmp(world_find(w, a)->class.name, "online"));
	EXPECT(strstr(world_find(w, a)->class_from, "rule 'tests'"));
	EXPECT(world_find(w, a)->task != GP_NONE);
	EXPECT(!*trouble_of(w, a));
	EXPECT_EQ(w->readers, 1);
}

static void a_class_that_was_asked_for_needs_no_reader(void **state)
{
	struct world *w = *state;
	u32 a;

	world_decider(w, WORLD_ACTING BY_CMDLINE);
	w->hangs = true;
	w->hung = getuid();
	a = world_process(w);
	world_class(w, a, "offline");	/* it uses no GPU yet */
	EXPECT_EQ(w->readers, 0);
	world_queue(w, a, 0);
	world_run(w, 15 * GP_MSEC);
	EXPECT(!strcmp(world_find(w, a)->class.name, "offline"));
	EXPECT(world_find(w, a)->task != GP_NONE);
}

static void what_is_not_known_is_no_permission(void **state)
{
	struct world *w = *state;
	struct gp_process_id who;
	u32 a;

	world_decider(w, "default_class = offline\n" BY_CMDLINE);
	a = world_process(w);
	who = (struct gp_process_id){ w->process[a].pid, 0 };
	/* offline or online: not known */
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "online"), 1);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "offline"), 0);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, NULL), 0);
	world_run(w, 20 * GP_MSEC);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "online"), 0);
}

static void a_user_whose_reader_hangs_is_alone_with_it(void **state)
{
	struct world *w = *state;
	u32 online, offline, theirs;

	if (getuid())
		skip();
	w->hangs = true;
	w->hung = OTHER;
	world_two(w, &online, &offline);
	theirs = world_process_of(w, OTHER);
	world_queue(w, theirs, 0);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(world_find(w, theirs)->user, OTHER);
	EXPECT_EQ(world_find(w, theirs)->task, GP_NONE);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	world_complete(w, online, 0, 1);
	/* its reader is given up: what it is without a command line */
	world_run(w, 2 * GP_SEC);
	EXPECT(!strcmp(world_find(w, theirs)->class.name, "offline"));
	EXPECT(world_find(w, theirs)->task != GP_NONE);
	EXPECT(strstr(trouble_of(w, theirs), "does not answer"));
	EXPECT(!*trouble_of(w, offline));
	/* and it can be stopped like any other */
	EXPECT_EQ(world_find(w, theirs)->attachment, GP_ATTACHED);
	world_submit(w, theirs, 0, 8);
	world_run(w, 5 * GP_MSEC);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, theirs), GP_OFF);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	world_complete(w, online, 0, 1);

	w->hangs = false;
	world_run(w, 20 * GP_SEC);
	EXPECT(!*trouble_of(w, theirs));
	EXPECT(world_find(w, theirs)->described);
}

static void readers_that_hang_for_ever_are_bounded(void **state)
{
	struct world *w = *state;
	u32 a;

	world_decider(w, WORLD_ACTING "");
	w->hangs = true;
	w->hung = getuid();
	a = world_process(w);
	world_queue(w, a, 0);
	world_run(w, 300 * GP_SEC);
	EXPECT(w->readers > 1 && w->readers <= GP_READERS_STUCK);
	EXPECT(strstr(trouble_of(w, a), "does not answer"));
}

static void a_reload_reads_command_lines_again(void **state)
{
	struct world *w = *state;
	char errors[GP_CONFIG_ERRORS], text[1024], why[GP_DECIDER_WHY];
	struct gp_config *config;
	u32 a;

	world_decider(w, WORLD_ACTING);
	a = world_process(w);
	world_queue(w, a, 0);
	world_run(w, 20 * GP_MSEC);
	EXPECT(!strcmp(world_find(w, a)->class.name, "offline"));
	snprintf(text, sizeof(text), "[daemon]\nstate = %s\n" WORLD_ACTING BY_CMDLINE, w->state);
	EXPECT_EQ(gp_config_parse("new", text, strlen(text), &config, errors, sizeof(errors)), 0);
	EXPECT_EQ(gp_decider_reload(w->decider, config, why), 0);
	/* at once by what is known of it */
	EXPECT(!strcmp(world_find(w, a)->class.name, "online"));
	EXPECT(world_find(w, a)->asked);
	world_run(w, GP_MSEC);
	EXPECT(!world_find(w, a)->asked);
	EXPECT(!strcmp(world_find(w, a)->class.name, "online"));
}

PROVE(
	CLAIM_WITH(the_command_line_comes_from_the_reader, world_up, world_down),
	CLAIM_WITH(a_class_that_was_asked_for_needs_no_reader, world_up, world_down),
	CLAIM_WITH(what_is_not_known_is_no_permission, world_up, world_down),
	CLAIM_WITH(a_user_whose_reader_hangs_is_alone_with_it, world_up, world_down),
	CLAIM_WITH(readers_that_hang_for_ever_are_bounded, world_up, world_down),
	CLAIM_WITH(a_reload_reads_command_lines_again, world_up, world_down),
)
