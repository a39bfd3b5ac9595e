// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int real_openat(int dir, const char *path, int flags)
{
	return openat(dir, path, flags);
}

static int real_create(const char *path, int flags, mode_t mode)
{
	return open(path, flags | O_CREAT, mode);
}

static ssize_t real_getdents(int dir, void *to, size_t bytes)
{
	return syscall(SYS_getdents64, dir, to, bytes);
}

static int real_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

static int real_fcntl(int fd, int op, int arg)
{
	return fcntl(fd, op, arg);
}

static int real_pidfd_open(pid_t pid, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

static int real_pidfd_getfd(int pidfd, int fd, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, flags);
}

static ssize_t real_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long nr_to,
				     const struct iovec *from, unsigned long nr_from)
{
	return process_vm_readv(pid, to, nr_to, from, nr_from, 0);
}

static long real_ptrace(int request, pid_t pid, void *at, void *data)
{
	return ptrace((enum __ptrace_request)request, pid, at, data);
}

static int real_thread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*main)(void *),
			      void *arg)
{
	int err = pthread_create(ret, attr, main, arg);

	if (err)
		errno = err;
	return err ? -1 : 0;
}

static int real_nanosleep(const struct timespec *time)
{
	return nanosleep(time, NULL);
}

static int real_inotify_init(int flags)
{
	return inotify_init1(flags);
}

static int real_bind(int fd, const struct sockaddr *to, socklen_t bytes)
{
	return bind(fd, to, bytes);
}

static int real_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	return connect(fd, to, bytes);
}

static int real_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags)
{
	return accept4(fd, from, bytes, flags);
}

static ssize_t real_sendto(int fd, const void *from, size_t bytes, int flags,
			   const struct sockaddr *to, socklen_t to_bytes)
{
	return sendto(fd, from, bytes, flags, to, to_bytes);
}

static int real_epoll_create(int flags)
{
	return epoll_create1(flags);
}

static int real_epoll_pwait2(int epoll, struct epoll_event *ret, int room,
			     const struct timespec *timeout)
{
	return epoll_pwait2(epoll, ret, room, timeout, NULL);
}

static int real_ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout)
{
	return ppoll(fds, nr, timeout, NULL);
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
	.create			= real_create,
	.read			= read,
	.pread			= pread,
	.write			= write,
	.fsync			= fsync,
	.rename			= rename,
	.unlink			= unlink,
	.mkdir			= mkdir,
	.chmod			= chmod,
	.access			= access,
	.readlinkat		= readlinkat,
	.fstat			= fstat,
	.fstatat		= fstatat,
	.getdents		= real_getdents,
	.ioctl			= real_ioctl,
	.fcntl			= real_fcntl,
	.memfd_create		= memfd_create,
	.ftruncate		= ftruncate,
	.mmap			= mmap,
	.pidfd_open		= real_pidfd_open,
	.pidfd_getfd		= real_pidfd_getfd,
	.process_vm_readv	= real_process_vm_readv,
	.ptrace			= real_ptrace,
	.waitpid		= waitpid,
	.fork			= fork,
	.thread_create		= real_thread_create,
	.nanosleep		= real_nanosleep,
	.pipe2			= pipe2,
	.eventfd		= eventfd,
	.signalfd		= signalfd,
	.inotify_init		= real_inotify_init,
	.inotify_add_watch	= inotify_add_watch,
	.socket			= socket,
	.socketpair		= socketpair,
	.bind			= real_bind,
	.listen			= listen,
	.connect		= real_connect,
	.accept4		= real_accept4,
	.getsockopt		= getsockopt,
	.setsockopt		= setsockopt,
	.send			= send,
	.sendto			= real_sendto,
	.recv			= recv,
	.sendmsg		= sendmsg,
	.recvmsg		= recvmsg,
	.epoll_create		= real_epoll_create,
	.epoll_ctl		= epoll_ctl,
	.epoll_wait		= epoll_wait,
	.epoll_pwait2		= real_epoll_pwait2,
	.poll			= poll,
	.ppoll			= real_ppoll,
	.close			= real_close,
	.realloc		= realloc,
	.monotonic_ns		= real_monotonic_ns,
};

const struct gp_sys *gp_sys = &gp_sys_real;

/* ---- the same, counted ---- */

static _Atomic u64 failures;

static void count_failure(int err)
{
	switch (err) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
	case ENOSPC:
	case EIO:
		failures++;
	}
}

u64 gp_sys_failures(void)
{
	return failures;
}

#define COUNTED(name, type, parameters, arguments)						\
	static type counted_##name parameters							\
	{											\
		type result = gp_sys_real.name arguments;					\
												\
		if (result == (type)-1)								\
			count_failure(errno);							\
		return result;									\
	}
GP_SYS_CALLS(COUNTED)
#undef COUNTED

static void *counted_realloc(void *old, size_t bytes)
{
	void *ret = realloc(old, bytes);

	if (!ret)
		count_failure(ENOMEM);
	return ret;
}

const struct gp_sys gp_sys_counted = {
#define MEMBER(name, type, parameters, arguments) .name = counted_##name,
	GP_SYS_CALLS(MEMBER)
#undef MEMBER
	.close		= real_close,
	.realloc	= counted_realloc,
	.monotonic_ns	= real_monotonic_ns,
};
