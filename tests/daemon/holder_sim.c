// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "holder_sim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/param.h"
#include "daemon/confine.h"
#include "daemon/holder.h"
#include "daemon/supervisor.h"
#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/gpu.h"
#include "lib/process.h"
#include "lib/sys.h"
#include "tests/shared/sys_faults.h"

enum { COROUTINES = 32, HOLDERS = 64, STACK = 256 * 1024, FDS = 1024 };

/* A thread of a holder process. */
struct coroutine {
	bool used, done, detached;
	u32 holder;		/* index of its process */
	ucontext_t context;
	char *stack;
	void *(*main)(void *arg);
	void *arg;
	/* What the coroutine waits for. */
	struct pollfd *fds;
	nfds_t nr_fds;
	u64 until_ns;
	u32 joins;		/* the coroutine to join; 0: none */
};

/* A holder process. Its number is its index plus 1. */
struct process {
	int channel;
	uid_t user;
	u64 child;
};

struct sim sim;

static struct coroutine co[COROUTINES + 1];	/* 0 is the decider */
static u32 current;
static struct process holder[HOLDERS + 1];
static u32 owner[FDS];		/* the holder that owns a descriptor; 0: the test */
static int peer_of[FDS];	/* the other end of a socket pair */
static int target_of[FDS];	/* the target of a session's channel; -1: none */
static struct fake_tree *tree;
static char kfd[128];
static int supervisor;

static void breaks(const char *what)
{
	if (!sim.broken)
		sim.broken = what;
}

/* ---- descriptors ---- */

int __real_close(int fd);
int __wrap_close(int fd);
void __wrap__exit(int status);
void __real__exit(int status);
int __wrap_pthread_join(pthread_t thread, void **ret);
int __wrap_gp_confine_syscalls(const struct gp_syscalls *to);

static int own(int fd)
{
	if (fd >= 0 && fd < FDS) {
		owner[fd] = co[current].holder;
		target_of[fd] = -1;
	}
	return fd;
}

int __wrap_close(int fd)
{
	if (fd >= 0 && fd < FDS) {
		owner[fd] = 0;
		target_of[fd] = -1;
	}
	return __real_close(fd);
}

/* ---- coroutines ---- */

static void enter(void)
{
	co[current].main(co[current].arg);
	co[current].done = true;
	/* The end of a tracer ends its tracing. */
	for (u32 i = 0; i < SIM_TARGETS; i++)
		if (sim.target[i].tracer == current)
			sim.target[i].tracer = 0;
	swapcontext(&co[current].context, &co[0].context);
}

static __attribute__((noinline)) void prepare(struct coroutine *c)
{
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = STACK;
	c->context.uc_link = NULL;
	makecontext(&c->context, enter, 0);
}

/* Makes a coroutine of that holder and returns its number, or 0 if there are too many. */
static u32 make(u32 of, void *(*main)(void *arg), void *arg)
{
	u32 i;

	for (i = 1; i <= COROUTINES && co[i].used; i++)
		;
	if (i > COROUTINES)
		return 0;
	if (!co[i].stack)
		co[i].stack = malloc(STACK);
	co[i] = (struct coroutine){ .used = true, .holder = of, .stack = co[i].stack,
				    .main = main, .arg = arg };
	prepare(&co[i]);
	return i;
}

/* Switches to the decider until the awaited event. */
static void yield(void)
{
	u32 me = current;

	current = 0;
	swapcontext(&co[me].context, &co[0].context);
}

static bool can_run(const struct coroutine *c)
{
	if (c->joins)
		return co[c->joins].done;
	if (sim.now_ns >= c->until_ns)
		return true;
	return c->nr_fds && gp_sys_real.poll(c->fds, c->nr_fds, 0) > 0;
}

