// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One process of the storm. It runs random operations on a few queues. Then all work in flight must
 * complete with right sums, unless the process exits without the check.
 */
#include "storm.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	QUEUES = 4,
	SLOTS = 32,
	LEAST_OPS = 10,
	MOST_OPS = 60,
	SCRATCH = 256 << 10,
	PATIENCE_MS = 60000,
};

struct actor {
	u64 random;
	u64 number;
	u32 gpu;
	bool is_child;
	struct gp_lab_client c;
	struct gp_work work;
	struct gp_lab_queue q[QUEUES];
	bool exists[QUEUES];
	u8 queue_of[SLOTS];	/* 1 + index of its queue; 0: free */
	int wrong;
};

static u32 any(struct actor *a, u32 below)
{
	return storm_random(&a->random, below);
}

static void complain(struct actor *a, const char *what)
{
	printf("# process %llu: %s: %s\n", (unsigned long long)a->number, what, gp_client_error());
	fflush(stdout);
	a->wrong = 1;
}

/* Fails the test if a call failed. */
static void must(struct actor *a, int err, const char *what)
{
	if (err < 0)
		complain(a, what);
}

static struct gp_lab_queue *pick(struct actor *a)
{
	u32 i = any(a, QUEUES);

	return a->exists[i] && a->q[i].type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL ? &a->q[i] : NULL;
}

static void look(struct actor *a)
{
	for (u32 i = 0; i < SLOTS; i++) {
		if (!a->queue_of[i] || !gp_work_done(&a->work, i))
			continue;
		a->queue_of[i] = 0;
		storm_count(&storm->checked);
		if (gp_work_check(&a->work, i))
			complain(a, "wrong sum");
	}
}

static void op_create(struct actor *a)
{
	struct gp_queue_args args = {
		.type = any(a, 6) ? KFD_IOC_QUEUE_TYPE_COMPUTE_AQL : KFD_IOC_QUEUE_TYPE_SDMA,
		.priority = any(a, KFD_MAX_QUEUE_PRIORITY) + 1,
		.off = !any(a, 5),
		.pointers = any(a, 2) ? GP_MEMORY_USERPTR : GP_MEMORY_GTT,
	};
	u32 i = any(a, QUEUES);

	if (a->exists[i])
		return;
	must(a, gp_queue_create(&a->c, &a->q[i], &args), "create");
	a->exists[i] = !a->wrong;
}

static void op_destroy(struct actor *a)
{
	u32 i = any(a, QUEUES);

	if (!a->exists[i])
		return;
	must(a, gp_queue_destroy(&a->q[i]), "destroy");
	a->exists[i] = false;
	look(a);
	/* The queue's incomplete work never completes. */
	for (u32 slot = 0; slot < SLOTS; slot++)
		if (a->queue_of[slot] == i + 1)
			a->queue_of[slot] = 0;
}

static void op_update(struct actor *a)
{
	struct gp_lab_queue *q = pick(a);

	if (q)
		must(a, gp_queue_update(q, any(a, 2) * KFD_MAX_QUEUE_PERCENTAGE,
					any(a, KFD_MAX_QUEUE_PRIORITY + 1)), "update");
}

static void op_submit(struct actor *a)
{
	struct gp_lab_queue *q = pick(a);
	u32 i = any(a, SLOTS);
	int err;

	if (!q || a->queue_of[i])
		return;
	err = gp_work_submit(&a->work, i, q, any(a, 300) + 1, any(a, 16) + 1, NULL);
	if (!err)
		a->queue_of[i] = (u8)(q - a->q + 1);
	else if (err != -EAGAIN)
		complain(a, "submit");
}

static void op_look(struct actor *a)
{
	sleep_us(any(a, 20000));
	look(a);
}

static void op_criu(struct actor *a)
{
	/* The driver refuses the call if a debugger has attached to the process. */
	if (gp_criu(&a->c, KFD_CRIU_OP_PROCESS_INFO))
		return;
	sleep_us(any(a, 10000));
	must(a, gp_criu(&a->c, KFD_CRIU_OP_UNPAUSE), "unpause");
}

