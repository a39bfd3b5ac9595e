// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The decider makes tasks from processes, decisions from pointers and actions from decisions. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "decider_world.h"

static void online_work_takes_the_gpu_and_gives_it_back(void **state)
{
	struct world *w = *state;
	struct gp_account a;
	u32 online, offline;

	world_two(w, &online, &offline);
	EXPECT_EQ(w->holding, 1);	/* attaching stops processes for a moment */
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	EXPECT_EQ(w->holding, 2);
	EXPECT(gp_decider_busy(w->decider));

	world_complete(w, online, 0, 1);
	world_run(w, 200 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT_EQ(gp_sched_account(world_sched(w), world_find(w, offline)->task,
				   w->decider->now_ns, &a), 0);
	EXPECT_EQ(a.stopped, 1);
	EXPECT_EQ(a.started, 1);
}

static void sums_are_read_without_the_histograms(void **state)
{
	static struct gp_account a, b;
	struct world *w = *state;
	u32 online, offline;

	world_two(w, &online, &offline);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	memset(&a, 0xa5, sizeof(a));
	memset(&b, 0xa5, sizeof(b));
	EXPECT_EQ(gp_decider_account(w->decider, world_find(w, online), &a), 0);
	EXPECT_EQ(a.preempted_others, 1);
	EXPECT(!memcmp(a.part, b.part, sizeof(a.part)));
	EXPECT_EQ(gp_decider_parts(w->decider, world_find(w, online))[GP_PART_TOTAL].count, 1);
}

/* A run can begin before the driver is done and end after it. */
static void a_stop_is_over_when_its_answer_is_taken(void **state)
{
	struct world *w = *state;
	struct gp_seat_view seat;
	u32 online, offline;
	u64 began;

	world_two(w, &online, &offline);
	w->debug.m.takes_ns = GP_MSEC;
	world_submit(w, online, 0, 1);
	while (world_state(w, offline) != GP_STOPPING)
		world_run(w, 10 * GP_USEC);
	began = w->now_ns += 2 * GP_MSEC;
	w->slow_ns = GP_USEC;
	gp_decider_run(w->decider, began);
	EXPECT_EQ(gp_decider_seat(w->decider, world_find(w, offline), 0, &seat), 0);
	EXPECT_EQ(seat.state, GP_OFF);
	EXPECT(seat.since_ns > began);
}

static void the_online_process_is_never_attached(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	world_two(w, &online, &offline);
	world_run(w, 3 * GP_SEC);
	EXPECT_EQ(world_find(w, online)->attachment, GP_NOT_ATTACHED);
	EXPECT_EQ(w->debug.attaches, 1);
}

/* Attaching stops a process that has a single thread. A daemon that hangs then must be ended. */
static void a_decider_that_attaches_is_busy(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	w->debug.attach_hangs = true;
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	online = world_process(w);
	offline = world_process(w);
	world_class(w, online, "online");
	world_queue(w, offline, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT(!gp_decider_busy(w->decider));
	world_queue(w, online, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_ATTACHING);
	EXPECT_EQ(w->holding, 1);
	EXPECT(gp_decider_busy(w->decider));
}

/* The process must not be attached any more, but the attach is still under way. */
static void an_attach_under_way_ends_busy_after_switching_off(void **state)
{
	struct world *w = *state;
	char why[GP_DECIDER_WHY];
	u32 online, offline;

	w->debug.attach_hangs = true;
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	world_pair(w, &online, &offline);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_ATTACHING);
	EXPECT_EQ(gp_decider_enable(w->decider, false, why), 1);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_NOT_ATTACHED);
	EXPECT_EQ(w->debug.deletes, 1);
	EXPECT(gp_decider_busy(w->decider));
	w->debug.attaching = false;
	EXPECT(!gp_decider_busy(w->decider));
}

static void a_process_that_keeps_no_other_off_is_not_attached(void **state)
{
	struct world *w = *state;
	u32 a, b;

	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	a = world_process(w);
	b = world_process(w);
	world_queue(w, a, 0);
	world_queue(w, b, 0);
	world_run(w, GP_SEC);
	EXPECT_EQ(world_state(w, a), GP_ON);
	EXPECT_EQ(w->debug.attaches, 0);
	/* Nothing remains to look at. Only the scan is due. */
	EXPECT(!gp_decider_busy(w->decider));
	EXPECT_EQ(gp_decider_wake_at(w->decider), w->decider->scan_at_ns);
	EXPECT_EQ(w->decider->stats.looks, 0);
}

