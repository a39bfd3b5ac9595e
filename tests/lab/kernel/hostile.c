// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Processes that keep their memory locked, or have pages that never come, where the module needs
 * them: calls about other processes do not wait for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prompt.h"
#include "tests/lab/hostile/attacks.h"

enum { PAGE = 4096, LOOK_US = 1000, LOOKS = 10000, USER = 1000 };

/* ---- in the hostile process ---- */

static atomic_int step;

static void *write_back(void *arg)
{
	msync(hostile_page(), PAGE, MS_SYNC);
	return arg;
}

/* Waits until the page is written back, with the mapping locked. */
static void *write_again(void *arg)
{
	while (atomic_load(&step) < 1)
		usleep(LOOK_US);
	usleep(50000);
	*(volatile char *)hostile_page() = 2;
	return arg;
}

static s64 dirty_page(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	s64 err = hostile_map(NULL);

	(void)c;
	(void)queue;
	if (!err)
		*(volatile char *)hostile_page() = 1;
	return err;
}

static s64 lock_mapping(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	pthread_t one, two;

	(void)c;
	(void)queue;
	if (pthread_create(&two, NULL, write_again, NULL) ||
	    pthread_create(&one, NULL, write_back, NULL))
		return -EAGAIN;
	atomic_store(&step, 1);
	return 0;
}

/* The pointers' page goes, and the driver, which wants it back, cannot get it. */
static s64 drop_pointers(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = {
		.range = { .start = (u64)(uintptr_t)queue->pointers.at, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	(void)c;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all) ||
	    madvise(queue->pointers.at, PAGE, MADV_DONTNEED))
		return -errno;
	usleep(200000);
	close(fd);
	return 0;
}

static s64 pointers_present(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u64 entry = 0;
	off_t at = (off_t)((uintptr_t)queue->pointers.at / PAGE * sizeof(entry));
	ssize_t n = pread(fd, &entry, sizeof(entry), at);

	(void)c;
	close(fd);
	return n == sizeof(entry) ? (s64)(entry >> 63) : -EIO;
}

/* ---- memory that is locked ---- */

/* With a child of ours that tries to attach it again and again. */
static pid_t keep_attaching(pid_t pid)
{
	int pidfd, kfd, ctl;
	pid_t child = fork_until_ready();
	u32 task;

	if (child)
		return child;
	ctl = open("/dev/gpreempt", O_RDWR | O_CLOEXEC);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	kfd = kfd_of(pid);
	is_ready();
	for (;;)
		attach_fds(ctl, pidfd, kfd, &task);
}

static void locked_before(void)
{
	struct hostile_fuse f = hostile_start();
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("evict");
	pid_t child;
	u32 task;

	EQ(target_ask(&x, ASK_USER, USER), 0);
	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, hostile_lock_memory) == 0);
	hostile_wait_held(&f);
	child = keep_attaching(x.pid);
	usleep(20000);
	for (u32 i = 0; i < 5; i++)
		serves(&y);
	EQ(prompt_attach(ctl, x.pid, &task), -EAGAIN);
	/* It has a file of the process. */
	kill(child, SIGKILL);
	EQ(waitpid(child, NULL, 0), child);
	target_ends_right(&y);
	hostile_fuse_hold(&f, false);
	for (u32 i = 0; i < LOOKS && prompt_attach(ctl, x.pid, &task); i++)
		usleep(LOOK_US);
	EQ(prompt_move(ctl, GP_IOC_PREEMPT, task), 0);
	EQ(prompt_move(ctl, GP_IOC_RESUME, task), 0);
	target_ends_right(&x);
	hostile_fuse_stop(&f);
	close(ctl);
}

/* Not all of its memory: one mapping of it. */
static void locked_mapping(void)
{
	struct hostile_fuse f = hostile_start();
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("evict");
	u32 task;

	NEED(target_run(&x, dirty_page) == 0);
	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, lock_mapping) == 0);
	hostile_wait_held(&f);
	for (u32 i = 0; i < 3; i++)
		EQ(prompt_attach(ctl, x.pid, &task), -EAGAIN);
	serves(&y);
	hostile_fuse_hold(&f, false);
	for (u32 i = 0; i < LOOKS && prompt_attach(ctl, x.pid, &task); i++)
		usleep(LOOK_US);
	EQ(prompt_move(ctl, GP_IOC_PREEMPT, task), 0);
	EQ(prompt_move(ctl, GP_IOC_RESUME, task), 0);
	target_ends_right(&y);
	target_ends_right(&x);
	hostile_fuse_stop(&f);
	close(ctl);
}

