/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A file system in user space with one file, whose content comes when a test says so. A process
 * that touches a page of it waits until then, past SIGKILL. It uses raw requests of /dev/fuse. The
 * server is a process of its own, so that it answers whatever the test's processes are stuck in.
 *
 *	hostile_fuse_start(&f, "/tmp/fuse");
 *	open and mmap /tmp/fuse/file; hostile_fuse_hold(&f, true); touch the page: stuck
 *	hostile_fuse_hold(&f, false): it goes on
 *	hostile_fuse_stop(&f)
 *
 * The program must be root. Nothing is cached: each read(2) of the file, and the first access to a
 * page of a mapping, is a request.
 */
#ifndef GP_LAB_HOSTILE_FUSE_H
#define GP_LAB_HOSTILE_FUSE_H

#include <stdbool.h>
#include <sys/types.h>

enum { HOSTILE_FUSE_BYTES = 1 << 16 };	/* of the file; all zero, what is written is dropped */

struct hostile_fuse_shared;

struct hostile_fuse {
	char dir[64];
	char file[80];		/* its path */
	pid_t server;
	struct hostile_fuse_shared *shared;
};

/* Mounts it at @dir, which is made. 0 or -errno. */
int hostile_fuse_start(struct hostile_fuse *f, const char *dir);
/*
 * From now on requests for content, and those to write it back, are not answered; or are. A hold
 * ends by itself 40 s after the first request, so that a test that fails comes to its end.
 */
void hostile_fuse_hold(struct hostile_fuse *f, bool hold);
/* How many have waited for an answer so far while it held. */
unsigned int hostile_fuse_held(const struct hostile_fuse *f);
/* Processes that still wait get an error. */
void hostile_fuse_stop(struct hostile_fuse *f);

#endif /* GP_LAB_HOSTILE_FUSE_H */