static void a_process_is_not_attached_before_its_queue_is_old_enough(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	w->now_ns -= WORLD_AHEAD;
	world_decider(w, "policy = priority\ndefault_class = offline\nattach_after = 1s\n");
	world_pair(w, &online, &offline);
	world_run(w, 800 * GP_MSEC);
	EXPECT_EQ(w->debug.attaches, 0);
	w->now_ns += WORLD_AHEAD;
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 1);
}

static void count_samples(void *ctx, const struct gp_rec *rec)
{
	*(u32 *)ctx += rec->kind == GP_REC_SAMPLE;
}

static void observing_attaches_and_stops_no_process(void **state)
{
	struct world *w = *state;
	u32 arrivals = 0;
	const struct gp_trace recorder = { count_samples, &arrivals };
	u64 looks;
	char why[GP_DECIDER_WHY];
	u32 online, offline;
	u64 granted;

	world_decider(w, "default_class = offline\nattach_after = 0\n");
	world_pair(w, &online, &offline);
	world_run(w, 200 * GP_MSEC);
	world_submit(w, online, 0, 1);
	world_submit(w, offline, 0, 1);
	world_run(w, 200 * GP_MSEC);
	/*
	 * There are no looks unless a client records. The recorder sees both arrivals, also the
	 * one before it.
	 */
	looks = w->decider->stats.looks;
	world_run(w, 20 * GP_MSEC);
	EXPECT_EQ(w->decider->stats.looks, looks);
	gp_decider_trace(w->decider, NULL, &recorder);
	world_submit(w, online, 0, 1);
	world_run(w, 20 * GP_MSEC);
	EXPECT(w->decider->stats.looks >= looks + 10 && arrivals == 2);
	gp_decider_trace(w->decider, NULL, NULL);
	EXPECT_EQ(w->debug.attaches, 0);
	EXPECT_EQ(w->holding, 0);
	EXPECT(!w->decider->backend->ops->preempts);
	EXPECT_EQ(gp_decider_hold(w->decider, &(struct gp_process_id){ w->process[offline].pid, 0 },
		  GP_SEC, &granted, why), -EOPNOTSUPP);

	/* A policy set by hand ends the policy `none`. Setting `none` restores it. */
	EXPECT_EQ(gp_decider_set_policy(w->decider, &gp_policy_priority, why), 0);
	world_run(w, 200 * GP_MSEC);
	EXPECT_EQ(w->debug.attaches, 1);
	EXPECT_EQ(gp_decider_set_policy(w->decider, NULL, why), 0);
	world_run(w, 200 * GP_MSEC);
	EXPECT(!w->decider->backend->ops->preempts);
}

static void mechanism_none_decides_and_is_refused(void **state)
{
	struct world *w = *state;
	struct gp_account a;
	u32 online, offline;

	world_decider(w, "policy = priority\nmechanism = none\ndefault_class = offline\n");
	world_pair(w, &online, &offline);
	world_run(w, 300 * GP_MSEC);
	world_submit(w, offline, 0, 4);
	world_occupy(w, offline, 80);
	world_run(w, 5 * GP_MSEC);
	world_submit(w, online, 0, 1);
	world_run(w, 5 * GP_MSEC);
	EXPECT_EQ(gp_sched_account(world_sched(w), world_find(w, offline)->task,
				   w->decider->now_ns, &a), 0);
	EXPECT(a.stops_asked >= 1);
	EXPECT_EQ(a.stopped, 0);
	EXPECT_EQ(a.stops_failed, a.stops_asked);
	EXPECT_EQ(world_state(w, offline), GP_ON);
}

