// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * gpioctl-fuzz: random calls of /dev/gpreempt while two gploads work. See usage().
 *
 * Most calls are wrong in some way: raw bytes, right structures with wrong fields, every wrong kind
 * of descriptor, bad addresses. One in a hundred is right, so that it reaches the driver. What
 * the calls return does not matter, except that wrong descriptors are refused; what matters is
 * that the kernel, the gploads' sums and the module's books are right afterwards.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

enum {
	LOADS		= 2,
	DRIVER_IN	= 100,		/* one of so many calls may reach the driver */
	UNPRIVILEGED	= 65534,	/* a user */
};

static struct options {
	u64 seed, count;
	bool unprivileged;
} options = { .seed = 1, .count = 10000 };

static u64 state, taken, refused;
static int device;
static pid_t load[LOADS];
static u32 handle[LOADS + 1];	/* of the loads and of ourselves; 0: not attached */
static u8 *page;		/* a page, and behind it nothing */

static void usage(int code)
{
	fprintf(code ? stderr : stdout,
		"usage: gpioctl-fuzz [--seed N] [--count N] [--unprivileged]\n"
		"\n"
		"N (10000) random calls of /dev/gpreempt while two gploads work. --unprivileged:\n"
		"with a descriptor that was inherited, as user 65534.\n"
		"Exit: 0 if every wrong descriptor was refused and the gploads' sums are right.\n");
	exit(code);
}

static void parse(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--help"))
			usage(0);
		if (!strcmp(argv[i], "--unprivileged")) {
			options.unprivileged = true;
			continue;
		}
		if (!value)
			usage(2);
		if (!strcmp(argv[i], "--seed"))
			options.seed = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i], "--count"))
			options.count = strtoull(value, NULL, 0);
		else
			usage(2);
		i++;
	}
}

