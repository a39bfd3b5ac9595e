/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The system calls of the library and the daemon, in one table.
 *
 * Code calls gp_sys->openat() and not openat(). A program always uses the default table,
 * gp_sys_real. A test replaces it to make one call fail or take long (tests/shared/sys_faults.h):
 *
 *	sys_faults_begin(&(struct sys_fault){ .call = GP_SYS_openat, .nth = 3, .err = EMFILE });
 *	... the third openat() fails with EMFILE ...
 *	sys_faults_end();
 *
 * A failed call is not a fact. Only gp_sys_is_gone() errors say that an object does not exist.
 * After any other error the caller keeps what it knew before, counts the error and tries again.
 */
#ifndef GP_LIB_SYS_H
#define GP_LIB_SYS_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "gp_env.h"

/*
 * CALL(name, type, parameters, arguments): as in Linux; fails with (type)-1 and sets errno.
 * create() is open() with O_CREAT, thread_create() is pthread_create() with its error in errno.
 */
#define GP_SYS_CALLS(CALL)									\
	CALL(openat, int, (int dir, const char *path, int flags), (dir, path, flags))		\
	CALL(create, int, (const char *path, int flags, mode_t mode), (path, flags, mode))	\
	CALL(read, ssize_t, (int fd, void *to, size_t bytes), (fd, to, bytes))			\
	CALL(pread, ssize_t, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))	\
	CALL(write, ssize_t, (int fd, const void *from, size_t bytes), (fd, from, bytes))	\
	CALL(fsync, int, (int fd), (fd))							\
	CALL(rename, int, (const char *from, const char *to), (from, to))			\
	CALL(unlink, int, (const char *path), (path))						\
	CALL(mkdir, int, (const char *path, mode_t mode), (path, mode))				\
	CALL(chmod, int, (const char *path, mode_t mode), (path, mode))				\
	CALL(access, int, (const char *path, int mode), (path, mode))				\
	CALL(readlinkat, ssize_t, (int dir, const char *path, char *to, size_t bytes),		\
	     (dir, path, to, bytes))								\
	CALL(fstat, int, (int fd, struct stat *ret), (fd, ret))					\
	CALL(fstatat, int, (int dir, const char *path, struct stat *ret, int flags),		\
	     (dir, path, ret, flags))								\
	CALL(getdents, ssize_t, (int dir, void *to, size_t bytes), (dir, to, bytes))		\
	CALL(ioctl, int, (int fd, unsigned long request, void *arg), (fd, request, arg))	\
	CALL(fcntl, int, (int fd, int op, int arg), (fd, op, arg))				\
	CALL(memfd_create, int, (const char *name, unsigned int flags), (name, flags))		\
	CALL(ftruncate, int, (int fd, off_t bytes), (fd, bytes))				\
	CALL(mmap, void *, (void *at, size_t bytes, int prot, int flags, int fd, off_t from),	\
	     (at, bytes, prot, flags, fd, from))						\
	CALL(pidfd_open, int, (pid_t pid, unsigned int flags), (pid, flags))			\
	CALL(pidfd_getfd, int, (int pidfd, int fd, unsigned int flags), (pidfd, fd, flags))	\
	CALL(process_vm_readv, ssize_t,								\
	     (pid_t pid, const struct iovec *to, unsigned long nr_to, const struct iovec *from,	\
	      unsigned long nr_from), (pid, to, nr_to, from, nr_from))				\
	CALL(ptrace, long, (int request, pid_t pid, void *at, void *data),			\
	     (request, pid, at, data))								\
	CALL(waitpid, pid_t, (pid_t pid, int *ret_status, int options),				\
	     (pid, ret_status, options))							\
	CALL(fork, pid_t, (void), ())								\
	CALL(thread_create, int,								\
	     (pthread_t *ret, const pthread_attr_t *attr, void *(*main)(void *), void *arg),	\
	     (ret, attr, main, arg))								\
	CALL(nanosleep, int, (const struct timespec *time), (time))				\
	CALL(pipe2, int, (int ret[2], int flags), (ret, flags))					\
	CALL(eventfd, int, (unsigned int value, int flags), (value, flags))			\
	CALL(signalfd, int, (int fd, const sigset_t *set, int flags), (fd, set, flags))		\
	CALL(inotify_init, int, (int flags), (flags))						\
	CALL(inotify_add_watch, int, (int fd, const char *path, u32 mask), (fd, path, mask))	\
	CALL(socket, int, (int domain, int type, int protocol), (domain, type, protocol))	\
	CALL(socketpair, int, (int domain, int type, int protocol, int ret[2]),			\
	     (domain, type, protocol, ret))							\
	CALL(bind, int, (int fd, const struct sockaddr *to, socklen_t bytes), (fd, to, bytes))	\
	CALL(listen, int, (int fd, int backlog), (fd, backlog))					\
	CALL(connect, int, (int fd, const struct sockaddr *to, socklen_t bytes),		\
	     (fd, to, bytes))									\
	CALL(accept4, int, (int fd, struct sockaddr *from, socklen_t *bytes, int flags),	\
	     (fd, from, bytes, flags))								\
	CALL(getsockopt, int, (int fd, int level, int option, void *ret, socklen_t *bytes),	\
	     (fd, level, option, ret, bytes))							\
	CALL(setsockopt, int, (int fd, int level, int option, const void *value, socklen_t bytes), \
	     (fd, level, option, value, bytes))							\
	CALL(send, ssize_t, (int fd, const void *from, size_t bytes, int flags),		\
	     (fd, from, bytes, flags))								\
	CALL(sendto, ssize_t, (int fd, const void *from, size_t bytes, int flags,		\
			       const struct sockaddr *to, socklen_t to_bytes),			\
	     (fd, from, bytes, flags, to, to_bytes))						\
	CALL(recv, ssize_t, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags)) \
	CALL(sendmsg, ssize_t, (int fd, const struct msghdr *message, int flags),		\
	     (fd, message, flags))								\
	CALL(recvmsg, ssize_t, (int fd, struct msghdr *message, int flags), (fd, message, flags)) \
	CALL(epoll_create, int, (int flags), (flags))						\
	CALL(epoll_ctl, int, (int epoll, int op, int fd, struct epoll_event *event),		\
	     (epoll, op, fd, event))								\
	CALL(epoll_wait, int, (int epoll, struct epoll_event *ret, int room, int timeout_ms),	\
	     (epoll, ret, room, timeout_ms))							\
	CALL(epoll_pwait2, int, (int epoll, struct epoll_event *ret, int room,			\
				 const struct timespec *timeout), (epoll, ret, room, timeout))	\
	CALL(poll, int, (struct pollfd *fds, nfds_t nr, int timeout_ms), (fds, nr, timeout_ms))	\
	CALL(ppoll, int, (struct pollfd *fds, nfds_t nr, const struct timespec *timeout),	\
	     (fds, nr, timeout))

