/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Writes a tar file (POSIX ustar) front to back. Owners and times are left out, so that equal
 * content gives equal files.
 */
#ifndef GP_TAR_H
#define GP_TAR_H

#include <stdio.h>

#include "gp_env.h"

struct gp_tar {
	FILE *to;
	u32 files;
	int err;		/* the first -errno; later writes are skipped */
};

/* Creates a file that only its owner may read. Returns 0 or -errno. */
int gp_tar_create(struct gp_tar *tar, const char *path);
/* Adds a file. Returns -ENAMETOOLONG and writes nothing if @name is longer than 99 bytes. */
int gp_tar_add(struct gp_tar *tar, const char *name, const void *data, size_t size);
/* Closes the file. Returns 0 or the first error. */
int gp_tar_close(struct gp_tar *tar);

#endif /* GP_TAR_H */