static void holder_ended(u32 number, int status)
{
	struct gp_supervisor_message m = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_ENDED,
		.child = holder[number].child, .role = GP_ROLE_HOLDER, .err = status,
		.pid = (pid_t)(100000 + number));
	struct iovec part = { &m, sizeof(m) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	for (u32 i = 1; i <= COROUTINES; i++)
		if (co[i].holder == number)
			co[i].used = false;
	for (u32 i = 0; i < SIM_TARGETS; i++) {
		struct sim_target *t = &sim.target[i];

		if (t->tracer && !co[t->tracer].used)
			t->tracer = 0;
		if (t->debugger != number)
			continue;
		t->debugger = t->held = 0;
		__real_close(t->pipe);
		t->pipe = -1;
	}
	for (int fd = 0; fd < FDS; fd++)
		if (owner[fd] == number)
			__wrap_close(fd);
	gp_sys_real.sendmsg(supervisor, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void sim_settle(void)
{
	bool any = true;

	for (u32 turns = 0; any; turns++) {
		any = false;
		for (u32 i = 1; i <= COROUTINES; i++) {
			if (!co[i].used || co[i].done || !can_run(&co[i]))
				continue;
			any = true;
			current = i;
			swapcontext(&co[0].context, &co[i].context);
			current = 0;
			if (co[i].used && co[i].done && co[i].detached)
				co[i].used = false;
			if (co[i].used && co[i].done && !co[i].detached &&
			    co[i].main != NULL && co[i].arg == &holder[co[i].holder])
				holder_ended(co[i].holder, 0);
		}
		if (turns > 10000) {
			breaks("a holder does not come to rest");
			return;
		}
	}
}

u64 sim_wake_at(void)
{
	u64 at = ~0ull;

	for (u32 i = 1; i <= COROUTINES; i++)
		if (co[i].used && !co[i].done && !co[i].joins && co[i].until_ns < at)
			at = co[i].until_ns;
	return at;
}

bool sim_is_empty(void)
{
	for (u32 i = 1; i <= COROUTINES; i++)
		if (co[i].used && !co[i].done)
			return false;
	return true;
}

void sim_kill_holders(void)
{
	for (u32 i = 1; i <= COROUTINES; i++)
		if (co[i].used && co[i].arg == &holder[co[i].holder])
			holder_ended(co[i].holder, SIGKILL);
}

void __wrap__exit(int status)
{
	u32 me = current, of = co[me].holder;

	if (!me)
		__real__exit(status);
	sim.died++;
	current = 0;
	holder_ended(of, status << 8);
	swapcontext(&co[me].context, &co[0].context);
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
	if (ret)
		*ret = NULL;
	if (!co[thread].done) {
		co[current].joins = (u32)thread;
		yield();
		co[current].joins = 0;
	}
	co[thread].used = false;
	return 0;
}

int __wrap_gp_confine_syscalls(const struct gp_syscalls *to)
{
	(void)to;
	return 0;
}

/* ---- the supervisor ---- */

static void *holder_main(void *arg)
{
	struct process *p = arg;

	gp_holder_main(p->channel, p->user);
	return NULL;
}

void sim_supervise(int channel)
{
	struct gp_supervisor_message m, reply;
	int fds[GP_CHANNEL_FDS];
	u32 number;

	supervisor = channel;
	while (gp_channel_recv(channel, &m, sizeof(m), fds) == (int)sizeof(m)) {
		if (m.is.kind == GP_SUP_KILL)
			sim_kill_holders();
		if (m.is.kind != GP_SUP_START || fds[0] < 0)
			continue;
		sim.holders = sim.holders % HOLDERS + 1;
		number = sim.holders;
		holder[number] = (struct process){ fds[0], m.user, m.child };
		owner[fds[0]] = number;
		make(number, holder_main, &holder[number]);
		reply = GP_MESSAGE(struct gp_supervisor_message, GP_SUP_STARTED, .child = m.child,
				   .role = m.role, .pid = (pid_t)(100000 + number));
		gp_channel_send(channel, &reply.is, NULL, 0);
	}
}

/* ---- calls that wait ---- */

static int sim_ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout)
{
	struct coroutine *c = &co[current];

	if (!current)
		return gp_sys_real.ppoll(fds, nr, timeout);
	c->fds = fds;
	c->nr_fds = nr;
	c->until_ns = timeout ? sim.now_ns + (u64)timeout->tv_sec * GP_SEC +
			(u64)timeout->tv_nsec : ~0ull;
	yield();
	c->nr_fds = 0;
	c->until_ns = 0;
	return gp_sys_real.poll(fds, nr, 0);
}

static int sim_nanosleep(const struct timespec *time)
{
	co[current].until_ns = sim.now_ns + (u64)time->tv_nsec;
	if (current)
		yield();
	co[current].until_ns = 0;
	return 0;
}

static int sim_thread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*main)(void *),
			     void *arg)
{
	u32 number = make(co[current].holder, main, arg);
	int detached = PTHREAD_CREATE_JOINABLE;

	if (!number) {
		errno = EAGAIN;
		return -1;
	}
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	co[number].detached = detached == PTHREAD_CREATE_DETACHED;
	*ret = number;
	return 0;
}

