// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /dev/gpreempt and the device, as the stories use them. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

#define VIEWS_OF(gpu)	"/sys/kernel/debug/vgpu/" gpu "/"
#define VIEWS		VIEWS_OF("0")

enum { LOOK_US = 2000, LOOKS = 20000 };

void by_both(void (*tell)(const char *way))
{
	static const char *const ways[] = { "evict", "direct" };

	for (u32 i = 0; i < 2; i++) {
		printf("# by %s\n", ways[i]);
		tell(ways[i]);
	}
}

int call(int control, unsigned long request, void *arg)
{
	return ioctl(control, request, arg) ? -errno : 0;
}

void set_param(int control, const char *name, u64 value)
{
	struct gp_uapi_param p = { .value = value };

	snprintf(p.name, sizeof(p.name), "%s", name);
	NEED(call(control, GP_IOC_SET_PARAM, &p) == 0);
}

/* Hardly any of the stories is about time. */
static void be_patient(int fd)
{
	set_param(fd, "lease", 60000000000);
	set_param(fd, "stop_deadline", 10000000000);
}

void set_mechanism(int control, const char *name, u32 grace)
{
	struct gp_uapi_mechanism m = { .grace = grace };

	snprintf(m.name, sizeof(m.name), "%s", name);
	NEED(call(control, GP_IOC_SET_MECHANISM, &m) == 0);
}

int control(const char *mechanism)
{
	struct gp_uapi_task on = { .task = 1 };
	int fd = open("/dev/gpreempt", O_RDWR | O_CLOEXEC);

	NEED(fd >= 0);
	set_mechanism(fd, mechanism, 0);
	NEED(call(fd, GP_IOC_ENABLE, &on) == 0);
	be_patient(fd);
	return fd;
}

struct gp_uapi_version version_of(int control)
{
	struct gp_uapi_version v = { 0 };

	NEED(call(control, GP_IOC_VERSION, &v) == 0);
	return v;
}

int kfd_of(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), fd = -1;
	char path[64], to[64];

	NEED(pidfd >= 0);
	for (int i = 0; fd < 0 && i < 64; i++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, i);
		n = readlink(path, to, sizeof(to) - 1);
		if (n > 0 && !strncmp(to, "/dev/kfd", (size_t)n))
			fd = (int)syscall(SYS_pidfd_getfd, pidfd, i, 0);
	}
	close(pidfd);
	NEED(fd >= 0);
	return fd;
}

static int attach_class(int control, const struct gp_uapi_member *m, u32 nr,
			const struct gp_uapi_class *class, u32 *task)
{
	struct gp_uapi_attach a = {
		.members = (u64)(uintptr_t)m, .nr_members = nr, .class = *class,
	};
	int err = call(control, GP_IOC_ATTACH, &a);

	*task = a.task;
	return err;
}

static const struct gp_uapi_class offline = { .weight = 1, .flags = GP_UAPI_PREEMPTIBLE };
static const struct gp_uapi_class online = {
	.priority = 10, .weight = 1, .flags = GP_UAPI_LATENCY_CRITICAL,
};

int attach_fds(int control, int pidfd, int kfd_fd, u32 *task)
{
	struct gp_uapi_member m = { .pidfd = pidfd, .kfd_fd = kfd_fd };

	return attach_class(control, &m, 1, &offline, task);
}

static struct gp_uapi_member member(pid_t pid)
{
	return (struct gp_uapi_member){
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .kfd_fd = kfd_of(pid),
	};
}

static void put_member(const struct gp_uapi_member *m)
{
	close(m->pidfd);
	close(m->kfd_fd);
}

static u32 attach_pid(int control, pid_t pid, const struct gp_uapi_class *class)
{
	struct gp_uapi_member m = member(pid);
	u32 task;

	NEED(attach_class(control, &m, 1, class, &task) == 0);
	put_member(&m);
	return task;
}

u32 attach_both(int control, pid_t first, pid_t second)
{
	struct gp_uapi_member m[2] = { member(first), member(second) };
	u32 task;

	NEED(attach_class(control, m, 2, &offline, &task) == 0);
	put_member(&m[0]);
	put_member(&m[1]);
	return task;
}

