// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which process may debug which, and the order of the driver's checks. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "story.h"

enum { NO_PROCESS = 0x3ffff0, KERNEL_THREAD = 2, NO_SUCH_OP = 99 };

static const u32 hardware_ops[] = {
	KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE,
	KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE,
	KFD_IOC_DBG_TRAP_SUSPEND_QUEUES,
	KFD_IOC_DBG_TRAP_RESUME_QUEUES,
	KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH,
	KFD_IOC_DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH,
	KFD_IOC_DBG_TRAP_SET_FLAGS,
};

/* The operations without required arguments come first. */
static const u32 other_ops[] = {
	KFD_IOC_DBG_TRAP_DISABLE,
	KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED,
	KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT,
	KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT,
	KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO,
	KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT,
	KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT,
	NO_SUCH_OP,
};

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* Expects that every operation but ENABLE fails with @err. */
static void all_refused(struct debugger *d, pid_t pid, int err)
{
	for (size_t i = 0; i < COUNT(hardware_ops); i++)
		EQ(debugger_op(d, pid, hardware_ops[i]), err);
	for (size_t i = 0; i < COUNT(other_ops); i++)
		EQ(debugger_op(d, pid, other_ops[i]), err);
}

static void nobody_there(void)
{
	struct target t = target_start();	/* this process never opens /dev/kfd */
	struct debugger d;

	debugger_open(&d);
	all_refused(&d, NO_PROCESS, -ESRCH);
	EQ(debugger_enable(&d, NO_PROCESS, 0), -ESRCH);
	all_refused(&d, KERNEL_THREAD, -ESRCH);
	EQ(debugger_enable(&d, KERNEL_THREAD, 0), -ESRCH);
	/* The process is not traced either, so the driver checks for ESRCH before EPERM. */
	all_refused(&d, t.pid, -ESRCH);
	EQ(debugger_enable(&d, t.pid, 0), -ESRCH);
}

static void not_the_tracer(void)
{
	struct target t = target_ready(1);
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_open(&d);
	EQ(debugger_enable(&d, t.pid, 0), -EPERM);
	/*
	 * The process is not enabled either, so the driver checks for EPERM before EINVAL, even for
	 * DISABLE.
	 */
	all_refused(&d, t.pid, -EPERM);
	seize(t.pid);
	all_refused(&d, t.pid, -EINVAL);
	detach(t.pid);
	all_refused(&d, t.pid, -EPERM);
	target_ends_right(&t);
}

struct call {
	struct debugger *d;
	pid_t pid;
	int enable, snapshot;
};

static void *call_from_here(void *arg)
{
	struct call *c = arg;
	u32 queues;

	c->enable = debugger_enable(c->d, c->pid, NEW);
	c->snapshot = debugger_clear_new(c->d, c->pid, &queues);
	return NULL;
}

/* Makes the same two calls from a thread that does not trace. */
static struct call call_from_other_thread(struct debugger *d, pid_t pid)
{
	struct call c = { .d = d, .pid = pid };
	pthread_t thread;

	NEED(!pthread_create(&thread, NULL, call_from_here, &c));
	pthread_join(thread, NULL);
	return c;
}

