// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The keeper with children that misbehave, and what systemd is told. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/param.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "gp_test.h"

#define HEARTBEAT	(200 * GP_MSEC)

/* Shared with the children. */
struct shared {
	u32 lives;
	u32 ended_well;
	int daemon;
	u64 now_ns;		/* the keeper's time, if not 0: the test moves it */
	u32 turns;		/* how often poll() found neither an event nor its time */
};

static struct shared *shared;

/*
 * Virtual time. The linker redirects the keeper's clock_gettime() and poll() here. A machine that
 * keeps the daemon or the keeper waiting does not change virtual time.
 */
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_poll(struct pollfd *fds, nfds_t nr, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int ms);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!shared || !shared->now_ns)
		return __real_clock_gettime(clock, ret);
	ret->tv_sec = (time_t)(shared->now_ns / GP_SEC);
	ret->tv_nsec = (long)(shared->now_ns % GP_SEC);
	return 0;
}

int __wrap_poll(struct pollfd *fds, nfds_t nr, int ms)
{
	u64 until = ms < 0 ? GP_NEVER : shared->now_ns + (u64)ms * GP_MSEC;
	int ready;

	if (!shared->now_ns)
		return __real_poll(fds, nr, ms);
	for (;;) {
		ready = __real_poll(fds, nr, 1);
		if (ready || *(volatile u64 *)&shared->now_ns >= until)
			return ready;
		shared->turns++;
	}
}

/*
 * In the daemon: waits until the keeper has read every beat, has seen the current time, and
 * waits in poll(). It has no limit: the keeper may also kill the daemon here.
 */
static void settle(const struct gp_heart *heart)
{
	volatile u32 *turns = &shared->turns;
	int unread = 1;
	u32 before;

	while (!ioctl(heart->fd, FIONREAD, &unread) && unread)
		usleep(100);
	before = *turns;
	while (*turns < before + 2)
		usleep(100);
}

static void advance(const struct gp_heart *heart, u64 ns)
{
	shared->now_ns += ns;
	settle(heart);
}

static int up(void **state)
{
	(void)state;
	gp_log_open(GP_LOG_ERROR);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED;
}

static int down(void **state)
{
	(void)state;
	return munmap(shared, 4096);
}

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * GP_SEC + (u64)ts.tv_nsec;
}

/* The keeper in a process of its own. */
static pid_t start_keeper(gp_keeper_child child)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(gp_keeper_run(HEARTBEAT, child, NULL));
	}
	return pid;
}

/* Its exit code. */
static int keep(gp_keeper_child child)
{
	pid_t pid = start_keeper(child);
	int status;

	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int keep_in_virtual_time(gp_keeper_child child)
{
	shared->now_ns = GP_SEC;
	return keep(child);
}

static int ends(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	shared->lives++;
	return 3;
}

static void a_normal_end_is_the_keepers(void **state)
{
	(void)state;
	EXPECT_EQ(keep(ends), 3);
	EXPECT_EQ(shared->lives, 1);
}

/* The first life is stopped while it is busy; the second ends well. */
static int stops_once(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	if (shared->lives++)
		return 0;
	gp_heart_beat(heart, now());
	raise(SIGSTOP);
	shared->ended_well++;
	return 0;
}

static void a_busy_daemon_that_is_stopped_is_ended_and_started_again(void **state)
{
	u64 began = now();

	(void)state;
	EXPECT_EQ(keep(stops_once), 0);
	EXPECT_EQ(shared->lives, 2);
	EXPECT_EQ(shared->ended_well, 0);
	EXPECT(now() - began >= HEARTBEAT);
}

/* A standard error that is full and that nobody reads; what it was is returned. */
static int stuff_stderr(void)
{
	int was = dup(STDERR_FILENO), ends[2];

	EXPECT_EQ(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], "x", 1) == 1)
		;
	EXPECT_EQ(fcntl(ends[1], F_SETFL, 0), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	/* The reading end stays open: nobody is told that the pipe is broken. */
	return was;
}

static void a_log_that_nobody_reads_stops_neither_the_keeper_nor_the_daemon(void **state)
{
	int was = stuff_stderr(), status = -1;
	pid_t keeper = fork();

	(void)state;
	if (!keeper) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		gp_log(GP_LOG_ERROR, "nobody reads this");
		_exit(gp_keeper_run(HEARTBEAT, stops_once, NULL));
	}
	/* fail_msg() must be able to write. */
	dup2(was, STDERR_FILENO);
	close(was);
	AWAIT(waitpid(keeper, &status, WNOHANG) == keeper);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(shared->lives, 2);
}

