/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the parts of gpioctl-fuzz share. */
#ifndef GP_LAB_FUZZ_H
#define GP_LAB_FUZZ_H

#include "lib/kmod.h"

enum { FUZZ_FDS = 24 };

/* Descriptors for ATTACH: @pidfd are right ones, no member with one of @wrong is. */
struct fuzz_fds {
	int pidfd[FUZZ_FDS];
	u32 nr_pidfds;
	int wrong[FUZZ_FDS];
	u32 nr_wrong;
	char text[512];		/* what the wrong ones are */
};

/* -1: a kind of descriptor cannot be had. */
int fuzz_fds_open(struct fuzz_fds *f, const pid_t *loads, u32 nr);

u32 fuzz_random(u32 below);
u64 fuzz_value(void);

#endif /* GP_LAB_FUZZ_H */
