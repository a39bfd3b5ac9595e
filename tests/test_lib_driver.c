// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Debug sessions and the mechanism on them with drivers that the lab's cannot be: an older one
 * that insists on its tracer, and one whose hardware lets go of some queues only. ptrace is real.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/task.h"
#include "gp_test.h"
#include "lib/gpreempt.h"
#include "lib/kfd_debug.h"
#include "lib/mechanism_kfd_debug.h"
#include "lib/process.h"

enum { TARGETS = 3, QUEUES = 3, GPU_ID = 77, NOBODY = 99 };

struct target {
	pid_t pid;
	bool enabled;
	int fd;			/* the driver's own end of the pipe */
	u32 held;		/* bit per queue */
};

/* What the driver is, and what it was told. */
static struct {
	pthread_mutex_t lock;
	struct target target[TARGETS];
	bool insists;		/* on the thread that traces */
	u32 fails;		/* the queue that its hardware does not let go of */
	u32 fails_of;		/* bit per target whose queue that is */
	u32 queues;		/* how many each target has */
	u32 no_memory;		/* bit per operation for which the kernel has none */
	u32 suspends, resumes, grace;
	u64 last_ns;		/* of ENABLE or DISABLE */
} driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static pid_t tracer_of(pid_t pid)
{
	char path[64], line[128];
	int tracer = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	if (f)
		fclose(f);
	return tracer;
}

static int enable(struct target *t, struct gp_kfd_dbg *a)
{
	struct gp_kfd_runtime_info *info = (void *)(uintptr_t)a->enable.runtime_info;

	if (t->enabled)
		return EALREADY;
	if (tracer_of(t->pid) != gettid())
		return EPERM;
	t->enabled = true;
	t->fd = dup((int)a->enable.fd);
	info->state = GP_KFD_RUNTIME_ON;
	driver.last_ns = now();
	return 0;
}

static int disable(struct target *t)
{
	t->enabled = false;
	t->held = 0;
	close(t->fd);
	driver.last_ns = now();
	return 0;
}

static int snapshot(struct gp_kfd_dbg *a)
{
	struct gp_kfd_queue_entry *to = (void *)(uintptr_t)a->snapshot.entries;

	for (u32 i = 0; i < a->snapshot.count && i < driver.queues; i++)
		to[i] = (struct gp_kfd_queue_entry){ .queue_id = i, .gpu_id = GPU_ID };
	a->snapshot.count = driver.queues;
	return 0;
}

/* As the driver does it: one that failed is suspended for it, too. */
static int suspend(struct target *t, const struct gp_kfd_dbg *a)
{
	u32 *ids = (void *)(uintptr_t)a->suspend.queue_ids;

	driver.suspends++;
	driver.grace = a->suspend.grace;
	for (u32 i = 0; i < a->suspend.queues; i++) {
		u32 id = ids[i];

		if (id >= driver.queues) {
			ids[i] |= GP_KFD_DBG_QUEUE_INVALID;
			continue;
		}
		t->held |= 1u << id;
		if (id == driver.fails && driver.fails_of >> (t - driver.target) & 1)
			ids[i] |= GP_KFD_DBG_QUEUE_ERROR;
	}
	return 0;
}

static int resume(struct target *t, const struct gp_kfd_dbg *a)
{
	const u32 *ids = (const void *)(uintptr_t)a->resume.queue_ids;

	driver.resumes++;
	if (!ids)
		t->held = 0;
	for (u32 i = 0; ids && i < a->resume.queues; i++)
		t->held &= ~(1u << ids[i]);
	return 0;
}

/* An errno. */
static int answer(struct gp_kfd_dbg *a)
{
	struct target *t = NULL;

	for (u32 i = 0; i < TARGETS; i++)
		if (driver.target[i].pid == (pid_t)a->pid)
			t = &driver.target[i];
	if (!t)
		return ESRCH;
	if (a->op == GP_KFD_DBG_ENABLE)
		return enable(t, a);
	if (driver.insists && tracer_of(t->pid) != gettid())
		return EPERM;
	if (!t->enabled)
		return EINVAL;
	if (driver.no_memory >> a->op & 1)
		return ENOMEM;
	switch (a->op) {
	case GP_KFD_DBG_DISABLE:	return disable(t);
	case GP_KFD_DBG_QUEUE_SNAPSHOT:	return snapshot(a);
	case GP_KFD_DBG_SUSPEND:	return suspend(t, a);
	case GP_KFD_DBG_RESUME:		return resume(t, a);
	case GP_KFD_DBG_QUERY_EVENT:	return EAGAIN;
	}
	return 0;
}

