// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What of debug sessions and of the mechanism on them needs no driver: ptrace, and a
 * driver that knows no debug call (/dev/null).
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
#include "fake_tree.h"
#include "gp_test.h"
#include "lib/gpreempt.h"
#include "lib/kfd_debug.h"
#include "lib/mechanism_kfd_debug.h"
#include "lib/process.h"
#include "lib/seize.h"

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	signals = signals + 1;
}

/* A child that exits with how many SIGUSR1 it got, when told by SIGTERM. */
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

/* The rest of the line @field of /proc/PID/status. */
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
	kill(pid, SIGUSR1);	/* stops it, until this thread ends */
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

static void who_is_traced_is_somebodys_else(void **state)
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
	/* another process with its pid */
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

static void who_sleeps_in_runtime_enable_is_seen(void **state)
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

/* ---- the mechanism ---- */

struct world {
	struct fake_tree *tree;
	struct gp_kfdm *m;
	struct gp_mechanism *base;
	int fd;
};

static int up(void **state)
{
	static const struct gp_kfdm_gpu gpus[] = { { 54702, 80 }, { 7, 80 } };
	struct world *w = calloc(1, sizeof(*w));
	struct gp_kfdm_args args = { .gpus = gpus, .nr_gpus = 2 };

	w->tree = fake_tree_make();
	w->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	args.kfd_fd = w->fd;
	args.kfd_root = w->tree->path;
	EXPECT_EQ(gp_kfdm_alloc(&args, &w->m), 0);
	w->base = gp_kfdm_mechanism(w->m);
	*state = w;
	return 0;
}

static int down(void **state)
{
	struct world *w = *state;

	gp_kfdm_free(w->m);
	close(w->fd);
	fake_tree_free(w->tree);
	free(w);
	return 0;
}

static bool readable(struct world *w, int ms)
{
	return poll(&(struct pollfd){ .fd = gp_kfdm_fd(w->m), .events = POLLIN }, 1, ms) == 1;
}

static void the_table_is_honest(void **state)
{
	struct world *w = *state;
	struct gp_kfdm_gpu gpu = { 1, 1 };
	struct gp_kfdm *m;

	EXPECT_EQ(gp_mechanism_check(w->base->ops), 0);
	EXPECT_EQ(gp_kfdm_alloc(&(struct gp_kfdm_args){ .gpus = &gpu, .nr_gpus = 0 }, &m), -EINVAL);
	EXPECT_EQ(gp_kfdm_alloc(&(struct gp_kfdm_args){ .gpus = &gpu, .nr_gpus = 1, .grace = 256 },
				&m), -EINVAL);
}