static u64 sim_now(void)
{
	return sim.now_ns;
}

/* ---- files and sockets ---- */

static int sim_openat(int dir, const char *path, int flags)
{
	char moved[512];

	if (!strcmp(path, GP_KFD_DEVICE))
		path = "/dev/null";
	if (!strncmp(path, GP_SYSFS_KFD, strlen(GP_SYSFS_KFD))) {
		snprintf(moved, sizeof(moved), "%s%s", kfd, path + strlen(GP_SYSFS_KFD));
		path = moved;
	}
	return own(gp_sys_real.openat(dir, path, flags));
}

/* Discards the log of holders. */
static ssize_t sim_write(int fd, const void *from, size_t bytes)
{
	return fd == STDERR_FILENO ? (ssize_t)bytes : gp_sys_real.write(fd, from, bytes);
}

static int sim_eventfd(unsigned int value, int flags)
{
	return own(gp_sys_real.eventfd(value, flags));
}

static int sim_pidfd_open(pid_t pid, unsigned int flags)
{
	return own(gp_sys_real.pidfd_open(pid, flags));
}

static int sim_pidfd_getfd(int pidfd, int fd, unsigned int flags)
{
	(void)pidfd;
	(void)fd;
	(void)flags;
	return own(gp_sys_real.openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC));
}

static int sim_pipe2(int ret[2], int flags)
{
	int err = gp_sys_real.pipe2(ret, flags);

	if (!err) {
		own(ret[0]);
		own(ret[1]);
	}
	return err;
}

static int sim_socketpair(int domain, int type, int protocol, int ret[2])
{
	int err = gp_sys_real.socketpair(domain, type, protocol, ret);

	if (!err && own(ret[0]) < FDS && own(ret[1]) < FDS) {
		peer_of[ret[0]] = ret[1];
		peer_of[ret[1]] = ret[0];
	}
	return err;
}

static struct sim_target *find(pid_t pid)
{
	for (u32 i = 0; i < SIM_TARGETS; i++)
		if (sim.target[i].pid == pid)
			return &sim.target[i];
	return NULL;
}

/* Records the leases that the decider gives. */
static ssize_t sim_sendmsg(int fd, const struct msghdr *message, int flags)
{
	const struct gp_holder_request *r = message->msg_iov[0].iov_base;
	ssize_t n = gp_sys_real.sendmsg(fd, message, flags);
	const struct cmsghdr *c = CMSG_FIRSTHDR(message);
	struct sim_target *t;
	int theirs;

	if (current || n != sizeof(*r))
		return n;
	if (r->is.kind == GP_HOLDER_OPEN && c) {
		t = find(r->pid);
		memcpy(&theirs, CMSG_DATA(c), sizeof(theirs));
		target_of[peer_of[theirs]] = t ? (int)(t - sim.target) : -1;
	} else if ((r->is.kind == GP_HOLDER_HOLD || r->is.kind == GP_HOLDER_RENEW) && fd < FDS &&
		   target_of[fd] >= 0) {
		t = &sim.target[target_of[fd]];
		if (r->until_ns > t->until_ns)
			t->until_ns = r->until_ns;
	}
	return n;
}

