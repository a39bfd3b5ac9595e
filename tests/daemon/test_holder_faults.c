// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System calls that fail or are late: those of holders, of their sessions and of the decider's
 * side of them. The driver is simulated (holder_sim.h). Every scenario runs once per fault
 * (sys_sweep.h).
 */
#include <dirent.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/param.h"
#include "core/task.h"
#include "daemon/children.h"
#include "daemon/holders.h"
#include "daemon/log.h"
#include "tests/shared/gp_test.h"
#include "holder_sim.h"
#include "tests/shared/sys_sweep.h"

#define LEASE		(100 * GP_MSEC)
#define LATE		(50 * GP_MSEC)
/* A holder that dies early is restarted after a second, which doubles up to a minute. */
#define PATIENCE	(200 * GP_SEC)
#define STEP		(20 * GP_MSEC)

enum { TASKS = SIM_TARGETS };

/* One process per task. Task 1 is target 0. */
struct task {
	bool wanted, attached;
	u64 again_ns;		/* time of the next attach */
	u64 action;		/* under way; 0: none */
	u64 begun_ns;
	bool out;
	u32 outcome;		/* of the last action */
};

static struct {
	struct gp_holders *h;
	struct gp_mechanism *m;
	int supervisor;		/* the test's end */
	struct task task[TASKS];
	u64 actions;
	bool silent;		/* the decider does not run */
} world;

static struct sys_sweep_sum sum;

static u64 clock_of(void *ctx)
{
	(void)ctx;
	return gp_sys->monotonic_ns();
}

static u32 descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	u32 nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* ---- the decider ---- */

static void add(u32 i)
{
	struct gp_holders_process p = {
		.pid = sim.target[i].pid, .start = sim.target[i].start, .user = getuid(),
	};
	struct task *t = &world.task[i];

	t->wanted = true;
	/* Attaches now or sets the time of a retry. */
	t->again_ns = gp_holders_process_add(world.h, i + 1, &p) ? sim.now_ns + GP_SEC : 0;
}

static void take_event(const struct gp_holders_event *e)
{
	struct task *t = &world.task[e->task - 1];

	if (e->what == GP_HOLDERS_ATTACHED)
		t->attached = true;
	if (e->what != GP_HOLDERS_NOT_ATTACHED && e->what != GP_HOLDERS_LEFT)
		return;
	t->attached = false;
	t->again_ns = sim.now_ns + GP_SEC;
}

static void take_answer(const struct gp_answer *a)
{
	struct task *t = &world.task[a->task - 1];
	const struct sim_target *target = &sim.target[a->task - 1];

	if (a->action != t->action)
		return;		/* late answer */
	t->action = 0;
	t->outcome = a->outcome;
	/* The reported result must match the driver's state. */
	if (a->outcome == GP_DONE && !sim.late_ns && t->attached)
		EXPECT(target->held == (t->out ? (1u << target->queues) - 1 : 0));
}

static void decide(void)
{
	struct gp_holders_event e;
	struct gp_answer a;

	while (!gp_holders_next(world.h, &e))
		take_event(&e);
	while (!world.m->ops->poll(world.m, sim.now_ns, &a))
		take_answer(&a);
	for (u32 i = 0; i < TASKS; i++) {
		struct task *t = &world.task[i];

		if (t->wanted && t->again_ns && sim.now_ns >= t->again_ns)
			add(i);
		/* Every action gets an answer. */
		EXPECT(!t->action || sim.now_ns < t->begun_ns + 2 * GP_SEC + sim.late_ns);
	}
}

/* ---- time ---- */

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void check(void)
{
	for (u32 i = 0; i < SIM_TARGETS; i++) {
		const struct sim_target *t = &sim.target[i];

		/* Only a late call may exceed the lease. */
		if (t->held && sim.now_ns > t->until_ns + LATE + sim.late_ns)
			fail_msg("process %u is off %llu us after its lease", i,
				 (unsigned long long)(sim.now_ns - t->until_ns) / 1000);
	}
	if (sim.broken)
		fail_msg("%s", sim.broken);
}

