// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanism kfd-debug on trial: holders, forked by a supervisor of this program's. */
#include <poll.h>
#include <unistd.h>

#include "conformance.h"
#include "daemon/children.h"

static void attach(struct kfd_bench *k, u32 task)
{
	struct gp_holders_process p = { .pid = k->pid[task], .user = getuid() };
	struct pollfd fd = { .fd = gp_holders_fd(k->holders), .events = POLLIN };
	struct gp_holders_event e;

	EXPECT_EQ(gp_process_start(NULL, p.pid, &p.start), 0);
	EXPECT_EQ(gp_holders_task_add(k->holders, task, 1), 0);
	EXPECT_EQ(gp_holders_process_add(k->holders, task, &p), 0);
	/* First its holder starts. Between two attaches there is an interval. */
	while (gp_holders_next(k->holders, &e)) {
		bool due = gp_holders_wake_at(k->holders) != ~0ull;

		EXPECT(poll(&fd, 1, due ? 20 : PATIENCE_MS) == 1 || due);
	}
	EXPECT_EQ(e.what, GP_HOLDERS_ATTACHED);
	EXPECT_EQ(e.task, task);
}

/* A gang with one that may not be stopped is not stopped. */
static void refuse(struct kfd_bench *k, u32 task)
{
	struct gp_holders_process p = { .pid = getpid(), .watch_only = true };

	EXPECT_EQ(gp_holders_process_add(k->holders, task, &p), 0);
}

static struct gp_mechanism *open_it(struct kfd_bench *k, const struct gp_gpu_info *gpu)
{
	struct gp_holders_gpu one = { .gpu_id = gpu->gpu_id, .cus = gpu->cus };
	struct gp_holders_args args = { .nr_gpus = 1, .gpus = &one };
	int channel;

	EXPECT_EQ(gp_supervisor_fork(gp_roles, &channel), 0);
	EXPECT_EQ(gp_children_connect(channel), 0);
	EXPECT_EQ(gp_holders_alloc(&args, &k->holders), 0);
	return gp_holders_mechanism(k->holders);
}

static void close_it(struct kfd_bench *k)
{
	gp_holders_free(k->holders);
	gp_children_disconnect();
}

static bool is_busy(struct kfd_bench *k)
{
	return gp_holders_acting(k->holders, 0);
}

static int get_fd(struct kfd_bench *k)
{
	return gp_holders_fd(k->holders);
}

const struct subject conformance_kfd_debug = {
	.name = "kfd-debug", .open = open_it, .close = close_it, .attach = attach,
	.refuse = refuse, .busy = is_busy, .fd = get_fd,
};
