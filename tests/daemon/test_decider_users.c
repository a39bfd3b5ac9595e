// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What one user can do to other users through the decider. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decider_world.h"

/* Makes an online process, and an offline one whose attach fails with @err. */
static void two_with_error(struct world *w, int err, u32 *online, u32 *offline)
{
	w->debug.attach_error = err;
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	*online = world_process(w);
	*offline = world_process(w);
	world_class(w, *online, "online");
	world_queue(w, *online, 0);
	world_queue(w, *offline, 0);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(w->debug.attaches, 1);
}

static void a_process_that_cannot_be_attached_is_tried_more_and_more_seldom(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	two_with_error(w, -EAGAIN, &online, &offline);
	/* Retries come after 1, 2, 4, 8, 16 and 32 s, then every 60 s. */
	world_run(w, 64 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 7);
	world_run(w, 120 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 9);
	/* Switching a runtime off and on does not reset the delay. */
	w->debug.attach_error = 0;
	world_run(w, 60 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 10);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_ATTACHED);
	w->debug.event[w->debug.nr_events++] = (struct gp_holders_event){
		.what = GP_HOLDERS_LEFT, .task = world_find(w, offline)->task,
		.pid = w->process[offline].pid, .err = -EAGAIN,
	};
	world_run(w, 10 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 10);
}

static void the_death_of_a_holder_does_not_make_attaching_slower(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	two_with_error(w, -ECONNRESET, &online, &offline);
	world_run(w, 10 * GP_SEC);
	EXPECT(w->debug.attaches >= 9);
}

static void collect(void *ctx, const char *text)
{
	strncat(ctx, text, GP_DECIDER_WHY - strlen(ctx) - 1);
}

/* Makes a backend with room for @tasks, of which a user gets a quarter. */
static void set_room(struct world *w, u32 tasks)
{
	static struct gp_backend_ops ops;

	ops = *w->decider->backend->ops;
	ops.tasks = tasks;
	w->decider->backend->ops = &ops;
}

static void a_user_takes_a_part_of_the_tasks_and_others_get_theirs(void **state)
{
	struct world *w = *state;
	char text[GP_DECIDER_WHY] = "";
	u32 mine[3], other, i;

	if (getuid())
		skip();
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	set_room(w, 8);
	for (i = 0; i < 3; i++) {
		mine[i] = world_process_of(w, 1234);
		world_queue(w, mine[i], 0);
		world_run(w, 20 * GP_MSEC);
	}
	other = world_process_of(w, 1235);
	world_queue(w, other, 0);
	world_run(w, 20 * GP_MSEC);
	EXPECT(world_find(w, mine[1])->task != GP_NONE);
	EXPECT(world_find(w, other)->task != GP_NONE);
	EXPECT_EQ(world_find(w, mine[2])->task, GP_NONE);
	/* The refused process has a reason and is counted. */
	EXPECT(gp_decider_trouble(w->decider, world_find(w, mine[2]), text));
	EXPECT(strstr(text, "too many tasks of its user"));
	text[0] = 0;
	gp_decider_troubles(w->decider, false, collect, text);
	EXPECT(strstr(text, "1 processes found no place") && !strstr(text, "(" ));
	EXPECT_EQ(gp_decider_unplaced(w->decider, text), 1);
	EXPECT_EQ(gp_decider_unpreemptible(w->decider, text), 1);
	/* A place that becomes free is used. */
	world_end(w, mine[0]);
	world_run(w, 2 * GP_SEC);
	EXPECT(world_find(w, mine[2])->task != GP_NONE);
	EXPECT(!world_find(w, mine[2])->trouble[0]);
	EXPECT_EQ(gp_decider_unplaced(w->decider, text), 0);
}

static void a_user_takes_a_part_of_the_queues_and_others_get_theirs(void **state)
{
	enum { MANY = 3000 };
	struct world *w = *state;
	struct gp_scheduler *s;
	struct gp_gpu_process *r;
	u32 mine, i;

	if (getuid())
		skip();
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	mine = world_process_of(w, 1234);
	world_queue(w, mine, 0);
	world_run(w, 50 * GP_MSEC);
	s = gp_scheduler_of(w->decider->backend);
	r = world_find(w, mine);
	EXPECT_EQ(r->nr_watched, 1);
	for (i = 1; i < MANY && gp_scheduler_may_watch(s, r); i++)
		;
	EXPECT_EQ(i, 16384 / 8);
	EXPECT(strstr(r->trouble, "too many queues of its user"));
	/* The look makes its task unknown. Another user has its own share. */
	gp_scheduler_look(w->decider->backend, 0);
	EXPECT(world_sched(w)->tasks[r->task].unknown);
	s->share.at_ns = 0;
	r->crowded = false;
	r->user = 1235;
	EXPECT(gp_scheduler_may_watch(s, r));
	EXPECT(!r->trouble[0]);
	r->user = 1234;
}

