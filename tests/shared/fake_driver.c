// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "fake_driver.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_tree.h"
#include "gp_test.h"
#include "lib/gpu.h"
#include "uapi/kfd.h"

#define CARD \
	"cpu_cores_count 0\nsimd_count 320\nsimd_per_cu 4\ngfx_target_version 90402\n" \
	"location_id 64\ndomain 0\ndrm_render_minor 128\nnum_xcc 4\n"

struct fake_driver *driver;
static struct fake_tree *tree;	/* replaces the driver's sysfs */

u64 fake_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

pid_t fake_tracer_of(pid_t pid)
{
	char path[64], line[128];
	int tracer = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	if (f)
		fclose(f);
	return tracer;
}

static int enable(struct fake_target *t, struct kfd_ioctl_dbg_trap_args *a)
{
	struct kfd_runtime_info *info = (void *)(uintptr_t)a->enable.rinfo_ptr;

	if (t->enabled)
		return EALREADY;
	if (fake_tracer_of(t->pid) != gettid())
		return EPERM;
	t->enabled = true;
	/* Duplicates the descriptor with fcntl(), because a holder may not call dup(). */
	t->fd = fcntl((int)a->enable.dbg_fd, F_DUPFD_CLOEXEC, 0);
	info->runtime_state = DEBUG_RUNTIME_STATE_ENABLED;
	driver->last_ns = fake_now();
	return 0;
}

static int disable(struct fake_target *t)
{
	driver->left_off += !!t->held;
	t->enabled = false;
	t->held = 0;
	close(t->fd);
	driver->last_ns = fake_now();
	return 0;
}

static int snapshot(struct kfd_ioctl_dbg_trap_args *a)
{
	struct kfd_queue_snapshot_entry *to = (void *)(uintptr_t)a->queue_snapshot.snapshot_buf_ptr;

	for (u32 i = 0; i < a->queue_snapshot.num_queues && i < driver->queues; i++)
		to[i] = (struct kfd_queue_snapshot_entry){
			.queue_id = i, .gpu_id = GPU_ID,
			.exception_status = driver->new >> i & 1 ? KFD_EC_MASK(EC_QUEUE_NEW) : 0,
		};
	if (a->queue_snapshot.num_queues && a->queue_snapshot.exception_mask)
		driver->new = 0;
	a->queue_snapshot.num_queues = driver->queues;
	return 0;
}

/* Like the driver, marks a queue whose suspend failed as suspended. */
static int suspend(struct fake_target *t, const struct kfd_ioctl_dbg_trap_args *a)
{
	u32 *ids = (void *)(uintptr_t)a->suspend_queues.queue_array_ptr;

	/* Waits as on a page that never arrives, without blocking other calls. */
	while (driver->hangs >> (t - driver->target) & 1) {
		pthread_mutex_unlock(&driver->lock);
		usleep(1000);
		pthread_mutex_lock(&driver->lock);
	}
	driver->suspends++;
	driver->grace = a->suspend_queues.grace_period;
	for (u32 i = 0; i < a->suspend_queues.num_queues; i++) {
		u32 id = ids[i];

		if (id >= driver->queues) {
			ids[i] |= KFD_DBG_QUEUE_INVALID_MASK;
			continue;
		}
		t->held |= 1u << id;
		if (id == driver->fails && driver->fails_of >> (t - driver->target) & 1)
			ids[i] |= KFD_DBG_QUEUE_ERROR_MASK;
	}
	return 0;
}

static int resume(struct fake_target *t, const struct kfd_ioctl_dbg_trap_args *a)
{
	const u32 *ids = (const void *)(uintptr_t)a->resume_queues.queue_array_ptr;

	driver->resumes++;
	driver->resumed_ns = fake_now();
	if (!ids)
		t->held = 0;
	for (u32 i = 0; ids && i < a->resume_queues.num_queues; i++)
		t->held &= ~(1u << ids[i]);
	return 0;
}