static void step(u64 until)
{
	u64 at, wake;

	if (!world.silent && world.h)
		decide();
	sim_supervise(world.supervisor);
	sim_settle();
	check();
	at = sim_wake_at();
	if (world.h && !world.silent) {
		wake = gp_holders_wake_at(world.h);
		at = wake < at ? wake : at;
		if (is_readable(gp_holders_fd(world.h)))
			at = 0;
	}
	if (at < sim.now_ns + 10 * GP_USEC)
		at = sim.now_ns + 10 * GP_USEC;
	if (at > sim.now_ns + STEP)
		at = sim.now_ns + STEP;
	sim.now_ns = at < until ? at : until;
}

static void run(u64 ns)
{
	for (u64 until = sim.now_ns + ns; sim.now_ns < until;)
		step(until);
}

/* Runs until @cond, which may have side effects, is true, for at most PATIENCE. */
#define RUN_UNTIL(cond)							\
do {									\
	u64 until_ = sim.now_ns + PATIENCE;				\
	bool is_;							\
									\
	while (!(is_ = (cond)) && sim.now_ns < until_)			\
		step(until_);						\
	if (!is_)							\
		fail_msg("ran in vain for %s", #cond);			\
} while (0)

/* ---- actions ---- */

static bool move(u32 i, bool out)
{
	struct task *t = &world.task[i];
	u32 task = i + 1;
	struct gp_action a = {
		.id = ++world.actions * 64, .tasks = &task, .nr_out = out, .nr_in = !out,
		.deadline_ns = sim.now_ns + 100 * GP_MSEC,
	};

	if (t->action)
		return false;
	t->action = a.id;
	t->begun_ns = sim.now_ns;
	t->out = out;
	if (world.m->ops->begin(world.m, &a, sim.now_ns)) {
		t->action = 0;
		return false;
	}
	return true;
}

static bool move_and_wait(u32 i, bool out)
{
	RUN_UNTIL(!world.task[i].action);
	if (!move(i, out))
		return false;
	RUN_UNTIL(!world.task[i].action);
	return world.task[i].outcome == GP_DONE;
}

/* ---- life ---- */

static bool open_holders(void)
{
	static const struct gp_holders_gpu gpus[] = { { SIM_GPU, 80 } };
	struct gp_holders_args args = {
		.gpus = gpus, .nr_gpus = 1, .lease_ns = LEASE, .attach_interval_ns = GP_MSEC,
		.clock = clock_of,
	};

	if (gp_holders_alloc(&args, &world.h)) {
		world.h = NULL;
		return false;
	}
	world.m = gp_holders_mechanism(world.h);
	for (u32 i = 0; i < TASKS; i++) {
		EXPECT_EQ(gp_holders_task_add(world.h, i + 1, 1), 0);
		add(i);
	}
	return true;
}

/* Connects the decider to the supervisor. Returns the number of open descriptors before that. */
static u32 begin(void)
{
	u32 before = descriptors();
	int ends[2];

	memset(&world, 0, sizeof(world));
	sim.late_ns = sim.died = 0;
	for (u32 i = 0; i < SIM_TARGETS; i++)
		sim.target[i].queues = SIM_QUEUES - 1;
	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_children_connect(ends[0]), 0);
	world.supervisor = ends[1];
	return before;
}

static bool all_attached(void)
{
	return world.task[0].attached && world.task[1].attached;
}

/* After the faults: expects that everything works and that nothing is left behind. */
static void end(u32 before)
{
	sys_faults_end();
	world.silent = false;
	if (!world.h)
		EXPECT(open_holders());
	for (u32 i = 0; i < TASKS; i++)
		if (!world.task[i].wanted)
			add(i);
	for (u32 i = 0; i < TASKS; i++) {
		RUN_UNTIL(all_attached() && !world.task[i].action);
		/* A session that failed is attached again. */
		RUN_UNTIL(all_attached() && move_and_wait(i, true));
		RUN_UNTIL(move_and_wait(i, false));
		EXPECT(!sim.target[i].held);
	}
	for (u32 i = 0; i < TASKS; i++)
		world.task[i].wanted = false;
	RUN_UNTIL(gp_holders_leave(world.h));
	gp_holders_free(world.h);
	world.h = NULL;
	RUN_UNTIL(sim_is_empty());
	gp_children_disconnect();
	close(world.supervisor);
	for (u32 i = 0; i < SIM_TARGETS; i++) {
		const struct sim_target *t = &sim.target[i];

		EXPECT(!t->held && !t->debugger && !t->tracer && t->pipe < 0);
	}
	EXPECT_EQ(descriptors(), before);
}

