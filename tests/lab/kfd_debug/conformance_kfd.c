// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanism kfd-debug on trial. */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "conformance.h"

static void attach(struct kfd_bench *k, u32 task)
{
	struct gp_kfdm_process p = { .pid = k->pid[task] };
	struct gp_kfdm_event e;

	EXPECT_EQ(gp_process_start(NULL, p.pid, &p.start), 0);
	EXPECT_EQ(gp_kfdm_task_add(k->kfdm, task, 1), 0);
	EXPECT_EQ(gp_kfdm_process_add(k->kfdm, task, &p), 0);
	EXPECT_EQ(poll(&(struct pollfd){ .fd = gp_kfdm_fd(k->kfdm), .events = POLLIN }, 1,
		       PATIENCE_MS), 1);
	EXPECT_EQ(gp_kfdm_next(k->kfdm, &e), 0);
	EXPECT_EQ(e.what, GP_KFDM_ATTACHED);
	EXPECT_EQ(e.task, task);
}

/* A gang with one who may not be stopped is not. */
static void refuse(struct kfd_bench *k, u32 task)
{
	struct gp_kfdm_process p = { .pid = getpid(), .watch_only = true };

	EXPECT_EQ(gp_kfdm_process_add(k->kfdm, task, &p), 0);
}

static struct gp_mechanism *open_it(struct kfd_bench *k, const struct gp_gpu_info *gpu)
{
	struct gp_kfdm_gpu one = { .gpu_id = gpu->gpu_id, .cus = gpu->cus };
	struct gp_kfdm_args args = { .nr_gpus = 1, .gpus = &one };

	args.kfd_fd = k->kfd_fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	EXPECT(k->kfd_fd >= 0);
	EXPECT_EQ(gp_kfdm_alloc(&args, &k->kfdm), 0);
	return gp_kfdm_mechanism(k->kfdm);
}

static void close_it(struct kfd_bench *k)
{
	gp_kfdm_free(k->kfdm);
	close(k->kfd_fd);
}

static bool is_busy(struct kfd_bench *k)
{
	return gp_kfdm_wake_at(k->kfdm) != ~0ull;
}

static int get_fd(struct kfd_bench *k)
{
	return gp_kfdm_fd(k->kfdm);
}

const struct subject conformance_kfd_debug = {
	.name = "kfd-debug", .open = open_it, .close = close_it, .attach = attach,
	.refuse = refuse, .busy = is_busy, .fd = get_fd,
};
