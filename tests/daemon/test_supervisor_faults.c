// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System calls of the supervisor that fail. A child is started and killed, and the decider learns
 * both. The test is the decider. The supervisor is its own process, which inherits the faults.
 */
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/children.h"
#include "daemon/log.h"
#include "tests/shared/gp_test.h"
#include "tests/shared/sys_faults.h"

/* More calls of a kind than the supervisor makes in this scenario. */
enum { CALLS = 8 };

static struct {
	u64 failed, ended;	/* the child that failed, the child that ended */
	u64 last;
} seen;

/* Lives until its channel ends. */
static int wait_main(int channel, uid_t user)
{
	struct pollfd p = { .fd = channel, .events = POLLIN };

	(void)user;
	return gp_sys_real.poll(&p, 1, -1) < 0;
}

static const struct gp_role roles[GP_NR_ROLES] = {
	[GP_ROLE_HOLDER] = { .name = "test", .main = wait_main },
};

static void on_failed(void *ctx, u64 child, int err)
{
	(void)ctx;
	EXPECT(err < 0);
	seen.failed = child;
}

static void on_ended(void *ctx, u64 child, int status)
{
	(void)ctx;
	(void)status;
	seen.ended = child;
}

static bool has_failed_or_ended(void)
{
	gp_children_run();
	return seen.failed == seen.last || seen.ended == seen.last;
}

/* Starts a child and kills it. Returns false if it could not be started. */
static bool start_and_kill(void)
{
	int ends[2];

	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_children_start(GP_ROLE_HOLDER, ++seen.last, getuid(), ends[1]), 0);
	close(ends[1]);
	gp_children_kill(GP_ROLE_HOLDER, seen.last);
	AWAIT(has_failed_or_ended());
	close(ends[0]);
	return seen.ended == seen.last;
}

static void try(const struct sys_fault *fault)
{
	const struct gp_child_owner owner = { .failed = on_failed, .ended = on_ended };
	int channel, err;

	memset(&seen, 0, sizeof(seen));
	/* The first fork() makes the supervisor. */
	sys_faults_begin(fault);
	err = gp_supervisor_fork(roles, &channel);
	sys_faults_end();
	EXPECT(!err || fault->call == GP_SYS_fork || fault->call == GP_SYS_socketpair);
	if (err)
		return;
	EXPECT_EQ(gp_children_connect(channel), 0);
	gp_children_own(GP_ROLE_HOLDER, &owner);
	/* The second child starts after the fault at the latest. */
	while (!start_and_kill())
		EXPECT(seen.last < CALLS);
	EXPECT(start_and_kill() || seen.last < CALLS);
	gp_children_disconnect();
	AWAIT(waitpid(-1, NULL, WNOHANG) > 0);
}

static void failed_calls_of_the_supervisor_lose_no_child(void **state)
{
	static const struct { enum gp_sys_call call; int err; } faults[] = {
		{ GP_SYS_fork, EAGAIN }, { GP_SYS_fork, ENOMEM }, { GP_SYS_socketpair, EMFILE },
		{ GP_SYS_sendmsg, ENOBUFS }, { GP_SYS_sendmsg, ENOMEM }, { GP_SYS_sendmsg, EAGAIN },
		{ GP_SYS_recvmsg, ENOMEM }, { GP_SYS_recvmsg, EINTR }, { GP_SYS_recvmsg, EAGAIN },
		{ GP_SYS_poll, EINTR }, { GP_SYS_poll, ENOMEM }, { GP_SYS_read, EINTR },
	};
	u32 tried = 0;

	(void)state;
	gp_log_open(GP_LOG_ERROR);
	for (u32 i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		for (u64 n = 1; n <= CALLS; n++, tried++) {
			struct sys_fault fault = { .call = faults[i].call, .nth = n,
						   .err = faults[i].err };

			try(&fault);
		}
	}
	print_message("#| %u faults\n", tried);
}

PROVE(
	CLAIM(failed_calls_of_the_supervisor_lose_no_child),
)
