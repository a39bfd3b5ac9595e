// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Processes that a supervisor starts for a decider, which the test is. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/children.h"
#include "tests/shared/gp_test.h"

/* Says which signal it gets when the supervisor dies, then waits for the end of its channel. */
static int greets(int channel, uid_t user)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, 77, .user = user, .pid = getpid());
	struct pollfd fd = { .fd = channel, .events = POLLIN };

	prctl(PR_GET_PDEATHSIG, &m.err);
	gp_channel_send(channel, &m.is, NULL, 0);
	while (gp_channel_recv(channel, &m, sizeof(m), NULL) != -EPIPE)
		poll(&fd, 1, -1);
	return 0;
}

static int ends(int channel, uid_t user)
{
	(void)channel;
	(void)user;
	return 0;
}

static const struct gp_role roles[GP_NR_ROLES] = {
	[GP_ROLE_HOLDER] = { .name = "holder", .main = greets },
	[GP_ROLE_READER] = { .name = "reader", .main = greets },
	[GP_ROLE_POKE] = { .name = "poke", .main = ends },
};

/* What the owner was told, and our end of the channel of the last child. */
static struct {
	u64 child;
	u32 failed, ended;
	int channel, err, status;
} told;

static void on_failed(void *ctx, u64 child, int err)
{
	(void)ctx;
	told.failed++;
	told.child = child;
	told.err = err;
}

static void on_ended(void *ctx, u64 child, int status)
{
	(void)ctx;
	told.ended++;
	told.child = child;
	told.status = status;
}

static const struct gp_child_owner owner = { .failed = on_failed, .ended = on_ended };

static bool ran(void)
{
	return gp_children_run() != 0;
}

/* A supervisor of ours, as a decider has one. */
static void connect_supervisor(void)
{
	int channel;

	told = (typeof(told)){ .channel = -1 };
	EXPECT_EQ(gp_supervisor_fork(roles, &channel), 0);
	EXPECT_EQ(gp_children_connect(channel), 0);
	for (u32 i = 0; i < GP_NR_ROLES; i++)
		gp_children_own(i, &owner);
}

static u64 start_child(u32 role, uid_t user)
{
	static u64 child;
	int ends[2];

	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_children_start(role, ++child, user, ends[1]), 0);
	close(ends[1]);
	told.channel = ends[0];
	return child;
}

static struct gp_supervisor_message greeting(void)
{
	struct gp_supervisor_message m;

	AWAIT(gp_channel_recv(told.channel, &m, sizeof(m), NULL) == (int)sizeof(m));
	return m;
}

/* It resumes what it holds when its channel ends, which its death may not do in time. */
static void a_holder_is_not_killed_when_its_supervisor_dies(void **state)
{
	(void)state;
	connect_supervisor();
	start_child(GP_ROLE_HOLDER, 1);
	EXPECT_EQ(greeting().err, 0);
	close(told.channel);
	start_child(GP_ROLE_READER, 1);
	EXPECT_EQ(greeting().err, SIGKILL);
	close(told.channel);
	gp_children_disconnect();
}

static void children_that_hang_take_the_places_of_their_own_user_only(void **state)
{
	u64 child = 0;

	(void)state;
	connect_supervisor();
	for (u32 i = 0; i < 5; i++) {
		child = start_child(GP_ROLE_READER, 1);
	}
	AWAIT(ran() || told.failed);
	EXPECT(told.failed == 1 && told.child == child && told.err == -EBUSY);
	start_child(GP_ROLE_HOLDER, 1);
	EXPECT_EQ(greeting().user, 1);
	close(told.channel);
	start_child(GP_ROLE_HOLDER, 2);
	EXPECT_EQ(greeting().user, 2);
	close(told.channel);
	EXPECT_EQ(told.failed, 1);
	gp_children_disconnect();
}

static void a_role_that_is_unknown_or_not_for_deciders_is_refused(void **state)
{
	(void)state;
	connect_supervisor();
	start_child(GP_ROLE_POKE, 1);
	AWAIT(ran() || told.failed);
	EXPECT_EQ(told.err, -EINVAL);
	close(told.channel);
	EXPECT_EQ(gp_children_start(GP_NR_ROLES - 1 + 5, 1, 1, 0), 0);
	AWAIT(ran());		/* it is not for any owner: the connection is given up */
	EXPECT_EQ(told.ended, 0);
	gp_children_disconnect();
}

PROVE(
	CLAIM(a_holder_is_not_killed_when_its_supervisor_dies),
	CLAIM(children_that_hang_take_the_places_of_their_own_user_only),
	CLAIM(a_role_that_is_unknown_or_not_for_deciders_is_refused),
)
