// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Requests of users to the decider: holds, classes, another configuration. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decider_world.h"
#include "lib/user.h"

static void a_hold_by_hand_has_a_lease(void **state)
{
	struct world *w = *state;
	struct gp_process_id who;
	char why[GP_DECIDER_WHY];
	u32 online, offline;
	u64 granted;

	world_two(w, &online, &offline);
	who = (struct gp_process_id){ w->process[offline].pid, 0 };
	EXPECT_EQ(gp_decider_hold(w->decider, &who, 3600 * GP_SEC, &granted, why), 0);
	EXPECT_EQ(granted, w->decider->param[GP_LEASE]);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	world_run(w, granted);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT_EQ(gp_decider_hold(w->decider, &who, 100 * GP_MSEC, &granted, why), 0);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(gp_decider_release(w->decider, &who, why), 0);
	world_run(w, 2 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	who.pid = w->process[online].pid;
	EXPECT_EQ(gp_decider_hold(w->decider, &who, GP_SEC, &granted, why), -EBUSY);
	who.start = 1;
	EXPECT_EQ(gp_decider_hold(w->decider, &who, GP_SEC, &granted, why), -ESRCH);
}

static void a_class_changed_while_off_releases(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	world_two_preempted(w, &online, &offline);
	world_class(w, offline, "online");
	world_run(w, 5 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_NOT_ATTACHED);
	world_class(w, offline, "unmanaged");
	EXPECT_EQ(world_find(w, offline)->task, GP_NONE);
}

static void who_raises(void **state)
{
	struct world *w = *state;
	struct gp_process_id who;
	u32 a;

	world_decider(w, "default_class = interactive\n");
	a = world_process(w);
	who = (struct gp_process_id){ w->process[a].pid, 0 };
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "online"), 1);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "offline"), 0);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "nonsense"), -EINVAL);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, NULL), 0);
	world_class(w, a, "offline");
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "interactive"), 1);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "idle"), 0);
	EXPECT_EQ(gp_decider_raises(w->decider, &who, NULL),
		  1);	/* back to the class of the rules */
	who.start = 1;
	EXPECT_EQ(gp_decider_raises(w->decider, &who, "idle"), -ESRCH);
}

/* A user may not hold a process that it started but that runs as another user. */
static void a_set_uid_program_is_roots(void **state)
{
	static const struct {
		const char *ids;
		uid_t owner;
	} cases[] = {
		{ "1000\t1000\t1000\t1000", 1000 }, { "1000\t0\t0\t0", 0 },
		{ "1000\t1000\t0\t1000", 0 }, { "1000\t1001\t1001\t1001", 0 },
		{ "0\t1000\t1000\t1000", 0 }, { "1000\t1000\t1000", 0 },
	};
	struct world *w = *state;
	struct gp_subject s;
	char text[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "Name:\tx\nUid:\t%s\nGid:\t7\t7\t7\t7\n",
			 cases[i].ids);
		fake_tree_put(w->tree, text, "proc/5/status");
		snprintf(text, sizeof(text), "%s/proc", w->tree->path);
		EXPECT_EQ(gp_subject_read(text, 5, &s), 0);
		EXPECT_EQ(s.owner, cases[i].owner);
		gp_subject_free(&s);
	}
}

static void a_reload_matches_all_processes_again(void **state)
{
	struct world *w = *state;
	char errors[GP_CONFIG_ERRORS], text[512], why[GP_DECIDER_WHY];
	struct gp_config *config;
	u32 online, offline;

	world_two(w, &online, &offline);
	snprintf(text, sizeof(text), "[daemon]\nstate = %s\npolicy = priority\n"
		 "default_class = idle\nattach_after = 0\n", w->state);
	EXPECT_EQ(gp_config_parse("new", text, strlen(text), &config, errors, sizeof(errors)), 0);
	EXPECT_EQ(gp_decider_reload(w->decider, config, why), 0);
	EXPECT(!strcmp(world_find(w, offline)->class.name, "idle"));
	EXPECT(!strcmp(world_find(w, online)->class.name, "online"));
	/* A setting that cannot change at runtime is refused, and the old configuration stays. */
	EXPECT_EQ(gp_config_parse("new", "[daemon]\nstate = /nowhere\n", 26, &config, errors,
				  sizeof(errors)), 0);
	EXPECT_EQ(gp_decider_reload(w->decider, config, why), -EBUSY);
	gp_config_free(config);
	EXPECT(!strcmp(world_find(w, offline)->class.name, "idle"));
	world_run(w, 50 * GP_MSEC);
}

/* A GPU that hangs blocks a session of the old backend in the driver for seconds. */
static void a_change_of_the_mechanism_waits_for_no_session(void **state)
{
	struct world *w = *state;
	char errors[GP_CONFIG_ERRORS], text[512], why[GP_DECIDER_WHY];
	struct gp_config *config;
	u32 online, offline;

	world_two(w, &online, &offline);
	EXPECT_EQ(w->debug.attaches, 1);
	w->debug.leave_hangs = true;
	snprintf(text, sizeof(text), "[daemon]\nstate = %s\n" WORLD_ACTING "grace = 2\n"
		 WORLD_LOOKS, w->state);
	EXPECT_EQ(gp_config_parse("new", text, strlen(text), &config, errors, sizeof(errors)), 0);
	EXPECT_EQ(gp_decider_reload(w->decider, config, why), 0);
	/* The new backend decides, but attaches nothing that the old one may still have. */
	world_run(w, 3 * GP_SEC);
	EXPECT_EQ(w->debug.made, 2);
	EXPECT_EQ(w->debug.freed, 0);
	EXPECT_EQ(w->debug.attaches, 1);
	EXPECT(gp_decider_busy(w->decider) && !gp_decider_quiet(w->decider));
	EXPECT(gp_decider_wake_at(w->decider) > w->decider->now_ns);

	w->debug.leave_hangs = false;
	world_run(w, 30 * GP_MSEC);
	EXPECT(!w->decider->retired);
	EXPECT_EQ(w->debug.freed, 1);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(w->debug.attaches, 2);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_ATTACHED);
}

