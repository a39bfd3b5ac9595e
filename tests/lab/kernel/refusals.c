// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Descriptors that are not a process's KFD file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

/* struct drm_prime_handle, and drm_amdgpu_gem_create_in with its answer in its place */
struct prime {
	u32 handle, flags;
	int fd;
};

struct gem {
	u64 bytes, alignment, domains, flags;
};

static int dma_buf(void)
{
	struct gem g = { .bytes = 4096, .alignment = 4096, .domains = 2 };
	struct prime p = { .flags = O_CLOEXEC };
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

	NEED(fd >= 0 && ioctl(fd, _IOWR('d', 0x40, struct gem), &g) == 0);
	p.handle = (u32)g.bytes;
	NEED(ioctl(fd, _IOWR('d', 0x2d, struct prime), &p) == 0);
	return p.fd;
}

static int smi(void)
{
	struct gp_lab_client c;
	int fd;

	NEED(gp_client_open(&c, &(struct gp_client_args){ 0 }) == 0);
	fd = gp_smi_open(&c, 0);
	NEED(fd >= 0);
	return fd;
}

static void every_wrong_descriptor(void)
{
	static const char *const paths[] = {
		"/dev/dri/renderD128", "/dev/dri/card0", "/dev/null", "/dev/gpreempt", "/",
		"/sys/kernel/debug/kfd/rls", "/sys/kernel/debug/kfd/mqds",
		"/sys/kernel/debug/vgpu/0/counters", "/proc/self/stat", "/proc/self/exe",
	};
	int ctl = control("evict"), pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int kfd, wrong[32], nr = 0, pair[2];
	u32 task;

	NEED(pidfd >= 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		if (!CHECK(fd >= 0))
			printf("# %s\n", paths[i]);
		wrong[nr++] = fd;
	}
	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	wrong[nr++] = pair[0];
	wrong[nr++] = eventfd(0, 0);
	wrong[nr++] = epoll_create1(0);
	wrong[nr++] = memfd_create("kfd", 0);
	wrong[nr++] = pidfd;
	wrong[nr++] = dma_buf();
	wrong[nr++] = smi();
	wrong[nr++] = open("/dev/kfd", O_PATH | O_CLOEXEC);
	wrong[nr++] = -1;
	wrong[nr++] = 1000;			/* closed */
	for (int i = 0; i < nr; i++)
		if (!EQ(attach_fds(ctl, pidfd, wrong[i], &task), -EBADF))
			printf("# descriptor number %d of the list\n", i);
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	NEED(kfd >= 0);
	for (int i = 0; i < nr; i++)
		if (wrong[i] != pidfd &&
		    !EQ(attach_fds(ctl, wrong[i], kfd, &task), -EBADF))
			printf("# instead of the pidfd: number %d of the list\n", i);
	EQ(attach_fds(ctl, pidfd, kfd, &task), 0);
	EQ(attach_fds(ctl, pidfd, kfd, &task), -EEXIST);
	close(ctl);
}

static void of_another_process(void)
{
	struct target a = target_ready(1), b = target_ready(1);
	int ctl = control("evict"), kfd = kfd_of(a.pid);
	int other = (int)syscall(SYS_pidfd_open, b.pid, 0);
	u32 task;

	EQ(attach_fds(ctl, other, kfd, &task), -EXDEV);
	/* Its program has changed: the descriptor is of a memory that is gone. */
	close(other);
	other = (int)syscall(SYS_pidfd_open, a.pid, 0);
	target_tell(&a, ASK_EXEC, 0);
	for (u32 i = 0; i < 1000; i++) {
		int err = attach_fds(ctl, other, kfd, &task);
		struct gp_uapi_task t = { .task = task };

		if (err == -EXDEV || err == -ESRCH)
			break;
		if (!err)
			call(ctl, GP_IOC_DETACH, &t);
		usleep(10000);
	}
	CHECK(attach_fds(ctl, other, kfd, &task) < 0);
	target_ends_right(&b);
	close(ctl);
}

/* A promise of 9 of 10 ms for each of two: the second is no task once it has a queue. */
static void promised_too_much(void)
{
	const struct gp_uapi_class most = {
		.weight = 1, .flags = GP_UAPI_PREEMPTIBLE,
		.deadline_ns = 10000000, .period_ns = 10000000, .budget_ns = 9000000,
	};
	struct gp_uapi_name deadline = { .name = "deadline" };
	struct target t = target_ready(1), late = target_ready(0);
	int ctl = control("evict");
	u32 task[2] = { attach(ctl, t.pid), attach(ctl, late.pid) };

	EQ(call(ctl, GP_IOC_SET_POLICY, &deadline), 0);
	for (u32 i = 0; i < 2; i++) {
		struct gp_uapi_set_class s = { .task = task[i], .class = most };

		EQ(call(ctl, GP_IOC_SET_CLASS, &s), 0);
	}
	target_queue(&late, 0);
	EQ(preempt(ctl, &task[1], 1), -ENOSPC);
	EQ(preempt(ctl, &task[0], 1), 0);
	EQ(mapped_of(t.pid), 0);
	EQ(resume(ctl, task, 2), 0);
	target_ends_right(&late);
	target_ends_right(&t);
	close(ctl);
}

/* The module's parameters bound what callers set: the guest loads it with 60 s and 10 s. */
static void beyond_bounds(void)
{
	static const struct {
		const char *name;
		u64 value;
		int err;
	} tries[] = {
		{ "max_hold", 60000000000, 0 },		{ "max_hold", 60000000001, -ERANGE },
		{ "stop_deadline", 10000000000, 0 },	{ "stop_deadline", 10000000001, -ERANGE },
		{ "look_min", 20000, 0 },		{ "look_min", 19999, -ERANGE },
		{ "no_such", 1, -ENOENT },
	};
	struct target t = target_ready(1);	/* it must not inherit our KFD file */
	int ctl = control("evict"), kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	u32 task = attach(ctl, t.pid), online = attach_online(ctl, getpid());
	struct gp_uapi_move m = {
		.tasks = (u64)(uintptr_t)&task, .nr_tasks = 1, .lease_ns = 60000000001,
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct gp_uapi_param p = { .value = tries[i].value };

		snprintf(p.name, sizeof(p.name), "%s", tries[i].name);
		EQ(call(ctl, GP_IOC_SET_PARAM, &p), tries[i].err);
	}
	EQ(call(ctl, GP_IOC_PREEMPT, &m), -EINVAL);
	EQ(preempt(ctl, &online, 1), -EPERM);	/* not preemptible */
	EQ(seat_of(ctl, task).state, GP_UAPI_ON);
	target_ends_right(&t);
	close(ctl);
	close(kfd);
}

const struct story refusals[] = {
	{ "every other kind of descriptor is EBADF, as KFD file and as pidfd",
	  every_wrong_descriptor },
	{ "a KFD file and a pidfd of two processes are EXDEV; of a program that is gone, refused",
	  of_another_process },
	{ "a process whose class the policy refuses once it has queues is not said to be off",
	  promised_too_much },
	{ "the module refuses values beyond its bounds, and a hold of a process that is not "
	  "preemptible", beyond_bounds },
	{ 0 },
};
