// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A process that debugs itself, with queues of every kind and work on them. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/client/work.h"
#include "story.h"

enum { SLOTS = 32, WORKGROUPS = 100, WAVES = 4, KERNEL_NS = 100000000, TRIES = 10, STEP_US = 5000 };

/* This process with one queue and an open session. The queue is no longer new. */
struct myself {
	struct gp_lab_client c;
	struct gp_lab_queue q;
	struct gp_work work;
	u32 used;
};

static void open_myself(struct myself *m, u32 type)
{
	struct gp_work_args w = { .slots = SLOTS, .workgroup_ns = KERNEL_NS, .seed = 7 };
	struct kfd_runtime_info info;
	struct kfd_queue_snapshot_entry e;
	u32 count;

	*m = (struct myself){ .used = 0 };
	NEED(gp_client_open(&m->c, &(struct gp_client_args){ 0 }) == 0);
	NEED(gp_work_init(&m->work, &m->c, &w) == 0);
	NEED(gp_queue_create(&m->c, &m->q, &(struct gp_queue_args){ .type = type }) == 0);
	NEED(gp_debug_enable(&m->c, getpid(), 0, 1, &info) == 0);
	EQ(info.runtime_state, DEBUG_RUNTIME_STATE_ENABLED);
	EQ(gp_debug_snapshot(&m->c, getpid(), NEW, &e, 1, &count), 0);
	EQ(e.queue_id, m->q.id);
	EQ(e.queue_type, type);
}

static int suspend_myself(struct myself *m)
{
	u32 id = m->q.id;

	return gp_debug_suspend(&m->c, getpid(), &id, 1, 1);
}

static int resume_myself(struct myself *m)
{
	u32 id = m->q.id;

	return gp_debug_resume(&m->c, getpid(), &id, 1);
}

static bool on(struct myself *m, bool want)
{
	return device_maps(getpid(), (u64)(uintptr_t)m->q.ring.at, want);
}

static void submit(struct myself *m)
{
	NEED(m->used < SLOTS);
	NEED(gp_work_submit(&m->work, m->used++, &m->q, WORKGROUPS, WAVES, NULL) == 0);
}

static bool done(const struct myself *m)
{
	return m->used == 0 || gp_work_done(&m->work, m->used - 1);
}

static void close_myself(struct myself *m)
{
	for (u32 i = 0; i < m->used; i++) {
		EQ(gp_signal_wait(&m->c, &m->work.slot[i].done, NULL, 30000), 0);
		EQ(gp_work_check(&m->work, i), 0);
	}
	EQ(gp_queue_destroy(&m->q), 0);
	gp_client_close(&m->c);
}