/* In the place of the C library's. */
int ioctl(int fd, unsigned long request, ...)
{
	struct gp_kfd_dbg *a;
	va_list args;

	(void)fd;
	va_start(args, request);
	a = va_arg(args, struct gp_kfd_dbg *);
	va_end(args);
	errno = ENOTTY;
	if (request == GP_KFD_IOC_DBG) {
		pthread_mutex_lock(&driver.lock);
		errno = answer(a);
		pthread_mutex_unlock(&driver.lock);
	}
	return errno ? -1 : 0;
}

static int up(void **state)
{
	(void)state;
	driver.insists = false;
	driver.fails = NOBODY;
	driver.fails_of = ~0u;
	driver.queues = QUEUES;
	driver.no_memory = 0;
	driver.suspends = driver.resumes = 0;
	for (u32 i = 0; i < TARGETS; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		driver.target[i] = (struct target){ .pid = pid };
	}
	return 0;
}

static int down(void **state)
{
	(void)state;
	for (u32 i = 0; i < TARGETS; i++) {
		kill(driver.target[i].pid, SIGKILL);
		waitpid(driver.target[i].pid, NULL, 0);
	}
	return 0;
}

static struct gp_session session(void)
{
	struct gp_session s;

	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){ .pid = driver.target[0].pid }), 0);
	return s;
}

static void a_driver_that_knows_its_debugger_traces_nobody(void **state)
{
	struct gp_session s = session();

	(void)state;
	EXPECT(!s.attached);
	EXPECT_EQ(tracer_of(s.pid), 0);
	gp_session_close(&s);
}

static void only_a_driver_that_insists_on_its_tracer_keeps_it(void **state)
{
	struct gp_session_done done;
	struct gp_session s;
	pid_t pid = driver.target[0].pid;

	(void)state;
	driver.insists = true;
	s = session();
	EXPECT(s.attached);
	EXPECT_EQ(tracer_of(pid), gettid());
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT_EQ(driver.target[0].held, 7);
	EXPECT_EQ(gp_session_resume(&s, 0, &done), 0);
	gp_session_close(&s);
	EXPECT(!driver.target[0].enabled);
	EXPECT_EQ(tracer_of(pid), 0);
}

static void a_suspend_that_is_done_by_half_is_undone(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	driver.fails = 1;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), -EIO);
	EXPECT(strstr(gp_strerror(-EIO), "did not let go of a queue"));
	/* The one that failed, too: the driver holds it for suspended. */
	EXPECT_EQ(driver.target[0].held, 0);
	EXPECT_EQ(driver.suspends, 1);
	EXPECT_EQ(driver.resumes, 1);
	driver.fails = NOBODY;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT(done.asked == QUEUES && done.done == QUEUES && !done.vanished);
	EXPECT_EQ(driver.target[0].held, 7);
	gp_session_close(&s);
}

static void a_queue_that_has_vanished_is_looked_for_once_and_the_others_are_held(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	driver.queues = 2;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), 0);
	EXPECT(done.asked == 2 && done.done == 2 && !done.vanished);
	EXPECT_EQ(driver.suspends, 2);
	EXPECT_EQ(driver.target[0].held, 3);
	gp_session_close(&s);
}

static void a_suspend_that_fails_on_its_way_is_undone(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	driver.queues = 2;
	driver.no_memory = 1u << GP_KFD_DBG_QUEUE_SNAPSHOT;
	EXPECT_EQ(gp_session_suspend(&s, 0, 1, &done), -ENOMEM);
	EXPECT_EQ(driver.suspends, 1);
	EXPECT_EQ(driver.target[0].held, 0);
	gp_session_close(&s);
}

static void a_grace_is_1_to_255_thousand_clocks(void **state)
{
	struct gp_session s = session();
	struct gp_session_done done;

	(void)state;
	EXPECT_EQ(gp_session_suspend(&s, 0, 0, &done), -EINVAL);
	EXPECT_EQ(gp_session_suspend(&s, 0, 256, &done), -EINVAL);
	EXPECT_EQ(driver.suspends, 0);
	EXPECT_EQ(gp_session_suspend(&s, 0, 255, &done), 0);
	EXPECT_EQ(driver.grace, 255);
	gp_session_close(&s);
}

