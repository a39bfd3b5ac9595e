// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See attacks.h. */
#include "attacks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LOOK_US = 1000, LOOKS = 10000 };

static char *page;
static atomic_int step;

/* ---- in the test ---- */

struct hostile_fuse hostile_start(void)
{
	struct hostile_fuse f;

	NEED(hostile_fuse_start(&f, HOSTILE_DIR) == 0);
	return f;
}

void hostile_wait_held(const struct hostile_fuse *f)
{
	for (u32 i = 0; i < LOOKS && !hostile_fuse_held(f); i++)
		usleep(LOOK_US);
	NEED(hostile_fuse_held(f));
	usleep(100000);		/* for a thread that waits behind it */
}

/* ---- in the hostile process ---- */

s64 hostile_map(void *at)
{
	int fd = open(HOSTILE_DIR "/file", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	page = mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	close(fd);
	return page == MAP_FAILED ? -errno : 0;
}

char *hostile_page(void)
{
	return page;
}

/* The kernel reads with the memory of the process locked, and the page does not come. */
static void *read_page(void *arg)
{
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	u64 word;
	ssize_t n;

	atomic_fetch_add(&step, 1);
	while (atomic_load(&step) < 3)
		usleep(LOOK_US);
	n = pread(mem, &word, sizeof(word), (off_t)(uintptr_t)page);
	(void)n;
	close(mem);
	return arg;
}

/* A thread that waits to lock the memory for itself keeps out every later reader. */
static void *map_more(void *arg)
{
	atomic_fetch_add(&step, 1);
	while (atomic_load(&step) < 3)
		usleep(LOOK_US);
	usleep(50000);
	(void)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return arg;
}

s64 hostile_lock_memory(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	pthread_t one, two;
	s64 err = hostile_map(NULL);

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

/* The driver answers to a page that does not come, with the KFD mutex of the process held. */
static void *ask_wave_state(void *queue)
{
	const struct gp_lab_queue *q = queue;
	struct kfd_ioctl_get_queue_wave_state_args s = { .ctl_stack_address = (u64)(uintptr_t)page,
							 .queue_id = q->id };

	ioctl(q->c->kfd_fd, AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &s);
	return NULL;
}

s64 hostile_lock_kfd(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	pthread_t thread;
	s64 err = hostile_map(NULL);

	(void)c;
	if (!err)
		err = gp_queue_update(&queue[1], 0, 7);
	if (!err && pthread_create(&thread, NULL, ask_wave_state, &queue[1]))
		err = -EAGAIN;
	return err;
}

s64 hostile_cover_pointers(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	(void)c;
	return hostile_map(queue->pointers.at);
}

s64 hostile_move_pointers(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	char *old = queue->pointers.at;
	char *to = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)c;
	if (to == MAP_FAILED ||
	    mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		return -errno;
	queue->write = (u64 *)(to + ((char *)queue->write - old));
	queue->read = (u64 *)(to + ((char *)queue->read - old));
	return hostile_map(old);
}

s64 hostile_cover_save_area(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	(void)c;
	return hostile_map(queue->save.at);
}

static void *exec_file(void *arg)
{
	execl(HOSTILE_DIR "/file", "file", NULL);
	return arg;
}

s64 hostile_exec(struct gp_lab_client *c, struct gp_lab_queue *queue)
{
	pthread_t thread;

	(void)c;
	(void)queue;
	return pthread_create(&thread, NULL, exec_file, NULL) ? -EAGAIN : 0;
}
