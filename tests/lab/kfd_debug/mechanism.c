// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanism beyond its promises: who comes, goes and changes while held. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kfd_debug.h"
#include "lib/gpu.h"
#include "lib/mechanism_kfd_debug.h"
#include "lib/process.h"

enum { TASK = 7, PATIENCE_MS = 30000 };

static struct gp_kfdm *mechanism(bool stay_attached)
{
	struct gp_kfdm_args args = {
		.kfd_fd = open_kfd(), .nr_gpus = 1, .stay_attached = stay_attached,
	};
	struct gp_gpu_info info;
	struct gp_kfdm_gpu gpu;
	struct gp_kfdm *m;
	u32 count;

	NEED(gp_gpus_read(NULL, &info, 1, &count) == 0 && count == 1);
	gpu = (struct gp_kfdm_gpu){ .gpu_id = info.gpu_id, .cus = info.cus };
	args.gpus = &gpu;
	NEED(gp_kfdm_alloc(&args, &m) == 0);
	NEED(gp_kfdm_task_add(m, TASK, 1) == 0);
	return m;
}

static bool readable(struct gp_kfdm *m)
{
	return poll(&(struct pollfd){ .fd = gp_kfdm_fd(m), .events = POLLIN }, 1, PATIENCE_MS) == 1;
}

static struct gp_kfdm_event event(struct gp_kfdm *m)
{
	struct gp_kfdm_event e;

	while (gp_kfdm_next(m, &e))
		NEED(readable(m));
	return e;
}

static void add(struct gp_kfdm *m, const struct target *t)
{
	struct gp_kfdm_process p = { .pid = t->pid };

	NEED(gp_process_start(NULL, t->pid, &p.start) == 0);
	NEED(gp_kfdm_process_add(m, TASK, &p) == 0);
}

static void attach(struct gp_kfdm *m, const struct target *t)
{
	struct gp_kfdm_event e;

	add(m, t);
	e = event(m);
	EQ(e.what, GP_KFDM_ATTACHED);
	EQ(e.pid, t->pid);
	EQ(e.task, TASK);
}

/* One action about the task, to its answer. */
static u32 act(struct gp_kfdm *m, bool stop)
{
	struct gp_mechanism *base = gp_kfdm_mechanism(m);
	static u64 id;
	u32 task = TASK;
	struct gp_action action = {
		.id = id += 64, .nr_out = stop, .nr_in = !stop, .tasks = &task,
		.deadline_ns = ~0ull,
	};
	struct gp_answer a;

	/* The last one has been answered, and is over a moment later. */
	while (base->ops->begin(base, &action, 0) == -EBUSY)
		usleep(1000);
	while (base->ops->poll(base, 0, &a))
		NEED(readable(m));
	EQ(a.action, action.id);
	EQ(a.task, TASK);
	return a.outcome;
}

static void new_queue_while_held(void)
{
	struct gp_kfdm *m = mechanism(false);
	struct target t = target_busy(1);
	struct gp_kfdm_stats stats;
	struct gp_kfdm_event e;

	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	target_queue(&t, 1);
	e = event(m);
	EQ(e.what, GP_KFDM_QUEUES);
	EQ(e.count, 1);
	e = event(m);
	EQ(e.what, GP_KFDM_RETAKEN);
	CHECK(e.ns > 0);
	CHECK(device_maps(t.pid, t.ring[1], false));
	CHECK(held(&t, 0) && held(&t, 1));
	gp_kfdm_stats(m, &stats);
	EQ(stats.retakes, 1);
	EQ(stats.retake_ns_max, e.ns);
	EQ(act(m, false), GP_DONE);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	/* not held: only told */
	target_queue(&t, 2);
	EQ(event(m).what, GP_KFDM_QUEUES);
	CHECK(device_maps(t.pid, t.ring[2], true));
	gp_kfdm_free(m);
	target_ends_right(&t);
}

static void killed_while_held(void)
{
	struct gp_kfdm *m = mechanism(false);
	struct target t = target_busy(1);
	struct gp_kfdm_event e;

	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	e = event(m);
	EQ(e.what, GP_KFDM_LEFT);
	EQ(e.err, -ESRCH);
	EQ(act(m, false), GP_DONE);
	gp_kfdm_free(m);
	CHECK(driver_forgot(t.pid));
}

static void shut_down_while_held(void)
{
	struct gp_kfdm *m = mechanism(false);
	struct target t = target_busy(1);
	struct gp_kfdm_stats stats;
	struct gp_kfdm_event e;

	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	e = event(m);
	EQ(e.what, GP_KFDM_LEFT);
	EQ(e.err, -EAGAIN);
	gp_kfdm_stats(m, &stats);
	EQ(stats.runtime_ends, 1);
	EQ(act(m, true), GP_REFUSED);	/* nobody of it can be stopped */
	CHECK(device_maps(t.pid, t.ring[0], true));
	gp_kfdm_free(m);
	target_ends_right(&t);
}

