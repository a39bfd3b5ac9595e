// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The decider and the readers of its users. A reader that hangs affects only its own user. */
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
	/* the process was found but not described, so it is not managed yet */
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
	world_class(w, a, "offline");	/* the process uses no GPU yet */
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
	/* the current class is unknown, offline or online */
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
	/* its reader is abandoned, so it gets the class that applies without a command line */
	world_run(w, 2 * GP_SEC);
	EXPECT(!strcmp(world_find(w, theirs)->class.name, "offline"));
	EXPECT(world_find(w, theirs)->task != GP_NONE);
	EXPECT(strstr(trouble_of(w, theirs), "does not answer"));
	EXPECT(!*trouble_of(w, offline));
	/* and it can be stopped like other processes */
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

static u32 work_of(struct world *w, u32 i)
{
	struct gp_seat_view seat;

	EXPECT_EQ(gp_decider_seat(w->decider, world_find(w, i), 0, &seat), 0);
	return seat.work;
}

/* Also makes an online process of OTHER and returns it. */
static u32 three(struct world *w, u32 *online, u32 *offline)
{
	u32 theirs;

	world_two(w, online, offline);
	theirs = world_process_of(w, OTHER);
	world_class(w, theirs, "online");
	world_queue(w, theirs, 0);
	world_run(w, 100 * GP_MSEC);
	return theirs;
}

/* Makes the reader hang, as a page over the pointers that never arrives does. */
static void hang(struct world *w, u32 theirs)
{
	w->hangs = true;
	w->hung = OTHER;
	world_submit(w, theirs, 0, 1);
}

static void a_process_whose_pointers_cannot_be_read_preempts_no_other(void **state)
{
	struct world *w = *state;
	struct gp_readers_stats stats;
	u32 online, offline, theirs;

	if (getuid())
		skip();
	theirs = three(w, &online, &offline);
	EXPECT_EQ(work_of(w, theirs), GP_IDLE);
	hang(w, theirs);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(work_of(w, theirs), GP_UNKNOWN);
	EXPECT(strstr(trouble_of(w, theirs), "does not answer"));
	gp_readers_stats(w->decider->readers, &stats);
	EXPECT_EQ(stats.silent, 1);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	/* decisions about the others do not change */
	EXPECT_EQ(work_of(w, offline), GP_PENDING);
	world_submit(w, online, 0, 1);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	world_complete(w, online, 0, 1);
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT_EQ(work_of(w, theirs), GP_UNKNOWN);
	EXPECT(strstr(trouble_of(w, theirs), "does not answer"));

	w->hangs = false;
	world_run(w, 20 * GP_SEC);
	gp_readers_stats(w->decider->readers, &stats);
	EXPECT_EQ(stats.silent, 0);
	EXPECT(work_of(w, theirs) != GP_UNKNOWN);
	EXPECT(!*trouble_of(w, theirs));
}

/* Returns the longest time from a packet of @online until @offline is off. */
static u64 latency(struct world *w, u32 online, u32 offline)
{
	u64 longest = 0, from;

	for (u32 i = 0; i < 20; i++) {
		world_run(w, (50 + i * 7 % 11) * GP_MSEC + i * 37 * GP_USEC);
		EXPECT_EQ(world_state(w, offline), GP_ON);
		world_submit(w, online, 0, 1);
		for (from = w->now_ns; world_state(w, offline) != GP_OFF;)
			world_run(w, 10 * GP_USEC);
		if (w->now_ns - from > longest)
			longest = w->now_ns - from;
		world_complete(w, online, 0, 1);
	}
	return longest;
}

static void readers_of_one_user_that_hang_delay_no_other_user(void **state)
{
	struct world *w = *state;
	u32 online, offline, theirs;
	u64 before;

	if (getuid())
		skip();
	theirs = three(w, &online, &offline);
	before = latency(w, online, offline);
	hang(w, theirs);
	/* not late yet, so one look waits for its answer */
	w->now_ns += GP_MSEC;
	gp_readers_run(w->decider->readers, w->now_ns);
	EXPECT(!gp_queues_looked(gp_scheduler_of(w->decider->backend), 0));
	EXPECT_EQ(gp_readers_state(w->decider->readers, OTHER), GP_READER_GOOD);
	EXPECT(gp_queues_looked(gp_scheduler_of(w->decider->backend), 0));
	/* late, abandoned and started repeatedly */
	for (u32 i = 0; i < 3; i++)
		EXPECT(latency(w, online, offline) <= before);
	EXPECT_EQ(work_of(w, theirs), GP_UNKNOWN);
}

static void whose_pointers_cannot_be_read_is_stopped_like_others(void **state)
{
	struct world *w = *state;
	u32 online, offline, theirs;

	if (getuid())
		skip();
	world_two(w, &online, &offline);
	theirs = world_process_of(w, OTHER);
	world_queue(w, theirs, 0);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(world_find(w, theirs)->attachment, GP_ATTACHED);
	w->hangs = true;
	w->hung = OTHER;
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(work_of(w, theirs), GP_UNKNOWN);	/* unknown counts as busy and not as idle */
	world_submit(w, online, 0, 1);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, theirs), GP_OFF);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
}

static void a_dump_that_hangs_hangs_nobody(void **state)
{
	struct world *w = *state;
	u32 online, offline, late;

	world_two(w, &online, &offline);
	w->hangs = true;
	w->hung = GP_READER_DUMP_USER;
	late = world_process(w);
	world_queue(w, late, 0);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(work_of(w, late), GP_UNKNOWN);
	world_submit(w, online, 0, 1);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	world_complete(w, online, 0, 1);
	world_run(w, 5 * GP_SEC);
	EXPECT(strstr(trouble_of(w, late), "debugfs"));
	w->hangs = false;
	world_run(w, 20 * GP_SEC);
	EXPECT_EQ(work_of(w, late), GP_IDLE);
	EXPECT(!*trouble_of(w, late));
}

