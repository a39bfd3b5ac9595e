// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a process does while gpreemptd holds it off the GPU, as stories (lab/driver/debug/story.h):
 * each is told to a daemon that runs already and may preempt every process.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/gpreempt.h"
#include "lab/driver/debug/story.h"

enum { PATIENCE = 600, STEP_US = 50000 };	/* half a minute */

#define LEASE_NS	60000000000ull	/* of common.sh */

static struct gp_daemon *daemon_of_ours(void)
{
	struct gp_daemon *d;

	NEED(gp_daemon_open(NULL, &d) == 0);
	gp_daemon_set_timeout(d, 30000);
	return d;
}

/* A counter of the daemon's; the first of that name is its own. */
static s64 counter(struct gp_daemon *d, const char *name)
{
	char wanted[64], *answer, *at;
	s64 value = -1;

	snprintf(wanted, sizeof(wanted), "\"%s\":", name);
	NEED(gp_daemon_call(d, "Stats", NULL, &answer) == 0);
	at = strstr(answer, wanted);
	if (at)
		value = strtoll(at + strlen(wanted), NULL, 10);
	free(answer);
	return value;
}

/* The state it is in; GP_DAEMON_UNKNOWN: it is not listed. */
static u32 state_of(struct gp_daemon *d, pid_t pid)
{
	struct gp_daemon_process *p;
	u32 state = GP_DAEMON_UNKNOWN;
	size_t n;

	NEED(gp_daemon_list(d, &p, &n) == 0);
	for (size_t i = 0; i < n; i++)
		if (p[i].pid == pid)
			state = p[i].state;
	free(p);
	return state;
}

static bool comes_to(struct gp_daemon *d, pid_t pid, u32 state)
{
	for (u32 i = 0; i < PATIENCE; i++) {
		if (state_of(d, pid) == state)
			return true;
		usleep(STEP_US);
	}
	return false;
}

/* It must have been there for a while before it is attached, and be attached before it is held. */
static void hold(struct gp_daemon *d, pid_t pid)
{
	struct gp_daemon_target t = { .pid = pid };
	int err = -EAGAIN;

	for (u32 i = 0; err && i < PATIENCE; i++) {
		err = gp_daemon_hold(d, &t, LEASE_NS, GP_DAEMON_WAIT, NULL);
		if (err)
			usleep(STEP_US);
	}
	NEED(!err);
	CHECK(state_of(d, pid) == GP_DAEMON_OFF);
}

static void release(struct gp_daemon *d, pid_t pid)
{
	struct gp_daemon_target t = { .pid = pid };

	EQ(gp_daemon_release(d, &t), 0);
	CHECK(comes_to(d, pid, GP_DAEMON_ON));
}

static void new_queue_while_held(void)
{
	struct gp_daemon *d = daemon_of_ours();
	struct target t = target_busy(1);
	s64 retakes, longest;

	hold(d, t.pid);
	retakes = counter(d, "retakes");
	target_queue(&t, 1);
	CHECK(device_maps(t.pid, t.ring[1], false));
	for (u32 i = 0; i < PATIENCE && counter(d, "retakes") == retakes; i++)
		usleep(STEP_US);
	EQ(counter(d, "retakes"), retakes + 1);
	longest = counter(d, "retake_ns_max");
	CHECK(longest > 0);
	CHECK(held(&t, 1) && held(&t, 0));
	printf("# off again %lld us after the event was heard (guest time, of a model)\n",
	       (long long)longest / 1000);
	release(d, t.pid);
	target_ends_right(&t);
}

/* The driver destroys no queue that is suspended: the call waits for the release. */
static void destroyed_while_held(void)
{
	struct gp_daemon *d = daemon_of_ours();
	struct target t = target_ready(2);

	EQ(target_ask(&t, ASK_LONG, 0), 0);
	hold(d, t.pid);
	target_tell(&t, ASK_DESTROY, 1);
	CHECK(!target_answers(&t, 300));
	EQ(state_of(d, t.pid), GP_DAEMON_OFF);
	release(d, t.pid);
	EQ(target_answer(&t), 0);
	target_ends_right(&t);
}

static void fork_while_held(void)
{
	struct gp_daemon *d = daemon_of_ours();
	struct target t = target_busy(1);
	s64 child;

	hold(d, t.pid);
	child = target_ask(&t, ASK_FORK, 0);
	CHECK(child > 0);
	CHECK(held(&t, 0));
	EQ(state_of(d, t.pid), GP_DAEMON_OFF);
	EQ(state_of(d, (pid_t)child), GP_DAEMON_UNKNOWN);
	release(d, t.pid);
	kill((pid_t)child, SIGKILL);
	target_ends_right(&t);
}

static void exec_while_held(void)
{
	struct gp_daemon *d = daemon_of_ours();
	struct target t = target_busy(1), next;

	hold(d, t.pid);
	target_tell(&t, ASK_EXEC, 0);
	CHECK(driver_forgot(t.pid));
	CHECK(comes_to(d, t.pid, GP_DAEMON_UNKNOWN));
	EQ(kill(t.pid, 0), 0);		/* lives on */
	kill(t.pid, SIGKILL);
	/* The next process is held like any other. */
	next = target_busy(1);
	hold(d, next.pid);
	release(d, next.pid);
	target_ends_right(&next);
}

static const struct story stories[] = {
	{ "a held process creates a queue: it is taken off again, counted and measured, and its "
	  "work is done when it is released", new_queue_while_held },
	{ "a held process destroys a queue: that waits for its release, and nothing else does",
	  destroyed_while_held },
	{ "a held process forks: it stays held, its child is unmanaged", fork_while_held },
	{ "a held process executes another program: the daemon lets go of it, and it lives on",
	  exec_while_held },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	u32 number = 0;

	if (only && !strcmp(only, "--sleep"))
		return pause();
	return !tell_all(stories, only, &number);
}
