// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The target: a child process with its own queues that executes commands. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/client/work.h"
#include "story.h"

enum {
	SLOTS		= 256,		/* of each kind, in a lifetime */
	WORKGROUPS	= 100,
	WAVES		= 4,
	MSEC		= 1000000,
	LONG_NS		= 100000000,
	PAGE		= 4096,
	SHORT_NS	= 1000000,
	KINDS		= 3,		/* kinds of work: long, short, huge */
	PATIENCE_MS	= 30000,
	LOOK_US		= 5000,
	HELD_US		= 20000,
};

struct request {
	u32 what, a;
	u32 percentage, priority;	/* ASK_UPDATE */
	target_call call;		/* ASK_RUN */
};

/* State of the child. */
struct worker {
	struct gp_lab_client c;
	struct gp_lab_queue queue[4];
	u32 queues;
	struct gp_work work[KINDS];
	u32 used[KINDS];		/* slots used of each kind */
	struct gp_buffer vram;
	struct gp_buffer pass;		/* the barriers' signal; all zero: none yet */
};

static s64 work_submit(struct worker *w, u32 kind, u32 queue, u32 kernels)
{
	int err = 0;

	for (u32 i = 0; !err && i < kernels; i++) {
		if (w->used[kind] == SLOTS)
			return -ENOSPC;
		err = gp_work_submit(&w->work[kind], w->used[kind]++, &w->queue[queue], WORKGROUPS,
				     WAVES, NULL);
	}
	return err;
}

static u32 work_pending(const struct worker *w)
{
	u32 pending = 0;

	for (u32 kind = 0; kind < KINDS; kind++)
		for (u32 i = 0; i < w->used[kind]; i++)
			pending += !gp_work_done(&w->work[kind], i);
	return pending;
}

static s64 work_finish(struct worker *w)
{
	int err = 0;

	for (u32 waited = 0; work_pending(w); waited++) {
		if (waited == PATIENCE_MS * 1000 / LOOK_US)
			return -ETIME;
		usleep(LOOK_US);
	}
	for (u32 kind = 0; kind < KINDS; kind++)
		for (u32 i = 0; !err && i < w->used[kind]; i++)
			err = gp_work_check(&w->work[kind], i);
	return err;
}

static s64 worker_open(struct worker *w, bool no_runtime)
{
	const u64 ns[KINDS] = { LONG_NS, SHORT_NS, 1000ull * MSEC };
	int err = gp_client_open(&w->c, &(struct gp_client_args){ .no_runtime = no_runtime });

	for (u32 i = 0; !err && i < KINDS; i++)
		err = gp_work_init(&w->work[i], &w->c, &(struct gp_work_args){
			.slots = SLOTS, .memory = GP_MEMORY_GTT, .workgroup_ns = ns[i],
			.seed = i + 1,
		});
	return err;
}

static s64 worker_queue(struct worker *w, u32 type, enum gp_memory pointers)
{
	struct gp_lab_queue *q = &w->queue[w->queues];
	int err = gp_queue_create(&w->c, q, &(struct gp_queue_args){
		.type = type, .pointers = pointers,
	});

	if (err)
		return err;
	w->queues++;
	return q->id;
}

/* Destroys and creates the queue, like a program that ends a stream and begins another. */
static s64 worker_renew(struct worker *w, u32 index)
{
	struct gp_lab_queue *q = &w->queue[index], old = *q;
	struct gp_queue_args args = { .type = q->type, .pointers = q->pointers.kind };
	int err = gp_queue_destroy(q);

	if (!err)
		err = gp_queue_create(&w->c, q, &args);
	if (err)
		return err;
	return q->id == old.id && q->write == old.write && q->ring.at == old.ring.at;
}

static u64 pattern(u64 i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull;
}

/* Allocates @mb MB of VRAM and writes a word of each page. 0: checks the words instead. */
static s64 worker_vram(struct worker *w, u32 mb)
{
	u64 step = PAGE / sizeof(u64), words = mb * (1ull << 20) / sizeof(u64);
	volatile u64 *at;
	int err = mb ? gp_buffer_alloc(&w->c, &w->vram, GP_MEMORY_VRAM, mb * (1ull << 20)) : 0;

	if (err)
		return err;
	at = w->vram.at;
	for (u64 i = 0; i < words; i += step)
		at[i] = pattern(i);
	for (u64 i = 0; i < w->vram.bytes / sizeof(u64); i += step)
		if (at[i] != pattern(i))
			return -EBADMSG;
	return 0;
}

