// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See prompt.h. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "prompt.h"

u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* A call that must not wait for another process. */
int prompt(int ctl, unsigned long request, void *arg)
{
	u64 start = now_ns();
	int err = call(ctl, request, arg);
	u64 took = now_ns() - start;

	if (!CHECK(took < PROMPT_NS))
		printf("# call %lx took %llu us\n", request & 0xff,
		       (unsigned long long)(took / 1000));
	return err;
}

int prompt_attach(int ctl, pid_t pid, u32 *task)
{
	struct gp_uapi_member m = {
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .kfd_fd = kfd_of(pid),
	};
	struct gp_uapi_attach a = {
		.members = (u64)(uintptr_t)&m, .nr_members = 1,
		.class = { .weight = 1, .flags = GP_UAPI_PREEMPTIBLE },
	};
	int err = prompt(ctl, GP_IOC_ATTACH, &a);

	close(m.pidfd);
	close(m.kfd_fd);
	*task = a.task;
	return err;
}

int prompt_move(int ctl, unsigned long request, u32 task)
{
	struct gp_uapi_move m = { .tasks = (u64)(uintptr_t)&task, .nr_tasks = 1 };

	return prompt(ctl, request, &m);
}

int prompt_task(int ctl, unsigned long request, u32 task)
{
	struct gp_uapi_task t = { .task = task };

	return prompt(ctl, request, &t);
}

static int prompt_state(int ctl, u32 task)
{
	struct gp_uapi_seat s = { .task = task };
	int err = prompt(ctl, GP_IOC_SEAT, &s);

	return err ? err : (int)s.state;
}

void serves(const struct target *t)
{
	struct gp_uapi_subscribe s = { .what = GP_UAPI_EVENTS, .eventfd = -1 };
	struct gp_uapi_version v;
	struct gp_uapi_event e;
	int ctl = open("/dev/gpreempt", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	u32 task;

	NEED(ctl >= 0);
	EQ(prompt(ctl, GP_IOC_VERSION, &v), 0);
	EQ(prompt(ctl, GP_IOC_SUBSCRIBE, &s), 0);
	NEED(prompt_attach(ctl, t->pid, &task) == 0);
	EQ(prompt_move(ctl, GP_IOC_PREEMPT, task), 0);
	EQ(prompt_state(ctl, task), GP_UAPI_OFF);
	EQ(mapped_of(t->pid), 0);
	EQ(prompt_move(ctl, GP_IOC_RESUME, task), 0);
	EQ(prompt_state(ctl, task), GP_UAPI_ON);
	CHECK(soon_mapped(t->pid, 1));
	EQ(read(ctl, &e, sizeof(e)), sizeof(e));
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, GP_UAPI_ALL), 0);
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	close(ctl);
}