static void whose_queues_find_no_place_is_unknown(void **state)
{
	static struct gp_ring_pointers rings[GP_READER_SLOTS];
	const struct gp_reader_wanted wanted = { rings, GP_READER_SLOTS - 2, 0 };
	const struct gp_reader_target who = { getuid(), getpid(), 1 };
	struct gp_watch *watch = NULL;
	struct world *w = *state;
	u32 online, offline, late;

	world_two(w, &online, &offline);
	for (u32 i = 0; i < GP_READER_SLOTS; i++)
		rings[i] = (struct gp_ring_pointers){ .read_at = 16 * i + 8,
						      .write_at = 16 * i + 16,
						      .ring_bytes = 4096, .kind = GP_RING_AQL };
	EXPECT_EQ(gp_readers_watch(w->decider->readers, &who, &wanted, &watch), 0);
	late = world_process(w);
	world_queue(w, late, 0);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(work_of(w, late), GP_UNKNOWN);
	EXPECT(strstr(trouble_of(w, late), "too many queues"));
	EXPECT_EQ(work_of(w, offline), GP_PENDING);
	gp_readers_unwatch(w->decider->readers, watch);
	world_run(w, 10 * GP_SEC);
	EXPECT_EQ(work_of(w, late), GP_IDLE);
	EXPECT(!*trouble_of(w, late));
}

/* The known queue still shows work while the dump is searched for the new one. */
static void a_new_queue_makes_the_others_no_less_known(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	world_two(w, &online, &offline);
	world_occupy(w, online, 80);
	world_submit(w, online, 0, 1);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	w->hangs = true;
	w->hung = GP_READER_DUMP_USER;
	world_queue(w, online, 1);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(world_find(w, online)->nr_queues, 2);
	EXPECT_EQ(work_of(w, online), GP_PENDING);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	/* When the dump is abandoned, the work of the process is unknown. */
	world_run(w, 3 * GP_SEC);
	EXPECT_EQ(work_of(w, online), GP_UNKNOWN);
	EXPECT_EQ(world_state(w, offline), GP_ON);
}

static struct gp_reader_self *reader_of(struct world *w, uid_t user)
{
	u32 i;

	for (i = 0; i < WORLD_READERS; i++)
		if (w->reader[i].self && w->reader[i].args.user == user)
			return w->reader[i].self;
	fail_msg("no reader");
	return NULL;
}

static void a_look_that_is_asked_for_leaves_out_no_other(void **state)
{
	struct world *w = *state;
	u32 i, online, offline;
	u64 number;

	world_two(w, &online, &offline);
	for (i = 0; i < 50; i++) {
		EXPECT_EQ(gp_readers_look(w->decider->readers, getuid(), &number), 0);
		world_run(w, 20 * GP_USEC);
	}
	EXPECT(reader_of(w, getuid())->interval_ns);
	EXPECT(reader_of(w, getuid())->next_ns <=
	       w->now_ns + reader_of(w, getuid())->interval_ns);
}

static void keep_seeing(void *ctx, const struct gp_rec *rec)
{
	if (rec->kind == GP_REC_PARTS)
		*(u64 *)ctx = rec->arg[0];
}

/* The decider's last look is long ago, but the reader's is recent. */
static void work_waits_since_the_last_look_of_the_reader(void **state)
{
	struct world *w = *state;
	u64 seeing = GP_NEVER;
	const struct gp_trace watcher = { keep_seeing, &seeing };
	u32 online, offline;

	world_two(w, &online, &offline);
	gp_decider_trace(w->decider, &watcher, NULL);
	world_run(w, 3 * GP_MSEC);
	world_submit(w, online, 0, 1);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	/* The world advances in steps of 1 ms. */
	EXPECT(seeing <= 1010 * GP_USEC);
}

static void an_order_is_taken_although_a_look_is_due(void **state)
{
	struct world *w = *state;
	struct gp_reader_self *r;
	u32 online, offline;
	u64 number;

	world_two(w, &online, &offline);
	r = reader_of(w, getuid());
	EXPECT_EQ(gp_readers_look(w->decider->readers, getuid(), &number), 0);
	w->now_ns += r->interval_ns;
	EXPECT(w->now_ns >= r->next_ns);
	EXPECT(gp_reader_turn(r, false));
	EXPECT_EQ(r->page->answered, number);
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
	/* uses known facts at once */
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
	CLAIM_WITH(a_process_whose_pointers_cannot_be_read_preempts_no_other, world_up, world_down),
	CLAIM_WITH(readers_of_one_user_that_hang_delay_no_other_user, world_up, world_down),
	CLAIM_WITH(whose_pointers_cannot_be_read_is_stopped_like_others, world_up, world_down),
	CLAIM_WITH(a_dump_that_hangs_hangs_nobody, world_up, world_down),
	CLAIM_WITH(whose_queues_find_no_place_is_unknown, world_up, world_down),
	CLAIM_WITH(a_new_queue_makes_the_others_no_less_known, world_up, world_down),
	CLAIM_WITH(a_look_that_is_asked_for_leaves_out_no_other, world_up, world_down),
	CLAIM_WITH(work_waits_since_the_last_look_of_the_reader, world_up, world_down),
	CLAIM_WITH(an_order_is_taken_although_a_look_is_due, world_up, world_down),
	CLAIM_WITH(readers_that_hang_for_ever_are_bounded, world_up, world_down),
	CLAIM_WITH(a_reload_reads_command_lines_again, world_up, world_down),
)