static void new_queue(u32 i)
{
	char byte = 0;

	sim.target[i].queues++;
	sim.target[i].new_queue = true;
	if (sim.target[i].pipe >= 0)
		EXPECT_EQ(write(sim.target[i].pipe, &byte, 1), 1);
}

/* ---- scenarios ---- */

/* Attaches, stops, renews and starts processes. */
static void attach(void *ctx, const struct sys_fault *faults, u32 nr)
{
	u32 before = begin();

	(void)ctx;
	sys_faults_begin_all(faults, nr);
	if (open_holders()) {
		run(20 * GP_MSEC);
		move(0, true);
		run(10 * GP_MSEC);
		move(0, false);
		run(10 * GP_MSEC);
	}
	end(before);
}

/* Begins the faults after all processes are attached. */
static u32 begin_attached(const struct sys_fault *faults, u32 nr)
{
	u32 before = begin();

	EXPECT(open_holders());
	RUN_UNTIL(all_attached());
	sys_faults_begin_all(faults, nr);
	return before;
}

/* Holds a process for some leases. It gets a queue meanwhile, and the decider stops running. */
static void hold(void *ctx, const struct sys_fault *faults, u32 nr)
{
	u32 before = begin_attached(faults, nr);

	(void)ctx;
	move(0, true);
	run(10 * GP_MSEC);
	move(1, true);
	run(3 * LEASE / 2);
	new_queue(0);
	run(20 * GP_MSEC);
	move(1, false);
	run(20 * GP_MSEC);
	world.silent = true;
	run(LEASE + LATE + 10 * GP_MSEC);
	EXPECT(!sim.target[0].held || sim.late_ns);
	world.silent = false;
	run(20 * GP_MSEC);
	end(before);
}

/* Leaves a process that is off and kills the holder of another one. */
static void leave(void *ctx, const struct sys_fault *faults, u32 nr)
{
	u32 before = begin_attached(faults, nr);

	(void)ctx;
	move(0, true);
	run(5 * GP_MSEC);
	move(1, true);
	run(10 * GP_MSEC);
	world.task[0] = (struct task){ 0 };
	gp_holders_process_del(world.h, sim.target[0].pid);
	run(20 * GP_MSEC);
	EXPECT(!sim.target[0].held || sim.now_ns < sim.target[0].until_ns + LATE);
	sim_kill_holders();
	EXPECT(!sim.target[1].held);
	run(20 * GP_MSEC);
	end(before);
}

static int up(void **state)
{
	gp_log_open(GP_LOG_ERROR);
	return sim_up(state);
}

static int down(void **state)
{
	sys_sweep_tell();
	gp_children_disconnect();
	return sim_down(state);
}

static void sweep(const char *name, void (*scenario)(void *ctx, const struct sys_fault *faults,
						     u32 nr))
{
	/* Every write is to an eventfd and fails only when it is full. */
	const struct sys_sweep s = {
		.name = name, .scenario = scenario, .late_ns = { 3 * GP_MSEC, 300 * GP_MSEC },
		.spared = BIT_ULL(GP_SYS_write), .sample = 700, .rounds = 50,
	};

	sys_sweep_run(&s, &sum);
}

static void failed_calls_while_a_process_is_attached_lose_no_process(void **state)
{
	(void)state;
	sweep("attach", attach);
}

static void failed_calls_let_no_process_be_off_beyond_its_lease(void **state)
{
	(void)state;
	sweep("hold", hold);
}

static void failed_calls_while_processes_are_left_leave_none_of_them_off(void **state)
{
	(void)state;
	sweep("leave", leave);
}

static void enough_faults_were_tried(void **state)
{
	(void)state;
	sys_sweep_enough(sum.tried, 100000);
}

PROVE(
	CLAIM_WITH(failed_calls_while_a_process_is_attached_lose_no_process, up, down),
	CLAIM_WITH(failed_calls_let_no_process_be_off_beyond_its_lease, up, down),
	CLAIM_WITH(failed_calls_while_processes_are_left_leave_none_of_them_off, up, down),
	CLAIM(enough_faults_were_tried),
)
