/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A supervisor that the test starts as a decider does, and the children that it starts. */
#ifndef CHILDREN_WORLD_H
#define CHILDREN_WORLD_H

#include "daemon/children.h"

/* Messages to the owner of all roles, and the test's end of the channel of the last child. */
struct children_told {
	u64 child;
	u32 failed, ended;
	int channel, err, status;
};
extern struct children_told cw_told;

/* Makes the test the owner of every role. */
void cw_own(void);
/* Starts the supervisor and makes the test the owner of every role. */
void cw_connect(const struct gp_role *roles);
/* Starts a child and returns its number. */
u64 cw_start(u32 role, uid_t user);
/* Returns the first message of the last child. */
struct gp_supervisor_message cw_greeting(void);
/* Handles the supervisor's messages. Returns true if there were any. */
bool cw_ran(void);

#endif /* CHILDREN_WORLD_H */