/* ---- the mechanism ---- */

static struct gp_kfdm *mechanism(u64 interval_ns)
{
	struct gp_kfdm_gpu gpu = { GPU_ID, 80 };
	struct gp_kfdm *m;

	EXPECT_EQ(gp_kfdm_alloc(&(struct gp_kfdm_args){
		.kfd_fd = -1, .gpus = &gpu, .nr_gpus = 1, .attach_interval_ns = interval_ns,
	}, &m), 0);
	EXPECT_EQ(gp_kfdm_task_add(m, 1, 1), 0);
	return m;
}

static bool has_done(struct gp_kfdm *m, u64 attaches, u64 detaches)
{
	struct gp_kfdm_stats stats;

	gp_kfdm_stats(m, &stats);
	return stats.attaches == attaches && stats.detaches == detaches;
}

static void attach(struct gp_kfdm *m, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		EXPECT_EQ(gp_kfdm_process_add(m, 1, &(struct gp_kfdm_process){
			.pid = driver.target[i].pid }), 0);
	AWAIT(has_done(m, nr, 0));
}

static void attaching_and_detaching_are_limited_and_counted(void **state)
{
	const u64 interval = 100 * 1000 * 1000;
	struct gp_kfdm *m = mechanism(interval);
	struct gp_kfdm_stats stats;
	u64 begun = now();

	(void)state;
	attach(m, TARGETS);
	gp_kfdm_stats(m, &stats);
	EXPECT(stats.attaches == TARGETS && !stats.attach_failures && !stats.detaches);
	/* Of each two one waits for the other: so many intervals lie between first and last. */
	EXPECT(driver.last_ns >= begun + (TARGETS - 1) * interval);
	for (u32 i = 0; i < TARGETS; i++)
		EXPECT_EQ(gp_kfdm_process_del(m, driver.target[i].pid), 0);
	AWAIT(has_done(m, TARGETS, TARGETS));
	EXPECT(driver.last_ns >= begun + (2 * TARGETS - 1) * interval);
	gp_kfdm_free(m);
}

static u32 outcome_of(struct gp_kfdm *m, u64 id, u32 nr_out)
{
	struct gp_mechanism *base = gp_kfdm_mechanism(m);
	u32 task = 1;
	struct gp_action action = {
		.id = id, .nr_out = nr_out, .nr_in = 1 - nr_out, .tasks = &task, .cause = GP_NONE,
		.deadline_ns = ~0ull,
	};
	struct gp_answer a = { 0 };
	int err;

	/* The one before is over when its undoing is, which may be after its answer. */
	AWAIT((err = base->ops->begin(base, &action, 0)) != -EBUSY);
	EXPECT_EQ(err, 0);
	while (base->ops->poll(base, 0, &a))
		poll(&(struct pollfd){ .fd = gp_kfdm_fd(m), .events = POLLIN }, 1, 1000);
	EXPECT_EQ(a.action, id);
	return a.outcome;
}

static void a_stop_that_the_hardware_refuses_is_refused_counted_and_undone(void **state)
{
	struct gp_kfdm *m = mechanism(1);
	struct gp_kfdm_stats stats;
	u32 resumes;

	(void)state;
	attach(m, 2);
	driver.fails = 2;
	EXPECT_EQ(outcome_of(m, 64, 1), GP_REFUSED);
	EXPECT(!driver.target[0].held && !driver.target[1].held);
	gp_kfdm_stats(m, &stats);
	EXPECT(stats.suspend_failures == 1 && !stats.suspends);
	/* Of one of them only: the other, if it was stopped before, goes on. */
	for (u32 i = 0; i < 2; i++) {
		driver.fails_of = 1u << i;
		EXPECT_EQ(outcome_of(m, 64 * (i + 2), 1), GP_REFUSED);
		EXPECT(!driver.target[0].held && !driver.target[1].held);
	}
	gp_kfdm_stats(m, &stats);
	EXPECT(stats.suspend_failures == 3 && stats.suspends == 1 && stats.resumes == 1);
	/* None of them is taken for held: there is nothing to resume. */
	resumes = driver.resumes;
	EXPECT_EQ(outcome_of(m, 64 * 4, 0), GP_DONE);
	EXPECT_EQ(driver.resumes, resumes);
	gp_kfdm_free(m);
}

