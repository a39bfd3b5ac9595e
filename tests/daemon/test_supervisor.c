// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The supervisor with misbehaving deciders and children, and its messages to systemd. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children_world.h"
#include "core/param.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/supervisor.h"
#include "tests/shared/gp_test.h"

#define HEARTBEAT	(200 * GP_MSEC)

/* Shared with the children. */
struct shared {
	u32 lives;
	u32 ended_well;
	int daemon;
	u64 now_ns;		/* the supervisor's time, which the test moves; 0: real time */
	uid_t poked;
	u32 restarts;		/* the number reported to the decider */
	char reason[96];
	int child;		/* a pid */
	u32 turns;		/* poll() calls that found neither an event nor a timeout */
};

static struct shared *shared;

typedef int (*decider_main)(void *ctx, struct gp_heart *heart);

/*
 * Virtual time. The linker redirects the supervisor's clock_gettime() and poll(). A busy machine
 * does not change virtual time.
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
 * In the daemon: waits until the supervisor has read every beat, has seen the current time and
 * waits in poll(). It has no limit, because the supervisor may also kill the daemon here.
 */
static void settle(const struct gp_heart *heart)
{
	volatile u32 *turns = &shared->turns;
	int unread = 1;
	u32 before;

	while (!ioctl(heart->fd, SIOCOUTQ, &unread) && unread)
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

/* ---- roles of the tests ---- */

/* Sends its user back, then waits for the end of its channel. */
static int echo_main(int channel, uid_t user)
{
	struct gp_supervisor_message m =
		GP_MESSAGE(struct gp_supervisor_message, 77, .user = user, .pid = getpid());
	struct pollfd fd = { .fd = channel, .events = POLLIN };

	gp_channel_send(channel, &m.is, NULL, 0);
	while (gp_channel_recv(channel, &m, sizeof(m), NULL) != -EPIPE)
		__real_poll(&fd, 1, -1);
	return 5;
}

/* Ignores the end of its channel. */
static int deaf_main(int channel, uid_t user)
{
	(void)channel;
	(void)user;
	while (shared)
		pause();
	return 0;
}

static int poke_main(int channel, uid_t user)
{
	(void)channel;
	shared->poked = user;
	return 0;
}

static const struct gp_role roles[GP_NR_ROLES] = {
	[GP_ROLE_HOLDER] = { .name = "echo", .main = echo_main, .kill_stopped = true },
	[GP_ROLE_READER] = { .name = "deaf", .main = deaf_main },
	[GP_ROLE_POKE] = { .name = "poke", .main = poke_main },
};

static int supervise(decider_main child)
{
	return gp_supervisor_run(&(struct gp_supervisor_args){
		.heartbeat_ns = HEARTBEAT, .decider = child, .roles = roles,
	});
}

/* Starts the supervisor in its own process. */
static pid_t start_supervisor(decider_main child)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(supervise(child));
	}
	return pid;
}

/* Runs the supervisor and returns its exit code. */
static int keep(decider_main child)
{
	pid_t pid = start_supervisor(child);
	int status;

	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int keep_in_virtual_time(decider_main child)
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

static void a_normal_end_is_the_supervisors(void **state)
{
	(void)state;
	EXPECT_EQ(keep(ends), 3);
	EXPECT_EQ(shared->lives, 1);
}

/* The first decider is stopped while it is busy. The second ends well. */
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

static void a_busy_decider_that_is_stopped_is_ended_and_started_again(void **state)
{
	u64 began = now();

	(void)state;
	EXPECT_EQ(keep(stops_once), 0);
	EXPECT_EQ(shared->lives, 2);
	EXPECT_EQ(shared->ended_well, 0);
	EXPECT(now() - began >= HEARTBEAT);
}

/* Makes stderr a full pipe without a reader. Returns the old stderr. */
static int stuff_stderr(void)
{
	int was = dup(STDERR_FILENO), ends[2];

	EXPECT_EQ(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], "x", 1) == 1)
		;
	EXPECT_EQ(fcntl(ends[1], F_SETFL, 0), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	/* The reading end stays open, so that the pipe is not broken. */
	return was;
}