/*
 * Drops the pages as munmap() does, but keeps the addresses reserved. While the GPU uses them, the
 * driver would refuse another mapping there.
 */
static void lose(void *at, u64 bytes)
{
	mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Registers user pages and then removes or changes them while the GPU uses them. */
static void op_userptr(struct actor *a)
{
	void *at = mmap(NULL, SCRATCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gp_buffer b = { 0 };
	u32 kind = any(a, 4);

	if (at == MAP_FAILED)
		return;
	memset(at, 1, SCRATCH);
	must(a, gp_buffer_register(&a->c, &b, at, SCRATCH), "register");
	if (kind == 0)
		lose((u8 *)at + SCRATCH / 2, SCRATCH / 2);
	else if (kind == 1)
		madvise(at, SCRATCH, MADV_DONTNEED);
	else if (kind == 2)
		lose(at, SCRATCH);
	sleep_us(any(a, 3000));
	if (!any(a, 8)) {
		lose(at, SCRATCH);
		return;
	}
	must(a, gp_buffer_free(&a->c, &b), "free");
	munmap(at, SCRATCH);
}

static void op_vram(struct actor *a)
{
	struct gp_buffer b = { 0 };

	/* VRAM may be full. */
	if (gp_buffer_alloc(&a->c, &b, GP_MEMORY_VRAM, (any(a, 64) + 1) << 16))
		return;
	memset(b.at, 0x33, 4096);
	if (any(a, 8))
		must(a, gp_buffer_free(&a->c, &b), "free of VRAM");
}

/* Forks a child that uses the GPU itself and inherits all our descriptors. */
static void op_fork(struct actor *a)
{
	u64 seed = a->random;
	u32 fate = any(a, 4);
	int status = 0;
	pid_t pid;

	if (a->is_child)
		return;
	pid = fork();
	if (!pid && fate == 0)
		_exit(0);
	if (!pid) {
		close(a->c.kfd_fd);
		close(a->c.render_fd);
		_exit(storm_act(seed, a->number | 1ull << 32, a->gpu, -1));
	}
	if (fate == 1) {
		sleep_us(any(a, 300000));
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	if (fate != 1 && status) {
		gp_client_say(EIO, "status 0x%x", status);
		complain(a, "child");
	}
}

static void op_events(struct actor *a)
{
	struct gp_lab_event e;

	if (gp_event_create(&a->c, &e, KFD_IOC_EVENT_SIGNAL, true)) {
		complain(a, "event");
		return;
	}
	if (any(a, 2))
		gp_event_set(&a->c, &e);
	gp_event_wait(&a->c, &e, 1, true, any(a, 10));
	if (any(a, 8))
		must(a, gp_event_destroy(&a->c, &e), "destroy of an event");
}

static const struct op {
	const char *name;
	void (*run)(struct actor *a);
	u32 weight;
} ops[] = {
	{ "create",	op_create,	6 },
	{ "destroy",	op_destroy,	3 },
	{ "update",	op_update,	6 },
	{ "submit",	op_submit,	16 },
	{ "look",	op_look,	8 },
	{ "criu",	op_criu,	2 },
	{ "userptr",	op_userptr,	4 },
	{ "vram",	op_vram,	2 },
	{ "events",	op_events,	2 },
	{ "fork",	op_fork,	1 },
};

enum { OPS = sizeof(ops) / sizeof(ops[0]) };
static_assert((int)OPS <= (int)STORM_OPS, "room for their counts");

const char *storm_op_name(u32 op)
{
	return op < OPS ? ops[op].name : "-";
}

static void step(struct actor *a)
{
	u32 total = 0, at;

	for (u32 i = 0; i < OPS; i++)
		total += ops[i].weight;
	at = any(a, total);
	for (u32 i = 0; i < OPS; i++) {
		if (at < ops[i].weight) {
			storm_count(&storm->ops[i]);
			strcpy(storm->doing[getpid() % STORM_NAMES], ops[i].name);
			ops[i].run(a);
			return;
		}
		at -= ops[i].weight;
	}
}

/* Enables every queue and waits for all work in flight. */
static void finish(struct actor *a)
{
	u64 end = now_ms() + PATIENCE_MS;
	u32 left;

	strcpy(storm->doing[getpid() % STORM_NAMES], "finish");
	for (u32 i = 0; i < QUEUES; i++)
		if (a->exists[i])
			must(a, gp_queue_update(&a->q[i], KFD_MAX_QUEUE_PERCENTAGE, 7), "update");
	do {
		look(a);
		left = 0;
		for (u32 i = 0; i < SLOTS; i++)
			left += a->queue_of[i] != 0;
		if (left)
			sleep_us(2000);
	} while (left && now_ms() < end);
	if (left) {
		gp_client_say(ETIME, "%u kernels", left);
		complain(a, "never completed");
	}
}

/*
 * Acquires address spaces of the other GPUs too, as ROCr does. Without them a debugger's
 * SUSPEND_QUEUES crashes the driver. It flushes the TLB of every later GPU of the process without a
 * check that the process has an address space there.
 */
static int acquire_others(struct actor *a)
{
	struct gp_node nodes[8];
	u32 n = 0;
	int err = gp_topology_read(NULL, nodes, 8, &n);

	for (u32 i = 0; i < n && i < 8 && !err; i++) {
		struct kfd_ioctl_acquire_vm_args vm = { .gpu_id = nodes[i].gpu_id };
		char path[64];
		int fd;

		if (nodes[i].gpu_id == a->c.node.gpu_id)
			continue;
		snprintf(path, sizeof(path), "/dev/dri/renderD%u", nodes[i].render_minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return gp_client_fail(errno, "%s", path);
		vm.drm_fd = (u32)fd;
		err = gp_client_call(&a->c, AMDKFD_IOC_ACQUIRE_VM, &vm, "ACQUIRE_VM");
	}
	return err;
}

static int live(u64 seed, u64 number, u32 gpu, int seat)
{
	struct actor a = { .random = seed, .number = number, .gpu = gpu, .is_child = seat < 0 };
	const struct gp_client_args client = { .gpu = gpu };
	struct gp_work_args work = { .slots = SLOTS, .seed = seed };
	u32 steps;

	work.workgroup_ns = 20000 + any(&a, 3000000);
	work.memory = any(&a, 2) ? GP_MEMORY_GTT : GP_MEMORY_USERPTR;
	must(&a, gp_client_open(&a.c, &client), "open");
	if (!a.wrong)
		must(&a, acquire_others(&a), "other GPUs");
	/*
	 * Publish the pid only now. With a debugger attached, RUNTIME_ENABLE sleeps until the
	 * debugger answers, and for ever if the debugger dies.
	 */
	if (!a.wrong && seat >= 0)
		storm->pid[seat] = getpid();
	if (!a.wrong)
		must(&a, gp_work_init(&a.work, &a.c, &work), "work");
	steps = LEAST_OPS + any(&a, MOST_OPS);
	for (u32 i = 0; i < steps && !a.wrong && !storm->over; i++)
		step(&a);
	/* Some processes exit without a check, some without cleanup. */
	if (a.wrong || !any(&a, 6))
		return a.wrong;
	finish(&a);
	if (!a.wrong && any(&a, 2)) {
		for (u32 i = 0; i < QUEUES; i++)
			if (a.exists[i])
				must(&a, gp_queue_destroy(&a.q[i]), "destroy");
		gp_work_fini(&a.work);
		/*
		 * Do not call gp_client_close(), because disabling the runtime sleeps as enabling
		 * does.
		 */
		close(a.c.kfd_fd);
		close(a.c.render_fd);
	}
	return a.wrong;
}

int storm_act(u64 seed, u64 number, u32 gpu, int seat)
{
	int code = live(seed, number, gpu, seat);

	if (seat >= 0)
		storm->pid[seat] = 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (storm->enabling == getpid())
		sleep_us(1000);
	return code;
}
