// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A gang in the decider: one task of several processes. */
#include <stdio.h>
#include <string.h>

#include "decider_world.h"

/* All children of a test are in its cgroup. */
#define CONFIG	"policy = priority\ndefault_class = offline\nattach_after = 0\nscan = 10ms\n" \
	"[policy priority]\nlook_min = 100us\nlook_max = 500us\nmin_share = 0\n" \
	"[rule job]\ncgroup = **\nclass = offline\ngang = cgroup\n"

struct cast {
	u32 online, rank[2];
};

/* Makes an online process and a gang of two with a queue each. The first rank is busy. */
static void stage(struct world *w, struct cast *c)
{
	world_decider(w, CONFIG);
	c->online = world_process(w);
	c->rank[0] = world_process(w);
	c->rank[1] = world_process(w);
	world_class(w, c->online, "online");
	world_queue(w, c->online, 0);
	world_queue(w, c->rank[0], 0);
	world_queue(w, c->rank[1], 0);
	world_run(w, 50 * GP_MSEC);
	world_submit(w, c->rank[0], 0, 8);
	world_occupy(w, c->rank[0], 80);
	world_run(w, 5 * GP_MSEC);
}

static u32 task_of(struct world *w, u32 i)
{
	return world_find(w, i)->task;
}

static void it_is_one_task_and_is_stopped_once_as_a_whole(void **state)
{
	struct world *w = *state;
	struct gp_account a;
	struct cast c;

	stage(w, &c);
	EXPECT(task_of(w, c.rank[0]) != GP_NONE);
	EXPECT_EQ(task_of(w, c.rank[0]), task_of(w, c.rank[1]));
	EXPECT(task_of(w, c.online) != task_of(w, c.rank[0]));
	EXPECT_EQ(w->debug.attaches, 2);
	EXPECT(gp_tasks_attached(w->decider, world_find(w, c.rank[0])));

	world_submit(w, c.online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[0]), GP_OFF);
	EXPECT_EQ(world_state(w, c.rank[1]), GP_OFF);
	world_complete(w, c.online, 0, 1);
	world_run(w, 200 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[1]), GP_ON);
	gp_sched_account(world_sched(w), task_of(w, c.rank[1]), w->now_ns, &a);
	EXPECT_EQ(a.stopped, 1);
}

static void it_is_no_target_while_one_of_it_cannot_be_stopped(void **state)
{
	struct world *w = *state;
	char text[GP_DECIDER_WHY], pid[64];
	struct cast c;
	u32 late;

	stage(w, &c);
	world_submit(w, c.online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[0]), GP_OFF);
	/* One more rank joins and cannot be attached, so the whole gang runs. */
	w->debug.attach_error = -EALREADY;
	late = world_process(w);
	world_queue(w, late, 0);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(task_of(w, late), task_of(w, c.rank[0]));
	EXPECT_EQ(world_state(w, c.rank[0]), GP_ON);
	/* Every process of the gang is listed with the reason, and counted. */
	for (u32 i = 0; i < 2; i++) {
		EXPECT(gp_decider_trouble(w->decider, world_find(w, c.rank[i]), text));
		snprintf(pid, sizeof(pid), "(%d) of its gang", w->process[late].pid);
		EXPECT(strstr(text, pid) && strstr(text, "debugger"));
	}
	EXPECT(gp_decider_trouble(w->decider, world_find(w, late), text));
	EXPECT(!gp_decider_trouble(w->decider, world_find(w, c.online), text));
	EXPECT_EQ(gp_decider_unpreemptible(w->decider, text), 3);
	/* The rank ends, so the others can be stopped again. */
	world_end(w, late);
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(gp_decider_unpreemptible(w->decider, text), 0);
	EXPECT(!gp_decider_trouble(w->decider, world_find(w, c.rank[0]), text));
	world_complete(w, c.online, 0, 1);
	world_run(w, 50 * GP_MSEC);
	world_submit(w, c.online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[0]), GP_OFF);
}

static void a_process_that_ends_leaves_the_others_as_they_are(void **state)
{
	struct world *w = *state;
	struct cast c;

	stage(w, &c);
	world_submit(w, c.rank[1], 0, 8);
	world_occupy(w, c.rank[1], 80);
	world_occupy(w, c.online, 40);		/* it works and is not blocked */
	world_submit(w, c.online, 0, 1);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[1]), GP_OFF);
	world_end(w, c.rank[0]);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(w->decider->nr_processes, 2);
	EXPECT_EQ(world_state(w, c.rank[1]), GP_OFF);
	world_end(w, c.rank[1]);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(w->decider->nr_processes, 1);
	EXPECT_EQ(w->decider->stats.ended.stopped, 1);
}

static void another_class_is_another_task(void **state)
{
	struct world *w = *state;
	struct cast c;

	stage(w, &c);
	world_class(w, c.rank[1], "idle");
	EXPECT(task_of(w, c.rank[0]) != task_of(w, c.rank[1]));
	world_run(w, 50 * GP_MSEC);
	EXPECT_EQ(w->debug.deletes, 1);
	EXPECT_EQ(world_find(w, c.rank[1])->attachment, GP_NOT_ATTACHED);
	world_class(w, c.rank[1], NULL);
	EXPECT_EQ(task_of(w, c.rank[0]), task_of(w, c.rank[1]));
	/* After a while attaching is retried, and then all ranks can be stopped. */
	world_run(w, 3 * GP_SEC);
	EXPECT(gp_tasks_attached(w->decider, world_find(w, c.rank[0])));
}

static void a_hold_of_one_is_a_hold_of_all(void **state)
{
	struct world *w = *state;
	struct gp_process_id who;
	char why[GP_DECIDER_WHY];
	struct cast c;
	u64 granted;

	stage(w, &c);
	who = (struct gp_process_id){ .pid = w->process[c.rank[1]].pid };
	EXPECT_EQ(gp_decider_hold(w->decider, &who, GP_SEC, &granted, why), 0);
	world_run(w, 5 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[0]), GP_OFF);
	who.pid = w->process[c.rank[0]].pid;
	EXPECT_EQ(gp_decider_release(w->decider, &who, why), 0);
	world_run(w, 5 * GP_MSEC);
	EXPECT_EQ(world_state(w, c.rank[1]), GP_ON);
}

PROVE(
	CLAIM_WITH(it_is_one_task_and_is_stopped_once_as_a_whole, world_up, world_down),
	CLAIM_WITH(it_is_no_target_while_one_of_it_cannot_be_stopped, world_up, world_down),
	CLAIM_WITH(a_process_that_ends_leaves_the_others_as_they_are, world_up, world_down),
	CLAIM_WITH(another_class_is_another_task, world_up, world_down),
	CLAIM_WITH(a_hold_of_one_is_a_hold_of_all, world_up, world_down),
)