static ssize_t sim_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n = gp_sys_real.recvmsg(fd, message, flags);

	for (struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(message) : NULL; c;
	     c = CMSG_NXTHDR(message, c))
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(one));
			own(one);
		}
	return n;
}

/* ---- ptrace ---- */

static long fails(int err)
{
	errno = err;
	return -1;
}

static long sim_ptrace(int request, pid_t pid, void *at, void *data)
{
	struct sim_target *t = find(pid);

	(void)at;
	(void)data;
	if (!t)
		return fails(ESRCH);
	if (request == PTRACE_SEIZE) {
		if (t->tracer)
			return fails(EPERM);
		t->tracer = current;
		return 0;
	}
	if (t->tracer != current)
		return fails(ESRCH);
	t->stops = request == PTRACE_INTERRUPT;
	if (request == PTRACE_DETACH)
		t->tracer = 0;
	return 0;
}

static pid_t sim_waitpid(pid_t pid, int *ret_status, int options)
{
	struct sim_target *t = find(pid);

	(void)options;
	if (!t || t->tracer != current)
		return (pid_t)fails(ECHILD);
	if (!t->stops)
		return 0;
	t->stops = false;
	*ret_status = PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f;
	return pid;
}

/* ---- the driver ---- */

static int enable(struct sim_target *t, struct kfd_ioctl_dbg_trap_args *a)
{
	struct kfd_runtime_info *info = (void *)(uintptr_t)a->enable.rinfo_ptr;

	if (t->debugger)
		return EALREADY;
	if (t->tracer != current)
		return EPERM;
	t->debugger = co[current].holder;
	t->pipe = fcntl((int)a->enable.dbg_fd, F_DUPFD_CLOEXEC, 0);
	info->runtime_state = DEBUG_RUNTIME_STATE_ENABLED;
	return 0;
}

static int suspend(struct sim_target *t, const struct kfd_ioctl_dbg_trap_args *a)
{
	u32 *ids = (void *)(uintptr_t)a->suspend_queues.queue_array_ptr;

	for (u32 i = 0; i < a->suspend_queues.num_queues; i++) {
		if (ids[i] < t->queues)
			t->held |= 1u << ids[i];
		else
			ids[i] |= KFD_DBG_QUEUE_INVALID_MASK;
	}
	return 0;
}

static int resume(struct sim_target *t, const struct kfd_ioctl_dbg_trap_args *a)
{
	const u32 *ids = (const void *)(uintptr_t)a->resume_queues.queue_array_ptr;

	if (!ids)
		t->held = 0;
	for (u32 i = 0; ids && i < a->resume_queues.num_queues; i++)
		t->held &= ~(1u << ids[i]);
	return 0;
}

static int snapshot(const struct sim_target *t, struct kfd_ioctl_dbg_trap_args *a)
{
	struct kfd_queue_snapshot_entry *to = (void *)(uintptr_t)a->queue_snapshot.snapshot_buf_ptr;

	for (u32 i = 0; i < a->queue_snapshot.num_queues && i < t->queues; i++)
		to[i] = (struct kfd_queue_snapshot_entry){ .queue_id = i, .gpu_id = SIM_GPU };
	a->queue_snapshot.num_queues = t->queues;
	return 0;
}

