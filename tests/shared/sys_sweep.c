// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sys_sweep.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gp_test.h"

enum { ERRORS = 4, MANY = 25, FULL_ROUNDS = 300 };

/* Errors of a call whose arguments are all valid. */
static const int errors[GP_SYS_NR][ERRORS] = {
	[GP_SYS_openat]			= { EMFILE, ENFILE, ENOMEM, EIO },
	[GP_SYS_create]			= { EMFILE, ENOSPC, EIO },
	[GP_SYS_read]			= { EIO, ENOMEM, EINTR },
	[GP_SYS_pread]			= { EIO, ENOMEM },
	[GP_SYS_write]			= { ENOSPC, EIO, EINTR },
	[GP_SYS_fsync]			= { EIO, ENOSPC },
	[GP_SYS_rename]			= { EIO, ENOSPC, ENOMEM },
	[GP_SYS_unlink]			= { EIO, ENOMEM },
	[GP_SYS_mkdir]			= { ENOSPC, EIO },
	[GP_SYS_chmod]			= { EIO },
	[GP_SYS_access]			= { EIO, ENOMEM },
	[GP_SYS_readlinkat]		= { EIO, ENOMEM },
	[GP_SYS_fstat]			= { EIO, ENOMEM },
	[GP_SYS_fstatat]		= { EIO, ENOMEM },
	[GP_SYS_getdents]		= { EIO, ENOMEM },
	[GP_SYS_ioctl]			= { ENOMEM, EIO, EINTR },
	[GP_SYS_fcntl]			= { ENOMEM },
	[GP_SYS_memfd_create]		= { EMFILE, ENOMEM },
	[GP_SYS_ftruncate]		= { ENOMEM },
	[GP_SYS_mmap]			= { ENOMEM },
	[GP_SYS_pidfd_open]		= { EMFILE, ENFILE, ENOMEM },
	[GP_SYS_pidfd_getfd]		= { EMFILE },
	[GP_SYS_process_vm_readv]	= { ENOMEM },
	[GP_SYS_ptrace]			= { EIO },
	[GP_SYS_waitpid]		= { EINTR },
	[GP_SYS_fork]			= { EAGAIN, ENOMEM },
	[GP_SYS_thread_create]		= { EAGAIN },
	[GP_SYS_nanosleep]		= { EINTR },
	[GP_SYS_pipe2]			= { EMFILE, ENFILE },
	[GP_SYS_eventfd]		= { EMFILE, ENOMEM },
	[GP_SYS_signalfd]		= { EMFILE },
	[GP_SYS_inotify_init]		= { EMFILE },
	[GP_SYS_inotify_add_watch]	= { ENOSPC },
	[GP_SYS_socket]			= { EMFILE, ENOBUFS },
	[GP_SYS_socketpair]		= { EMFILE, ENFILE, ENOMEM },
	[GP_SYS_bind]			= { ENOMEM },
	[GP_SYS_listen]			= { ENOMEM },
	[GP_SYS_connect]		= { EAGAIN, EINTR },
	[GP_SYS_accept4]		= { EMFILE, ENFILE, ENOMEM, ECONNABORTED },
	[GP_SYS_getsockopt]		= { ENOBUFS },
	[GP_SYS_send]			= { EAGAIN, ENOBUFS, ENOMEM, EINTR },
	[GP_SYS_sendto]			= { EAGAIN, ENOBUFS },
	[GP_SYS_recv]			= { EAGAIN, ENOMEM, EINTR },
	[GP_SYS_sendmsg]		= { EAGAIN, ENOBUFS, ENOMEM, EINTR },
	[GP_SYS_recvmsg]		= { EAGAIN, ENOMEM, EINTR },
	[GP_SYS_epoll_create]		= { EMFILE, ENOMEM },
	[GP_SYS_epoll_ctl]		= { ENOMEM, ENOSPC },
	[GP_SYS_epoll_wait]		= { EINTR },
	[GP_SYS_epoll_pwait2]		= { EINTR },
	[GP_SYS_poll]			= { EINTR, ENOMEM },
	[GP_SYS_ppoll]			= { EINTR, ENOMEM },
	[GP_SYS_realloc]		= { ENOMEM },
};

/* The active faults. */
static struct sys_fault trying[SYS_FAULTS];
static u32 nr_trying;
static u64 last;
/* GP_SWEEP_ALL=1: runs each fault in its own process, so that all failures are reported. */
static bool in_child;

