// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A suspended queue, and other operations on it meanwhile. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "story.h"

#define OFF	CHECK(device_maps(t.pid, t.ring[0], false))
#define ON	CHECK(device_maps(t.pid, t.ring[0], true))

/* Starts a target with a busy and an idle queue, and a debugger that suspends the busy one. */
static void hold(struct target *t, struct debugger *d)
{
	*t = target_ready(2);
	EQ(target_ask(t, ASK_LONG, 0), 0);
	debugger_attach(d, t, DELETE);
	EQ(debugger_suspend(d, t, 0), 1);
	CHECK(device_maps(t->pid, t->ring[0], false));
}

static void update_while_suspended(void)
{
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(target_update(&t, 0, 50, 3), 0);
	OFF;
	EQ(debugger_resume(&d, &t, 0), 1);
	ON;
	target_ends_right(&t);
}

static void percentage_zero(void)
{
	struct device_counts before;
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(target_update(&t, 0, 0, 7), 0);
	EQ(debugger_resume(&d, &t, 0), 1);
	OFF;
	/* A queue that is off by its percentage can still be suspended. */
	EQ(debugger_suspend(&d, &t, 0), 1);
	EQ(target_update(&t, 0, 100, 7), 0);
	OFF;
	CHECK(held(&t, 0));
	before = device_counts();
	EQ(debugger_resume(&d, &t, 0), 1);
	SAW(&before, 1, 1, 0);
	ON;
	target_ends_right(&t);
}

static void eviction_inside(void)
{
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(target_ask(&t, ASK_CRIU, KFD_CRIU_OP_PROCESS_INFO), 0);
	CHECK(device_maps(t.pid, t.ring[1], false));
	OFF;
	EQ(target_ask(&t, ASK_CRIU, KFD_CRIU_OP_UNPAUSE), 0);
	CHECK(device_maps(t.pid, t.ring[1], true));
	OFF;
	EQ(debugger_resume(&d, &t, 0), 1);
	ON;
	target_ends_right(&t);
}

static void resume_while_evicted(void)
{
	struct device_counts before;
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(target_ask(&t, ASK_CRIU, KFD_CRIU_OP_PROCESS_INFO), 0);
	before = device_counts();
	EQ(debugger_resume(&d, &t, 0), 1);
	SAW(&before, 0, 0, 0);
	OFF;
	EQ(target_ask(&t, ASK_CRIU, KFD_CRIU_OP_UNPAUSE), 0);
	ON;
	target_ends_right(&t);
}

static void suspend_while_evicted(void)
{
	struct device_counts before;
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(target_ask(&t, ASK_CRIU, KFD_CRIU_OP_PROCESS_INFO), 0);
	before = device_counts();
	EQ(debugger_suspend(&d, &t, 0), 1);
	SAW(&before, 0, 0, 0);
	EQ(target_ask(&t, ASK_CRIU, KFD_CRIU_OP_UNPAUSE), 0);
	CHECK(device_maps(t.pid, t.ring[1], true));
	OFF;
	EQ(debugger_resume(&d, &t, 0), 1);
	ON;
	target_ends_right(&t);
}

