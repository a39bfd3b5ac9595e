// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int real_openat(int dir, const char *path, int flags)
{
	return openat(dir, path, flags);
}

static ssize_t real_getdents(int dir, void *to, size_t bytes)
{
	return syscall(SYS_getdents64, dir, to, bytes);
}

static int real_pidfd_open(pid_t pid, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static int real_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

static ssize_t real_process_vm_readv(pid_t pid, const struct iovec *to, const struct iovec *from,
				     unsigned long nr)
{
	return process_vm_readv(pid, to, nr, from, nr, 0);
}

static void real_close(int fd)
{
	close(fd);
}

static u64 real_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

const struct gp_sys gp_sys_real = {
	.openat			= real_openat,
	.read			= read,
	.pread			= pread,
	.write			= write,
	.readlinkat		= readlinkat,
	.fstatat		= fstatat,
	.getdents		= real_getdents,
	.pidfd_open		= real_pidfd_open,
	.ioctl			= real_ioctl,
	.process_vm_readv	= real_process_vm_readv,
	.socket			= socket,
	.accept4		= accept4,
	.sendmsg		= sendmsg,
	.recvmsg		= recvmsg,
	.epoll_ctl		= epoll_ctl,
	.epoll_wait		= epoll_wait,
	.close			= real_close,
	.realloc		= realloc,
	.monotonic_ns		= real_monotonic_ns,
};

const struct gp_sys *gp_sys = &gp_sys_real;
