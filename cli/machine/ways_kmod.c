// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The mechanisms of gpreempt.ko, by hand: PREEMPT and RESUME of one process. Mechanism and grace
 * period are settings of the machine. The mechanism is restored. The module does not report its
 * grace period, so the driver's own is set again. Closing the descriptor always releases the
 * process.
 */
#include "lib/sys.h"
#include "ways.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/param.h"
#include "lib/error.h"
#include "lib/kmod.h"

#define PATIENCE_NS	(10 * GP_SEC)

enum { TRIES = 50, AGAIN_US = 20000 };

static int attach(struct gp_bench_target *t)
{
	static const struct gp_class class = { .weight = 100, .flags = GP_PREEMPTIBLE };
	struct gp_process_id process = { .pid = t->pid };
	int err = gp_kmod_attach(t->kmod_fd, &process, 1, &class, &t->task);

	if (err == -EEXIST)
		return gp_fail(EALREADY, "process %d is attached to the module already",
			       (int)t->pid);
	if (err)
		return gp_fail(-err, "the module does not take process %d: %s", (int)t->pid,
			       strerrordesc_np(-err));
	return 0;
}

static int gpu_of(const struct gp_bench_target *t, struct gp_uapi_gpu *ret)
{
	int err = 0;

	for (u32 i = 0; !err; i++) {
		*ret = (struct gp_uapi_gpu){ .index = i };
		err = gp_kmod_call(t->kmod_fd, GP_IOC_GPU, ret);
		if (!err && ret->gpu_id == t->gpu_id)
			return 0;
	}
	return gp_fail(ENODEV, "the module does not know GPU %u", t->gpu_id);
}

/*
 * Tests the assumptions about the firmware before using them. Retries a task that is moving or
 * was off the hardware for a moment.
 */
static int try_direct(struct gp_bench_target *t)
{
	struct gp_uapi_selftest test = { .task = t->task, .gpu_id = t->gpu_id };
	int err = gp_kmod_call(t->kmod_fd, GP_IOC_SELFTEST, &test);

	for (u32 i = 0; err == -EBUSY && i < TRIES; i++) {
		usleep(AGAIN_US);
		err = gp_kmod_call(t->kmod_fd, GP_IOC_SELFTEST, &test);
	}
	test.why[sizeof(test.why) - 1] = 0;
	if (err)
		return gp_fail(EOPNOTSUPP, "its self test did not pass: %s",
			       test.why[0] ? test.why : strerrordesc_np(-err));
	return 0;
}

static void kmod_close(struct gp_bench_target *t)
{
	/* Other programs may have the module open, so closing it restores nothing. */
	if (t->task)
		gp_kmod_detach(t->kmod_fd, t->task);
	gp_kmod_set_mechanism(t->kmod_fd, t->mechanism_before, GP_UAPI_GRACE_DRIVER);
	close(t->kmod_fd);
	t->task = 0;
}

static int kmod_open(struct gp_bench_target *t)
{
	struct gp_uapi_version is;
	int err;

	t->task = 0;
	t->kmod_fd = gp_kmod_open(NULL, &is);
	if (t->kmod_fd == -ENOENT || t->kmod_fd == -ENODEV || t->kmod_fd == -ENXIO)
		return gp_fail(EOPNOTSUPP, "the module gpreempt.ko is not loaded; "
			       "'gpreempt module load' does that");
	if (t->kmod_fd < 0)
		return gp_fail(-t->kmod_fd, "cannot open " GP_KMOD_DEVICE ": %s",
			       strerrordesc_np(-t->kmod_fd));
	memcpy(t->mechanism_before, is.mechanism, sizeof(is.mechanism));
	err = attach(t);
	if (!err && !strcmp(t->way->name, "direct"))
		err = try_direct(t);
	if (err)
		kmod_close(t);
	return err;
}

static int kmod_between(struct gp_bench_target *t)
{
	struct gp_uapi_seat seat = { .task = t->task, .gpu_id = t->gpu_id };
	int err = gp_kmod_call(t->kmod_fd, GP_IOC_SEAT, &seat);

	if (err || seat.state == GP_UAPI_ABSENT)
		return gp_fail(ESRCH, "process %d ended, or has no queue there any more",
			       (int)t->pid);
	t->queues = seat.nr_queues;
	return 0;
}

static int kmod_unmap(struct gp_bench_target *t, u32 grace, struct gp_bench_done *ret)
{
	struct gp_kmod_move move = { .tasks = &t->task, .nr = 1, .timeout_ns = PATIENCE_NS };
	struct gp_uapi_gpu gpu;
	int err = gp_kmod_set_mechanism(t->kmod_fd, t->way->name, grace);

	if (err)
		return gp_fail(-err, "the module does not take grace %u by %s: %s", grace,
			       t->way->name, strerrordesc_np(-err));
	ret->begin_ns = gp_sys->monotonic_ns();
	err = gp_kmod_preempt(t->kmod_fd, &move, NULL);
	ret->end_ns = gp_sys->monotonic_ns();
	ret->queues = t->queues;
	if (err)
		return gp_fail(-err, "process %d did not leave the GPU: %s", (int)t->pid,
			       strerrordesc_np(-err));
	err = gpu_of(t, &gpu);
	/* The module falls back to another mechanism and reports it. */
	if (!err && strcmp(gpu.mechanism, t->way->name))
		return gp_fail(EOPNOTSUPP, "%s was done instead: %.*s", gpu.mechanism,
			       (int)sizeof(gpu.why_not_direct), gpu.why_not_direct);
	return err;
}

static int kmod_map(struct gp_bench_target *t, struct gp_bench_done *ret)
{
	struct gp_kmod_move move = { .tasks = &t->task, .nr = 1, .timeout_ns = PATIENCE_NS };
	int err;

	ret->begin_ns = gp_sys->monotonic_ns();
	err = gp_kmod_resume(t->kmod_fd, &move, NULL);
	ret->end_ns = gp_sys->monotonic_ns();
	ret->queues = t->queues;
	return err ? gp_fail(-err, "process %d did not come back: %s", (int)t->pid,
			     strerrordesc_np(-err)) : 0;
}

#define WAY(is)	{								\
	.name = is, .graceful = true,						\
	.until = "stop it first; 'gpreempt off' keeps them attached",		\
	.open = kmod_open, .close = kmod_close,					\
	.unmap = kmod_unmap, .map = kmod_map, .between = kmod_between,		\
}

const struct gp_bench_way gp_bench_evict = WAY("evict"), gp_bench_direct = WAY("direct"),
			  gp_bench_halt = WAY("halt");