static void locked_after(void)
{
	struct hostile_fuse f = hostile_start();
	struct target x = target_busy(1), y = target_busy(1);
	int ctl = control("evict");
	u32 task = attach(ctl, x.pid);

	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, hostile_lock_memory) == 0);
	hostile_wait_held(&f);
	/* Asked for its queues, and by the work that scans. */
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, task), 0);
	EQ(prompt_move(ctl, GP_IOC_PREEMPT, task), 0);
	usleep(300000);
	EQ(mapped_of(x.pid), 0);
	serves(&y);
	EQ(prompt_move(ctl, GP_IOC_RESUME, task), 0);
	CHECK(soon_mapped(x.pid, 1));
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	target_ends_right(&y);
	hostile_fuse_hold(&f, false);
	target_ends_right(&x);
	hostile_fuse_stop(&f);
	close(ctl);
}

static void locked_kfd(void)
{
	struct hostile_fuse f = hostile_start();
	struct target x = target_busy(2), y = target_busy(1);
	int ctl = control("evict");
	u32 task;

	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, hostile_lock_kfd) == 0);
	hostile_wait_held(&f);
	/* A call of its own waits for the mutex. */
	target_tell(&x, ASK_QUEUE, 0);
	CHECK(!target_answers(&x, 100));
	NEED(prompt_attach(ctl, x.pid, &task) == 0);
	EQ(prompt_move(ctl, GP_IOC_PREEMPT, task), 0);
	EQ(mapped_of(x.pid), 0);
	serves(&y);
	EQ(prompt_move(ctl, GP_IOC_RESUME, task), 0);
	CHECK(soon_mapped(x.pid, 1));
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	target_ends_right(&y);
	hostile_fuse_hold(&f, false);
	CHECK(target_answer(&x) >= 0);
	target_ends_right(&x);
	hostile_fuse_stop(&f);
	close(ctl);
}

/* ---- pages that do not come ---- */

static void covered_userptr(void)
{
	struct hostile_fuse f = hostile_start();
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("evict");
	u32 task = attach(ctl, x.pid);

	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, hostile_cover_pointers) == 0);
	for (u32 i = 0; i < 5; i++) {
		EQ(prompt_task(ctl, GP_IOC_TRIGGER, task), 0);
		serves(&y);
	}
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	target_ends_right(&y);
	hostile_fuse_hold(&f, false);
	kill(x.pid, SIGKILL);
	CHECK(driver_forgot(x.pid));
	hostile_fuse_stop(&f);
	close(ctl);
}

static void covered_gtt(void)
{
	struct gp_uapi_name priority = { .name = "priority" };
	struct hostile_fuse f = hostile_start();
	struct target x = target_ready(0), y = target_busy(1), z = target_busy(1);
	int ctl = control("evict");
	u32 task, rival;

	NEED(target_ask(&x, ASK_QUEUE_GTT, 0) >= 0);
	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, hostile_move_pointers) == 0);
	EQ(call(ctl, GP_IOC_SET_POLICY, &priority), 0);
	task = attach_online(ctl, x.pid);
	rival = attach(ctl, z.pid);
	EQ(target_ask(&x, ASK_SHORT, 0), 0);
	for (u32 i = 0; i < LOOKS && !seat_of(ctl, task).arrivals; i++)
		usleep(LOOK_US);
	CHECK(seat_of(ctl, task).arrivals);
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, task), 0);
	EQ(hostile_fuse_held(&f), 0);
	EQ(prompt_task(ctl, GP_IOC_DETACH, rival), 0);
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	serves(&y);
	target_ends_right(&z);
	target_ends_right(&y);
	hostile_fuse_hold(&f, false);
	EQ(target_ask(&x, ASK_DONE, 0), 0);
	hostile_fuse_stop(&f);
	close(ctl);
}

static void absent_page(void)
{
	struct target x = target_ready(1);
	int ctl = control("evict");
	u32 task = attach(ctl, x.pid);

	NEED(target_run(&x, drop_pointers) == 0);
	NEED(target_run(&x, pointers_present) == 0);
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, task), 0);
	EQ(target_run(&x, pointers_present), 0);
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	NEED(prompt_attach(ctl, x.pid, &task) == 0);
	EQ(target_run(&x, pointers_present), 0);
	kill(x.pid, SIGKILL);
	CHECK(driver_forgot(x.pid));
	close(ctl);
}

const struct story hostile[] = {
	{ "while a process keeps its memory locked, ATTACH of it says EAGAIN, and the calls of "
	  "others are prompt: attached, taken off, back on, sums right", locked_before },
	{ "the same while a process keeps one of its mappings locked; after that it is attached",
	  locked_mapping },
	{ "one that is attached and then locks its memory is taken off and back on, and so are "
	  "others, with prompt calls", locked_after },
	{ "a process that keeps its own KFD mutex locked is attached, taken off and back on, and "
	  "so are others, with prompt calls", locked_kfd },
	{ "a page of a file system in user space over a queue's pointers, in the process's own "
	  "memory, stops no other process's calls", covered_userptr },
	{ "the same over pointers in the driver's memory: no page is asked for, and work that "
	  "comes is seen", covered_gtt },
	{ "to look for queues brings no page of a process in", absent_page },
	{ 0 },
};
