// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Processes that keep what the module needs of them, and GPUs that do not answer: the calls about
 * other processes do not wait for them. Two GPUs. Times are the guest's, which counts instructions.
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
#include <time.h>
#include <unistd.h>

#include "kernel.h"
#include "tests/lab/hostile/fuse.h"

#define FUSE_DIR	"/tmp/fuse"
#define MSEC		1000000ull
/* What a call may take; the guests' processes and interruptions take some of it. */
#define PROMPT_NS	(200 * MSEC)

enum { PAGE = 4096, LOOK_US = 1000, LOOKS = 10000, USER = 1000 };

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* A call that must not wait for anybody. */
static int prompt(int ctl, unsigned long request, void *arg)
{
	u64 start = now_ns();
	int err = call(ctl, request, arg);
	u64 took = now_ns() - start;

	if (!CHECK(took < PROMPT_NS))
		printf("# call %lx took %llu us\n", request & 0xff,
		       (unsigned long long)(took / 1000));
	return err;
}

static int prompt_attach(int ctl, pid_t pid, u32 *task)
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

static int prompt_move(int ctl, unsigned long request, u32 task)
{
	struct gp_uapi_move m = { .tasks = (u64)(uintptr_t)&task, .nr_tasks = 1 };

	return prompt(ctl, request, &m);
}

static int prompt_task(int ctl, unsigned long request, u32 task)
{
	struct gp_uapi_task t = { .task = task };

	return prompt(ctl, request, &t);
}

/* Another user's process: attached, taken off, back on, detached; events are read. */
static void serves(const struct target *t)
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
	EQ(mapped_of(t->pid), 0);
	EQ(prompt_move(ctl, GP_IOC_RESUME, task), 0);
	CHECK(soon_mapped(t->pid, 1));
	EQ(read(ctl, &e, sizeof(e)), sizeof(e));
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, GP_UAPI_ALL), 0);
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	close(ctl);
}

/* ---- in the hostile process ---- */

static char *fuse_page;
static atomic_int step;

