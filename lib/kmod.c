// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmod.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys.h"
#include "uapi/kfd.h"

int gp_kmod_call(int fd, unsigned long call, void *arg)
{
	return gp_sys->ioctl(fd, call, arg) ? -errno : 0;
}

int gp_kmod_open(const char *path, struct gp_uapi_version *is)
{
	struct gp_uapi_version v = { 0 };
	int fd = gp_sys->openat(AT_FDCWD, path ? path : GP_KMOD_DEVICE,
				O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int err;

	if (fd < 0)
		return -errno;
	err = gp_kmod_call(fd, GP_IOC_VERSION, &v);
	if (is)
		*is = v;
	/* A version whose structures differ in size has other numbers for its calls. */
	if (err || v.version != GP_UAPI_VERSION) {
		close(fd);
		return -EPROTO;
	}
	return fd;
}

/* ---- attaching ---- */

static struct gp_uapi_class class_of(const struct gp_class *c)
{
	return (struct gp_uapi_class){
		.priority = c->priority, .weight = c->weight, .flags = c->flags,
		.period_ns = c->period_ns, .budget_ns = c->budget_ns,
		.deadline_ns = c->deadline_ns,
	};
}

int gp_kmod_attach_members(int fd, const struct gp_uapi_member *members, u32 nr,
			   const struct gp_class *class, u32 *ret)
{
	struct gp_uapi_attach a = { .nr_members = nr, .class = class_of(class),
				    .members = (u64)(uintptr_t)members };
	int err = gp_kmod_call(fd, GP_IOC_ATTACH, &a);

	if (!err)
		*ret = a.task;
	return err;
}

/* Takes descriptor @which of each process. *@count: the largest number that one of them has. */
static int take_members(const struct gp_process_id *p, u32 nr, u32 which,
			struct gp_uapi_member *members, u32 *count)
{
	int fds[2], n = 0;

	for (u32 i = 0; i < nr; i++)
		members[i] = (struct gp_uapi_member){ .pidfd = -1, .kfd_fd = -1 };
	for (u32 i = 0; i < nr && n >= 0; i++) {
		n = gp_process_take_kfd(&p[i], which, fds);
		if (n < 0)
			break;
		members[i] = (struct gp_uapi_member){ .pidfd = fds[0], .kfd_fd = fds[1] };
		*count = (u32)n > *count ? (u32)n : *count;
	}
	return n < 0 ? n : 0;
}

int gp_kmod_attach(int fd, const struct gp_process_id *processes, u32 nr,
		   const struct gp_class *class, u32 *ret)
{
	struct gp_uapi_member members[GP_UAPI_MEMBERS];
	u32 which = 0, count = 0, i;
	int err;

	if (!nr || nr > GP_UAPI_MEMBERS)
		return -EINVAL;
	/* A process may also have descriptors of the process that it was forked from. */
	do {
		err = take_members(processes, nr, which, members, &count);
		if (!err)
			err = gp_kmod_attach_members(fd, members, nr, class, ret);
		for (i = 0; i < nr; i++) {
			if (members[i].pidfd < 0)
				continue;
			close(members[i].kfd_fd);
			close(members[i].pidfd);
		}
	} while (err == -EXDEV && ++which < count);
	return err;
}

int gp_kmod_detach(int fd, u32 task)
{
	struct gp_uapi_task t = { .task = task };

	return gp_kmod_call(fd, GP_IOC_DETACH, &t);
}

/* ---- settings ---- */

int gp_kmod_set_class(int fd, u32 task, const struct gp_class *class)
{
	struct gp_uapi_set_class s = { .task = task, .class = class_of(class) };

	return gp_kmod_call(fd, GP_IOC_SET_CLASS, &s);
}

/* Copies a name. Returns false if it does not fit, because the module does not know it then. */
static bool copy_name(char *to, size_t size, const char *name)
{
	if (strlen(name) >= size)
		return false;
	memcpy(to, name, strlen(name) + 1);
	return true;
}

int gp_kmod_set_policy(int fd, const char *name)
{
	struct gp_uapi_name n = { 0 };

	if (!copy_name(n.name, sizeof(n.name), name))
		return -ENOENT;
	return gp_kmod_call(fd, GP_IOC_SET_POLICY, &n);
}

int gp_kmod_set_param(int fd, const char *name, u64 value)
{
	struct gp_uapi_param p = { .value = value };

	if (!copy_name(p.name, sizeof(p.name), name))
		return -ENOENT;
	return gp_kmod_call(fd, GP_IOC_SET_PARAM, &p);
}

int gp_kmod_set_mechanism(int fd, const char *name, u32 grace)
{
	struct gp_uapi_mechanism m = { .grace = grace };

	if (!copy_name(m.name, sizeof(m.name), name))
		return -ENOENT;
	return gp_kmod_call(fd, GP_IOC_SET_MECHANISM, &m);
}

int gp_kmod_enable(int fd, bool on)
{
	struct gp_uapi_task t = { .task = on };

	return gp_kmod_call(fd, GP_IOC_ENABLE, &t);
}

/* ---- asking ---- */

int gp_kmod_subscribe(int fd, u32 what, int eventfd)
{
	struct gp_uapi_subscribe s = { .what = what, .eventfd = eventfd };

	return gp_kmod_call(fd, GP_IOC_SUBSCRIBE, &s);
}

int gp_kmod_hint(int fd, u32 task, u64 in_ns, u64 for_ns)
{
	struct gp_uapi_hint h = { .task = task, .in_ns = in_ns, .for_ns = for_ns };

	return gp_kmod_call(fd, GP_IOC_HINT, &h);
}

int gp_kmod_trigger(int fd, u32 task)
{
	struct gp_uapi_task t = { .task = task };

	return gp_kmod_call(fd, GP_IOC_TRIGGER, &t);
}

static int move(int fd, unsigned long call, const struct gp_kmod_move *m, u32 *nr_done)
{
	struct gp_uapi_move a = {
		.tasks = (u64)(uintptr_t)m->tasks, .nr_tasks = m->nr,
		.flags = m->timeout_ns ? 0 : GP_UAPI_NO_WAIT,
		.lease_ns = m->lease_ns, .timeout_ns = m->timeout_ns,
	};
	int err = gp_kmod_call(fd, call, &a);

	if (nr_done)
		*nr_done = a.nr_done;
	return err;
}

int gp_kmod_preempt(int fd, const struct gp_kmod_move *m, u32 *nr_done)
{
	return move(fd, GP_IOC_PREEMPT, m, nr_done);
}

int gp_kmod_resume(int fd, const struct gp_kmod_move *m, u32 *nr_done)
{
	return move(fd, GP_IOC_RESUME, m, nr_done);
}

/* ---- reading ---- */

int gp_kmod_next(int fd, struct gp_uapi_event *ret)
{
	ssize_t n;

	do
		n = gp_sys->read(fd, ret, sizeof(*ret));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*ret) ? 0 : n < 0 ? -errno : -EIO;
}

const struct gp_uapi_stats *gp_kmod_stats(int fd)
{
	void *at = gp_sys->mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}
