// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanism beyond its promises: processes that come, go and change while held. */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/children.h"
#include "daemon/holders.h"
#include "kfd_debug.h"
#include "lib/gpu.h"
#include "lib/process.h"

enum { TASK = 7, PATIENCE_MS = 30000 };

static struct gp_holders *mechanism_with(struct gp_holders_args args)
{
	struct gp_gpu_info info;
	struct gp_holders_gpu gpu;
	struct gp_holders *m;
	int channel;
	u32 count;

	NEED(gp_gpus_read(NULL, &info, 1, &count) == 0 && count == 1);
	gpu = (struct gp_holders_gpu){ .gpu_id = info.gpu_id, .cus = info.cus };
	args.gpus = &gpu;
	args.nr_gpus = 1;
	gp_children_disconnect();
	NEED(gp_supervisor_fork(gp_roles, &channel) == 0);
	NEED(gp_children_connect(channel) == 0);
	NEED(gp_holders_alloc(&args, &m) == 0);
	NEED(gp_holders_task_add(m, TASK, 1) == 0);
	return m;
}

static struct gp_holders *mechanism(bool stay_attached)
{
	return mechanism_with((struct gp_holders_args){ .stay_attached = stay_attached });
}

/* Until there may be something to fetch, or to do. */
static void doze(struct gp_holders *m)
{
	int ms = gp_holders_wake_at(m) == ~0ull ? PATIENCE_MS : 20;

	NEED(poll(&(struct pollfd){ .fd = gp_holders_fd(m), .events = POLLIN }, 1, ms) == 1 ||
	     ms == 20);
}

static struct gp_holders_event event(struct gp_holders *m)
{
	struct gp_holders_event e;

	while (gp_holders_next(m, &e))
		doze(m);
	return e;
}

/* Until it is as it should be, with the mechanism at work meanwhile. */
static bool comes_to_be_mapped(struct gp_holders *m, const struct target *t, u32 ring)
{
	struct gp_holders_event e;

	while (gp_holders_attaching(m))
		if (gp_holders_next(m, &e))
			doze(m);
	return device_maps(t->pid, t->ring[ring], true);
}

static void add(struct gp_holders *m, const struct target *t)
{
	struct gp_holders_process p = { .pid = t->pid, .user = getuid() };

	NEED(gp_process_start(NULL, t->pid, &p.start) == 0);
	NEED(gp_holders_process_add(m, TASK, &p) == 0);
}

static void attach(struct gp_holders *m, const struct target *t)
{
	struct gp_holders_event e;

	add(m, t);
	e = event(m);
	EQ(e.what, GP_HOLDERS_ATTACHED);
	EQ(e.err, 0);
	EQ(e.pid, t->pid);
	EQ(e.task, TASK);
}

/* One action about the task, to its answer. */
static u32 act(struct gp_holders *m, bool stop)
{
	struct gp_mechanism *base = gp_holders_mechanism(m);
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
		doze(m);
	EQ(a.action, action.id);
	EQ(a.task, TASK);
	return a.outcome;
}

static void new_queue_while_held(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_busy(1);
	struct gp_holders_stats stats;
	struct gp_holders_event e;

	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	target_queue(&t, 1);
	e = event(m);
	EQ(e.what, GP_HOLDERS_QUEUES);
	EQ(e.count, 1);
	e = event(m);
	EQ(e.what, GP_HOLDERS_RETAKEN);
	CHECK(e.ns > 0);
	CHECK(device_maps(t.pid, t.ring[1], false));
	CHECK(held(&t, 0) && held(&t, 1));
	gp_holders_stats(m, &stats);
	EQ(stats.sessions.retakes, 1);
	EQ(stats.sessions.retake_ns_max, e.ns);
	EQ(act(m, false), GP_DONE);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	/* not held: only told */
	target_queue(&t, 2);
	EQ(event(m).what, GP_HOLDERS_QUEUES);
	CHECK(device_maps(t.pid, t.ring[2], true));
	gp_holders_free(m);
	target_ends_right(&t);
}

static void killed_while_held(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_busy(1);
	struct gp_holders_event e;

	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	e = event(m);
	EQ(e.what, GP_HOLDERS_LEFT);
	EQ(e.err, -ESRCH);
	EQ(act(m, false), GP_DONE);
	gp_holders_free(m);
	CHECK(driver_forgot(t.pid));
}