struct gp_sys {
#define GP_SYS_MEMBER(name, type, parameters, arguments) type (*name) parameters;
	GP_SYS_CALLS(GP_SYS_MEMBER)
#undef GP_SYS_MEMBER
	/* Closes @fd, even if it returns an error, so that no caller looks at the result. */
	void (*close)(int fd);
	/* NULL: no memory. @bytes is not 0. free() frees it. */
	void *(*realloc)(void *old, size_t bytes);
	u64 (*monotonic_ns)(void);
};

/* The name of a call in tests. */
enum gp_sys_call {
#define GP_SYS_NUMBER(name, type, parameters, arguments) GP_SYS_##name,
	GP_SYS_CALLS(GP_SYS_NUMBER)
#undef GP_SYS_NUMBER
	GP_SYS_realloc,
	GP_SYS_monotonic_ns,
	GP_SYS_NR,
};

extern const struct gp_sys gp_sys_real;
/*
 * The same calls, counted: gp_sys_failures() returns how many failed for want of descriptors,
 * memory or space, or with EIO. For programs that show the counter.
 */
extern const struct gp_sys gp_sys_counted;
u64 gp_sys_failures(void);
extern const struct gp_sys *gp_sys;

/* Returns true if @err (-errno) says that a file, process or device does not exist (any more). */
static inline bool gp_sys_is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ENODEV || err == -ENOTDIR;
}

/* Returns true if @err says that this process may never see the object, so a retry is useless. */
static inline bool gp_sys_is_denied(int err)
{
	return err == -EACCES || err == -EPERM;
}

#endif /* GP_LIB_SYS_H */
