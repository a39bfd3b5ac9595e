// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ways.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"

/* ---- kfd-debug: the driver's debug interface, on an unmodified kernel ---- */

static int debug_open(struct gp_bench_target *t)
{
	struct gp_session_args args = { .pid = t->pid };
	int err;

	t->kfd_fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (t->kfd_fd < 0)
		return gp_fail(errno, "cannot open /dev/kfd: %s", strerrordesc_np(errno));
	args.kfd_fd = t->kfd_fd;
	err = gp_session_open(&t->session, &args);
	if (!err) {
		err = gp_session_refresh(&t->session, NULL);
		if (err)
			gp_session_close(&t->session);
	}
	if (err)
		close(t->kfd_fd);
	return err;
}

/* Resumes everything, also if a round was interrupted. */
static void debug_close(struct gp_bench_target *t)
{
	gp_session_close(&t->session);
	close(t->kfd_fd);
}

static int debug_unmap(struct gp_bench_target *t, u32 grace, struct gp_bench_done *ret)
{
	struct gp_session_done done = { 0 };
	int err = gp_session_suspend(&t->session, t->gpu_id, grace, &done);

	*ret = (struct gp_bench_done){ done.command_ns, done.done_ns, done.done };
	if (!err && !done.done)
		return gp_fail(ENOENT, "process %d has no compute queue there", (int)t->pid);
	return err;
}

static int debug_map(struct gp_bench_target *t, struct gp_bench_done *ret)
{
	struct gp_session_done done = { 0 };
	int err = gp_session_resume(&t->session, t->gpu_id, &done);

	*ret = (struct gp_bench_done){ done.command_ns, done.done_ns, done.done };
	return err;
}

static int debug_between(struct gp_bench_target *t)
{
	int events = gp_session_events(&t->session);

	if (events < 0)
		return events;
	if (t->session.attached)
		gp_session_wait_stops(&t->session);
	if (events & (GP_SESSION_GONE | GP_SESSION_RUNTIME))
		return gp_fail(ESRCH, "process %d ended or closed its GPU runtime", (int)t->pid);
	if (events)
		return gp_session_refresh(&t->session, NULL);
	return 0;
}

static const struct gp_bench_way kfd_debug = {
	.name = "kfd-debug", .graceful = true,
	.until = "'gpreempt off' first, and 'gpreempt on' afterwards",
	.open = debug_open, .close = debug_close,
	.unmap = debug_unmap, .map = debug_map, .between = debug_between,
};

const struct gp_bench_way *const gp_bench_ways[] = {
	&kfd_debug, &gp_bench_evict, &gp_bench_direct, &gp_bench_halt, NULL,
};