static void shut_down_while_held(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_busy(1);
	struct gp_holders_stats stats;
	struct gp_holders_event e;

	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	EQ(target_ask(&t, ASK_RUNTIME, 0), 0);
	e = event(m);
	EQ(e.what, GP_HOLDERS_LEFT);
	EQ(e.err, -EAGAIN);
	gp_holders_stats(m, &stats);
	EQ(stats.sessions.runtime_ends, 1);
	EQ(act(m, true), GP_REFUSED);	/* no queue of it can be stopped */
	CHECK(device_maps(t.pid, t.ring[0], true));
	gp_holders_free(m);
	target_ends_right(&t);
}

static void deleted_while_held(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_busy(2);

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	EQ(gp_holders_process_del(m, t.pid), 0);
	CHECK(comes_to_be_mapped(m, &t, 0) && comes_to_be_mapped(m, &t, 1));
	/* and back at once */
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	CHECK(held(&t, 0));
	EQ(gp_holders_task_del(m, TASK), 0);
	CHECK(comes_to_be_mapped(m, &t, 0) && comes_to_be_mapped(m, &t, 1));
	EQ(gp_holders_task_add(m, TASK, 1), 0);
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	gp_holders_free(m);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(t.pid, t.ring[1], true));
	target_ends_right(&t);
}

static void a_gang(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_busy(1), u = target_busy(1);

	attach(m, &t);
	attach(m, &u);
	for (u32 i = 0; i < 5; i++) {
		EQ(act(m, true), GP_DONE);
		CHECK(device_maps(t.pid, t.ring[0], false) && device_maps(u.pid, u.ring[0], false));
		EQ(act(m, false), GP_DONE);
	}
	/* One that may not be stopped, and none is. */
	EQ(gp_holders_process_add(m, TASK, &(struct gp_holders_process){
		.pid = getpid(), .watch_only = true }), 0);
	EQ(act(m, true), GP_REFUSED);
	CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(u.pid, u.ring[0], true));
	EQ(gp_holders_process_del(m, getpid()), 0);
	/* One is gone: the other is stopped. */
	kill(t.pid, SIGKILL);
	EQ(waitpid(t.pid, NULL, 0), t.pid);
	EQ(event(m).what, GP_HOLDERS_LEFT);
	EQ(act(m, true), GP_DONE);
	CHECK(held(&u, 0));
	EQ(act(m, false), GP_DONE);
	gp_holders_free(m);
	target_ends_right(&u);
}

static void not_ready_yet(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_start();
	struct gp_holders_event e;

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	add(m, &t);
	e = event(m);
	EQ(e.what, GP_HOLDERS_NOT_ATTACHED);
	EQ(e.err, -EAGAIN);
	EQ(act(m, true), GP_REFUSED);
	EQ(target_ask(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_LONG, 0), 0);
	attach(m, &t);
	EQ(act(m, true), GP_DONE);
	CHECK(held(&t, 0));
	gp_holders_free(m);
	target_ends_right(&t);
}

