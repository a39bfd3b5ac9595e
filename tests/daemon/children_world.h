/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A supervisor that the test starts as a decider does, and the children that it is asked for. */
#ifndef CHILDREN_WORLD_H
#define CHILDREN_WORLD_H

#include "daemon/children.h"

/* What the owner of all roles was told, and our end of the channel of the last child. */
struct children_told {
	u64 child;
	u32 failed, ended;
	int channel, err, status;
};
extern struct children_told cw_told;

/* Owns every role. */
void cw_own(void);
/* Starts the supervisor and owns every role. */
void cw_connect(const struct gp_role *roles);
/* The number of the new child. */
u64 cw_start(u32 role, uid_t user);
/* The first message of the last child. */
struct gp_supervisor_message cw_greeting(void);
/* Serves the supervisor's messages: true if there were any. */
bool cw_ran(void);

#endif /* CHILDREN_WORLD_H */