static void tracing_is_a_threads(void)
{
	struct target t = target_busy(1);
	struct debugger d;
	struct call c;

	debugger_open(&d);
	seize(t.pid);
	c = call_from_other_thread(&d, t.pid);
	EQ(c.enable, -EPERM);
	EQ(c.snapshot, -EPERM);
	EQ(debugger_enable(&d, t.pid, NEW), 0);
	c = call_from_other_thread(&d, t.pid);
	EQ(c.enable, -EALREADY);
	EQ(c.snapshot, 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	EQ(gp_debug_resume(&d.c, t.pid, NULL, 0), 1);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	c = call_from_other_thread(&d, t.pid);
	EQ(c.enable, -EPERM);
	target_ends_right(&t);
}

static void detached_debugger_stays(void)
{
	struct target t = target_busy(1);
	struct debugger d;

	debugger_attach(&d, &t, NEW);
	detach(t.pid);
	EQ(debugger_suspend(&d, &t, 0), 1);
	CHECK(device_maps(t.pid, t.ring[0], false));
	EQ(debugger_resume(&d, &t, 0), 1);
	CHECK(device_maps(t.pid, t.ring[0], true));
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	/* After the session the permission is gone. */
	EQ(debugger_op(&d, t.pid, KFD_IOC_DBG_TRAP_DISABLE), -EPERM);
	EQ(debugger_enable(&d, t.pid, 0), -EPERM);
	target_ends_right(&t);
}

static void runtime_off_forbids_hardware(void)
{
	struct target t = target_start();
	struct debugger d;
	u32 queues = 9;

	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, 0), 0);
	EQ(d.info.runtime_state, DEBUG_RUNTIME_STATE_DISABLED);
	for (size_t i = 0; i < COUNT(hardware_ops); i++)
		EQ(debugger_op(&d, t.pid, hardware_ops[i]), -EPERM);
	EQ(debugger_clear_new(&d, t.pid, &queues), 0);
	EQ(queues, 1);
	EQ(debugger_op(&d, t.pid, NO_SUCH_OP), -EINVAL);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

static void *self_calls(void *arg)
{
	struct debugger *d = arg;

	/* A thread enables its own process by the thread's id. No process traces another here. */
	EQ(debugger_enable(d, (pid_t)syscall(SYS_gettid), 0), 0);
	EQ(d->info.runtime_state, DEBUG_RUNTIME_STATE_DISABLED);
	EQ(gp_debug_disable(&d->c, getpid()), 0);
	return NULL;
}

static void any_thread_names_its_process(void)
{
	struct target t = target_busy(1);
	pthread_t thread;
	struct debugger d;
	u32 id = t.queue[0];
	pid_t tid;

	tid = (pid_t)target_ask(&t, ASK_TID, 0);
	CHECK(tid > 0 && tid != t.pid);
	debugger_attach(&d, &t, 0);
	EQ(gp_debug_suspend(&d.c, tid, &id, 1, 1), 1);
	EQ(gp_debug_resume(&d.c, tid, NULL, 0), 1);
	EQ(gp_debug_disable(&d.c, tid), 0);
	NEED(!pthread_create(&thread, NULL, self_calls, &d));
	pthread_join(thread, NULL);
	target_ends_right(&t);
}

/* Runs the second debugger in its own process. Returns how many of its calls were as expected. */
static int second_debugger(const struct target *t)
{
	struct debugger d;
	int right = 0;

	debugger_open(&d);
	right += debugger_op(&d, t->pid, KFD_IOC_DBG_TRAP_DISABLE) == -EPERM;
	seize(t->pid);
	right += debugger_enable(&d, t->pid, 0) == -EALREADY;
	detach(t->pid);
	right += debugger_suspend(&d, t, 0) == 1;
	right += device_maps(t->pid, t->ring[0], false);
	/* This debugger must end the session, because the driver counts it for the first one. */
	right += gp_debug_disable(&d.c, t->pid) == 0;
	return right;
}

static void second_tracer_takes_over(void)
{
	struct target t = target_busy(1);
	struct debugger d;
	int status, told[2];
	char word;
	pid_t pid;

	NEED(pipe(told) == 0);
	pid = fork();
	if (!pid)
		_exit(read(told[0], &word, 1) == 1 ? second_debugger(&t) : 99);
	debugger_attach(&d, &t, 0);
	EQ(debugger_enable(&d, t.pid, 0), -EALREADY);
	detach(t.pid);
	EQ(debugger_suspend(&d, &t, 0), 1);
	NEED(write(told[1], "", 1) == 1);
	NEED(waitpid(pid, &status, 0) == pid);
	EQ(WEXITSTATUS(status), 5);
	EQ(debugger_suspend(&d, &t, 0), -EPERM);
	CHECK(device_maps(t.pid, t.ring[0], true));
	target_ends_right(&t);
}