static void a_time_that_has_just_passed_is_not_slept_through(void **state)
{
	(void)state;
	EXPECT_EQ(gp_keeper_timeout(GP_NEVER, GP_SEC), -1);
	EXPECT_EQ(gp_keeper_timeout(GP_SEC, GP_SEC - 1), 1);
	EXPECT_EQ(gp_keeper_timeout(GP_SEC, GP_SEC), 0);
	EXPECT_EQ(gp_keeper_timeout(GP_SEC, GP_SEC + 1), 0);
}

static int sleeps_at_rest(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	shared->lives++;
	gp_heart_beat(heart, now());
	settle(heart);
	gp_heart_rest(heart);
	settle(heart);
	/* In small steps: the keeper takes a large one for a machine that stood still. */
	for (u32 i = 0; i < 12; i++)
		advance(heart, HEARTBEAT / 4);
	return 0;
}

static void a_daemon_at_rest_may_be_silent(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(sleeps_at_rest), 0);
	EXPECT_EQ(shared->lives, 1);
}

static int beats(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	shared->lives++;
	for (u32 i = 0; i < 4; i++) {
		gp_heart_beat(heart, now());
		settle(heart);
		advance(heart, HEARTBEAT * 3 / 4);
	}
	return 0;
}

static void a_busy_daemon_that_is_heard_of_lives(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(beats), 0);
	EXPECT_EQ(shared->lives, 1);
}

/* Busy and silent: for a moment less than a heartbeat, then for as long as it may not be. */
static int falls_silent(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	if (shared->lives++)
		return 0;
	gp_heart_beat(heart, now());
	settle(heart);
	advance(heart, HEARTBEAT - 1);
	shared->ended_well++;
	advance(heart, 2 * GP_MSEC);
	shared->ended_well++;
	return 1;
}

static void a_busy_daemon_that_is_silent_for_a_heartbeat_is_restarted(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(falls_silent), 0);
	EXPECT_EQ(shared->lives, 2);
	EXPECT_EQ(shared->ended_well, 1);
}

/* No process ran for two heartbeats; then the daemon beats again, in time. */
static int stands_still(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	if (shared->lives++)
		return 1;
	gp_heart_beat(heart, now());
	settle(heart);
	advance(heart, 2 * HEARTBEAT);
	advance(heart, HEARTBEAT / 2);
	gp_heart_beat(heart, now());
	settle(heart);
	advance(heart, HEARTBEAT / 2);
	return 0;
}

static void a_machine_that_stood_still_is_no_silence_of_the_daemon(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(stands_still), 0);
	EXPECT_EQ(shared->lives, 1);
}

static int crashes(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	shared->lives++;
	raise(SIGKILL);
	return 0;
}

static void it_gives_up_after_a_few_ends(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(crashes), 1);
	EXPECT_EQ(shared->lives, GP_KEEPER_ENDS + 1);
}

/* So seldom that not more than GP_KEEPER_ENDS are within a minute. */
static int crashes_seldom(void *ctx, struct gp_heart *heart)
{
	if (shared->lives > 3 * GP_KEEPER_ENDS)
		return 0;
	shared->now_ns += 60 * GP_SEC / GP_KEEPER_ENDS;
	return crashes(ctx, heart);
}

static void a_daemon_that_crashes_seldom_is_always_restarted(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(crashes_seldom), 0);
	EXPECT_EQ(shared->lives, 3 * GP_KEEPER_ENDS + 1);
}

/* As often as the driver shows one more of many GPUs. */
static int wants_again(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	return shared->lives++ < 3 * GP_KEEPER_ENDS ? GP_KEEPER_AGAIN : 0;
}

static void a_daemon_that_wants_it_is_started_again(void **state)
{
	(void)state;
	EXPECT_EQ(keep(wants_again), 0);
	EXPECT_EQ(shared->lives, 3 * GP_KEEPER_ENDS + 1);
}

/* Signals of the keeper are the daemon's; without its keeper it is told to end. */
static void on_term(int sig)
{
	(void)sig;
	shared->ended_well++;
	_exit(7);
}

static int waits(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	signal(SIGTERM, on_term);
	shared->daemon = getpid();
	while (!shared->ended_well)
		pause();
	return 0;
}

static pid_t keeper_of_a_waiting_daemon(void)
{
	pid_t pid = start_keeper(waits);

	AWAIT(*(volatile int *)&shared->daemon);
	return pid;
}

