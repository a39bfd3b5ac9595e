// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The parts of debug sessions that need no driver: ptrace, and a driver without debug calls
 * (/dev/null).
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/task.h"
#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/gpreempt.h"
#include "lib/kfd_debug/session.h"
#include "lib/process.h"
#include "lib/kfd_debug/seize.h"

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	signals = signals + 1;
}

/* Makes a child that exits on SIGTERM with its number of SIGUSR1 as exit code. */
static pid_t make_child(void)
{
	sigset_t mask, before;
	pid_t pid;
	int sig = 0;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &before);
	signal(SIGUSR1, on_signal);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (sigwait(&mask, &sig) || sig != SIGTERM)
			;
		_exit(signals);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int end_child(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Stores the rest of the line @field of /proc/PID/status. */
static void status_of(pid_t pid, const char *field, char *ret, size_t size)
{
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	EXPECT(f);
	ret[0] = '\0';
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)))
			snprintf(ret, size, "%s", line + strlen(field));
	fclose(f);
}

static bool is_traced(pid_t pid)
{
	char tracer[32];

	status_of(pid, "TracerPid:", tracer, sizeof(tracer));
	return atoi(tracer);
}

/* S: sleeping, t: stopped by its tracer. */
static bool is_in_state(pid_t pid, char state)
{
	char text[32];

	status_of(pid, "State:\t", text, sizeof(text));
	return text[0] == state;
}

static int seize_it(void *ctx)
{
	pid_t pid = *(pid_t *)ctx;
	int err = gp_seize(pid, 0);

	EXPECT(is_traced(pid));
	kill(pid, SIGUSR1);	/* stops the child until this thread ends */
	AWAIT(is_in_state(pid, 't'));
	return err;
}

static void a_brief_seizure_lets_go_by_itself_and_loses_no_signal(void **state)
{
	pid_t pid = make_child();

	(void)state;
	AWAIT(is_in_state(pid, 'S'));
	EXPECT_EQ(gp_seize_briefly(seize_it, &pid), 0);
	AWAIT(!is_traced(pid));
	EXPECT_EQ(end_child(pid), 1);
}

static void a_traced_process_belongs_to_its_tracer(void **state)
{
	pid_t pid = make_child(), tracer;
	struct gp_session s;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), done[2];
	char byte;

	(void)state;
	EXPECT_EQ(pipe(done), 0);
	tracer = fork();
	if (!tracer) {
		if (ptrace(PTRACE_SEIZE, pid, 0, 0) || write(done[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	EXPECT_EQ(read(done[0], &byte, 1), 1);
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){ .kfd_fd = fd, .pid = pid }),
		  -EALREADY);
	EXPECT(strstr(gp_strerror(-EALREADY), "a debugger has it"));
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	EXPECT_EQ(end_child(pid), 0);
	close(fd);
	close(done[0]);
	close(done[1]);
}

static void a_session_that_cannot_be_had_leaves_no_trace(void **state)
{
	struct gp_session s;
	pid_t pid = make_child();
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	u64 start = 0;

	(void)state;
	EXPECT_EQ(gp_process_start(NULL, pid, &start), 0);
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){
		.kfd_fd = fd, .pid = pid, .start = start }), -ENOSYS);
	AWAIT(!is_traced(pid));
	EXPECT(strstr(gp_strerror(-ENOSYS), "no debug interface"));
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){
		.kfd_fd = fd, .pid = pid, .start = start, .stay_attached = true }), -ENOSYS);
	EXPECT(!is_traced(pid));
	/* another process with the same pid */
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){
		.kfd_fd = fd, .pid = pid, .start = start + 1 }), -ESRCH);
	AWAIT(!is_traced(pid));
	EXPECT_EQ(end_child(pid), 0);
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){ .kfd_fd = fd, .pid = pid }),
		  -ESRCH);
	close(fd);
}

static void a_zombie_is_gone(void **state)
{
	struct gp_session s;
	pid_t pid = make_child();
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(gp_session_open(&s, &(struct gp_session_args){ .kfd_fd = -1, .pid = pid }),
		  -ESRCH);
	waitpid(pid, NULL, 0);
}

static void a_poke_is_harmless(void **state)
{
	pid_t pid = make_child();

	(void)state;
	AWAIT(is_in_state(pid, 'S'));
	EXPECT_EQ(gp_session_needs_poke(NULL, pid), 0);
	EXPECT_EQ(gp_session_poke(pid), 0);
	EXPECT_EQ(end_child(pid), 0);
	EXPECT_EQ(gp_session_poke(pid), -ESRCH);
	EXPECT_EQ(gp_session_needs_poke(NULL, pid), -ESRCH);
}

static void a_process_that_sleeps_in_runtime_enable_is_seen(void **state)
{
	struct fake_tree *t = fake_tree_make();

	(void)state;
	fake_tree_put(t, "running\n", "5/task/5/syscall");
	fake_tree_put(t, "202 0x5 0xc0104b25 0x0\n", "5/task/6/syscall");
	fake_tree_put(t, "16 0x5 0xc0204b26 0x7ffd 0x0\n", "5/task/7/syscall");
	EXPECT_EQ(gp_session_needs_poke(t->path, 5), 0);
	fake_tree_put(t, "16 0x5 0xc0104b25 0x7ffd 0x0\n", "5/task/8/syscall");
	EXPECT_EQ(gp_session_needs_poke(t->path, 5), 1);
	fake_tree_free(t);
}

PROVE(
	CLAIM(a_brief_seizure_lets_go_by_itself_and_loses_no_signal),
	CLAIM(a_traced_process_belongs_to_its_tracer),
	CLAIM(a_session_that_cannot_be_had_leaves_no_trace),
	CLAIM(a_zombie_is_gone),
	CLAIM(a_poke_is_harmless),
	CLAIM(a_process_that_sleeps_in_runtime_enable_is_seen),
)
