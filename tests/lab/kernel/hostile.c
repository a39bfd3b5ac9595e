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
#include "tests/lab/hostile/fuse.h"

#define FUSE_DIR	"/tmp/fuse"

enum { PAGE = 4096, LOOK_US = 1000, LOOKS = 10000, USER = 1000 };

/* ---- in the hostile process ---- */

static char *fuse_page;
static atomic_int step;

/* At @at, in the place of what is there, or anywhere. */
static s64 map_fuse(void *at)
{
	int fd = open(FUSE_DIR "/file", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fuse_page = mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
			 0);
	close(fd);
	return fuse_page == MAP_FAILED ? -errno : 0;
}

/* The kernel reads for us, with our memory locked, and the page does not come. */
static void *read_page(void *arg)
{
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	u64 word;
	ssize_t n;

	atomic_fetch_add(&step, 1);
	while (atomic_load(&step) < 3)
		usleep(LOOK_US);
	n = pread(mem, &word, sizeof(word), (off_t)(uintptr_t)fuse_page);
	(void)n;
	close(mem);
	return arg;
}

/* Who waits to lock it for itself keeps out whoever comes next. */
static void *map_more(void *arg)
{
	atomic_fetch_add(&step, 1);
	while (atomic_load(&step) < 3)
		usleep(LOOK_US);
	usleep(50000);
	(void)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return arg;
}

static s64 lock_memory(struct gp_client *c, struct gp_queue *queue)
{
	pthread_t one, two;
	s64 err = map_fuse(NULL);

	(void)c;
	(void)queue;
	if (err)
		return err;
	if (pthread_create(&one, NULL, read_page, NULL) ||
	    pthread_create(&two, NULL, map_more, NULL))
		return -EAGAIN;
	while (atomic_load(&step) < 2)
		usleep(LOOK_US);
	atomic_store(&step, 3);
	return 0;
}

static void *write_back(void *arg)
{
	msync(fuse_page, PAGE, MS_SYNC);
	return arg;
}

/* Waits until the page is written back, with the mapping locked. */
static void *write_again(void *arg)
{
	while (atomic_load(&step) < 1)
		usleep(LOOK_US);
	usleep(50000);
	*(volatile char *)fuse_page = 2;
	return arg;
}

static s64 dirty_page(struct gp_client *c, struct gp_queue *queue)
{
	s64 err = map_fuse(NULL);

	(void)c;
	(void)queue;
	if (!err)
		*(volatile char *)fuse_page = 1;
	return err;
}

static s64 lock_mapping(struct gp_client *c, struct gp_queue *queue)
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

/* The driver answers to a page that does not come, with the KFD mutex of the process held. */
static void *ask_wave_state(void *queue)
{
	const struct gp_queue *q = queue;
	struct gp_kfd_wave_state s = { .ctl_stack = (u64)(uintptr_t)fuse_page, .queue_id = q->id };

	ioctl(q->c->kfd_fd, GP_KFD_IOC_GET_WAVE_STATE, &s);
	return NULL;
}

/* Of its second queue, which is off. */
static s64 lock_kfd(struct gp_client *c, struct gp_queue *queue)
{
	pthread_t thread;
	s64 err = map_fuse(NULL);

	(void)c;
	if (!err)
		err = gp_queue_update(&queue[1], 0, 7);
	if (!err && pthread_create(&thread, NULL, ask_wave_state, &queue[1]))
		err = -EAGAIN;
	return err;
}

/* A page that does not come is where its queue has its pointers. */
static s64 cover_pointers(struct gp_client *c, struct gp_queue *queue)
{
	(void)c;
	return map_fuse(queue->pointers.at);
}

/* The same; what was there is somewhere else now, and the queue is used from there. */
static s64 move_pointers(struct gp_client *c, struct gp_queue *queue)
{
	char *old = queue->pointers.at;
	char *to = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)c;
	if (to == MAP_FAILED ||
	    mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		return -errno;
	queue->write = (u64 *)(to + ((char *)queue->write - old));
	queue->read = (u64 *)(to + ((char *)queue->read - old));
	return map_fuse(old);
}

/* The pointers' page goes, and the driver, which wants it back, cannot get it. */
static s64 drop_pointers(struct gp_client *c, struct gp_queue *queue)
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

static s64 pointers_present(struct gp_client *c, struct gp_queue *queue)
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

static struct hostile_fuse start_fuse(void)
{
	struct hostile_fuse f;

	NEED(hostile_fuse_start(&f, FUSE_DIR) == 0);
	return f;
}

static void wait_held(const struct hostile_fuse *f)
{
	for (u32 i = 0; i < LOOKS && !hostile_fuse_held(f); i++)
		usleep(LOOK_US);
	NEED(hostile_fuse_held(f));
	usleep(100000);		/* the one who waits behind it */
}

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
	struct hostile_fuse f = start_fuse();
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("evict");
	pid_t child;
	u32 task;

	EQ(target_ask(&x, ASK_USER, USER), 0);
	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, lock_memory) == 0);
	wait_held(&f);
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
	struct hostile_fuse f = start_fuse();
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("evict");
	u32 task;

	NEED(target_run(&x, dirty_page) == 0);
	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, lock_mapping) == 0);
	wait_held(&f);
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
	struct hostile_fuse f = start_fuse();
	struct target x = target_busy(1), y = target_busy(1);
	int ctl = control("evict");
	u32 task = attach(ctl, x.pid);

	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, lock_memory) == 0);
	wait_held(&f);
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
	struct hostile_fuse f = start_fuse();
	struct target x = target_busy(2), y = target_busy(1);
	int ctl = control("evict");
	u32 task;

	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, lock_kfd) == 0);
	wait_held(&f);
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
	struct hostile_fuse f = start_fuse();
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("evict");
	u32 task = attach(ctl, x.pid);

	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, cover_pointers) == 0);
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
	struct hostile_fuse f = start_fuse();
	struct target x = target_ready(0), y = target_busy(1), z = target_busy(1);
	int ctl = control("evict");
	u32 task, rival;

	NEED(target_ask(&x, ASK_QUEUE_GTT, 0) >= 0);
	hostile_fuse_hold(&f, true);
	NEED(target_run(&x, move_pointers) == 0);
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
	  "memory, stops nobody's calls", covered_userptr },
	{ "the same over pointers in the driver's memory: no page is asked for, and work that "
	  "comes is seen", covered_gtt },
	{ "to look for queues brings no page of a process in", absent_page },
	{ 0 },
};