static void it_says_where_it_is_in_the_driver(void **state)
{
	struct gp_kfdm *m = mechanism(1);
	struct gp_mechanism *base = gp_kfdm_mechanism(m);
	u32 task = 1;
	struct gp_action action = { .id = 64, .nr_out = 1, .tasks = &task, .cause = GP_NONE };
	struct gp_answer a;

	(void)state;
	attach(m, 1);
	EXPECT(!gp_kfdm_acting(m, 0));
	pthread_mutex_lock(&driver.lock);
	EXPECT_EQ(base->ops->begin(base, &action, 0), 0);
	/* That nobody waits for it any more changes nothing. */
	EXPECT(!base->ops->poll(base, 1, &a) && a.outcome == GP_TIMED_OUT);
	EXPECT(gp_kfdm_acting(m, 0));
	pthread_mutex_unlock(&driver.lock);
	while (gp_kfdm_acting(m, 0))
		EXPECT(poll(&(struct pollfd){ .fd = gp_kfdm_fd(m), .events = POLLIN }, 1,
			    GP_TEST_PATIENCE_MS));
	gp_kfdm_free(m);
}

static void a_start_that_fails_is_refused_and_can_be_tried_again(void **state)
{
	struct gp_kfdm *m = mechanism(1);

	(void)state;
	attach(m, 1);
	EXPECT_EQ(outcome_of(m, 64, 1), GP_DONE);
	driver.no_memory = 1u << GP_KFD_DBG_RESUME;
	EXPECT_EQ(outcome_of(m, 64 * 2, 0), GP_REFUSED);
	EXPECT_EQ(driver.target[0].held, 7);
	driver.no_memory = 0;
	EXPECT(outcome_of(m, 64 * 3, 0) == GP_DONE && !driver.target[0].held);
	gp_kfdm_free(m);
}

static void who_is_left_while_it_is_held_does_not_wait_for_its_turn(void **state)
{
	/* Its turn is hours away. */
	struct gp_kfdm *m = mechanism(10000 * 1000000000ull);

	(void)state;
	attach(m, 1);
	EXPECT_EQ(outcome_of(m, 64, 1), GP_DONE);
	EXPECT(driver.target[0].held == 7 && !gp_kfdm_attaching(m));
	/* One who waits to be attached is not served first either. */
	EXPECT_EQ(gp_kfdm_task_add(m, 2, 1), 0);
	EXPECT_EQ(gp_kfdm_process_add(m, 2, &(struct gp_kfdm_process){
		.pid = driver.target[1].pid }), 0);
	pthread_mutex_lock(&driver.lock);
	EXPECT_EQ(gp_kfdm_task_del(m, 1), 0);
	/* As long as it is off, who stops us does harm. */
	EXPECT(gp_kfdm_attaching(m));
	pthread_mutex_unlock(&driver.lock);
	AWAIT(has_done(m, 1, 1));
	EXPECT(!driver.target[0].enabled && !driver.target[0].held);
	EXPECT(!gp_kfdm_attaching(m));
	gp_kfdm_free(m);
}

PROVE(
	CLAIM_WITH(a_driver_that_knows_its_debugger_traces_nobody, up, down),
	CLAIM_WITH(only_a_driver_that_insists_on_its_tracer_keeps_it, up, down),
	CLAIM_WITH(a_suspend_that_is_done_by_half_is_undone, up, down),
	CLAIM_WITH(a_queue_that_has_vanished_is_looked_for_once_and_the_others_are_held, up,
		   down),
	CLAIM_WITH(a_suspend_that_fails_on_its_way_is_undone, up, down),
	CLAIM_WITH(a_grace_is_1_to_255_thousand_clocks, up, down),
	CLAIM_WITH(attaching_and_detaching_are_limited_and_counted, up, down),
	CLAIM_WITH(a_stop_that_the_hardware_refuses_is_refused_counted_and_undone, up, down),
	CLAIM_WITH(it_says_where_it_is_in_the_driver, up, down),
	CLAIM_WITH(a_start_that_fails_is_refused_and_can_be_tried_again, up, down),
	CLAIM_WITH(who_is_left_while_it_is_held_does_not_wait_for_its_turn, up, down),
)
