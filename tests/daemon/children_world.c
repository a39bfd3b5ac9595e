// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <unistd.h>

#include "children_world.h"
#include "tests/shared/gp_test.h"

struct children_told cw_told;

static void on_failed(void *ctx, u64 child, int err)
{
	(void)ctx;
	cw_told.failed++;
	cw_told.child = child;
	cw_told.err = err;
}

static void on_ended(void *ctx, u64 child, int status)
{
	(void)ctx;
	cw_told.ended++;
	cw_told.child = child;
	cw_told.status = status;
}

static const struct gp_child_owner owner = { .failed = on_failed, .ended = on_ended };

bool cw_ran(void)
{
	return gp_children_run() != 0;
}

void cw_own(void)
{
	for (u32 i = 0; i < GP_NR_ROLES; i++)
		gp_children_own(i, &owner);
}

void cw_connect(const struct gp_role *roles)
{
	int channel;

	cw_told = (struct children_told){ .channel = -1 };
	EXPECT_EQ(gp_supervisor_fork(roles, &channel), 0);
	EXPECT_EQ(gp_children_connect(channel), 0);
	cw_own();
}

u64 cw_start(u32 role, uid_t user)
{
	static u64 child;
	int ends[2];

	EXPECT_EQ(gp_channel_pair(ends), 0);
	EXPECT_EQ(gp_children_start(role, ++child, user, ends[1]), 0);
	close(ends[1]);
	cw_told.channel = ends[0];
	return child;
}

struct gp_supervisor_message cw_greeting(void)
{
	struct gp_supervisor_message m;

	AWAIT(gp_channel_recv(cw_told.channel, &m, sizeof(m), NULL) == (int)sizeof(m));
	return m;
}