u32 fuzz_random(u32 below)
{
	u64 z = (state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (u32)((z ^ (z >> 31)) >> 32) % below;
}

/* Values at which programs go wrong. */
u64 fuzz_value(void)
{
	static const u64 edges[] = {
		0, 1, 2, 63, 64, 65, 255, 256, 257, 4096, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000, ~0ull,
	};

	switch (fuzz_random(4)) {
	case 0:
		return edges[fuzz_random(sizeof(edges) / sizeof(*edges))];
	case 1:
		return fuzz_random(1000);
	case 2:
		return fuzz_random(1000000000);
	default:
		return (u64)fuzz_random(~0u) << 32 | fuzz_random(~0u);
	}
}

/* An address: good, at the end of a page, nowhere, the kernel's. */
static u64 address(void)
{
	switch (fuzz_random(6)) {
	case 0:
		return 0;
	case 1:
		return fuzz_value();
	case 2:
		return (u64)(uintptr_t)page + 4096 - fuzz_random(64);
	case 3:
		return 0xffff888000000000ull + fuzz_value() % (1ull << 30);
	default:
		return (u64)(uintptr_t)page + fuzz_random(2048);
	}
}

static int call(unsigned long cmd, void *arg)
{
	int err = gp_kmod_call(device, cmd, arg);

	if (err)
		refused++;
	else
		taken++;
	return err;
}

/* ---- wrong ones ---- */

static void raw(void)
{
	unsigned long cmd = fuzz_random(8) ? _IOC(fuzz_random(4), 'g', 0x90 + fuzz_random(0x30),
						   fuzz_random(256)) : fuzz_value();

	for (u32 i = 0; i < 256; i += 8) {
		u64 v = fuzz_value();

		memcpy(page + i, &v, sizeof(v));
	}
	call(cmd, (void *)(uintptr_t)(fuzz_random(2) ? (u64)(uintptr_t)page : address()));
}

static const unsigned long calls[] = {
	GP_IOC_VERSION, GP_IOC_ATTACH, GP_IOC_DETACH, GP_IOC_SET_CLASS, GP_IOC_SET_POLICY,
	GP_IOC_SET_PARAM, GP_IOC_SET_MECHANISM, GP_IOC_ENABLE, GP_IOC_PREEMPT, GP_IOC_RESUME,
	GP_IOC_TRIGGER, GP_IOC_HINT, GP_IOC_SUBSCRIBE, GP_IOC_SEAT, GP_IOC_GPU, GP_IOC_SELFTEST,
};

/* A call there is, on random fields. What could reach the driver is spoilt. */
static void structured(void)
{
	unsigned long cmd = calls[fuzz_random(sizeof(calls) / sizeof(*calls))];
	u64 words[32];

	for (u32 i = 0; i < 32; i++)
		words[i] = fuzz_random(3) ? fuzz_value() : 0;
	if (cmd == GP_IOC_ATTACH || cmd == GP_IOC_PREEMPT || cmd == GP_IOC_RESUME)
		words[0] = address();
	if (cmd == GP_IOC_SUBSCRIBE)
		words[0] = fuzz_random(8) | (u64)fuzz_random(64) << 32;
	call(cmd, words);
}

/* ATTACH with descriptors of which at least one is not what it should be: never taken. */
static bool wrong_descriptors(const struct fuzz_fds *fds)
{
	struct gp_uapi_member members[4];
	struct gp_uapi_attach a = {
		.members = (u64)(uintptr_t)members, .nr_members = 1 + fuzz_random(4),
		.class = { .weight = 100, .flags = GP_UAPI_PREEMPTIBLE },
	};

	for (u32 i = 0; i < a.nr_members; i++) {
		members[i].pidfd = fds->pidfd[fuzz_random(fds->nr_pidfds)];
		members[i].kfd_fd = fds->wrong[fuzz_random(fds->nr_wrong)];
	}
	return call(GP_IOC_ATTACH, &a) != 0;
}

static void other_operations(void)
{
	struct pollfd p = { .fd = device, .events = POLLIN };
	ssize_t n;
	void *at;

	switch (fuzz_random(4)) {
	case 0:
		n = read(device, (void *)(uintptr_t)address(), fuzz_random(900));
		break;
	case 1:
		n = poll(&p, 1, 0);
		break;
	case 2:
		n = write(device, page, fuzz_random(100));
		break;
	default:
		at = mmap(NULL, 4096u << fuzz_random(2), fuzz_random(8), MAP_SHARED, device,
			  (off_t)fuzz_random(2) * 4096);
		n = at == MAP_FAILED ? -1 : 0;
		if (!n)
			munmap(at, 4096);
	}
	if (n < 0)
		refused++;
	else
		taken++;
}

/* ---- right ones ---- */

static void settings(void)
{
	static const char *const names[] = { "fifo", "priority", "fair", "deadline", "evict",
					     "direct", "halt", "auto", "lease", "max_hold",
					     "stop_deadline", "look_max", "settle" };
	const char *name = names[fuzz_random(sizeof(names) / sizeof(*names))];

	switch (fuzz_random(4)) {
	case 0:
		gp_kmod_set_policy(device, name);
		break;
	case 1:
		gp_kmod_set_mechanism(device, name, fuzz_random(3));
		break;
	case 2:
		gp_kmod_set_param(device, name, fuzz_value());
		break;
	default:
		gp_kmod_enable(device, fuzz_random(4));
	}
}

static void attach(u32 who)
{
	struct gp_process_id p = { .pid = who < LOADS ? load[who] : getpid() };
	struct gp_class class = {
		.priority = fuzz_random(10), .weight = 1 + fuzz_random(100),
		.flags = fuzz_random(4),
	};

	if (!gp_kmod_attach(device, &p, 1, &class, &handle[who]))
		taken++;
}

static void reach_the_driver(void)
{
	u32 who = fuzz_random(LOADS + 1), tasks[2] = { handle[who], handle[0] };
	struct gp_kmod_move move = {
		.tasks = tasks, .nr = 1 + fuzz_random(2), .lease_ns = fuzz_random(3) * 10000000,
		.timeout_ns = fuzz_random(2) * 1000000,
	};

	if (!handle[who] || !fuzz_random(16))
		attach(who);
	switch (fuzz_random(7)) {
	case 0:
	case 1:
		gp_kmod_preempt(device, &move, NULL);
		break;
	case 2:
		move.lease_ns = 0;
		gp_kmod_resume(device, &move, NULL);
		break;
	case 3:
		gp_kmod_trigger(device, GP_UAPI_ALL);
		break;
	case 4:
		gp_kmod_hint(device, tasks[0], fuzz_random(1000000), fuzz_random(1000000));
		break;
	case 5:
		settings();
		break;
	default:
		if (!gp_kmod_detach(device, tasks[0]))
			handle[who] = 0;
	}
}

/* ---- the run ---- */

static pid_t start_load(u32 seed)
{
	char text[16];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%u", seed);
	if (!freopen("/dev/null", "we", stdout))
		_exit(99);
	execlp("gpload", "gpload", "--requests", "10000000", "--kernel", "200us", "--waves", "400",
	       "--depth", "8", "--seed", text, NULL);
	_exit(98);
}

static u64 fuzz(const struct fuzz_fds *fds)
{
	u64 wrongly_taken = 0;

	for (u64 i = 0; i < options.count; i++) {
		if (!fuzz_random(DRIVER_IN)) {
			reach_the_driver();
			continue;
		}
		switch (fuzz_random(8)) {
		case 0:
			wrongly_taken += !wrong_descriptors(fds);
			break;
		case 1:
			other_operations();
			break;
		case 2:
		case 3:
		case 4:
			raw();
			break;
		default:
			structured();
		}
	}
	return wrongly_taken;
}

/* In a process of its own, which may give its rights away: 0 if all went as it should. */
static int fuzz_apart(void)
{
	struct fuzz_fds fds;
	u64 wrongly;

	device = gp_kmod_open(NULL, NULL);
	if (device < 0 || fuzz_fds_open(&fds, load, LOADS)) {
		perror("gpioctl-fuzz: cannot begin");
		return 2;
	}
	printf("# descriptors that are wrong:%s\n", fds.text);
	if (options.unprivileged && (setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) ||
				     setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED))) {
		perror("gpioctl-fuzz: setresuid");
		return 2;
	}
	if (options.unprivileged && gp_kmod_open(NULL, NULL) != -EACCES) {
		printf("# an unprivileged user can open " GP_KMOD_DEVICE "\n");
		return 1;
	}
	wrongly = fuzz(&fds);
	printf("# seed %llu: %llu calls, %llu taken, %llu refused\n",
	       (unsigned long long)options.seed, (unsigned long long)options.count,
	       (unsigned long long)taken, (unsigned long long)refused);
	if (wrongly)
		printf("# %llu wrong descriptors were taken\n", (unsigned long long)wrongly);
	return wrongly != 0;
}

/* Their sums are right. */
static bool loads_end(void)
{
	bool right = true;
	int status;

	for (u32 i = 0; i < LOADS; i++) {
		kill(load[i], SIGTERM);
		if (waitpid(load[i], &status, 0) != load[i] || status) {
			printf("# gpload %u ended with status 0x%x\n", i, (unsigned int)status);
			right = false;
		}
	}
	return right;
}

int main(int argc, char *argv[])
{
	int status = -1;
	pid_t pid;

	parse(argc, argv);
	state = options.seed;
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	for (u32 i = 0; i < LOADS; i++)
		load[i] = start_load(i + 1);
	sleep(1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		int code = fuzz_apart();

		fflush(stdout);
		_exit(code);
	}
	waitpid(pid, &status, 0);
	if (status)
		printf("# the process that called ended with status 0x%x\n", (unsigned int)status);
	return !loads_end() || status;
}
