// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "seize.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/sys.h"
#include "session.h"
#include "lib/error.h"
#include "lib/process.h"
#include "lib/sysfs.h"

enum {
	STEP_US		= 200,
	STOP_STEPS	= 5000,		/* a second */
	SEIZE_TRIES	= 20,
};

static void nap(void)
{
	gp_sys->nanosleep(&(struct timespec){ .tv_nsec = STEP_US * 1000 });
}

/* Returns the thread that traces @pid, 0: none. */
static pid_t tracer_of(pid_t pid)
{
	char text[4096];
	u64 tracer = 0;

	if (gp_proc_text(NULL, pid, "status", text, sizeof(text)) > 0)
		gp_proc_field(text, "\nTracerPid:", &tracer, NULL);
	return (pid_t)tracer;
}

/* Returns false for a zombie, which is still in /proc and cannot be seized. */
static bool is_alive(pid_t pid)
{
	struct gp_proc_stat stat;

	return !gp_proc_stat(NULL, pid, &stat) && stat.state != 'Z' && stat.state != 'X';
}

/* A thread of this process detaches its tracees a moment after it was joined. */
static bool is_ours(pid_t tracer)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", tracer);
	return !gp_sys->access(path, F_OK);
}

static int why_not(pid_t pid, int err, bool *again)
{
	pid_t tracer;

	*again = false;
	if (err != EPERM)
		return -err;
	/*
	 * Its queues run on with the other threads, but the driver checks the tracer of the first
	 * one.
	 */
	if (!is_alive(pid))
		return gp_seize_other_thread(pid) ? -ECHILD : -ESRCH;
	tracer = tracer_of(pid);
	*again = tracer && is_ours(tracer);
	return tracer ? -EALREADY : -EPERM;
}

int gp_seize(pid_t pid, u64 start)
{
	bool again = true;
	int err = -EPERM;
	u64 now;

	for (u32 i = 0; again && i < SEIZE_TRIES; i++) {
		/* It stops before it ends: gp_seize_while_stopped() */
		if (!gp_sys->ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXIT)) {
			err = 0;
			break;
		}
		err = why_not(pid, errno, &again);
		if (again)
			nap();
	}
	if (err)
		return err;
	if (gp_process_start(NULL, pid, &now) || (start && now != start)) {
		gp_unseize(pid);
		return -ESRCH;
	}
	return 0;
}

/* Returns the signal to deliver after a stop, or 0 if ptrace caused the stop. */
static int stop_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static bool is_group_stop(int status)
{
	int sig = WSTOPSIG(status);

	return status >> 16 == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

/* Continues a thread after any stop. A process stopped by SIGSTOP stays stopped. */
static void go_on(pid_t tid, int status)
{
	if (is_group_stop(status))
		gp_sys->ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		gp_sys->ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)stop_signal(status));
}

static int stop(pid_t tid, int *ret_status)
{
	if (gp_sys->ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return errno == ESRCH ? -ESRCH : -errno;
	for (u32 i = 0; i < STOP_STEPS; i++) {
		pid_t got = gp_sys->waitpid(tid, ret_status, __WALL | __WNOTHREAD | WNOHANG);

		if (got == tid && WIFSTOPPED(*ret_status))
			return 0;
		if (got)
			return -ESRCH;
		nap();
	}
	return -ETIMEDOUT;
}

int gp_unseize(pid_t tid)
{
	int status = 0, err = stop(tid, &status);

	if (!err)
		gp_sys->ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)stop_signal(status));
	return err;
}

int gp_seize_while_stopped(pid_t tid, int (*fn)(void *ctx), void *ctx)
{
	int status = 0, err = stop(tid, &status);

	if (err)
		return err;
	err = status >> 16 == PTRACE_EVENT_EXIT ? -ESRCH : fn(ctx);
	go_on(tid, status);
	return err;
}