static void deleted_while_held(void)
{
	struct gp_kfdm *m = mechanism(false);
	struct target t = target_busy(2);

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	EQ(gp_kfdm_process_del(m, t.pid), 0);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	/* and back at once */
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	CHECK(held(&t, 0));
	EQ(gp_kfdm_task_del(m, TASK), 0);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	EQ(gp_kfdm_task_add(m, TASK, 1), 0);
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	gp_kfdm_free(m);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	target_ends_right(&t);
}

static void a_gang(void)
{
	struct gp_kfdm *m = mechanism(false);
	struct target t = target_busy(1), u = target_busy(1);

	attach(m, &t);
	attach(m, &u);
	for (u32 i = 0; i < 5; i++) {
		EQ(act(m, true), GP_DONE);
		CHECK(device_maps(t.pid, t.ring[0], false) && device_maps(u.pid, u.ring[0], false));
		EQ(act(m, false), GP_DONE);
	}
	/* One that may not be stopped, and none is. */
	EQ(gp_kfdm_process_add(m, TASK, &(struct gp_kfdm_process){ getpid(), 0, true }), 0);
	EQ(act(m, true), GP_REFUSED);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(u.pid, u.ring[0], true));
	EQ(gp_kfdm_process_del(m, getpid()), 0);
	/* One is gone: the other is stopped. */
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	EQ(event(m).what, GP_KFDM_LEFT);
	EQ(act(m, true), GP_DONE);
	CHECK(held(&u, 0));
	EQ(act(m, false), GP_DONE);
	gp_kfdm_free(m);
	target_ends_right(&u);
}

static void not_ready_yet(void)
{
	struct gp_kfdm *m = mechanism(false);
	struct target t = target_start();
	struct gp_kfdm_event e;

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	add(m, &t);
	e = event(m);
	EQ(e.what, GP_KFDM_NOT_ATTACHED);
	EQ(e.err, -EAGAIN);
	EQ(act(m, true), GP_REFUSED);
	EQ(target_ask(&t, ASK_RUNTIME, GP_KFD_RUNTIME_ENABLE), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_LONG, 0), 0);
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	CHECK(held(&t, 0));
	gp_kfdm_free(m);
	target_ends_right(&t);
}

static void stays_attached(void)
{
	struct gp_kfdm *m = mechanism(true);
	struct target t = target_busy(1), u = target_busy(1);

	attach(m, &t);
	attach(m, &u);
	CHECK(is_traced(t.pid) && is_traced(u.pid));
	for (u32 i = 0; i < 5; i++) {
		EQ(act(m, true), GP_DONE);
		CHECK(device_maps(t.pid, t.ring[0], false) && device_maps(u.pid, u.ring[0], false));
		kill(t.pid, SIGUSR1);
		kill(u.pid, SIGUSR1);
		EQ(act(m, false), GP_DONE);
		/* their signals do not stop them for good */
		CHECK(target_ask(&t, ASK_PENDING, 0) >= 0 && target_ask(&u, ASK_PENDING, 0) >= 0);
	}
	gp_kfdm_free(m);
	CHECK(!is_traced(t.pid) && !is_traced(u.pid));
	target_ends_right(&t);
	target_ends_right(&u);
}

/* A process whose mechanism holds @t; killed at some moment of holding and releasing. */
static void owner_killed(void)
{
	struct target t = target_busy(2);

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	for (u32 i = 0; i < 10; i++) {
		pid_t pid = fork();
		struct gp_kfdm *m;

		NEED(pid >= 0);
		if (!pid) {
			m = mechanism(false);
			attach(m, &t);
			for (;;) {
				act(m, true);
				act(m, false);
			}
		}
		/* among them moments of attaching, stopping, holding, starting */
		usleep(20000 + i * 13000);
		EQ(kill(pid, SIGKILL), 0);
		EQ(waitpid(pid, NULL, 0), pid);
		CHECK(driver_forgot(pid));
		CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	}
	target_ends_right(&t);
}

const struct story mechanisms[] = {
	{ "a queue that a held process creates is taken off again, counted and measured",
	  new_queue_while_held },
	{ "a process that is killed while held is told, and starting it is done",
	  killed_while_held },
	{ "one that shuts its runtime down while held is let go and told", shut_down_while_held },
	{ "a process, a task, the whole mechanism deleted while holding: everything runs",
	  deleted_while_held },
	{ "a gang of two stops and starts as one, or not at all; one may die", a_gang },
	{ "a process whose runtime is not ready is told and can be added again", not_ready_yet },
	{ "where processes must stay attached, one thread acts and signals get through",
	  stays_attached },
	{ "kill -9 of the owner at ten moments of stopping and starting leaves everything running",
	  owner_killed },
	{ NULL, NULL }
};