static void a_log_without_a_reader_stops_neither_the_supervisor_nor_the_decider(void **state)
{
	int was = stuff_stderr(), status = -1;
	pid_t supervisor = fork();

	(void)state;
	if (!supervisor) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		gp_log(GP_LOG_ERROR, "this is not read");
		_exit(supervise(stops_once));
	}
	/* fail_msg() must be able to write. */
	dup2(was, STDERR_FILENO);
	close(was);
	AWAIT(waitpid(supervisor, &status, WNOHANG) == supervisor);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(shared->lives, 2);
}

static void a_time_that_has_just_passed_is_not_slept_through(void **state)
{
	(void)state;
	EXPECT_EQ(gp_supervisor_timeout(GP_NEVER, GP_SEC), -1);
	EXPECT_EQ(gp_supervisor_timeout(GP_SEC, GP_SEC - 1), 1);
	EXPECT_EQ(gp_supervisor_timeout(GP_SEC, GP_SEC), 0);
	EXPECT_EQ(gp_supervisor_timeout(GP_SEC, GP_SEC + 1), 0);
}

static int sleeps_at_rest(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	shared->lives++;
	gp_heart_beat(heart, now());
	settle(heart);
	gp_heart_rest(heart);
	settle(heart);
	/* In small steps, because the supervisor takes a large one for a suspended machine. */
	for (u32 i = 0; i < 12; i++)
		advance(heart, HEARTBEAT / 4);
	return 0;
}

static void a_decider_at_rest_may_be_silent(void **state)
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

static void a_busy_decider_that_is_heard_of_lives(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(beats), 0);
	EXPECT_EQ(shared->lives, 1);
}

/* Busy and silent: first for slightly less than a heartbeat, then for longer than allowed. */
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

static void a_busy_decider_that_is_silent_for_a_heartbeat_is_restarted(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(falls_silent), 0);
	EXPECT_EQ(shared->lives, 2);
	EXPECT_EQ(shared->ended_well, 1);
}

/* No process ran for two heartbeats. Then the daemon beats again, in time. */
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

static void a_machine_that_stood_still_is_no_silence_of_the_decider(void **state)
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
	EXPECT_EQ(shared->lives, GP_SUPERVISOR_ENDS + 1);
}

/* At most GP_SUPERVISOR_ENDS crashes are within a minute. */
static int crashes_seldom(void *ctx, struct gp_heart *heart)
{
	if (shared->lives > 3 * GP_SUPERVISOR_ENDS)
		return 0;
	shared->now_ns += 60 * GP_SEC / GP_SUPERVISOR_ENDS;
	return crashes(ctx, heart);
}

static void a_decider_that_crashes_seldom_is_always_restarted(void **state)
{
	(void)state;
	EXPECT_EQ(keep_in_virtual_time(crashes_seldom), 0);
	EXPECT_EQ(shared->lives, 3 * GP_SUPERVISOR_ENDS + 1);
}

/* Asks for a restart many times, as when the driver adds GPUs one by one. */
static int wants_again(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	return shared->lives++ < 3 * GP_SUPERVISOR_ENDS ? GP_SUPERVISOR_AGAIN : 0;
}

static void a_decider_that_wants_it_is_started_again(void **state)
{
	(void)state;
	EXPECT_EQ(keep(wants_again), 0);
	EXPECT_EQ(shared->lives, 3 * GP_SUPERVISOR_ENDS + 1);
}

/* The supervisor forwards its signals. The daemon gets SIGTERM when the supervisor ends. */
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

static pid_t supervisor_of_a_waiting_decider(void)
{
	pid_t pid = start_supervisor(waits);

	AWAIT(*(volatile int *)&shared->daemon);
	return pid;
}

static void sigterm_is_passed_on(void **state)
{
	pid_t supervisor = supervisor_of_a_waiting_decider();
	int status;

	(void)state;
	kill(supervisor, SIGTERM);
	EXPECT_EQ(waitpid(supervisor, &status, 0), supervisor);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	EXPECT_EQ(shared->ended_well, 1);
}

