// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * lab-jitter SEED: varies the order of events in the lab's guest.
 *
 * With counted instructions every run of a command is the same. Each SEED gives another run, and
 * the same SEED gives the same run. The program chooses the kernel's preemption mode and its
 * time slice, reseeds the kernel's random numbers and sleeps for a random time. Then a background
 * process with real-time priority takes the processor from all other tasks for short random times.
 * The virtual GPU's thread has a higher priority, so lab-jitter does not delay it.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SCHED_FILES	"/sys/kernel/debug/sched/"
#define NSEC_PER_SEC	1000000000ull

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/*
 * Returns a random number from @least to 2^@doublings times that; every doubling is equally
 * likely.
 */
static uint64_t spread(uint64_t least, unsigned int doublings)
{
	uint64_t low = least << next() % doublings;

	return low + next() % low;
}

static void fail(const char *what)
{
	fprintf(stderr, "lab-jitter: %s: %m\n", what);
	exit(1);
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(file);
	close(fd);
}

static void choose_scheduling(void)
{
	static const char *const preemption[] = { "none", "voluntary", "full" };
	char slice[24];

	put(SCHED_FILES "preempt", preemption[next() % 3]);
	snprintf(slice, sizeof(slice), "%llu", (unsigned long long)spread(200000, 5));
	put(SCHED_FILES "base_slice_ns", slice);
}

static void refill_random_numbers(void)
{
	struct {
		struct rand_pool_info info;
		uint64_t bytes[4];
	} pool = { .info = { .entropy_count = 256, .buf_size = sizeof(pool.bytes) } };
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 4; i++)
		pool.bytes[i] = next();
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &pool) || ioctl(fd, RNDRESEEDCRNG))
		fail("/dev/urandom");
	close(fd);
}

static void pause_ns(uint64_t ns)
{
	struct timespec t = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	nanosleep(&t, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void spin_ns(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void interrupt_others(void)
{
	for (;;) {
		pause_ns(spread(20000, 9));
		/* Sometimes spin long enough that the time slices of other tasks end. */
		spin_ns(next() % 256 ? spread(1000, 7) : spread(1000000, 2));
	}
}

int main(int argc, char **argv)
{
	char *end = NULL;

	if (argc == 2)
		state = strtoull(argv[1], &end, 10);
	if (argc != 2 || end == argv[1] || *end) {
		fprintf(stderr, "usage: lab-jitter SEED\n");
		return 2;
	}
	choose_scheduling();
	refill_random_numbers();
	pause_ns(next() % 10000000);
	/* A child inherits the priority, but not locked memory. */
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
		fail("SCHED_FIFO");
	switch (fork()) {
	case -1:
		fail("fork");
		break;
	case 0:
		setsid();
		if (mlockall(MCL_CURRENT))
			fail("mlockall");
		interrupt_others();
		break;
	default:
		break;
	}
	return 0;
}