static s64 worker_barrier(struct worker *w, u32 index)
{
	struct gp_amd_signal *on[GP_AQL_DEPENDENCIES] = { 0 };
	union gp_aql_packet packet;
	int err = w->pass.at ? 0 : gp_buffer_alloc(&w->c, &w->pass, GP_MEMORY_GTT, PAGE);

	if (err)
		return err;
	on[0] = w->pass.at;
	gp_signal_init(on[0], 1, NULL);
	packet = gp_aql_barrier_packet(GP_AQL_BARRIER_AND, on, NULL);
	err = gp_aql_put(&w->queue[index], &packet);
	if (!err)
		gp_queue_ring(&w->queue[index]);
	return err;
}

static s64 worker_pass(struct worker *w)
{
	if (!w->pass.at)
		return -ENOENT;
	gp_signal_store(w->pass.at, 0);
	return 0;
}

static s64 worker_wave_state(struct worker *w, u32 index)
{
	struct kfd_ioctl_get_queue_wave_state_args s = {
		.ctl_stack_address = (u64)(uintptr_t)w->queue[index].save.at,
		.queue_id = w->queue[index].id,
	};

	return gp_client_call(&w->c, AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &s, "GET_QUEUE_WAVE_STATE");
}

/* Does not repeat an interrupted call. */
static s64 raw(int fd, unsigned long request, void *arg)
{
	int r = ioctl(fd, request, arg);

	return r < 0 ? -errno : r;
}

static void *sleeper(void *ret_tid)
{
	__atomic_store_n((pid_t *)ret_tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pause();
	return NULL;
}

static s64 other_thread(void)
{
	static pid_t tid;
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeper, &tid))
		return -EAGAIN;
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		usleep(LOOK_US);
	return tid;
}

int become(u32 user)
{
	if (setresgid(user, user, user) || setresuid(user, user, user))
		return -errno;
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

static s64 fork_sleeper(void)
{
	pid_t pid = fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static s64 worker_do(struct worker *w, const struct request *r)
{
	struct kfd_ioctl_runtime_enable_args runtime = { .r_debug = 0x1000, .mode_mask = r->a };
	struct kfd_ioctl_destroy_queue_args destroy = { .queue_id = w->queue[r->a & 3].id };

	switch ((enum ask)r->what) {
	case ASK_OPEN:
		return worker_open(w, r->a);
	case ASK_RUNTIME:
		return raw(w->c.kfd_fd, AMDKFD_IOC_RUNTIME_ENABLE, &runtime);
	case ASK_QUEUE:
		return worker_queue(w, r->a ? r->a : KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
				    GP_MEMORY_USERPTR);
	case ASK_QUEUE_GTT:
		return worker_queue(w, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, GP_MEMORY_GTT);
	case ASK_RENEW:
		return worker_renew(w, r->a);
	case ASK_RING:
		return (s64)(uintptr_t)w->queue[r->a].ring.at;
	case ASK_LONG:
		return work_submit(w, 0, r->a, 3);
	case ASK_SHORT:
		return work_submit(w, 1, r->a, 1);
	case ASK_HUGE:
		return work_submit(w, 2, r->a, 1);
	case ASK_VRAM:
		return worker_vram(w, r->a);
	case ASK_BARRIER:
		return worker_barrier(w, r->a);
	case ASK_PASS:
		return worker_pass(w);
	case ASK_PENDING:
		return work_pending(w);
	case ASK_DONE:
		return work_finish(w);
	case ASK_UPDATE:
		return gp_queue_update(&w->queue[r->a], r->percentage, r->priority);
	case ASK_RUN:
		return r->call(&w->c, w->queue);
	case ASK_DESTROY:
		return gp_queue_destroy(&w->queue[r->a]);
	case ASK_DESTROY_RAW:
		return raw(w->c.kfd_fd, AMDKFD_IOC_DESTROY_QUEUE, &destroy);
	case ASK_WAVE_STATE:
		return worker_wave_state(w, r->a);
	case ASK_CRIU:
		return gp_criu(&w->c, r->a);
	case ASK_TID:
		return other_thread();
	case ASK_USER:
		return become(r->a);
	case ASK_EXEC:
		execl("/proc/self/exe", "lab-target", "--sleep", NULL);
		return -errno;
	case ASK_FORK:
		return fork_sleeper();
	case ASK_LEAD_ENDS:
		return 0;	/* return to obey() */
	case ASK_EXIT:
		_exit(0);
	}
	return -ENOSYS;
}

static void nothing(int signal)
{
	(void)signal;
}

static struct worker the_worker;

static void *obey(void *fd_at)
{
	int fd = *(int *)fd_at;
	pthread_t thread;
	struct request r;
	s64 answer;

	for (;;) {
		ssize_t n = read(fd, &r, sizeof(r));

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(r))
			_exit(0);
		answer = worker_do(&the_worker, &r);
		if (write(fd, &answer, sizeof(answer)) != sizeof(answer))
			_exit(1);
		if (r.what == ASK_LEAD_ENDS && !pthread_create(&thread, NULL, obey, fd_at))
			syscall(SYS_exit, 0);	/* ends only this thread */
	}
}

static void worker_main(int fd, pid_t parent)
{
	struct sigaction interrupt = { .sa_handler = nothing };	/* without SA_RESTART */
	static int our_fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigaction(SIGUSR1, &interrupt, NULL);
	our_fd = fd;
	obey(&our_fd);
}

struct target target_start(void)
{
	pid_t parent = getpid();
	struct target t = { 0 };
	int fd[2];

	NEED(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) == 0);
	t.pid = fork();
	NEED(t.pid >= 0);
	if (!t.pid) {
		close(fd[0]);
		worker_main(fd[1], parent);
	}
	close(fd[1]);
	t.fd = fd[0];
	return t;
}