/* Runs a debugger as @user. Returns the first error. */
static int debugger_of(u32 user, const struct target *t)
{
	struct debugger d;
	u32 queues;
	int err;

	debugger_open(&d);
	err = become(user);
	if (err)
		return err;
	if (ptrace(PTRACE_SEIZE, t->pid, 0, 0))
		return -errno;
	err = debugger_enable(&d, t->pid, 0);
	if (!err)
		err = debugger_clear_new(&d, t->pid, &queues);
	if (!err)
		err = debugger_suspend(&d, t, 0);
	detach(t->pid);
	return err < 0 ? err : 0;
}

/* Runs debugger_of() in a child and returns its result. The child then waits to be killed. */
static int debugger_says(u32 user, const struct target *t, pid_t *ret_pid)
{
	int said[2], err;

	NEED(pipe(said) == 0);
	*ret_pid = fork();
	NEED(*ret_pid >= 0);
	if (!*ret_pid) {
		err = debugger_of(user, t);
		NEED(write(said[1], &err, sizeof(err)) == sizeof(err));
		for (;;)
			pause();
	}
	NEED(read(said[0], &err, sizeof(err)) == sizeof(err));
	return err;
}

/* Runs a second debugger that exits at once without DISABLE. */
static int intruder(const struct target *t)
{
	struct debugger d;

	debugger_open(&d);
	seize(t->pid);
	EQ(debugger_enable(&d, t->pid, 0), -EALREADY);
	detach(t->pid);
	return 0;
}

static void orphaned_session(void)
{
	struct target t = target_busy(1);
	struct debugger d;
	pid_t first, second;

	EQ(debugger_says(0, &t, &first), 0);
	second = fork();
	if (!second)
		_exit(intruder(&t));
	EQ(waitpid(second, NULL, 0), second);
	CHECK(driver_forgot(second));
	EQ(kill(first, SIGKILL), 0);
	EQ(waitpid(first, NULL, 0), first);
	CHECK(driver_forgot(first));
	CHECK(device_maps(t.pid, t.ring[0], false));
	CHECK(held(&t, 0));
	/*
	 * End the session, because otherwise the target's exit would make the driver write to freed
	 * memory.
	 */
	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, 0), -EALREADY);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	CHECK(device_maps(t.pid, t.ring[0], true));
	target_ends_right(&t);
}

static void ordinary_users(void)
{
	enum { USER = 1000, OTHER_USER = 1001 };
	struct target t = target_busy(1);
	pid_t pid;

	EQ(target_ask(&t, ASK_USER, USER), 0);
	EQ(debugger_says(OTHER_USER, &t, &pid), -EPERM);
	EQ(kill(pid, SIGKILL), 0);
	EQ(debugger_says(USER, &t, &pid), 0);
	CHECK(device_maps(t.pid, t.ring[0], false));
	CHECK(held(&t, 0));
	EQ(kill(pid, SIGKILL), 0);
	CHECK(device_maps(t.pid, t.ring[0], true));
	target_ends_right(&t);
}

const struct story refusals[] = {
	{ "no such process, a kernel thread, a process that has not opened the device: ESRCH, "
	  "before any question of permission", nobody_there },
	{ "a process that does not trace gets EPERM for every operation, DISABLE too; the tracer "
	  "gets EINVAL before ENABLE", not_the_tracer },
	{ "before ENABLE only the thread that traces may; after it every thread of the debugger",
	  tracing_is_a_threads },
	{ "a debugger that detaches after ENABLE may go on until DISABLE",
	  detached_debugger_stays },
	{ "without the target's runtime every operation on hardware is EPERM, the others work",
	  runtime_off_forbids_hardware },
	{ "a process may be named by any of its threads; one that debugs itself needs no ptrace",
	  any_thread_names_its_process },
	{ "a second tracer gets EALREADY, and yet becomes the debugger in the first one's place",
	  second_tracer_takes_over },
	{ "an ordinary user may suspend his own processes, and no other user may", ordinary_users },
	{ "after a second tracer came and went, the death of the debugger resumes nothing; a third "
	  "can end the session", orphaned_session },
	{ NULL, NULL }
};
