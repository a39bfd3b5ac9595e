// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The mechanisms of gpreempt.ko on trial. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance.h"

static void attach(struct kfd_bench *k, u32 task)
{
	struct gp_process_id p = { .pid = k->pid[task] };

	EXPECT_EQ(gp_process_start(NULL, p.pid, &p.start), 0);
	EXPECT_EQ(gp_kmodm_task_add(k->kmodm, task, &p, 1), 0);
}

/* A process that is not preemptible is not stopped, whichever caller asks. */
static void refuse(struct kfd_bench *k, u32 task)
{
	struct gp_class class = { .weight = 100 };

	EXPECT_EQ(gp_kmod_set_class(gp_kmodm_fd(k->kmodm), gp_kmodm_handle(k->kmodm, task),
				    &class), 0);
}

static struct gp_mechanism *open_it(struct kfd_bench *k, const struct gp_gpu_info *gpu)
{
	struct gp_kmodm_args args = {
		.way = strchr(k->subject->name, '/') + 1, .nr_gpus = 1, .gpu_ids = &gpu->gpu_id,
	};

	EXPECT_EQ(gp_kmodm_alloc(&args, &k->kmodm), 0);
	/* The clock of the tests is slow; the module's is not. */
	EXPECT_EQ(gp_kmod_set_param(gp_kmodm_fd(k->kmodm), "lease", 10 * GP_SEC), 0);
	EXPECT_EQ(gp_kmod_set_param(gp_kmodm_fd(k->kmodm), "stop_deadline", 4 * GP_SEC), 0);
	return gp_kmodm_mechanism(k->kmodm);
}

/* It was the mechanism on trial that did it, and no other in its place. */
static void check_way(struct kfd_bench *k)
{
	const struct gp_uapi_stats *stats = gp_kmod_stats(gp_kmodm_fd(k->kmodm));

	EXPECT(stats);
	EXPECT_EQ(stats->bytes, sizeof(*stats));
	if (k->base.actions) {
		EXPECT(k->subject != &conformance_evict || stats->evict_cycles);
		EXPECT(k->subject != &conformance_direct || stats->direct_stops);
		EXPECT(k->subject != &conformance_halt || stats->halts);
	}
	/* Mapped, it would keep the descriptor's holds until their lease is over. */
	EXPECT_EQ(munmap((void *)stats, (size_t)sysconf(_SC_PAGESIZE)), 0);
}

static void close_it(struct kfd_bench *k)
{
	check_way(k);
	gp_kmodm_free(k->kmodm);
}

static bool is_busy(struct kfd_bench *k)
{
	return gp_kmodm_busy(k->kmodm);
}

static int get_fd(struct kfd_bench *k)
{
	return gp_kmodm_fd(k->kmodm);
}

#define SUBJECT(way) {									\
	.name = "kmod/" way, .open = open_it, .close = close_it, .attach = attach,	\
	.refuse = refuse, .busy = is_busy, .fd = get_fd,				\
}

const struct subject conformance_evict = SUBJECT("evict");
const struct subject conformance_direct = SUBJECT("direct");
const struct subject conformance_halt = SUBJECT("halt");