/* Slow reads of the wave counters take longer than their interval, so probes are always due. */
static void slow_probes_delay_no_decision(void **state)
{
	struct world *w = *state;
	u32 online, offline, other;
	u64 probes;

	world_two(w, &online, &offline);
	other = world_process(w);
	world_queue(w, other, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, other)->attachment, GP_ATTACHED);
	world_submit(w, other, 0, 8);
	world_occupy(w, other, 80);
	world_run(w, 30 * GP_MSEC);
	probes = w->decider->stats.probes;
	w->slow_ns = 10 * GP_MSEC;
	world_run(w, 10 * GP_SEC);
	EXPECT(w->decider->stats.probes > probes + 10);
	/* Other work is still done. */
	world_submit(w, online, 0, 1);
	world_run(w, GP_SEC);
	w->slow_ns = 0;
	EXPECT(world_find(w, offline)->stopped_before +
	       world_sched(w)->tasks[world_find(w, offline)->task].account.stopped > 0);
}

struct probed {
	u32 task;
	u32 answers[3];		/* by enum gp_executing */
};

static void count_probed(void *ctx, const struct gp_rec *rec)
{
	struct probed *p = ctx;

	if (rec->kind == GP_REC_PROBED && rec->task == p->task)
		p->answers[rec->probed.executing]++;
}

/* Measures an online process that has finished its work on a GPU with @xccs and without waves. */
static void probe_drained(struct world *w, u32 xccs, struct probed *p)
{
	const struct gp_trace recorder = { count_probed, p };
	u32 online, offline;

	w->xccs = xccs;
	w->debug.m.devices = 0;
	world_gpu(w);
	world_two_preempted(w, &online, &offline);
	gp_decider_trace(w->decider, NULL, &recorder);
	p->task = world_find(w, online)->task;
	world_complete(w, online, 0, 1);
	world_run(w, 200 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
}

static void no_waves_on_the_first_of_several_xccs_proves_nothing(void **state)
{
	struct probed p = { 0 };

	probe_drained(*state, 4, &p);
	EXPECT(p.answers[GP_EXEC_UNKNOWN] > 0);
	EXPECT_EQ(p.answers[GP_EXEC_NO], 0);
}

static void no_waves_on_the_only_xcc_is_idle(void **state)
{
	struct probed p = { 0 };

	probe_drained(*state, 1, &p);
	EXPECT(p.answers[GP_EXEC_NO] > 0);
	EXPECT_EQ(p.answers[GP_EXEC_UNKNOWN], 0);
}

/* A probe would wait for the action, which takes seconds if the GPU hangs. */
static void the_driver_is_not_probed_while_it_acts(void **state)
{
	struct world *w = *state;
	u32 online, offline, other, waiting;
	u64 probes;

	world_two(w, &online, &offline);
	w->debug.acting = true;
	other = world_process(w);
	world_queue(w, other, 0);
	world_submit(w, online, 0, 1);
	probes = w->decider->stats.probes;
	world_run(w, GP_SEC);
	EXPECT_EQ(w->decider->stats.probes, probes);
	/* The dump has its own process, so new queues are found while a session hangs. */
	EXPECT_EQ(world_find(w, other)->nr_watched, 1);
	/* Probes wait until the driver is free, without spinning. */
	waiting = gp_scheduler_of(w->decider->backend)->nr_probes;
	EXPECT(waiting > 0 && waiting < 4);
	EXPECT(gp_decider_wake_at(w->decider) > w->decider->now_ns);
	w->debug.acting = false;
	world_run(w, 100 * GP_MSEC);
	EXPECT(w->decider->stats.probes > probes);
	EXPECT_EQ(world_find(w, other)->nr_watched, 1);
}

static void the_kill_switch_releases_and_outlasts_the_decider(void **state)
{
	struct world *w = *state;
	char why[GP_DECIDER_WHY];
	u32 online, offline;

	world_two_preempted(w, &online, &offline);
	EXPECT_EQ(gp_decider_enable(w->decider, false, why), 1);
	world_run(w, 5 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	EXPECT_EQ(w->debug.deletes, 1);
	EXPECT_EQ(world_find(w, offline)->attachment, GP_NOT_ATTACHED);
	EXPECT_EQ(gp_decider_enable(w->decider, false, why), 0);

	gp_decider_free(w->decider);
	w->decider = NULL;
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	world_class(w, online, "online");
	world_run(w, 100 * GP_MSEC);
	EXPECT(!w->decider->enabled);
	EXPECT_EQ(w->debug.attaches, 1);		/* the earlier one */
	EXPECT_EQ(gp_decider_enable(w->decider, true, why), 1);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(w->debug.attaches, 2);
}

static void a_process_that_ends_while_held_leaves_nothing(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	world_two_preempted(w, &online, &offline);
	world_end(w, offline);
	/* The pidfd reports the end before any scan. */
	w->decider->scan_at_ns = GP_NEVER;
	world_run(w, 1 * GP_MSEC);
	EXPECT_EQ(w->decider->nr_processes, 1);
	EXPECT(!gp_decider_busy(w->decider));
	EXPECT_EQ(w->decider->stats.ended.stopped, 1);
}

static void a_process_that_ended_does_not_come_back_while_the_driver_lists_it(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, WORLD_ACTING);
	i = world_process(w);
	world_queue(w, i, 0);
	world_run(w, 20 * GP_MSEC);
	EXPECT_EQ(w->decider->nr_processes, 1);
	/* It stays a zombie and in the driver's directory. */
	kill(w->process[i].pid, SIGKILL);
	while (w->decider->nr_processes)
		world_run(w, GP_MSEC);
	EXPECT(!strcmp(w->news, "is gone"));
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(w->decider->nr_processes, 0);
	EXPECT_EQ(w->decider->stats.seen, 1);
	EXPECT_EQ(w->decider->stats.gone, 1);
	world_end(w, i);
}

static void users_are_told_of_a_process_when_it_has_a_queue(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, WORLD_ACTING);
	w->news[0] = '\0';
	i = world_process(w);
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(w->decider->nr_processes, 1);
	EXPECT(!w->news[0]);
	world_queue(w, i, 0);
	world_run(w, 2 * GP_SEC);
	EXPECT(!strcmp(w->news, "has 1 queue"));
	world_queue(w, i, 1);
	world_run(w, 2 * GP_SEC);
	EXPECT(!strcmp(w->news, "has 2 queues"));
}