static void a_decider_that_is_stopped_ends_when_told_to(void **state)
{
	pid_t supervisor = supervisor_of_a_waiting_decider();

	(void)state;
	kill(shared->daemon, SIGSTOP);
	kill(supervisor, SIGTERM);
	AWAIT(waitpid(supervisor, NULL, WNOHANG) == supervisor);
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

static void a_decider_that_crashes_when_told_to_end_has_ended(void **state)
{
	(void)state;
	EXPECT_EQ(keep(crashes_when_told_to_end), 0);
	EXPECT_EQ(shared->lives, 1);
}

static void a_decider_whose_supervisor_dies_dies_too(void **state)
{
	pid_t supervisor = supervisor_of_a_waiting_decider();

	(void)state;
	kill(supervisor, SIGKILL);
	EXPECT_EQ(waitpid(supervisor, NULL, 0), supervisor);
	AWAIT(kill(shared->daemon, 0));
}

/* The supervisor has no free descriptor when the first decider dies. */
static int dies_when_files_are_short(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	(void)heart;
	if (shared->lives++)
		return 6;
	shared->daemon = getpid();
	prlimit(getppid(), RLIMIT_NOFILE, &(struct rlimit){ 3, 4096 }, NULL);
	raise(SIGKILL);
	return 1;
}

static void a_decider_that_cannot_be_started_is_tried_again(void **state)
{
	pid_t supervisor = start_supervisor(dies_when_files_are_short);
	int status = -1;

	(void)state;
	AWAIT(*(volatile int *)&shared->daemon && kill(shared->daemon, 0));
	usleep(20000);
	EXPECT_EQ(prlimit(supervisor, RLIMIT_NOFILE, &(struct rlimit){ 1024, 4096 }, NULL), 0);
	AWAIT(waitpid(supervisor, &status, WNOHANG) == supervisor);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 6);
	EXPECT_EQ(shared->lives, 2);
}

/* ---- children ---- */

static void a_child_serves_its_user_over_its_own_channel_and_ends_with_it(void **state)
{
	struct gp_supervisor_message m;
	u64 child;

	(void)state;
	cw_connect(roles);
	child = cw_start(GP_ROLE_HOLDER, 1234);
	m = cw_greeting();
	EXPECT_EQ(m.user, 1234);
	AWAIT(cw_ran() || gp_children_has(m.pid));
	close(cw_told.channel);
	AWAIT(cw_ran() || cw_told.ended);
	EXPECT_EQ(cw_told.child, child);
	EXPECT(WIFEXITED(cw_told.status) && WEXITSTATUS(cw_told.status) == 5);
	EXPECT(!gp_children_has(m.pid));
	gp_children_disconnect();
}

static void a_child_is_killed_on_request_and_a_stopped_holder_at_once(void **state)
{
	u64 child;

	(void)state;
	cw_connect(roles);
	child = cw_start(GP_ROLE_READER, 1);
	close(cw_told.channel);
	EXPECT_EQ(cw_told.ended, 0);
	gp_children_kill(GP_ROLE_READER, child);
	AWAIT(cw_ran() || cw_told.ended);
	EXPECT(cw_told.child == child && WIFSIGNALED(cw_told.status));
	child = cw_start(GP_ROLE_HOLDER, 1);
	kill(cw_greeting().pid, SIGSTOP);
	AWAIT(cw_ran() || cw_told.ended == 2);
	EXPECT(cw_told.child == child && WTERMSIG(cw_told.status) == SIGKILL);
	close(cw_told.channel);
	gp_children_disconnect();
}

static void the_user_of_a_holder_that_was_killed_is_poked(void **state)
{
	(void)state;
	cw_connect(roles);
	cw_start(GP_ROLE_HOLDER, 4321);
	kill(cw_greeting().pid, SIGKILL);
	AWAIT(*(volatile uid_t *)&shared->poked == 4321);
	close(cw_told.channel);
	gp_children_disconnect();
}

static void a_supervisor_ends_with_its_caller_and_ends_its_children(void **state)
{
	pid_t pid;

	(void)state;
	cw_connect(roles);
	cw_start(GP_ROLE_HOLDER, 1);
	pid = cw_greeting().pid;
	cw_start(GP_ROLE_READER, 1);
	gp_children_disconnect();
	/* The child that ignores its channel is killed, and with it the child's child. */
	AWAIT(waitpid(-1, NULL, WNOHANG) > 0);
	AWAIT(kill(pid, 0));
}

/* Sends a message that no decider sends. */
static int sends(void *ctx, const void *bytes, size_t size, struct gp_heart *heart)
{
	(void)ctx;
	if (shared->lives++)
		return 0;
	send(heart->fd, bytes, size, 0);
	for (;;)
		pause();
}

static int sends_an_unknown_kind(void *ctx, struct gp_heart *heart)
{
	struct gp_supervisor_message m = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_STARTED);

	return sends(ctx, &m, sizeof(m), heart);
}