static void sigterm_is_passed_on(void **state)
{
	pid_t keeper = keeper_of_a_waiting_daemon();
	int status;

	(void)state;
	kill(keeper, SIGTERM);
	EXPECT_EQ(waitpid(keeper, &status, 0), keeper);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	EXPECT_EQ(shared->ended_well, 1);
}

static void a_daemon_that_is_stopped_ends_when_told_to(void **state)
{
	pid_t keeper = keeper_of_a_waiting_daemon();

	(void)state;
	kill(shared->daemon, SIGSTOP);
	kill(keeper, SIGTERM);
	AWAIT(waitpid(keeper, NULL, WNOHANG) == keeper);
	EXPECT_EQ(shared->ended_well, 1);
}

static void crash(int sig)
{
	(void)sig;
	raise(SIGKILL);
}

static int crashes_when_told_to_end(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	if (shared->lives++)
		return 5;
	signal(SIGTERM, crash);
	kill(getppid(), SIGTERM);
	for (;;)
		pause();
}

static void a_daemon_that_crashes_when_told_to_end_has_ended(void **state)
{
	(void)state;
	EXPECT_EQ(keep(crashes_when_told_to_end), 0);
	EXPECT_EQ(shared->lives, 1);
}

static void a_daemon_whose_keeper_dies_is_told_to_end(void **state)
{
	pid_t keeper = keeper_of_a_waiting_daemon();

	(void)state;
	kill(keeper, SIGKILL);
	EXPECT_EQ(waitpid(keeper, NULL, 0), keeper);
	AWAIT(*(volatile u32 *)&shared->ended_well == 1);
}

static void systemd_is_told_in_one_datagram(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char name[64], got[64] = "";
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	(void)state;
	snprintf(name, sizeof(name), "@gp-test-%d", getpid());
	memcpy(at.sun_path, name, strlen(name));
	at.sun_path[0] = 0;
	EXPECT_EQ(bind(fd, (struct sockaddr *)&at,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))), 0);

	unsetenv("NOTIFY_SOCKET");
	EXPECT_EQ(gp_notify("READY=1"), 0);
	setenv("WATCHDOG_USEC", "3000000", 1);
	EXPECT_EQ(gp_notify_watchdog(), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	EXPECT_EQ(gp_notify("READY=1\nSTATUS=running"), 0);
	EXPECT_EQ(recv(fd, got, sizeof(got), 0), 22);
	EXPECT(!strcmp(got, "READY=1\nSTATUS=running"));
	EXPECT_EQ(gp_notify_watchdog(), 1500 * GP_MSEC);
	setenv("NOTIFY_SOCKET", "vsock:1:2", 1);
	EXPECT_EQ(gp_notify("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", "/nowhere/socket", 1);
	EXPECT_EQ(gp_notify("READY=1"), -ENOENT);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	close(fd);
}

PROVE(
	CLAIM_WITH(a_normal_end_is_the_keepers, up, down),
	CLAIM_WITH(a_busy_daemon_that_is_stopped_is_ended_and_started_again, up, down),
	CLAIM_WITH(a_log_that_nobody_reads_stops_neither_the_keeper_nor_the_daemon, up, down),
	CLAIM(a_time_that_has_just_passed_is_not_slept_through),
	CLAIM_WITH(a_daemon_at_rest_may_be_silent, up, down),
	CLAIM_WITH(a_busy_daemon_that_is_heard_of_lives, up, down),
	CLAIM_WITH(a_busy_daemon_that_is_silent_for_a_heartbeat_is_restarted, up, down),
	CLAIM_WITH(a_machine_that_stood_still_is_no_silence_of_the_daemon, up, down),
	CLAIM_WITH(it_gives_up_after_a_few_ends, up, down),
	CLAIM_WITH(a_daemon_that_crashes_seldom_is_always_restarted, up, down),
	CLAIM_WITH(a_daemon_that_wants_it_is_started_again, up, down),
	CLAIM_WITH(sigterm_is_passed_on, up, down),
	CLAIM_WITH(a_daemon_that_is_stopped_ends_when_told_to, up, down),
	CLAIM_WITH(a_daemon_that_crashes_when_told_to_end_has_ended, up, down),
	CLAIM_WITH(a_daemon_whose_keeper_dies_is_told_to_end, up, down),
	CLAIM_WITH(systemd_is_told_in_one_datagram, up, down),
)