static void init_has_no_class(void **state)
{
	struct world *w = *state;
	char previous[GP_CLASS_NAME], now[GP_CLASS_NAME], why[GP_DECIDER_WHY] = "";
	const struct gp_process_id init = { 1, 0 }, own = { getpid(), 0 };

	world_decider(w, WORLD_ACTING);
	EXPECT_EQ(gp_decider_set_class(w->decider, &init, "idle", previous, now, why), -ESRCH);
	EXPECT(strstr(why, "init"));
	EXPECT_EQ(w->decider->nr_requests, 0);
	/* Sets a class before the first use of a GPU, as `gpreempt run` does. */
	EXPECT_EQ(gp_decider_set_class(w->decider, &own, "idle", previous, now, why), 0);
	EXPECT_EQ(w->decider->nr_requests, 1);
}

static void the_uids_of_a_namespace_share_the_classes_of_their_owner(void **state)
{
	struct world *w = *state;
	char previous[GP_CLASS_NAME], now[GP_CLASS_NAME], why[GP_DECIDER_WHY], etc[256], proc[256];
	struct gp_process_id who = { 0 };
	char text[256];
	u32 i;

	world_decider(w, WORLD_ACTING);
	fake_tree_put(w->tree, "1000:100000:65536\n", "etc/subuid");
	fake_tree_put(w->tree, "", "etc/passwd");
	snprintf(etc, sizeof(etc), "%s/etc", w->tree->path);
	snprintf(proc, sizeof(proc), "%s/p", w->tree->path);
	gp_subuids_free(w->decider->subuids);
	EXPECT_EQ(gp_subuids_alloc(etc, &w->decider->subuids), 0);
	w->decider->args.proc = proc;
	for (i = 0; i <= GP_CLASS_REQUESTS_PER_USER; i++) {
		snprintf(text, sizeof(text), "%u (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 "
			 "18 7 99 98\n", 100 + i);
		fake_tree_put(w->tree, text, "p/%u/task/%u/stat", 100 + i, 100 + i);
		snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\t%u\t%u\t%u\nGid:\t1\t1\t1\t1"
			 "\n", 100000 + i, 100000 + i, 100000 + i, 100000 + i);
		fake_tree_put(w->tree, text, "p/%u/status", 100 + i);
		fake_tree_put(w->tree, "0 1000 1\n1 100000 65535\n", "p/%u/uid_map", 100 + i);
		who.pid = (pid_t)(100 + i);
		if (i == GP_CLASS_REQUESTS_PER_USER)
			break;
		EXPECT_EQ(gp_decider_may_request_class(w->decider, &who, why), 0);
		EXPECT_EQ(gp_decider_set_class(w->decider, &who, "idle", previous, now, why), 0);
		EXPECT_EQ(w->decider->request[i].uid, 1000);
	}
	EXPECT_EQ(gp_decider_may_request_class(w->decider, &who, why), -ENOSPC);
	w->decider->args.proc = NULL;
}

static void a_policy_that_admits_not_all_names_the_process_it_refuses(void **state)
{
	struct world *w = *state;
	char why[GP_DECIDER_WHY] = "", name[96];
	const struct gp_gpu_process *first;
	u32 a, b;

	world_decider(w, WORLD_ACTING WORLD_LOOKS
		      "[class firm]\nperiod = 10ms\nbudget = 5ms\ndeadline = 10ms\n");
	world_pair(w, &a, &b);
	world_class(w, a, "firm");
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(gp_decider_try_policy(w->decider, &gp_policy_deadline, why), 0);
	world_class(w, b, "firm");
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(gp_decider_try_policy(w->decider, &gp_policy_deadline, why), -ENOSPC);
	first = w->decider->process[0];
	snprintf(name, sizeof(name), "%s (%d): its budget", first->name, first->pid);
	EXPECT(!strncmp(why, name, strlen(name)));
}

PROVE(
	CLAIM_WITH(a_change_of_the_mechanism_waits_for_no_session, world_up, world_down),
	CLAIM_WITH(a_hold_by_hand_has_a_lease, world_up, world_down),
	CLAIM_WITH(a_class_changed_while_off_releases, world_up, world_down),
	CLAIM_WITH(init_has_no_class, world_up, world_down),
	CLAIM_WITH(the_uids_of_a_namespace_share_the_classes_of_their_owner, world_up, world_down),
	CLAIM_WITH(who_raises, world_up, world_down),
	CLAIM_WITH(a_policy_that_admits_not_all_names_the_process_it_refuses, world_up, world_down),
	CLAIM_WITH(a_set_uid_program_is_roots, world_up, world_down),
	CLAIM_WITH(a_reload_matches_all_processes_again, world_up, world_down),
)
