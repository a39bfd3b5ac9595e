/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The system calls of the library and the daemon, in one table.
 *
 * Code calls gp_sys->openat() and not openat(). A program always uses the default table,
 * gp_sys_real. A test replaces it to make one call fail or take long (tests/sys_faults.h):
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

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "gp_env.h"

/* CALL(name, type, parameters, arguments): returns -1 and sets errno when it fails. */
#define GP_SYS_CALLS(CALL)									\
	CALL(openat, int, (int dir, const char *path, int flags), (dir, path, flags))		\
	CALL(read, ssize_t, (int fd, void *to, size_t bytes), (fd, to, bytes))			\
	CALL(pread, ssize_t, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))	\
	CALL(write, ssize_t, (int fd, const void *from, size_t bytes), (fd, from, bytes))	\
	CALL(readlinkat, ssize_t, (int dir, const char *path, char *to, size_t bytes),		\
	     (dir, path, to, bytes))								\
	CALL(fstatat, int, (int dir, const char *path, struct stat *ret, int flags),		\
	     (dir, path, ret, flags))								\
	CALL(getdents, ssize_t, (int dir, void *to, size_t bytes), (dir, to, bytes))		\
	CALL(pidfd_open, int, (pid_t pid, unsigned int flags), (pid, flags))			\
	CALL(ioctl, int, (int fd, unsigned long request, void *arg), (fd, request, arg))	\
	CALL(process_vm_readv, ssize_t,								\
	     (pid_t pid, const struct iovec *to, const struct iovec *from, unsigned long nr),	\
	     (pid, to, from, nr))								\
	CALL(socket, int, (int domain, int type, int protocol), (domain, type, protocol))	\
	CALL(accept4, int, (int fd, struct sockaddr *from, socklen_t *bytes, int flags),	\
	     (fd, from, bytes, flags))								\
	CALL(sendmsg, ssize_t, (int fd, const struct msghdr *message, int flags),		\
	     (fd, message, flags))								\
	CALL(recvmsg, ssize_t, (int fd, struct msghdr *message, int flags), (fd, message, flags)) \
	CALL(epoll_ctl, int, (int epoll, int op, int fd, struct epoll_event *event),		\
	     (epoll, op, fd, event))								\
	CALL(epoll_wait, int, (int epoll, struct epoll_event *ret, int room, int timeout_ms),	\
	     (epoll, ret, room, timeout_ms))

/* One table. getdents() and process_vm_readv() are those of Linux, the latter with @nr of both. */
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

/* What a test names a call by. */
enum gp_sys_call {
#define GP_SYS_NUMBER(name, type, parameters, arguments) GP_SYS_##name,
	GP_SYS_CALLS(GP_SYS_NUMBER)
#undef GP_SYS_NUMBER
	GP_SYS_realloc,
	GP_SYS_monotonic_ns,
	GP_SYS_NR,
};

extern const struct gp_sys gp_sys_real;
extern const struct gp_sys *gp_sys;

/* The error @err (-errno) says that a file, process or device does not exist (any more). */
static inline bool gp_sys_is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ENODEV || err == -ENOTDIR;
}

/* The error says that this process may never see the object. Trying again changes nothing. */
static inline bool gp_sys_is_denied(int err)
{
	return err == -EACCES || err == -EPERM;
}

#endif /* GP_LIB_SYS_H */