static void only_a_managed_process_with_queues_costs_a_descriptor(void **state)
{
	struct world *w = *state;
	u32 i;

	world_decider(w, WORLD_ACTING);
	i = world_process(w);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, i)->pidfd, -1);
	world_queue(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT(world_find(w, i)->pidfd >= 0);
	world_class(w, i, "unmanaged");
	EXPECT_EQ(world_find(w, i)->pidfd, -1);
	world_class(w, i, "offline");
	EXPECT(world_find(w, i)->pidfd >= 0);
	world_queue_gone(w, i, 0);
	world_run(w, 30 * GP_MSEC);
	EXPECT_EQ(world_find(w, i)->pidfd, -1);
}

static void what_is_held_is_released_before_leaving(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	world_two_preempted(w, &online, &offline);
	gp_decider_leave(w->decider, w->decider->now_ns);
	EXPECT(!gp_decider_quiet(w->decider));
	world_run(w, 5 * GP_MSEC);
	EXPECT(gp_decider_quiet(w->decider));
	EXPECT_EQ(w->debug.deletes, 1);
}

static void a_process_that_cannot_be_attached_is_no_target(void **state)
{
	struct world *w = *state;
	u32 online, offline;

	w->debug.attach_error = -EALREADY;
	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	world_pair(w, &online, &offline);
	world_run(w, 50 * GP_MSEC);
	world_submit(w, offline, 0, 8);
	world_submit(w, online, 0, 1);
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 1);
	EXPECT_EQ(w->holding, 1);
	EXPECT(strstr(world_find(w, offline)->trouble, "debugger"));
	/* The daemon retries after a delay. */
	w->debug.attach_error = 0;
	world_run(w, 10 * GP_SEC);
	EXPECT_EQ(w->debug.attaches, 2);
	EXPECT(!world_find(w, offline)->trouble[0]);
}

static void queues_come_and_go(void **state)
{
	struct world *w = *state;
	u32 online, offline, i, queues = 0;

	world_two(w, &online, &offline);
	for (i = 1; i < WORLD_QUEUES; i++)
		world_queue(w, online, i);
	world_run(w, 100 * GP_MSEC);
	EXPECT_EQ(world_find(w, online)->nr_watched, WORLD_QUEUES);
	EXPECT(!world_find(w, online)->watched_stale);
	world_submit(w, online, 3, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_OFF);
	/* The queue with the work disappears, so the offline process may run again. */
	world_queue_gone(w, online, 3);
	world_run(w, 300 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_ON);
	for (i = 0; i < world_sched(w)->limits.queues; i++)
		queues += world_sched(w)->queues[i].seat != GP_NONE;
	EXPECT_EQ(queues, WORLD_QUEUES);	/* three and one */
}