static u32 queues_in_driver(pid_t pid)
{
	char path[64];
	glob_t found;
	u32 nr;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/queues/*", pid);
	nr = glob(path, GLOB_NOSORT, NULL, &found) ? 0 : (u32)found.gl_pathc;
	globfree(&found);
	return nr;
}

/* While a GPU's worker is busy, with what the story before has left, queues are not asked for. */
static u32 when_known(int control, u32 task, pid_t pid)
{
	for (u32 i = 0; i < LOOKS; i++) {
		if (seat_of(control, task).nr_queues >= queues_in_driver(pid))
			return task;
		usleep(LOOK_US);
	}
	printf("# %u of %u queues of process %d are known\n", seat_of(control, task).nr_queues,
	       queues_in_driver(pid), pid);
	return task;
}

u32 attach_at_once(int control, pid_t pid)
{
	return attach_pid(control, pid, &offline);
}

u32 attach(int control, pid_t pid)
{
	return when_known(control, attach_at_once(control, pid), pid);
}

u32 attach_online(int control, pid_t pid)
{
	return when_known(control, attach_pid(control, pid, &online), pid);
}

static int move(int control, unsigned long request, const u32 *tasks, u32 nr)
{
	struct gp_uapi_move m = { .tasks = (u64)(uintptr_t)tasks, .nr_tasks = nr };

	return call(control, request, &m);
}

int preempt(int control, const u32 *tasks, u32 nr)
{
	return move(control, GP_IOC_PREEMPT, tasks, nr);
}

int resume(int control, const u32 *tasks, u32 nr)
{
	return move(control, GP_IOC_RESUME, tasks, nr);
}

struct gp_uapi_seat seat_of(int control, u32 task)
{
	struct gp_uapi_seat s = { .task = task };

	NEED(call(control, GP_IOC_SEAT, &s) == 0);
	return s;
}

bool comes_to(int control, u32 task, u32 state)
{
	for (u32 i = 0; i < LOOKS; i++) {
		if (seat_of(control, task).state == state)
			return true;
		usleep(LOOK_US);
	}
	printf("# task %u stays in state %u\n", task, seat_of(control, task).state);
	return false;
}

struct gp_uapi_gpu gpu_of(int control)
{
	struct gp_uapi_gpu g = { .index = 0 };

	NEED(call(control, GP_IOC_GPU, &g) == 0);
	return g;
}

/* ---- the device ---- */

struct sum {
	u32 waves, mapped, doorbell;
};

static struct sum sum_on(u32 gpu, pid_t pid)
{
	char path[64], line[256], state[32];
	struct sum sum = { 0 };
	u32 pasid = 0, whose, waves, doorbell;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/pasid", pid);
	f = fopen(path, "re");
	NEED(f && fscanf(f, "%u", &pasid) == 1);
	fclose(f);
	snprintf(path, sizeof(path), VIEWS_OF("%u") "queues", gpu);
	f = fopen(path, "re");
	NEED(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %x %*s %31s %*s %*s %*s %*s %*s %*s %u", &whose, &doorbell,
			   state, &waves) != 4 || whose != pasid)
			continue;
		sum.waves += waves;
		sum.mapped += !strcmp(state, "mapped");
		sum.doorbell = doorbell;
	}
	fclose(f);
	return sum;
}

static struct sum sum_of(pid_t pid)
{
	return sum_on(0, pid);
}

u32 mapped_on(u32 gpu, pid_t pid)
{
	return sum_on(gpu, pid).mapped;
}

u32 waves_of(pid_t pid)
{
	return sum_of(pid).waves;
}

u32 mapped_of(pid_t pid)
{
	return sum_of(pid).mapped;
}

bool soon_mapped(pid_t pid, u32 queues)
{
	/* Not asked twice: a process that ends takes all others off for a moment. */
	for (u32 i = 0; i < LOOKS; i++) {
		if (mapped_of(pid) == queues)
			return true;
		usleep(LOOK_US);
	}
	return false;
}

u32 first_doorbell(pid_t pid)
{
	return sum_of(pid).doorbell;
}

bool runs_huge(pid_t pid)
{
	for (u32 i = 0; i < LOOKS && waves_of(pid) != 400; i++)
		usleep(LOOK_US);
	return waves_of(pid) == 400;
}

void fault(const char *text)
{
	FILE *f = fopen(VIEWS "fault", "we");

	NEED(f);
	fputs(text, f);
	NEED(fclose(f) == 0);
}

int standstill(const char *name)
{
	return standstill_of(0, name);
}

int standstill_of(u32 gpu, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), VIEWS_OF("%u") "%s", gpu, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	NEED(fd >= 0);
	return fd;
}