/* At @at, in the place of what is there, or anywhere. */
static s64 map_fuse(void *at)
{
	int fd = open(FUSE_DIR "/file", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fuse_page = mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
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
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
	if (pthread_create(&one, NULL, read_page, NULL) || pthread_create(&two, NULL, map_more, NULL))
		return -EAGAIN;
	while (atomic_load(&step) < 2)
		usleep(LOOK_US);
	atomic_store(&step, 3);
	return 0;
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

/* A queue on the other GPU. */
static s64 use_second(struct gp_client *c, struct gp_queue *queue)
{
	static struct gp_client other;
	static struct gp_queue there;
	int err = gp_client_open(&other, &(struct gp_client_args){ .gpu = 1, .no_runtime = true });

	(void)c;
	(void)queue;
	return err ? err : gp_queue_create(&other, &there, &(struct gp_queue_args){
		.type = GP_KFD_QUEUE_AQL,
	});
}

static struct target on_second(void)
{
	struct target t = target_ready(0);

	NEED(target_run(&t, use_second) == 0);
	return t;
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

/* ---- GPUs ---- */

/* The last process of all is detached, alive, while a fence of it is late. */
static void late_fence(void)
{
	struct target x = target_ready(1), y = target_busy(1);
	int ctl = control("direct");
	struct gp_uapi_version v;
	u32 task = attach(ctl, x.pid);
	u64 start;

	EQ(target_ask(&x, ASK_HUGE, 0), 0);
	NEED(runs_huge(x.pid));
	set_param(ctl, "stop_deadline", 300 * MSEC);
	fault("slow-save:800000");
	EQ(preempt(ctl, &task, 1), -EIO);
	fault("none");
	set_param(ctl, "stop_deadline", 10000 * MSEC);
	start = now_ns();
	EQ(prompt_task(ctl, GP_IOC_DETACH, task), 0);
	usleep(2000);			/* who lets go of it */
	EQ(prompt(ctl, GP_IOC_VERSION, &v), 0);
	EQ(v.nr_gpus, 0);
	NEED(prompt_attach(ctl, y.pid, &task) == 0);
	EQ(seat_of(ctl, task).state, GP_UAPI_ABSENT);
	/* Not before the GPU answers; then the whole of it. */
	EQ(preempt(ctl, &task, 1), 0);
	printf("# it answered after %llu ms\n", (unsigned long long)((now_ns() - start) / MSEC));
	CHECK(now_ns() - start > PROMPT_NS);
	EQ(mapped_of(y.pid), 0);
	EQ(resume(ctl, &task, 1), 0);
	CHECK(soon_mapped(y.pid, 1));
	target_ends_right(&y);
	target_ends_right(&x);
	close(ctl);
}

/* One GPU is locked for a while, and refuses. */
static void grace_refused(void)
{
	struct target one = target_ready(1), two = on_second();
	struct gp_uapi_mechanism m = { .name = "direct", .grace = 3 };
	int ctl = control("evict"), lock;
	u32 before = 0, last = 0;

	attach(ctl, one.pid);
	attach(ctl, two.pid);
	EQ(version_of(ctl).nr_gpus, 2);
	set_mechanism(ctl, "evict", 5);
	set_mechanism(ctl, "evict", 7);
	lock = standstill_of(1, "lock");
	EQ(call(ctl, GP_IOC_SET_MECHANISM, &m), -EBUSY);
	CHECK(!strcmp(version_of(ctl).mechanism, "evict"));
	close(lock);
	for (u32 i = 0; i < 100 && last != 7; i++) {
		usleep(10000);
		EQ(device_graces(&before, &last), 0);
	}
	EQ(before, 3);
	EQ(last, 7);
	EQ(call(ctl, GP_IOC_SET_MECHANISM, &m), 0);
	EQ(device_graces(&before, &last), 0);
	EQ(last, 3);
	target_ends_right(&one);
	kill(two.pid, SIGKILL);
	close(ctl);
}

/* ---- numbers that are given to another ---- */

static u64 unmaps_on_second(void)
{
	FILE *f = fopen("/sys/kernel/debug/vgpu/1/counters", "re");
	unsigned long long value = 0, is;
	char line[128];

	NEED(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "UNMAP_QUEUES %llu", &is) == 1)
			value = is;
	fclose(f);
	return value;
}

static pid_t begin_selftest(int ctl, u32 task)
{
	struct gp_uapi_selftest test = { .task = task, .gpu_id = seat_of(ctl, task).gpu_id };
	u64 before = unmaps_on_second();
	pid_t pid = fork_until_ready();

	if (!pid) {
		is_ready();
		_exit(call(ctl, GP_IOC_SELFTEST, &test) != 0);
	}
	for (u32 i = 0; i < LOOKS && unmaps_on_second() == before; i++)
		usleep(200);
	return pid;
}

/*
 * An order for a GPU whose worker is in a self test waits there. Its task is detached, and another
 * that is on that GPU gets its number, as it is now also on the first GPU.
 */
static void number_of_another(void)
{
	struct target first = target_ready(1), meant = on_second(), other = on_second();
	struct target tested = on_second();
	int ctl = control("evict"), status;
	u32 tasks[4] = { attach(ctl, first.pid), attach(ctl, meant.pid), attach(ctl, other.pid),
			 attach(ctl, tested.pid) };
	struct gp_uapi_move m = {
		.tasks = (u64)(uintptr_t)&tasks[1], .nr_tasks = 1, .flags = GP_UAPI_NO_WAIT,
	};
	pid_t test;

	target_queue(&other, 0);
	test = begin_selftest(ctl, tasks[3]);
	EQ(prompt(ctl, GP_IOC_PREEMPT, &m), 0);
	usleep(1000);			/* the worker of the first GPU decides */
	EQ(seat_of(ctl, tasks[1]).state, GP_UAPI_STOPPING);
	EQ(prompt_task(ctl, GP_IOC_DETACH, tasks[1]), 0);
	EQ(prompt_task(ctl, GP_IOC_TRIGGER, tasks[2]), 0);
	CHECK(seat_of(ctl, tasks[2]).next_gpu_id);
	EQ(waitpid(test, &status, WNOHANG), 0);
	EQ(waitpid(test, &status, 0), test);
	EQ(status, 0);
	usleep(100000);
	EQ(mapped_on(1, other.pid), 1);
	EQ(mapped_on(1, meant.pid), 1);
	EQ(seat_of(ctl, tasks[2]).state, GP_UAPI_ON);
	target_ends_right(&first);
	close(ctl);
}

const struct story hostile[] = {
	{ "while a process keeps its memory locked, ATTACH of it says EAGAIN, and the calls of "
	  "others are prompt: attached, taken off, back on, sums right", locked_before },
	{ "one that is attached and then locks its memory is taken off and back on, and so are "
	  "others, with prompt calls", locked_after },
	{ "a page of a file system in user space over a queue's pointers, in the process's own "
	  "memory, stops nobody's calls", covered_userptr },
	{ "the same over pointers in the driver's memory: no page is asked for, and work that "
	  "comes is seen", covered_gtt },
	{ "to look for queues brings no page of a process in", absent_page },
	{ "the last process is detached while its fence is late: calls are prompt, and who is "
	  "attached meanwhile is taken off when the GPU has answered", late_fence },
	{ "a grace period that one GPU refuses is set back on the other, and the mechanism stays",
	  grace_refused },
	{ "an order for a task that was detached is not carried out on who has its number now",
	  number_of_another },
	{ 0 },
};