/* Returns an errno. */
static int answer(struct kfd_ioctl_dbg_trap_args *a)
{
	struct sim_target *t = find((pid_t)a->pid);

	if (!t)
		return ESRCH;
	if (a->op == KFD_IOC_DBG_TRAP_ENABLE)
		return enable(t, a);
	if (t->debugger != co[current].holder)
		return t->debugger ? EPERM : EINVAL;
	switch (a->op) {
	case KFD_IOC_DBG_TRAP_DISABLE:
		t->debugger = t->held = 0;
		__real_close(t->pipe);
		t->pipe = -1;
		return 0;
	case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
		return snapshot(t, a);
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		return suspend(t, a);
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		return resume(t, a);
	case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
		if (!t->new_queue)
			return EAGAIN;
		t->new_queue = false;
		a->query_debug_event.exception_mask = KFD_EC_MASK(EC_QUEUE_NEW);
		return 0;
	}
	return 0;
}

static int sim_ioctl(int fd, unsigned long request, void *arg)
{
	int err = request == AMDKFD_IOC_DBG_TRAP ? answer(arg) : ENOTTY;

	(void)fd;
	return err ? (int)fails(err) : 0;
}

/* ---- life ---- */

static void on_late(void *ctx, u64 ns)
{
	(void)ctx;
	sim.now_ns += ns;
	sim.late_ns += ns;
}

static void make_target(u32 i)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	sim.target[i] = (struct sim_target){ .pid = pid, .pipe = -1 };
	EXPECT_EQ(gp_process_start(NULL, pid, &sim.target[i].start), 0);
	fake_tree_put(tree, "32769\n", "kfd/proc/%d/pasid", pid);
	fake_tree_put(tree, "4096\n", "kfd/proc/%d/vram_%u", pid, SIM_GPU);
	for (u32 q = 0; q < SIM_QUEUES; q++)
		fake_tree_put(tree, "77", "kfd/proc/%d/queues/%u/gpuid", pid, q);
}

int sim_up(void **state)
{
	static struct gp_sys table;

	(void)state;
	memset(&sim, 0, sizeof(sim));
	memset(owner, 0, sizeof(owner));
	memset(target_of, -1, sizeof(target_of));
	sim.now_ns = 1000 * GP_SEC;
	tree = fake_tree_make();
	snprintf(kfd, sizeof(kfd), "%s/kfd", tree->path);
	fake_tree_put(tree, "7\n", "kfd/topology/generation_id");
	fake_tree_put(tree, "77\n", "kfd/topology/nodes/1/gpu_id");
	fake_tree_put(tree, "simd_count 320\nmax_waves_per_simd 8\nsimd_per_cu 4\n"
		      "gfx_target_version 90402\nlocation_id 49408\nnum_xcc 4\n",
		      "kfd/topology/nodes/1/properties");
	for (u32 i = 0; i < SIM_TARGETS; i++)
		make_target(i);
	table = gp_sys_real;
	table.ppoll = sim_ppoll;
	table.nanosleep = sim_nanosleep;
	table.thread_create = sim_thread_create;
	table.monotonic_ns = sim_now;
	table.openat = sim_openat;
	table.write = sim_write;
	table.eventfd = sim_eventfd;
	table.pidfd_open = sim_pidfd_open;
	table.pidfd_getfd = sim_pidfd_getfd;
	table.pipe2 = sim_pipe2;
	table.socketpair = sim_socketpair;
	table.sendmsg = sim_sendmsg;
	table.recvmsg = sim_recvmsg;
	table.ptrace = sim_ptrace;
	table.waitpid = sim_waitpid;
	table.ioctl = sim_ioctl;
	sys_faults_on(&table, on_late, NULL);
	return 0;
}

int sim_down(void **state)
{
	(void)state;
	sys_faults_end();
	sys_faults_on(NULL, NULL, NULL);
	for (u32 i = 0; i < SIM_TARGETS; i++) {
		kill(sim.target[i].pid, SIGKILL);
		waitpid(sim.target[i].pid, NULL, 0);
	}
	fake_tree_free(tree);
	for (u32 i = 1; i <= COROUTINES; i++) {
		free(co[i].stack);
		co[i] = (struct coroutine){ 0 };
	}
	return 0;
}
