/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of lab-hostile share. */
#ifndef GP_LAB_HOSTILE_H
#define GP_LAB_HOSTILE_H

#include "gp_env.h"

enum {
	HOSTILE_SUBUID	= 100000,	/* the first of HOSTILE_SUBUIDS in /etc/subuid */
	HOSTILE_SUBUIDS	= 65536,
};

struct hostile_options {
	u32 uid;		/* of the attacker */
	u32 count;		/* of processes or connections */
};

extern struct hostile_options hostile_options;

u64 hostile_now_ns(void);
void hostile_nothing(void);

/* crowd.c: so many idle processes with /dev/kfd open; and calls from many subordinate uids. */
void hostile_open_many(void);
void hostile_flood(void);
void hostile_end_many(void);

#endif /* GP_LAB_HOSTILE_H */
