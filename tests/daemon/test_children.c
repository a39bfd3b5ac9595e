// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Processes that a supervisor starts for a decider. The test is the decider. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "children_world.h"
#include "tests/shared/gp_test.h"

/*
 * Reports the signal that it gets when the supervisor dies, then waits for the end of its
 * channel.
 */
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

/* A holder resumes its processes when its channel ends. A signal could kill it before that. */
static void a_holder_is_not_killed_when_its_supervisor_dies(void **state)
{
	(void)state;
	cw_connect(roles);
	cw_start(GP_ROLE_HOLDER, 1);
	EXPECT_EQ(cw_greeting().err, 0);
	close(cw_told.channel);
	cw_start(GP_ROLE_READER, 1);
	EXPECT_EQ(cw_greeting().err, SIGKILL);
	close(cw_told.channel);
	gp_children_disconnect();
}

static void children_that_hang_take_the_places_of_their_own_user_only(void **state)
{
	u64 child = 0;

	(void)state;
	cw_connect(roles);
	for (u32 i = 0; i < 5; i++) {
		child = cw_start(GP_ROLE_READER, 1);
	}
	AWAIT(cw_ran() || cw_told.failed);
	EXPECT(cw_told.failed == 1 && cw_told.child == child && cw_told.err == -EBUSY);
	cw_start(GP_ROLE_HOLDER, 1);
	EXPECT_EQ(cw_greeting().user, 1);
	close(cw_told.channel);
	cw_start(GP_ROLE_HOLDER, 2);
	EXPECT_EQ(cw_greeting().user, 2);
	close(cw_told.channel);
	EXPECT_EQ(cw_told.failed, 1);
	gp_children_disconnect();
}

static void a_role_that_is_unknown_or_not_for_deciders_is_refused(void **state)
{
	(void)state;
	cw_connect(roles);
	cw_start(GP_ROLE_POKE, 1);
	AWAIT(cw_ran() || cw_told.failed);
	EXPECT_EQ(cw_told.err, -EINVAL);
	close(cw_told.channel);
	EXPECT_EQ(gp_children_start(GP_NR_ROLES - 1 + 5, 1, 1, 0), 0);
	AWAIT(cw_ran());		/* no owner has it, so the connection is closed */
	EXPECT_EQ(cw_told.ended, 0);
	gp_children_disconnect();
}

PROVE(
	CLAIM(a_holder_is_not_killed_when_its_supervisor_dies),
	CLAIM(children_that_hang_take_the_places_of_their_own_user_only),
	CLAIM(a_role_that_is_unknown_or_not_for_deciders_is_refused),
)