static void processes_of_a_user_whose_holder_hangs_preempt_no_process(void **state)
{
	struct world *w = *state;
	char text[GP_DECIDER_WHY] = "";
	u32 online, offline;

	world_two(w, &online, &offline);
	w->debug.hung = getuid();
	w->debug.troubles++;
	world_run(w, GP_MSEC);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT(gp_decider_trouble(w->decider, world_find(w, online), text));
	EXPECT(strstr(text, "holder"));
	text[0] = 0;
	gp_decider_troubles(w->decider, false, collect, text);
	EXPECT(!text[0]);
	gp_decider_troubles(w->decider, true, collect, text);
	EXPECT(strstr(text, "holder hangs"));
	/* The holder answers again. */
	world_complete(w, online, 0, 1);
	w->debug.troubles++;
	world_run(w, 300 * GP_MSEC);
	world_submit(w, online, 0, 1);
	/* The process occupies nothing, so it soon counts as blocked. */
	for (u32 i = 0; i < 30 && world_state(w, offline) != GP_OFF; i++)
		world_run(w, 100 * GP_USEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	EXPECT(!gp_decider_trouble(w->decider, world_find(w, online), text));
}

static void a_process_of_a_user_whose_holder_hangs_can_be_stopped(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	if (getuid())
		skip();
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	online = world_process(w);
	offline = world_process_of(w, 1234);
	world_class(w, online, "online");
	world_queue(w, online, 0);
	world_queue(w, offline, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_ATTACHED);
	w->debug.hung = 1234;
	w->debug.troubles++;
	world_submit(w, offline, 0, 8);
	world_run(w, 10 * GP_MSEC);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
}

/* Makes an online process, an offline one that cannot be preempted, and one that can. */
static void three(struct world *w, const char *config, u32 *online, u32 *stubborn, u32 *offline)
{
	w->debug.attach_error = -EOPNOTSUPP;
	world_decider(w, config);
	*online = world_process(w);
	*stubborn = world_process(w);
	world_class(w, *online, "online");
	world_queue(w, *online, 0);
	world_queue(w, *stubborn, 0);
	world_run(w, 50 * GP_MSEC);
	EXPECT(world_find(w, *stubborn)->refused);
	w->debug.attach_error = 0;
	*offline = world_process(w);
	world_queue(w, *offline, 0);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(world_find(w, *offline)->attachment, GP_ATTACHED);
	world_submit(w, *offline, 0, 8);
	world_occupy(w, *offline, 80);
	world_run(w, 5 * GP_MSEC);
	world_submit(w, *online, 0, 1);
	world_run(w, 3 * GP_MSEC);
}

static void beside_an_unpreemptible_process_none_is_online_if_configured(void **state)
{
	struct world *w = *state;
	char text[GP_DECIDER_WHY] = "";
	u32 online, stubborn, offline;

	three(w, WORLD_ACTING "unpreemptible = no-online-beside\n" WORLD_LOOKS, &online, &stubborn,
	      &offline);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT_EQ(world_find(w, online)->told.priority,
		  world_find(w, stubborn)->class.is.priority);
	EXPECT(gp_decider_trouble(w->decider, world_find(w, online), text));
	EXPECT(strstr(text, "lower priority") && strstr(text, "shares a GPU"));
	EXPECT_EQ(gp_decider_capped(w->decider), 1);
	text[0] = 0;
	gp_decider_troubles(w->decider, false, collect, text);
	EXPECT(strstr(text, "1 processes have a lower priority"));
	/* The process is online again as soon as the other one has ended. */
	world_complete(w, online, 0, 1);
	world_end(w, stubborn);
	world_run(w, 300 * GP_MSEC);
	EXPECT_EQ(gp_decider_capped(w->decider), 0);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
}

static void beside_an_unpreemptible_process_others_are_preempted_if_allowed(void **state)
{
	struct world *w = *state;
	char text[GP_DECIDER_WHY];
	u32 online, stubborn, offline;

	three(w, WORLD_ACTING "unpreemptible = allow\n" WORLD_LOOKS, &online, &stubborn, &offline);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	EXPECT(!gp_decider_trouble(w->decider, world_find(w, online), text));
	EXPECT_EQ(gp_decider_unpreemptible(w->decider, text), 1);
	EXPECT_EQ(gp_decider_capped(w->decider), 0);
}

PROVE(
	CLAIM_WITH(a_process_that_cannot_be_attached_is_tried_more_and_more_seldom, world_up,
		   world_down),
	CLAIM_WITH(a_user_takes_a_part_of_the_tasks_and_others_get_theirs, world_up, world_down),
	CLAIM_WITH(a_user_takes_a_part_of_the_queues_and_others_get_theirs, world_up, world_down),
	CLAIM_WITH(processes_of_a_user_whose_holder_hangs_preempt_no_process, world_up, world_down),
	CLAIM_WITH(a_process_of_a_user_whose_holder_hangs_can_be_stopped, world_up, world_down),
	CLAIM_WITH(beside_an_unpreemptible_process_none_is_online_if_configured, world_up,
		   world_down),
	CLAIM_WITH(beside_an_unpreemptible_process_others_are_preempted_if_allowed, world_up,
		   world_down),
	CLAIM_WITH(the_death_of_a_holder_does_not_make_attaching_slower, world_up, world_down),
)