static void self_debug(void)
{
	struct target other = target_ready(1);
	struct myself m;

	EQ(target_ask(&other, ASK_LONG, 0), 0);
	open_myself(&m, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
	submit(&m);
	submit(&m);
	EQ(suspend_myself(&m), 1);
	CHECK(on(&m, false));
	CHECK(device_maps(other.pid, other.ring[0], true));
	submit(&m);
	usleep(STEP_US);
	CHECK(!done(&m));
	EQ(resume_myself(&m), 1);
	CHECK(on(&m, true));
	EQ(suspend_myself(&m), 1);
	EQ(gp_debug_disable(&m.c, getpid()), 0);
	CHECK(on(&m, true));
	close_myself(&m);
	target_ends_right(&other);
}

/* Counts XCCs with saved waves, by the header that the driver writes for each XCC. */
static u32 xccs_with_waves(const struct myself *m)
{
	const struct kfd_context_save_area_header *h;
	u32 with = 0;

	for (u32 xcc = 0; xcc < m->c.node.xccs; xcc++) {
		h = (void *)((u8 *)m->q.save.at + (u64)xcc * m->c.geometry.save_bytes);
		with += h->wave_state.wave_state_size > 0 && h->wave_state.control_stack_size > 0;
	}
	return with;
}

static void save_area_is_told(void)
{
	struct myself m;
	int tries;

	open_myself(&m, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
	/* Retry until the suspend catches a running kernel. */
	for (tries = 0; tries < TRIES; tries++) {
		submit(&m);
		usleep(STEP_US);
		EQ(suspend_myself(&m), 1);
		if (!done(&m))
			break;
		EQ(resume_myself(&m), 1);
	}
	CHECK(tries < TRIES);
	EQ(xccs_with_waves(&m), m.c.node.xccs);
	EQ(resume_myself(&m), 1);
	EQ(gp_signal_wait(&m.c, &m.work.slot[m.used - 1].done, NULL, 30000), 0);
	EQ(suspend_myself(&m), 1);
	EQ(xccs_with_waves(&m), 0);
	EQ(gp_debug_disable(&m.c, getpid()), 0);
	close_myself(&m);
}

static void others_are_preempted(void)
{
	struct target other = target_ready(1);
	struct device_counts before;
	struct myself m;
	int tries;

	open_myself(&m, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
	for (tries = 0; tries < TRIES; tries++) {
		EQ(target_ask(&other, ASK_LONG, 0), 0);
		before = device_counts();
		EQ(suspend_myself(&m), 1);	/* the queue has no work */
		if (device_counts().waves_saved > before.waves_saved)
			break;
		EQ(target_ask(&other, ASK_DONE, 0), 0);
	}
	CHECK(tries < TRIES);
	EQ(gp_debug_disable(&m.c, getpid()), 0);
	close_myself(&m);
	target_ends_right(&other);
}

static void sdma(void)
{
	enum { FENCE = 5, MAGIC = 0x600dbeef };
	struct gp_buffer word;
	struct myself m;
	u32 fence[4];

	open_myself(&m, KFD_IOC_QUEUE_TYPE_SDMA);
	NEED(gp_buffer_alloc(&m.c, &word, GP_MEMORY_GTT, 4096) == 0);
	fence[0] = FENCE;
	fence[1] = (u32)(uintptr_t)word.at;
	fence[2] = (u32)((uintptr_t)word.at >> 32);
	fence[3] = MAGIC;
	EQ(suspend_myself(&m), 1);
	CHECK(on(&m, false));
	EQ(gp_queue_put(&m.q, fence, 4), 0);
	gp_queue_ring(&m.q);
	usleep(STEP_US);
	EQ(*(volatile u32 *)word.at, 0);
	EQ(resume_myself(&m), 1);
	for (u32 i = 0; i < 2000 && *(volatile u32 *)word.at != MAGIC; i++)
		usleep(STEP_US);
	EQ(*(volatile u32 *)word.at, MAGIC);
	EQ(gp_debug_disable(&m.c, getpid()), 0);
	close_myself(&m);
}

/* The driver drains the interrupts of a debugged process before it frees the process. */
static void exit_under_self_debug(void)
{
	struct target other = target_ready(1);
	struct myself m;
	int status;
	pid_t pid;

	EQ(target_ask(&other, ASK_LONG, 0), 0);
	pid = fork();
	if (!pid) {
		open_myself(&m, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
		submit(&m);
		_exit(suspend_myself(&m) == 1 ? 0 : 1);
	}
	EQ(waitpid(pid, &status, 0), pid);
	EQ(status, 0);
	CHECK(driver_forgot(pid));
	target_ends_right(&other);
}

const struct story selves[] = {
	{ "a process suspends, resumes and releases its own queue without ptrace", self_debug },
	{ "SUSPEND tells in the header of each XCC's save area what was saved", save_area_is_told },
	{ "SUSPEND of an idle queue preempts the queues of every other process",
	  others_are_preempted },
	{ "an SDMA queue is suspended and resumed like any other", sdma },
	{ "a process that debugs itself and has suspended its queue can exit",
	  exit_under_self_debug },
	{ NULL, NULL }
};
