/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Takes VRAM as a graphics program does, so that the driver evicts other processes. */
#ifndef GP_LAB_HUNGRY_H
#define GP_LAB_HUNGRY_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "gp_env.h"

/* struct drm_amdgpu_gem_create_in, which the answer overwrites. */
struct gem_create {
	u64 bytes;		/* out: handle */
	u64 alignment;
	u64 domains;
	u64 flags;
};

#define GEM_CREATE	_IOWR('d', 0x40, struct gem_create)
#define GEM_VRAM	4

/* Starts a child that takes @pieces of 16 MB, or fewer if a byte arrives on @stop (O_NONBLOCK). */
static inline pid_t hungry_process(u32 render_minor, u32 pieces, int stop)
{
	pid_t pid = fork();
	char render[32], byte;
	int fd;

	if (pid)
		return pid;
	snprintf(render, sizeof(render), "/dev/dri/renderD%u", render_minor);
	fd = open(render, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		_exit(1);
	for (u32 i = 0; i < pieces; i++) {
		struct gem_create g = { .bytes = 16 << 20, .alignment = 4096, .domains = GEM_VRAM };

		if (ioctl(fd, GEM_CREATE, &g))
			_exit(1);
		usleep(20000);
		if (read(stop, &byte, 1) == 1)
			break;
	}
	_exit(0);
}

#endif /* GP_LAB_HUNGRY_H */
