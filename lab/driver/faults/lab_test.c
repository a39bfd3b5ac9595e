// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Implements lab_test.h. */
#include "lab_test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKGROUPS = 64, WAVES = 4 };

static int broken;

bool claim(bool holds, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	fputs(holds ? "ok - " : "not ok - ", stdout);
	vprintf(text, args);
	va_end(args);
	putchar('\n');
	if (!holds)
		printf("# last error: %s\n", gp_client_error());
	/* Flush, so that the output is complete if the next step hangs. */
	fflush(stdout);
	broken += !holds;
	return holds;
}

void note(const char *text, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, text);
	vprintf(text, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void apart(void (*story)(void *arg), void *arg)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		broken = 0;
		story(arg);
		exit(claims_end());
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		claim(false, "a story ends by itself (its status is 0x%x)", status);
	else
		broken += WEXITSTATUS(status) != 0;
}

int claims_end(void)
{
	return broken ? 1 : 0;
}

/* The device ------------------------------------------------------------------- */

static FILE *view(u32 gpu, const char *name, const char *mode)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%u/%s", gpu, name);
	return fopen(path, mode);
}

u64 device_counter(u32 gpu, const char *name)
{
	FILE *f = view(gpu, "counters", "r");
	char line[128], word[64];
	u64 value, found = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %" SCNu64, word, &value) == 2 && !strcmp(word, name))
			found = value;
	if (f)
		fclose(f);
	return found;
}

int device_fault(u32 gpu, const char *text)
{
	FILE *f = view(gpu, "fault", "w");
	int err = 0;

	if (!f)
		return -errno;
	setvbuf(f, NULL, _IONBF, 0);
	if (fputs(text, f) < 0)
		err = -errno;
	fclose(f);
	return err;
}

u32 device_doorbell(u32 gpu, u64 ring)
{
	FILE *f = view(gpu, "queues", "r");
	u32 doorbell, found = 0;
	char line[256];
	u64 at;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*u %x %*s %*s %*s %*u %*x %" SCNx64, &doorbell, &at) == 2 &&
		    at == ring)
			found = doorbell;
	if (f)
		fclose(f);
	return found;
}

/* Time and the kernel's log ------------------------------------------------------- */

u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

void sleep_us(u32 us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000 };

	nanosleep(&t, NULL);
}

int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

bool kernel_log_has(int fd, const char *text, u32 ms)
{
	u64 end = now_ms() + ms;
	char line[2048];

	while (now_ms() < end) {
		ssize_t n = read(fd, line, sizeof(line) - 1);
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (n > 0) {
			line[n] = '\0';
			if (strstr(line, text))
				return true;
		} else {
			poll(&p, 1, 100);
		}
	}
	return false;
}

/* Steady work ---------------------------------------------------------------------- */

int steady_open(struct steady *s, u32 gpu, u32 queues, u32 kernel_us)
{
	const struct gp_client_args client = { .gpu = gpu };
	const struct gp_work_args work = {
		.slots = STEADY_SLOTS,
		.memory = GP_MEMORY_GTT,
		.workgroup_ns = kernel_us * 1000ull,
		.seed = (u64)getpid(),
	};
	const struct gp_queue_args queue = { .type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL };
	int err;

	memset(s, 0, sizeof(*s));
	err = gp_client_open(&s->c, &client);
	if (!err)
		err = gp_work_init(&s->work, &s->c, &work);
	for (; !err && s->queues < queues; s->queues += !err)
		err = gp_queue_create(&s->c, &s->q[s->queues], &queue);
	return err;
}

static void look(struct steady *s, u32 i)
{
	if (!s->flying[i] || !gp_work_done(&s->work, i))
		return;
	s->flying[i] = false;
	s->completed++;
	if (!gp_work_check(&s->work, i))
		return;
	if (!s->wrong++)
		snprintf(s->complaint, sizeof(s->complaint), "%s", gp_client_error());
}

int steady_turn(struct steady *s)
{
	int err = 0;

	for (u32 i = 0; i < s->queues * STEADY_DEPTH && !err; i++) {
		look(s, i);
		if (s->flying[i])
			continue;
		err = gp_work_submit(&s->work, i, &s->q[i / STEADY_DEPTH], WORKGROUPS, WAVES, NULL);
		s->flying[i] = !err;
	}
	return err;
}

int steady_drain(struct steady *s, u32 ms)
{
	u64 end = now_ms() + ms;
	u32 left;

	do {
		left = 0;
		for (u32 i = 0; i < STEADY_SLOTS; i++) {
			look(s, i);
			left += s->flying[i];
		}
		if (left)
			sleep_us(1000);
	} while (left && now_ms() < end);
	if (s->wrong)
		return gp_client_say(EBADMSG, "%s", s->complaint);
	return left ? gp_client_say(ETIME, "%u kernels never completed", left) : 0;
}

void steady_close(struct steady *s)
{
	while (s->queues)
		gp_queue_destroy(&s->q[--s->queues]);
	gp_work_fini(&s->work);
	gp_client_close(&s->c);
}
