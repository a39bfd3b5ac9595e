/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/gpreempt from user space: makes the calls of uapi/gpreempt.h and fetches descriptors for
 * attaching. No function keeps a descriptor of another process, because an open KFD file of a
 * process that has ended would keep its queues running.
 */
#ifndef GP_LIB_KMOD_H
#define GP_LIB_KMOD_H

#include <sys/types.h>

#include "core/task.h"
#include "process.h"
#include "uapi/gpreempt.h"

#define GP_KMOD_DEVICE	"/dev/gpreempt"

/*
 * Opens the module, if it has this version. @path: NULL is GP_KMOD_DEVICE. -ENOENT: not loaded.
 * -EACCES. -EPROTO: another version; @is says which, if not NULL.
 */
int gp_kmod_open(const char *path, struct gp_uapi_version *is);

/*
 * Calls ioctl(2). 0 or -errno. Does not retry after EINTR, because an interrupted wait has begun.
 */
int gp_kmod_call(int fd, unsigned long call, void *arg);

/*
 * Attaches processes as one task. Fetching their descriptors can take as long as a process wants.
 * -ESRCH: one has ended. -EBADF: one has no KFD descriptor.
 * -EPERM: no right to trace it. Else as GP_IOC_ATTACH.
 */
int gp_kmod_attach(int fd, const struct gp_process_id *processes, u32 nr,
		   const struct gp_class *class, u32 *ret);

/* The same with descriptors that another process has fetched. */
int gp_kmod_attach_members(int fd, const struct gp_uapi_member *members, u32 nr,
			   const struct gp_class *class, u32 *ret);

int gp_kmod_detach(int fd, u32 task);
int gp_kmod_set_class(int fd, u32 task, const struct gp_class *class);
int gp_kmod_set_policy(int fd, const char *name);
int gp_kmod_set_param(int fd, const char *name, u64 value);
int gp_kmod_set_mechanism(int fd, const char *name, u32 grace);
int gp_kmod_enable(int fd, bool on);
int gp_kmod_subscribe(int fd, u32 what, int eventfd);
int gp_kmod_hint(int fd, u32 task, u64 in_ns, u64 for_ns);
int gp_kmod_trigger(int fd, u32 task);

/* PREEMPT or RESUME of @nr tasks; NO_WAIT if @timeout_ns is 0. */
struct gp_kmod_move {
	const u32 *tasks;
	u32 nr;
	u64 lease_ns;		/* of a stop; 0: the longest allowed */
	u64 timeout_ns;
};
int gp_kmod_preempt(int fd, const struct gp_kmod_move *move, u32 *nr_done);
int gp_kmod_resume(int fd, const struct gp_kmod_move *move, u32 *nr_done);

/* Reads the next event. -EAGAIN: none. The descriptor must be non-blocking. */
int gp_kmod_next(int fd, struct gp_uapi_event *ret);
/*
 * Maps the statistics page; NULL with errno. munmap() it with the page's size. While it is mapped,
 * close() of the descriptor releases nothing; only the end of the leases does.
 */
const struct gp_uapi_stats *gp_kmod_stats(int fd);

#endif /* GP_LIB_KMOD_H */