static int sends_another_version(void *ctx, struct gp_heart *heart)
{
	struct gp_supervisor_message m = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_BEAT);

	m.is.version++;
	return sends(ctx, &m, sizeof(m), heart);
}

static int sends_a_wrong_size(void *ctx, struct gp_heart *heart)
{
	struct gp_supervisor_message m = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_BEAT);

	return sends(ctx, &m, sizeof(m) - 4, heart);
}

static int sends_few_bytes(void *ctx, struct gp_heart *heart)
{
	return sends(ctx, "x", 1, heart);
}

static void a_decider_that_sends_a_malformed_message_is_killed_and_started_again(void **state)
{
	const decider_main all[] = { sends_an_unknown_kind, sends_another_version,
				     sends_a_wrong_size, sends_few_bytes };

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		shared->lives = 0;
		EXPECT_EQ(keep(all[i]), 0);
		EXPECT_EQ(shared->lives, 2);
	}
}

/* The first decider has a child that ignores its channel, and dies. */
static int dies_with_a_child(void *ctx, struct gp_heart *heart)
{
	(void)ctx;
	if (shared->lives++) {
		shared->restarts = heart->restarts;
		snprintf(shared->reason, sizeof(shared->reason), "%s", heart->reason);
		return kill(shared->child, 0) ? 0 : 1;
	}
	EXPECT_EQ(heart->restarts, 0);
	EXPECT(!heart->reason[0]);
	cw_own();
	cw_start(GP_ROLE_HOLDER, 1);
	shared->child = cw_greeting().pid;
	cw_start(GP_ROLE_READER, 1);
	while (!gp_children_has(shared->child))
		gp_children_run();
	raise(SIGKILL);
	return 0;
}

static void the_next_decider_starts_when_the_last_ones_children_are_gone_and_knows_why(void **state)
{
	(void)state;
	EXPECT_EQ(keep(dies_with_a_child), 0);
	EXPECT_EQ(shared->lives, 2);
	EXPECT_EQ(shared->restarts, 1);
	EXPECT(!strcmp(shared->reason, "ended by signal 9"));
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
	CLAIM_WITH(a_normal_end_is_the_supervisors, up, down),
	CLAIM_WITH(a_busy_decider_that_is_stopped_is_ended_and_started_again, up, down),
	CLAIM_WITH(a_log_without_a_reader_stops_neither_the_supervisor_nor_the_decider, up, down),
	CLAIM(a_time_that_has_just_passed_is_not_slept_through),
	CLAIM_WITH(a_decider_at_rest_may_be_silent, up, down),
	CLAIM_WITH(a_busy_decider_that_is_heard_of_lives, up, down),
	CLAIM_WITH(a_busy_decider_that_is_silent_for_a_heartbeat_is_restarted, up, down),
	CLAIM_WITH(a_machine_that_stood_still_is_no_silence_of_the_decider, up, down),
	CLAIM_WITH(it_gives_up_after_a_few_ends, up, down),
	CLAIM_WITH(a_decider_that_crashes_seldom_is_always_restarted, up, down),
	CLAIM_WITH(a_decider_that_wants_it_is_started_again, up, down),
	CLAIM_WITH(sigterm_is_passed_on, up, down),
	CLAIM_WITH(a_decider_that_is_stopped_ends_when_told_to, up, down),
	CLAIM_WITH(a_decider_that_crashes_when_told_to_end_has_ended, up, down),
	CLAIM_WITH(a_decider_whose_supervisor_dies_dies_too, up, down),
	CLAIM_WITH(a_decider_that_cannot_be_started_is_tried_again, up, down),
	CLAIM_WITH(a_child_serves_its_user_over_its_own_channel_and_ends_with_it, up, down),
	CLAIM_WITH(a_child_is_killed_on_request_and_a_stopped_holder_at_once, up, down),
	CLAIM_WITH(the_user_of_a_holder_that_was_killed_is_poked, up, down),
	CLAIM_WITH(a_supervisor_ends_with_its_caller_and_ends_its_children, up, down),
	CLAIM_WITH(a_decider_that_sends_a_malformed_message_is_killed_and_started_again, up, down),
	CLAIM_WITH(the_next_decider_starts_when_the_last_ones_children_are_gone_and_knows_why,
		   up, down),
	CLAIM_WITH(systemd_is_told_in_one_datagram, up, down),
)