static void send_request(const struct target *t, struct request r)
{
	NEED(write(t->fd, &r, sizeof(r)) == sizeof(r));
}

void target_tell(const struct target *t, enum ask what, u32 a)
{
	send_request(t, (struct request){ .what = what, .a = a });
}

bool target_answers(const struct target *t, int ms)
{
	return poll(&(struct pollfd){ .fd = t->fd, .events = POLLIN }, 1, ms) == 1;
}

s64 target_answer(const struct target *t)
{
	s64 answer;

	if (!target_answers(t, PATIENCE_MS + 5000))
		return -ETIME;
	return read(t->fd, &answer, sizeof(answer)) == sizeof(answer) ? answer : -EPIPE;
}

s64 target_ask(const struct target *t, enum ask what, u32 a)
{
	target_tell(t, what, a);
	return target_answer(t);
}

s64 target_update(const struct target *t, u32 index, u32 percentage, u32 priority)
{
	send_request(t, (struct request){
		.what = ASK_UPDATE, .a = index, .percentage = percentage, .priority = priority,
	});
	return target_answer(t);
}

s64 target_run(const struct target *t, target_call call)
{
	send_request(t, (struct request){ .what = ASK_RUN, .call = call });
	return target_answer(t);
}

void target_queue(struct target *t, u32 index)
{
	s64 id = target_ask(t, ASK_QUEUE, 0);

	NEED(id >= 0);
	t->queue[index] = (u32)id;
	t->ring[index] = (u64)target_ask(t, ASK_RING, index);
}

struct target target_ready(u32 queues)
{
	struct target t = target_start();

	NEED(target_ask(&t, ASK_OPEN, 0) == 0);
	for (u32 i = 0; i < queues; i++)
		target_queue(&t, i);
	return t;
}

struct target target_busy(u32 queues)
{
	struct target t = target_ready(queues);

	NEED(target_ask(&t, ASK_LONG, 0) == 0);
	return t;
}

bool target_sleeps_in(pid_t pid, const char *function)
{
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	for (u32 waited = 0; waited < PATIENCE_MS * 1000 / LOOK_US; waited++) {
		FILE *f = fopen(path, "re");
		bool found = false;

		NEED(f);
		while (fgets(line, sizeof(line), f))
			found = found || strstr(line, function);
		fclose(f);
		if (found)
			return true;
		usleep(LOOK_US);
	}
	return false;
}

bool driver_forgot(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", pid);
	for (u32 waited = 0; waited < PATIENCE_MS * 1000 / LOOK_US; waited++) {
		if (access(path, F_OK))
			return true;
		usleep(LOOK_US);
	}
	return false;
}

bool held(const struct target *t, u32 index)
{
	s64 before;

	if (target_ask(t, ASK_SHORT, index))
		return false;
	before = target_ask(t, ASK_PENDING, 0);
	usleep(HELD_US);
	/* Kernels complete in order, so an equal count means that none has completed. */
	return before > 0 && target_ask(t, ASK_PENDING, 0) == before;
}

void target_ends_right(const struct target *t)
{
	int status;

	EQ(target_ask(t, ASK_DONE, 0), 0);
	target_tell(t, ASK_EXIT, 0);
	close(t->fd);
	/* Under ptrace an exit is reported like any other stop. */
	while (waitpid(t->pid, &status, __WALL) == t->pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, t->pid, 0, 0);
	CHECK(WIFEXITED(status));
	CHECK(driver_forgot(t->pid));
}

void seize(pid_t pid)
{
	NEED(ptrace(PTRACE_SEIZE, pid, 0, 0) == 0);
}

/* ptrace can detach only from a stopped process. */
void detach(pid_t pid)
{
	int status;

	NEED(ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0);
	NEED(waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status));
	NEED(ptrace(PTRACE_DETACH, pid, 0, 0) == 0);
}
