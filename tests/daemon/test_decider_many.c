// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Thousands of idle processes of one user. A run of the decider does a bounded part of the work,
 * and decisions about processes of other users do not change. The clock is the world's.
 */
#include "decider_world.h"
#include "tests/shared/sys_faults.h"

enum {
	MANY	= 12345,	/* the user with the idle processes */
	IDLE	= 4096,
	ROUNDS	= 50,
};

/* The longest interval between two looks in WORLD_LOOKS. */
#define LOOK_NS		(500 * GP_USEC)
/* A step of the scanner makes at most 24 calls, and a run makes 16 steps. */
#define RUN_CALLS	(16 * 24)

struct result {
	u64 latest_ns;		/* longest time from a packet to the stop of the other process */
	u64 looks, scans, stopped;
	u64 calls_max;		/* most calls of one run */
};

static void wait_for(struct world *w, u32 i, u32 state)
{
	u32 steps;

	for (steps = 0; world_state(w, i) != state; steps++) {
		EXPECT(steps < 100000);
		world_run(w, 0);
	}
}

/* The online process gets a packet and the offline one is stopped, then started again. */
static void preempt(struct world *w, u32 online, u32 offline, struct result *r)
{
	u64 began, until;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		until = w->now_ns + 20 * GP_MSEC;
		began = w->now_ns;
		world_submit(w, online, 0, 1);
		wait_for(w, offline, GP_OFF);
		if (w->now_ns - began > r->latest_ns)
			r->latest_ns = w->now_ns - began;
		world_complete(w, online, 0, 1);
		wait_for(w, offline, GP_ON);
		world_run(w, until - w->now_ns);
	}
}

/* Measures this in a world with @idle processes of another user. */
static struct result measure(u32 idle)
{
	u32 online, offline, i, tracked = idle < GP_USER_PROCESSES_MAX ? idle :
									 GP_USER_PROCESSES_MAX;
	static struct gp_account a;
	struct result r = { 0 };
	struct world *w;
	void *state;

	world_up(&state);
	w = state;
	world_own_proc(w);
	world_two(w, &online, &offline);
	world_idle(w, MANY, idle);
	sys_faults_begin(NULL);
	world_run(w, GP_SEC);
	EXPECT_EQ(w->decider->nr_processes, 2 + tracked);
	r.looks = w->decider->stats.looks;
	r.scans = w->decider->stats.scans;
	preempt(w, online, offline, &r);
	r.looks = w->decider->stats.looks - r.looks;
	r.scans = w->decider->stats.scans - r.scans;
	r.calls_max = w->calls_max;
	sys_faults_end();
	EXPECT_EQ(gp_decider_account(w->decider, world_find(w, offline), &a), 0);
	r.stopped = a.stopped;
	/* A new process is found, too. */
	i = world_process(w);
	world_queue(w, i, 0);
	world_run(w, 100 * GP_MSEC);
	EXPECT(world_find(w, i)->task != GP_NONE);
	world_down(&state);
	return r;
}

static void idle_processes_of_one_user_change_nothing_for_another(void **state)
{
	struct result alone = measure(0), beside = measure(IDLE);

	(void)state;
	print_message("# latest %llu/%llu us, looks %llu/%llu, scans %llu/%llu, calls %llu/%llu\n",
		      (unsigned long long)alone.latest_ns / 1000,
		      (unsigned long long)beside.latest_ns / 1000, (unsigned long long)alone.looks,
		      (unsigned long long)beside.looks, (unsigned long long)alone.scans,
		      (unsigned long long)beside.scans, (unsigned long long)alone.calls_max,
		      (unsigned long long)beside.calls_max);
	EXPECT_EQ(alone.stopped, ROUNDS);
	EXPECT_EQ(beside.stopped, ROUNDS);
	EXPECT(beside.latest_ns <= alone.latest_ns + LOOK_NS);
	EXPECT(beside.looks >= alone.looks - alone.looks / 10);
	/* All idle processes are scanned repeatedly meanwhile, a part in each run. */
	EXPECT(beside.scans >= alone.scans / 2);
	EXPECT(beside.calls_max > alone.calls_max && beside.calls_max <= RUN_CALLS);
}

static void classes_set_by_hand_cost_a_scan_little(void **state)
{
	const struct gp_class_request old = { .who = { 1, 1 }, .class_name = "offline" };
	struct world *w = *state;
	u32 i;

	world_decider(w, WORLD_ACTING);
	sys_faults_begin(NULL);
	world_run(w, 100 * GP_MSEC);
	/* The processes of these requests have ended, and other processes have their pids. */
	for (i = 0; i < GP_CLASS_REQUESTS; i++)
		w->decider->request[i] = old;
	w->decider->nr_requests = i;
	world_run(w, 2 * GP_SEC);
	EXPECT_EQ(w->decider->nr_requests, 0);
	EXPECT(w->calls_max <= RUN_CALLS);
	sys_faults_end();
}

PROVE(
	CLAIM_WITH(classes_set_by_hand_cost_a_scan_little, world_up, world_down),
	CLAIM(idle_processes_of_one_user_change_nothing_for_another),
)
