// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Attacks by numbers: processes, connections, calls. */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"
#include "lab/driver/debug/story.h"

enum { CALLERS = 4, CALLS_PER_CONNECTION = 20, LOOK_US = 10000, LOOKS = 6000 };

static pid_t *crowd;
static u32 nr_crowd;
static struct totals {
	u64 connects, refused, calls;
} *totals;

static pid_t start(void (*main)(u32 number), u32 number)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		main(number);
	_exit(0);
}

static void open_one(u32 number)
{
	u32 uid = hostile_options.uid;

	(void)number;
	NEED(setgroups(0, NULL) == 0 && setgid(uid) == 0 && setuid(uid) == 0);
	NEED(open("/dev/kfd", O_RDWR) >= 0);
	is_ready();
	for (;;)
		pause();
}

void hostile_open_many(void)
{
	crowd = calloc(hostile_options.count, sizeof(*crowd));
	NEED(crowd);
	for (nr_crowd = 0; nr_crowd < hostile_options.count; nr_crowd++) {
		crowd[nr_crowd] = fork_until_ready();
		if (!crowd[nr_crowd])
			open_one(nr_crowd);
	}
	printf("opened %u\n", nr_crowd);
}

void hostile_end_many(void)
{
	/* Not before so many have connected. */
	for (u32 i = 0; totals && i < LOOKS && totals->connects < hostile_options.count; i++)
		usleep(LOOK_US);
	for (u32 i = 0; i < nr_crowd; i++)
		kill(crowd[i], SIGKILL);
	for (u32 i = 0; i < nr_crowd; i++)
		waitpid(crowd[i], NULL, 0);
	if (totals)
		printf("connects %llu\nrefused %llu\ncalls %llu\n",
		       (unsigned long long)totals->connects, (unsigned long long)totals->refused,
		       (unsigned long long)totals->calls);
}

/* ---- calls ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	NEED(fd >= 0);
	NEED(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Root of a container that has the subordinate uids of the user. */
static void enter_container(void)
{
	char path[64], map[64];
	pid_t pid = getpid(), helper;
	int fd[2];
	char c;

	NEED(pipe(fd) == 0);
	helper = fork();
	if (!helper) {
		NEED(read(fd[0], &c, 1) == 1);
		snprintf(map, sizeof(map), "0 %d %d", HOSTILE_SUBUID, HOSTILE_SUBUIDS);
		snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
		write_file(path, map);
		snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
		write_file(path, map);
		_exit(0);
	}
	NEED(unshare(CLONE_NEWUSER) == 0);
	NEED(write(fd[1], "x", 1) == 1);
	waitpid(helper, NULL, 0);
	NEED(setgroups(0, NULL) == 0 && setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0);
}

/* Classes of itself, in turn: each that the daemon takes is a change. */
static bool call(int fd, u32 i)
{
	static const char *const classes[] = { "idle", "offline" };
	char text[256];
	int len = snprintf(text, sizeof(text), "{\"method\":\"org.gpreempt.SetClass\","
			   "\"parameters\":{\"pid\":%d,\"class\":\"%s\"}}", getpid(),
			   classes[i & 1]);

	if (write(fd, text, (size_t)len + 1) != len + 1)
		return false;
	do {
		ssize_t n = read(fd, text, sizeof(text));

		if (n <= 0)
			return false;
		len = (int)n;
	} while (text[len - 1]);
	return true;
}

static void connect_once(uid_t uid)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/run/gpreempt/control" };
	struct timeval patience = { .tv_sec = 1 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	NEED(setresuid(uid, uid, 0) == 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		__atomic_fetch_add(&totals->refused, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&totals->connects, 1, __ATOMIC_RELAXED);
	for (u32 i = 0; i < CALLS_PER_CONNECTION && call(fd, i); i++)
		__atomic_fetch_add(&totals->calls, 1, __ATOMIC_RELAXED);
	close(fd);
	NEED(setresuid(0, 0, 0) == 0);
}

/* There may be one processor only: whatever else wants it, has it. */
static void call_often(u32 number)
{
	const struct sched_param idle = { 0 };

	enter_container();
	NEED(sched_setscheduler(0, SCHED_IDLE, &idle) == 0);
	for (u32 i = 0;; i++)
		connect_once(1 + (number + CALLERS * i) % (HOSTILE_SUBUIDS - 1));
}

void hostile_flood(void)
{
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	crowd = calloc(CALLERS, sizeof(*crowd));
	NEED(totals != MAP_FAILED && crowd);
	for (nr_crowd = 0; nr_crowd < CALLERS; nr_crowd++)
		crowd[nr_crowd] = start(call_often, nr_crowd);
}