static void a_bad_dump_is_trouble_and_nothing_else(void **state)
{
	struct world *w = *state;
	u32 a, b;

	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	fake_tree_remove(w->tree, "mqds");
	a = world_process(w);
	b = world_process(w);
	world_class(w, a, "online");
	world_run(w, 20 * GP_MSEC);
	fake_tree_put(w->tree, "0", "kfd/proc/%d/queues/0/type", w->process[a].pid);
	fake_tree_put(w->tree, "4096", "kfd/proc/%d/queues/0/size", w->process[a].pid);
	fake_tree_put(w->tree, "54702", "kfd/proc/%d/queues/0/gpuid", w->process[a].pid);
	world_run(w, GP_SEC);
	EXPECT_EQ(w->decider->dump_error, -ENOENT);
	EXPECT(strstr(w->news, "debugfs"));
	world_queue(w, b, 0);
	fake_tree_put(w->tree, "nonsense\n", "mqds");
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(w->decider->dump_error, -EPROTO);
}

static void a_process_that_cannot_be_attached_is_listed_with_its_own_reason(void **state)
{
	static const struct {
		int err;
		const char *text;
	} cases[] = {
		{ -EXDEV, "crash" },	/* lib/kfd_debug/vm.h */
		{ -EOPNOTSUPP, "never enables the debug runtime" },
		{ -ENOSYS, "no debug interface" },
		{ -EPERM, "may not be traced" },
		{ -EBUSY, "one at a time" },
		{ -EAGAIN, "not enabled yet" },
	};
	struct world *w = *state;
	u32 online, offline, i;

	world_decider(w, WORLD_ACTING WORLD_LOOKS);
	online = world_process(w);
	world_class(w, online, "online");
	world_queue(w, online, 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w->debug.attach_error = cases[i].err;
		offline = world_process(w);
		world_queue(w, offline, 0);
		world_run(w, GP_SEC);
		if (!strstr(world_find(w, offline)->trouble, cases[i].text))
			fail_msg("%d: %s", cases[i].err, world_find(w, offline)->trouble);
		world_end(w, offline);
	}
}

static void online_work_beside_an_unpreemptible_process_is_told_if_configured(void **state)
{
	struct world *w = *state;
	char text[GP_DECIDER_WHY];
	u32 online, offline;

	w->debug.attach_error = -EOPNOTSUPP;
	world_decider(w, WORLD_ACTING "unpreemptible = no-online-beside\n" WORLD_LOOKS);
	world_pair(w, &online, &offline);
	world_run(w, 50 * GP_MSEC);
	EXPECT(gp_decider_trouble(w->decider, world_find(w, online), text));
	EXPECT(strstr(text, "shares a GPU with") && strstr(text, "debug runtime"));
	EXPECT_EQ(gp_decider_unpreemptible(w->decider, text), 1);
	/* A process that must not be preempted is no trouble. */
	world_class(w, offline, "unmanaged");
	world_run(w, 50 * GP_MSEC);
	EXPECT(!gp_decider_trouble(w->decider, world_find(w, online), text));
	EXPECT_EQ(gp_decider_unpreemptible(w->decider, text), 0);
}

static void a_reset_loses_the_processes_of_before_and_none_of_after(void **state)
{
	struct world *w = *state;
	u32 online, offline, later;

	world_two_preempted(w, &online, &offline);
	gp_resets_event(w->decider, 0, GP_RESET_BEGINS);
	EXPECT(strstr(w->news, "2 processes are lost"));
	gp_resets_event(w->decider, 0, GP_RESET_ENDS);
	world_run(w, 200 * GP_MSEC);
	EXPECT_EQ(world_state(w, offline), GP_LOST);
	EXPECT_EQ(world_state(w, online), GP_LOST);
	EXPECT_EQ(w->debug.deletes, 1);
	EXPECT_EQ(w->decider->stats.resets, 1);
	EXPECT_EQ(w->decider->stats.lost, 2);
	EXPECT(!gp_decider_busy(w->decider));
	EXPECT(strstr(world_find(w, offline)->trouble, "was reset"));

	/* Another pair works as before. */
	world_end(w, online);
	world_pair(w, &online, &later);
	world_run(w, 30 * GP_MSEC);
	world_submit(w, later, 0, 8);
	world_occupy(w, later, 80);
	world_run(w, 5 * GP_MSEC);
	world_submit(w, online, 0, 1);
	world_run(w, 3 * GP_MSEC);
	EXPECT_EQ(world_state(w, later), GP_OFF);
	EXPECT_EQ(world_state(w, offline), GP_LOST);
}