static void a_process_that_cannot_be_attached_is_told_and_forgotten(void **state)
{
	struct world *w = *state;
	pid_t pid = make_child();
	struct gp_kfdm_process p = { .pid = pid };
	struct gp_kfdm_event e;
	struct gp_kfdm_stats stats;

	EXPECT_EQ(gp_kfdm_process_add(w->m, 3, &p), -ENOENT);
	EXPECT_EQ(gp_kfdm_task_add(w->m, 3, 1), 0);
	EXPECT_EQ(gp_kfdm_task_add(w->m, 3, 1), -EEXIST);
	EXPECT_EQ(gp_kfdm_next(w->m, &e), -EAGAIN);
	EXPECT_EQ(gp_kfdm_process_add(w->m, 3, &p), 0);
	EXPECT(readable(w, GP_TEST_PATIENCE_MS));
	EXPECT_EQ(gp_kfdm_next(w->m, &e), 0);
	EXPECT(e.what == GP_KFDM_NOT_ATTACHED && e.err == -ENOSYS && e.task == 3 && e.pid == pid);
	EXPECT(!gp_kfdm_attaching(w->m));
	EXPECT_EQ(gp_kfdm_next(w->m, &e), -EAGAIN);
	EXPECT(!readable(w, 0));
	/* It says so just before it forgets. */
	AWAIT(gp_kfdm_process_del(w->m, pid) == -ENOENT);
	gp_kfdm_stats(w->m, &stats);
	EXPECT(stats.attaches == 0 && stats.attach_failures == 1);
	EXPECT_EQ(gp_kfdm_task_del(w->m, 3), 0);
	EXPECT_EQ(gp_kfdm_task_del(w->m, 3), -ENOENT);
	EXPECT_EQ(end_child(pid), 0);
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static int begin(struct world *w, u64 id, u32 device, u32 nr_out, u32 nr_in, u32 *tasks)
{
	struct gp_action a = {
		.id = id, .device = device, .nr_out = nr_out, .nr_in = nr_in, .tasks = tasks,
		.cause = GP_NONE, .deadline_ns = now() + GP_TEST_PATIENCE_MS * 1000000ull,
	};

	return w->base->ops->begin(w->base, &a, now());
}

static struct gp_answer answer(struct world *w)
{
	struct gp_answer a;

	for (;;) {
		if (!w->base->ops->poll(w->base, now(), &a))
			return a;
		EXPECT(readable(w, GP_TEST_PATIENCE_MS));
	}
}

static void a_watched_process_is_never_stopped(void **state)
{
	struct world *w = *state;
	u32 tasks[2] = { 5, 6 }, waves = 9, permille = 9;
	struct gp_answer a;

	fake_tree_put(w->tree, "20\n", "proc/100/stats_54702/cu_occupancy");
	EXPECT_EQ(gp_kfdm_task_add(w->m, 5, 1), 0);
	EXPECT_EQ(gp_kfdm_task_add(w->m, 6, 3), 0);
	EXPECT_EQ(gp_kfdm_process_add(w->m, 5, &(struct gp_kfdm_process){ 100, 0, true }), 0);
	EXPECT_EQ(gp_kfdm_process_add(w->m, 6, &(struct gp_kfdm_process){ 100, 0, true }), -EEXIST);
	EXPECT_EQ(begin(w, 64, 0, 1, 1, tasks), 0);
	a = answer(w);
	EXPECT(a.action == 64 && a.task == 5 && a.outcome == GP_REFUSED);
	a = answer(w);
	EXPECT(a.task == 6 && a.outcome == GP_DONE);
	EXPECT(a.command_ns && a.switched_ns >= a.command_ns);
	EXPECT_EQ(w->base->ops->probe(w->base, 0, 5, &waves, &permille), 0);
	EXPECT(waves == 20 && permille == 250);
	EXPECT_EQ(w->base->ops->probe(w->base, 0, 6, &waves, &permille), 0);
	EXPECT(waves == 0 && permille == 0);
	EXPECT_EQ(w->base->ops->probe(w->base, 1, 5, &waves, &permille), -ENOENT);
	EXPECT_EQ(w->base->ops->probe(w->base, 2, 5, &waves, &permille), -ENODEV);
	EXPECT_EQ(gp_kfdm_process_del(w->m, 100), 0);
	EXPECT_EQ(gp_kfdm_task_del(w->m, 5), 0);
}

static void what_makes_no_sense_is_refused_up_front(void **state)
{
	struct world *w = *state;
	u32 tasks[2] = { 5, 6 };
	struct gp_answer a;

	EXPECT_EQ(gp_kfdm_task_add(w->m, 5, 1), 0);
	EXPECT_EQ(begin(w, 66, 2, 1, 0, tasks), -ENODEV);
	EXPECT_EQ(begin(w, 65, 1, 1, 0, tasks), -ENOENT);
	EXPECT_EQ(begin(w, 64, 0, 1, 1, tasks), -ENOENT);
	/* Its thread answers in order: an answer to one of those would come before this one. */
	EXPECT_EQ(begin(w, 67, 0, 0, 1, tasks), 0);
	a = answer(w);
	EXPECT(a.action == 67 && a.task == 5 && a.outcome == GP_DONE);
	AWAIT(!gp_kfdm_acting(w->m, 0));
	EXPECT_EQ(w->base->ops->poll(w->base, now(), &a), -EAGAIN);
	EXPECT_EQ(gp_kfdm_wake_at(w->m), ~0ull);
}

/* Begun and deleted at once, again and again, from a thread that does not wait. */
static void tasks_come_and_go_under_way(void **state)
{
	struct world *w = *state;
	struct gp_kfdm_process watched = { .pid = 50, .watch_only = true };
	u32 task = 9, answers = 0, begun = 0, rests = 0;
	struct gp_answer a;

	for (u32 i = 1; i <= 300; i++) {
		EXPECT_EQ(gp_kfdm_task_add(w->m, task, 3), 0);
		EXPECT_EQ(gp_kfdm_process_add(w->m, task, &watched), 0);
		begun += !begin(w, i * 64, 0, 0, 1, &task);
		begun += !begin(w, i * 64 + 1, 1, 1, 0, &task);
		EXPECT_EQ(gp_kfdm_task_del(w->m, task), 0);
		while (!w->base->ops->poll(w->base, now(), &a))
			answers++;
		if (i % 10)
			continue;
		AWAIT(!gp_kfdm_acting(w->m, 0) && !gp_kfdm_acting(w->m, 1));
		rests++;
	}
	/* Each time that both devices were idle, both took what came next. */
	EXPECT(begun >= 2 * rests && answers <= begun);
}

PROVE(
	CLAIM(a_brief_seizure_lets_go_by_itself_and_loses_no_signal),
	CLAIM(who_is_traced_is_somebodys_else),
	CLAIM(a_session_that_cannot_be_had_leaves_no_trace),
	CLAIM(a_zombie_is_gone),
	CLAIM(a_poke_is_harmless),
	CLAIM(who_sleeps_in_runtime_enable_is_seen),
	CLAIM_WITH(the_table_is_honest, up, down),
	CLAIM_WITH(a_process_that_cannot_be_attached_is_told_and_forgotten, up, down),
	CLAIM_WITH(a_watched_process_is_never_stopped, up, down),
	CLAIM_WITH(what_makes_no_sense_is_refused_up_front, up, down),
	CLAIM_WITH(tasks_come_and_go_under_way, up, down),
)