int gp_seize_wait(pid_t pid)
{
	int status;
	pid_t got;

	while ((got = gp_sys->waitpid(pid, &status, __WALL | __WNOTHREAD | WNOHANG)) == pid) {
		if (!WIFSTOPPED(status))
			return -ESRCH;
		go_on(pid, status);
	}
	return got < 0 && errno == ECHILD ? -ESRCH : 0;
}

struct brief {
	int (*fn)(void *ctx);
	void *ctx;
	int err;
};

static void *brief_main(void *arg)
{
	struct brief *b = arg;

	b->err = b->fn(b->ctx);
	return NULL;
}

int gp_seize_briefly(int (*fn)(void *ctx), void *ctx)
{
	struct brief b = { .fn = fn, .ctx = ctx };
	sigset_t all, before;
	pthread_t thread;
	int err;

	/* Signals are for the threads of the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = gp_sys->thread_create(&thread, NULL, brief_main, &b) ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return gp_fail(err == EAGAIN ? ENOMEM : err, "no thread could be started: %s",
			       strerrordesc_np(err));
	pthread_join(thread, NULL);
	return b.err;
}

/* Calls @fn for every thread until it returns nonzero, and returns that. */
static int each_thread(const char *proc, pid_t pid, int (*fn)(int dir, pid_t tid, void *ctx),
		       void *ctx)
{
	struct gp_sysfs_dir dir;
	char path[PATH_MAX];
	int result = 0, err;
	u64 tid, inode;

	if (snprintf(path, sizeof(path), "%s/%d/task", proc, pid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = gp_sysfs_dir_open(&dir, AT_FDCWD, path);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	while (!result && gp_sysfs_dir_number(&dir, 1, INT_MAX, &tid, &inode) > 0)
		result = fn(dir.fd, (pid_t)tid, ctx);
	gp_sysfs_dir_close(&dir);
	return result;
}

static int take_if_other(int dir, pid_t tid, void *ctx)
{
	(void)dir;
	return tid != *(pid_t *)ctx && is_alive(tid) ? tid : 0;
}

pid_t gp_seize_other_thread(pid_t pid)
{
	int tid = each_thread("/proc", pid, take_if_other, &pid);

	return tid > 0 ? tid : 0;
}

/* Returns 1 if the thread is in ioctl(fd, RUNTIME_ENABLE, ...), by /proc/PID/task/TID/syscall. */
static int sleeps_there(int dir, pid_t tid, void *ctx)
{
	char path[48], text[256], *rest;
	const char *end;
	u64 number;
	int n;

	(void)ctx;
	snprintf(path, sizeof(path), "%d/syscall", tid);
	n = gp_sysfs_text(dir, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT || n == -ESRCH ? 0 : n;
	if (!gp_sysfs_parse(text, 10, &number, &end) || number != SYS_ioctl || *end != ' ')
		return 0;
	rest = strchr(end + 1, ' ');
	return rest && strtoull(rest, NULL, 16) == AMDKFD_IOC_RUNTIME_ENABLE;
}

int gp_session_needs_poke(const char *proc, pid_t pid)
{
	return each_thread(proc ? proc : "/proc", pid, sleeps_there, NULL);
}

struct poke {
	int result;
};

static int poke_thread(int dir, pid_t tid, void *ctx)
{
	struct poke *p = ctx;
	int err;

	if (sleeps_there(dir, tid, NULL) == 0)
		return 0;
	/* if syscall is not readable, the thread may sleep there */
	if (gp_sys->ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
		p->result = errno == ESRCH ? p->result : -errno;
		return 0;
	}
	err = gp_unseize(tid);
	if (err && err != -ESRCH)
		p->result = err;
	return 0;
}

static int poke_all(void *ctx)
{
	struct poke p = { 0 };
	int err = each_thread("/proc", *(pid_t *)ctx, poke_thread, &p);

	return err ? err : p.result;
}

int gp_session_poke(pid_t pid)
{
	return gp_seize_briefly(poke_all, &pid);
}
