/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A tar file (POSIX ustar), written front to back: no owners, no times; equal content is equal. */
#ifndef GP_TAR_H
#define GP_TAR_H

#include <stdio.h>

#include "gp_env.h"

struct gp_tar {
	FILE *to;
	u32 files;
	int err;		/* the first -errno; nothing is written after it */
};

/* A new file that only its owner may read. 0 or -errno. */
int gp_tar_create(struct gp_tar *tar, const char *path);
/* @name: at most 99 bytes; a longer one is -ENAMETOOLONG and nothing is written. */
int gp_tar_add(struct gp_tar *tar, const char *name, const void *data, size_t size);
/* 0, or what went wrong first. */
int gp_tar_close(struct gp_tar *tar);

#endif /* GP_TAR_H */