static void destroy_blocks(void)
{
	struct kfd_queue_snapshot_entry e[2];
	struct target t;
	struct debugger d;
	u32 count;

	hold(&t, &d);
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(target_ask(&t, ASK_DONE, 0), 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	target_tell(&t, ASK_DESTROY, 0);
	CHECK(target_sleeps_in(t.pid, "destroy_queue"));
	CHECK(!target_answers(&t, 200));
	/* Meanwhile neither the process nor the device is locked. */
	EQ(debugger_suspend(&d, &t, 1), 1);
	EQ(debugger_resume(&d, &t, 1), 1);
	CHECK(!target_answers(&t, 100));
	EQ(debugger_bytes(&d), 0);
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(target_answer(&t), 0);
	EQ(debugger_bytes(&d), 1);	/* QUEUE_DELETE */
	EQ(gp_debug_snapshot(&d.c, t.pid, 0, e, 2, &count), 0);
	EQ(count, 1);
	EQ(target_ask(&t, ASK_SHORT, 1), 0);
	target_ends_right(&t);
}

static void destroy_is_interruptible(void)
{
	struct target t;
	struct debugger d;

	hold(&t, &d);
	detach(t.pid);		/* a signal would only stop a traced process */
	target_tell(&t, ASK_DESTROY_RAW, 0);
	CHECK(target_sleeps_in(t.pid, "destroy_queue"));
	EQ(kill(t.pid, SIGUSR1), 0);
	EQ(target_answer(&t), -EINTR);
	/* The interrupted call changed nothing, so the queue still exists and is suspended. */
	EQ(debugger_suspend(&d, &t, 0), 1);
	OFF;
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(target_ask(&t, ASK_DONE, 0), 0);
	EQ(target_ask(&t, ASK_DESTROY, 0), 0);
	target_ends_right(&t);
}

static void disable_frees_a_destroyer(void)
{
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(target_ask(&t, ASK_DONE, 0), 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	target_tell(&t, ASK_DESTROY, 0);
	CHECK(target_sleeps_in(t.pid, "destroy_queue"));
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	EQ(target_answer(&t), 0);
	target_ends_right(&t);
}

static void exit_is_not_blocked(void)
{
	struct target t;
	struct debugger d;

	hold(&t, &d);
	detach(t.pid);
	CHECK(held(&t, 0));
	EQ(kill(t.pid, SIGKILL), 0);
	CHECK(driver_forgot(t.pid));
	OFF;
	EQ(debugger_op(&d, t.pid, KFD_IOC_DBG_TRAP_DISABLE), -ESRCH);
}

static void wave_state(void)
{
	struct target t;
	struct debugger d;

	hold(&t, &d);
	EQ(target_ask(&t, ASK_WAVE_STATE, 0), 0);
	EQ(target_ask(&t, ASK_WAVE_STATE, 1), -EINVAL);
	EQ(debugger_resume(&d, &t, 0), 1);
	target_ends_right(&t);
}

static void two_targets(void)
{
	struct target t = target_ready(1), u = target_ready(1);
	struct debugger d;
	u32 queues;

	EQ(target_ask(&t, ASK_LONG, 0), 0);
	EQ(target_ask(&u, ASK_LONG, 0), 0);
	debugger_attach(&d, &t, 0);
	seize(u.pid);
	EQ(debugger_enable(&d, u.pid, 0), 0);
	EQ(d.info.runtime_state, DEBUG_RUNTIME_STATE_ENABLED);
	EQ(debugger_clear_new(&d, u.pid, &queues), 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	OFF;
	CHECK(device_maps(u.pid, u.ring[0], true));
	/* Queue ids are private to a process. */
	EQ(t.queue[0], u.queue[0]);
	EQ(debugger_suspend(&d, &u, 0), 1);
	CHECK(device_maps(u.pid, u.ring[0], false));
	EQ(debugger_resume(&d, &t, 0), 1);
	ON;
	CHECK(device_maps(u.pid, u.ring[0], false));
	EQ(gp_debug_disable(&d.c, u.pid), 0);
	CHECK(device_maps(u.pid, u.ring[0], true));
	target_ends_right(&t);
	target_ends_right(&u);
}

const struct story flags[] = {
	{ "UPDATE_QUEUE does not bring a suspended queue back; RESUME does",
	  update_while_suspended },
	{ "a queue of percentage 0 stays off after RESUME, and can be suspended", percentage_zero },
	{ "a process evicted and restored by CRIU: its suspended queue stays off",
	  eviction_inside },
	{ "RESUME while evicted sends nothing; the queue is back with the process",
	  resume_while_evicted },
	{ "SUSPEND while evicted counts, sends nothing, and holds after the process is back",
	  suspend_while_evicted },
	{ "DESTROY_QUEUE of a suspended queue waits until it is resumed, and blocks no other call",
	  destroy_blocks },
	{ "a signal ends that wait with EINTR, and the queue is as before",
	  destroy_is_interruptible },
	{ "DISABLE ends that wait", disable_frees_a_destroyer },
	{ "the exit of a process with suspended queues is not held up", exit_is_not_blocked },
	{ "GET_QUEUE_WAVE_STATE works on a suspended queue, and is EINVAL on one that is on",
	  wave_state },
	{ "one debugger, two targets: each is suspended and resumed by itself", two_targets },
	{ NULL, NULL }
};