void sys_sweep_tell(void)
{
	for (u32 i = 0; i < nr_trying; i++) {
		const struct sys_fault *f = &trying[i];

		print_message("# fault %llu: %s() number %llu, %llu times: %s, %llu ns late\n",
			      (unsigned long long)last,
			      sys_faults_name(f->call), (unsigned long long)f->nth,
			      (unsigned long long)f->times,
			      f->half ? "half" : f->err ? strerrorname_np(f->err) : "works",
			      (unsigned long long)f->late_ns);
	}
	nr_trying = 0;
	if (in_child)
		_exit(1);
}

/* Stores the @way-th fault of a call. Returns false if there are no more. */
static bool variant(const struct sys_sweep *s, enum gp_sys_call call, u32 way,
		    struct sys_fault *ret)
{
	u32 nr = 0;

	while (nr < ERRORS && errors[call][nr] && !(s->spared & BIT_ULL(call)))
		nr++;
	*ret = (struct sys_fault){ .call = call, .times = 1 };
	if (way < nr) {
		ret->err = errors[call][way];
	} else if (way < nr + 2) {
		ret->late_ns = s->late_ns[way - nr];
	} else if (way == nr + 2 && nr) {
		ret->err = errors[call][0];
		ret->times = MANY;
	} else if (way == nr + 3 && nr && (call == GP_SYS_read || call == GP_SYS_write)) {
		ret->half = true;
	} else {
		return false;
	}
	return true;
}

static u32 variants(const struct sys_sweep *s, enum gp_sys_call call)
{
	struct sys_fault fault;
	u32 nr = 0;

	while (variant(s, call, nr, &fault))
		nr++;
	return nr;
}

/* Chooses the fault with this number. */
static void choose(const struct sys_sweep *s, const u64 *calls, u64 number, struct sys_fault *ret)
{
	for (u32 c = 0; c < GP_SYS_NR; c++) {
		u64 ways = variants(s, c);

		if (number < calls[c] * ways) {
			EXPECT(variant(s, c, (u32)(number % ways), ret));
			ret->nth = number / ways + 1;
			return;
		}
		number -= calls[c] * ways;
	}
	fail_msg("there is no such fault");
}

static void try_in_child(const struct sys_sweep *s)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (pid) {
		EXPECT_EQ(waitpid(pid, NULL, 0), pid);
		return;
	}
	in_child = true;
	s->scenario(s->ctx, trying, nr_trying);
	_exit(0);
}

static void try(const struct sys_sweep *s, struct sys_sweep_sum *sum)
{
	if (getenv("GP_SWEEP_ALL")) {
		try_in_child(s);
		sum->tried += nr_trying;
		return;
	}
	s->scenario(s->ctx, trying, nr_trying);
	sum->tried += nr_trying;
	sum->met += sys_faults_met();
}

void sys_sweep_run(const struct sys_sweep *s, struct sys_sweep_sum *sum)
{
	u64 calls[GP_SYS_NR], all = 0, kinds = 0, step = 1, at = 0, seed = gp_test_seed(1);
	struct sys_sweep_sum before = *sum;

	s->scenario(s->ctx, NULL, 0);
	for (u32 c = 0; c < GP_SYS_NR; c++) {
		calls[c] = sys_faults_calls(c);
		kinds += !!calls[c];
		all += calls[c] * variants(s, c);
	}
	if (!gp_test_full() && all > s->sample) {
		step = all / s->sample;
		at = seed % step;
	}
	if (getenv("GP_SWEEP_AT"))
		at = strtoull(getenv("GP_SWEEP_AT"), NULL, 0);
	for (nr_trying = 1; at < all; at += step) {
		choose(s, calls, at, trying);
		last = at;
		try(s, sum);
	}
	for (u64 i = s->rounds * (gp_test_full() ? FULL_ROUNDS : 1); i; i--) {
		nr_trying = 2 + (u32)(gp_test_random(&seed) % (SYS_FAULTS - 1));
		for (u32 k = 0; k < nr_trying; k++)
			choose(s, calls, gp_test_random(&seed) % all, &trying[k]);
		try(s, sum);
	}
	nr_trying = 0;
	print_message("#| %s: %llu faults of %llu kinds of calls, %llu calls failed or were late\n",
		      s->name, (unsigned long long)(sum->tried - before.tried),
		      (unsigned long long)kinds, (unsigned long long)(sum->met - before.met));
}

void sys_sweep_enough(u64 tried, u64 least)
{
	print_message("#| %llu faults\n", (unsigned long long)tried);
	EXPECT(!gp_test_full() || tried >= least);
}