static void stays_attached(void)
{
	struct gp_holders *m = mechanism(true);
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
	gp_holders_free(m);
	CHECK(comes_to_be_untraced(t.pid) && comes_to_be_untraced(u.pid));
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
		struct gp_holders *m;

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

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

/* The process of this program that the driver knows as a debugger. 0: none. */
static pid_t find_holder(void)
{
	char path[300], comm[32] = "";
	struct dirent *e;
	pid_t found = 0;
	DIR *dir = opendir("/sys/class/kfd/kfd/proc");

	NEED(dir);
	while (!found && (e = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = fopen(path, "re");
		if (f && fgets(comm, sizeof(comm), f) && !strcmp(comm, "gp-holder\n"))
			found = atoi(e->d_name);
		if (f)
			fclose(f);
	}
	closedir(dir);
	return found;
}

static void holder_killed(void)
{
	struct gp_holders *m = mechanism(false);
	struct target t = target_busy(1), u = target_busy(1);
	struct gp_holders_stats stats;
	struct gp_holders_event e;
	pid_t pid;

	attach(m, &t);
	attach(m, &u);
	for (u32 i = 0; i < 3; i++) {
		bool stopped = i != 1;

		EQ(act(m, true), GP_DONE);
		pid = find_holder();
		NEED(pid > 0);
		/* A stopped holder cannot mind its leases: its supervisor kills it. */
		EQ(kill(pid, stopped ? SIGSTOP : SIGKILL), 0);
		for (u32 j = 0; j < 2; j++) {
			e = event(m);
			EQ(e.what, GP_HOLDERS_LEFT);
			EQ(e.err, -ECONNRESET);
		}
		CHECK(driver_forgot(pid));
		CHECK(device_maps(t.pid, t.ring[0], true) && device_maps(u.pid, u.ring[0], true));
		EQ(act(m, true), GP_REFUSED);
		/* The next holder takes over. */
		attach(m, &t);
		attach(m, &u);
	}
	gp_holders_stats(m, &stats);
	EQ(stats.died, 3);
	EQ(stats.started, 4);
	gp_holders_free(m);
	target_ends_right(&t);
	target_ends_right(&u);
}

/* A decider that holds @t and renews its lease until it is killed or stopped. */
static pid_t decider_of(struct target *t, u64 lease_ns)
{
	pid_t pid = fork_until_ready();
	struct gp_holders_event e;
	struct gp_holders *m;

	if (pid)
		return pid;
	m = mechanism_with((struct gp_holders_args){ .lease_ns = lease_ns });
	attach(m, t);
	NEED(act(m, true) == GP_DONE);
	is_ready();
	for (;;) {
		if (gp_holders_next(m, &e)) {
			doze(m);
		} else if (e.what == GP_HOLDERS_LEFT && e.err == -ETIMEDOUT) {
			/* The lease ended: decide again. */
			attach(m, t);
			NEED(act(m, true) == GP_DONE);
		}
	}
}

static void decider_stopped(void)
{
	const u64 lease = 300 * 1000000ull, slack = 50 * 1000000ull;
	struct target t = target_busy(1);
	pid_t pid = decider_of(&t, lease);
	u64 began;

	/* It is renewed. */
	usleep(1000000);
	CHECK(!device_maps_now(t.pid, t.ring[0]));
	began = monotonic_ns();
	EQ(kill(pid, SIGSTOP), 0);
	while (!device_maps_now(t.pid, t.ring[0]) && monotonic_ns() - began < 20 * lease)
		usleep(1000);
	CHECK(monotonic_ns() - began <= lease + slack);
	CHECK(device_maps(t.pid, t.ring[0], true));
	/* Back again it holds what it was told to hold. */
	EQ(kill(pid, SIGCONT), 0);
	CHECK(device_maps(t.pid, t.ring[0], false));
	EQ(kill(pid, SIGKILL), 0);
	EQ(waitpid(pid, NULL, 0), pid);
	CHECK(device_maps(t.pid, t.ring[0], true));
	target_ends_right(&t);
}

static void user_of_another(void)
{
	struct gp_holders *m = mechanism(false);
	struct gp_holders_process p = { .user = 4711 };
	struct target t = target_busy(1);
	struct gp_holders_kfd kfd;
	struct gp_holders_event e;

	p.pid = t.pid;
	NEED(gp_process_start(NULL, t.pid, &p.start) == 0);
	EQ(gp_holders_process_add(m, TASK, &p), 0);
	e = event(m);
	EQ(e.what, GP_HOLDERS_NOT_ATTACHED);
	EQ(e.err, -EACCES);
	EQ(gp_holders_ask_kfd(m, &p), 0);
	while (gp_holders_next_kfd(m, &kfd))
		doze(m);
	EQ(kfd.err, -EACCES);
	p.user = getuid();
	EQ(gp_holders_ask_kfd(m, &p), 0);
	while (gp_holders_next_kfd(m, &kfd))
		doze(m);
	EQ(kfd.err, 0);
	CHECK(kfd.pid == t.pid && kfd.pidfd >= 0 && kfd.kfd_fd >= 0);
	/* As long as it is open here, the driver does not forget the process. */
	close(kfd.pidfd);
	close(kfd.kfd_fd);
	gp_holders_free(m);
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
	{ "kill -9 and SIGSTOP of a holder leave everything running, and the next one takes over",
	  holder_killed },
	{ "a process whose decider is stopped runs when its lease and 50 ms are over, and is held "
	  "again when the decider goes on", decider_stopped },
	{ "a holder neither attaches nor hands out a process of another user", user_of_another },
	{ NULL, NULL }
};