/* Returns an errno. */
static int answer(struct kfd_ioctl_dbg_trap_args *a)
{
	struct fake_target *t = NULL;

	for (u32 i = 0; i < TARGETS; i++)
		if (driver->target[i].pid == (pid_t)a->pid)
			t = &driver->target[i];
	if (!t)
		return ESRCH;
	if (a->op == KFD_IOC_DBG_TRAP_ENABLE)
		return enable(t, a);
	if (driver->insists && fake_tracer_of(t->pid) != gettid())
		return EPERM;
	if (!t->enabled)
		return EINVAL;
	if (driver->no_memory >> a->op & 1)
		return ENOMEM;
	if (driver->refused >> a->op & 1)
		return EPERM;
	switch (a->op) {
	case KFD_IOC_DBG_TRAP_DISABLE:	return disable(t);
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:	return snapshot(a);
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:	return suspend(t, a);
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:		return resume(t, a);
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:	return EAGAIN;
	}
	return 0;
}

/* Replaces the C library's function. */
int ioctl(int fd, unsigned long request, ...)
{
	struct kfd_ioctl_dbg_trap_args *a;
	va_list args;

	(void)fd;
	va_start(args, request);
	a = va_arg(args, struct kfd_ioctl_dbg_trap_args *);
	va_end(args);
	errno = ENOTTY;
	if (request == AMDKFD_IOC_DBG_TRAP) {
		pthread_mutex_lock(&driver->lock);
		errno = answer(a);
		pthread_mutex_unlock(&driver->lock);
	}
	return errno ? -1 : 0;
}

int fake_driver_up(void **state)
{
	pthread_mutexattr_t attr;

	(void)state;
	tree = fake_tree_make();
	fake_tree_put(tree, CARD, "topology/nodes/1/properties");
	fake_tree_put(tree, "77\n", "topology/nodes/1/gpu_id");
	fake_tree_put(tree, CARD, "topology/nodes/2/properties");
	fake_tree_put(tree, "88\n", "topology/nodes/2/gpu_id");
	driver = mmap(NULL, sizeof(*driver), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	EXPECT(driver != MAP_FAILED);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&driver->lock, &attr);
	driver->fails = NO_TARGET;
	driver->fails_of = ~0u;
	driver->queues = QUEUES;
	for (u32 i = 0; i < TARGETS; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		driver->target[i] = (struct fake_target){ .pid = pid };
		fake_tree_put(tree, "0\n", "proc/%d/vram_%d", pid, GPU_ID);
		fake_tree_put(tree, "1\n", "proc/%d/pasid", pid);
	}
	return 0;
}

int fake_driver_down(void **state)
{
	(void)state;
	for (u32 i = 0; i < TARGETS; i++) {
		kill(driver->target[i].pid, SIGKILL);
		waitpid(driver->target[i].pid, NULL, 0);
	}
	fake_tree_free(tree);
	return munmap(driver, sizeof(*driver));
}

void fake_driver_opens_other_gpu(u32 i)
{
	fake_tree_put(tree, "0\n", "proc/%d/vram_%d", driver->target[i].pid, OTHER_GPU);
}

/* Replaces the C library's function. The linker redirects the calls. */
int __real_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	return driver->no_threads ? EAGAIN : __real_pthread_create(ret, attr, fn, arg);
}

/* Replaces the C library's function under both of its names (_FORTIFY_SOURCE). */
int __openat64_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags)
{
	char moved[PATH_MAX];

	if (tree && !strncmp(path, GP_SYSFS_KFD, strlen(GP_SYSFS_KFD))) {
		snprintf(moved, sizeof(moved), "%s%s", tree->path, path + strlen(GP_SYSFS_KFD));
		path = moved;
	}
	/* A test machine has no /dev/kfd. */
	if (!strcmp(path, GP_KFD_DEVICE))
		path = "/dev/null";
	return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

int openat64(int dir, const char *path, int flags, ...)
{
	return __openat64_2(dir, path, flags);
}