static void what_the_driver_says_of_resets(void **state)
{
	static const struct {
		const char *text;
		u32 what;
	} cases[] = {
		{ "3 1 gfx hang\n", GP_RESET_BEGINS }, { "4 1 \n", GP_RESET_ENDS },
		{ "3 1 \n4 1 \n", GP_RESET_BEGINS | GP_RESET_ENDS }, { "", 0 }, { "3", 0 },
		{ "9 81234567890 -4321 d5ae 4\n", 0 }, { "13 1\n", 0 }, { "a 3 4 \n", 0 },
		{ "a 1\n3 7 x\n", GP_RESET_BEGINS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		EXPECT_EQ(gp_reset_parse(cases[i].text, strlen(cases[i].text)), cases[i].what);
}

PROVE(
	CLAIM_WITH(online_work_takes_the_gpu_and_gives_it_back, world_up, world_down),
	CLAIM_WITH(sums_are_read_without_the_histograms, world_up, world_down),
	CLAIM_WITH(a_stop_is_over_when_its_answer_is_taken, world_up, world_down),
	CLAIM_WITH(the_online_process_is_never_attached, world_up, world_down),
	CLAIM_WITH(a_decider_that_attaches_is_busy, world_up, world_down),
	CLAIM_WITH(an_attach_under_way_ends_busy_after_switching_off, world_up, world_down),
	CLAIM_WITH(a_process_that_keeps_no_other_off_is_not_attached, world_up, world_down),
	CLAIM_WITH(a_process_is_not_attached_before_its_queue_is_old_enough, world_up, world_down),
	CLAIM_WITH(observing_attaches_and_stops_no_process, world_up, world_down),
	CLAIM_WITH(mechanism_none_decides_and_is_refused, world_up, world_down),
	CLAIM_WITH(slow_probes_delay_no_decision, world_up, world_down),
	CLAIM_WITH(no_waves_on_the_first_of_several_xccs_proves_nothing, world_up, world_down),
	CLAIM_WITH(no_waves_on_the_only_xcc_is_idle, world_up, world_down),
	CLAIM_WITH(the_driver_is_not_probed_while_it_acts, world_up, world_down),
	CLAIM_WITH(the_kill_switch_releases_and_outlasts_the_decider, world_up, world_down),
	CLAIM_WITH(a_process_that_ends_while_held_leaves_nothing, world_up, world_down),
	CLAIM_WITH(a_process_that_ended_does_not_come_back_while_the_driver_lists_it, world_up,
		   world_down),
	CLAIM_WITH(users_are_told_of_a_process_when_it_has_a_queue, world_up, world_down),
	CLAIM_WITH(only_a_managed_process_with_queues_costs_a_descriptor, world_up, world_down),
	CLAIM_WITH(what_is_held_is_released_before_leaving, world_up, world_down),
	CLAIM_WITH(a_process_that_cannot_be_attached_is_no_target, world_up, world_down),
	CLAIM_WITH(queues_come_and_go, world_up, world_down),
	CLAIM_WITH(a_bad_dump_is_trouble_and_nothing_else, world_up, world_down),
	CLAIM_WITH(a_process_that_cannot_be_attached_is_listed_with_its_own_reason, world_up,
		   world_down),
	CLAIM_WITH(online_work_beside_an_unpreemptible_process_is_told_if_configured, world_up,
		   world_down),
	CLAIM_WITH(a_reset_loses_the_processes_of_before_and_none_of_after, world_up, world_down),
	CLAIM(what_the_driver_says_of_resets),
)
