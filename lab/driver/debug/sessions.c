// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ENABLE: its checks, its answer and its event file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "story.h"

static int enable(struct debugger *d, pid_t pid, int fd, void *info, u32 *bytes)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_ENABLE,
		.enable = {
			.exception_mask = NEW | DELETE, .rinfo_ptr = (u64)(uintptr_t)info,
			.rinfo_size = *bytes, .dbg_fd = (u32)fd,
		},
	};
	int err = gp_debug(&d->c, pid, &args, "DBG_TRAP ENABLE");

	*bytes = args.enable.rinfo_size;
	return err;
}

static void enable_tells_the_runtime(void)
{
	struct target t = target_busy(1);
	struct kfd_runtime_info info;
	struct device_counts before;
	struct debugger d;
	u32 bytes = 8, first = 0, last = 0;

	debugger_open(&d);
	seize(t.pid);
	memset(&info, 0xee, sizeof(info));
	CHECK(device_maps(t.pid, t.ring[0], true));
	before = device_counts();
	EQ(enable(&d, t.pid, d.pipe[1], &info, &bytes), 0);
	SAW(&before, 1, 1, 2);
	CHECK(device_ended_with("WRITE_DATA UNMAP_QUEUES:20 QUERY_STATUS WRITE_DATA RUN_LIST"));
	EQ(device_graces(&first, &last), 0);
	EQ(first, 1);
	EQ(last, 0x40);
	EQ(bytes, 16);
	EQ(info.runtime_state, 0xeeeeeeee);	/* no more bytes than requested */
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	bytes = 1000;
	EQ(enable(&d, t.pid, d.pipe[1], &info, &bytes), 0);
	EQ(bytes, 16);
	EQ(info.runtime_state, DEBUG_RUNTIME_STATE_ENABLED);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

static void enable_fails(void)
{
	struct target t = target_busy(1);
	struct kfd_runtime_info info;
	struct debugger d;
	u32 bytes = 16, queues;

	debugger_open(&d);
	seize(t.pid);
	EQ(enable(&d, t.pid, 999, &info, &bytes), -EBADF);
	EQ(debugger_clear_new(&d, t.pid, &queues), -EINVAL);
	/* The failed ENABLE has still made this process the debugger, so the error is not EPERM. */
	detach(t.pid);
	EQ(debugger_clear_new(&d, t.pid, &queues), -EINVAL);
	EQ(enable(&d, t.pid, d.pipe[1], NULL, &bytes), -EFAULT);
	EQ(debugger_clear_new(&d, t.pid, &queues), -EINVAL);
	EQ(enable(&d, t.pid, d.pipe[1], &info, &bytes), 0);
	EQ(debugger_clear_new(&d, t.pid, &queues), 0);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

static void eventfd_is_silent(void)
{
	struct target t = target_ready(0);
	struct kfd_ioctl_dbg_trap_args query = { .op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT };
	struct kfd_runtime_info info;
	int fd = eventfd(0, EFD_NONBLOCK);
	struct debugger d;
	u32 bytes = 16;
	u64 count;

	debugger_open(&d);
	seize(t.pid);
	EQ(enable(&d, t.pid, fd, &info, &bytes), 0);
	target_queue(&t, 0);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(read(fd, &count, sizeof(count)), -1);
	EQ(errno, EAGAIN);
	EQ(gp_debug(&d.c, t.pid, &query, "QUERY_DEBUG_EVENT"), 0);
	EQ(query.query_debug_event.exception_mask, NEW);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

/* Creates a queue in the target while the pipe is full. */
static void full_pipe(int flags, bool blocks)
{
	struct target t = target_busy(1);
	struct kfd_runtime_info info;
	struct kfd_ioctl_dbg_trap_args query = { .op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT };
	char page[4096] = { 0 };
	struct debugger d;
	u32 bytes = 16;
	int p[2];

	debugger_open(&d);
	NEED(pipe2(p, flags) == 0);
	NEED(fcntl(p[1], F_SETPIPE_SZ, sizeof(page)) == sizeof(page));
	NEED(write(p[1], page, sizeof(page)) == sizeof(page));
	seize(t.pid);
	EQ(enable(&d, t.pid, p[1], &info, &bytes), 0);
	target_tell(&t, ASK_QUEUE, 0);
	if (blocks) {
		CHECK(target_sleeps_in(t.pid, "pipe_write"));
		CHECK(!target_answers(&t, 100));
		NEED(read(p[0], page, sizeof(page)) == sizeof(page));
	}
	t.queue[1] = (u32)target_answer(&t);
	CHECK((int)t.queue[1] >= 0);
	EQ(gp_debug(&d.c, t.pid, &query, "QUERY_DEBUG_EVENT"), 0);
	EQ(query.query_debug_event.queue_id, t.queue[1]);
	if (blocks)
		EQ(read(p[0], page, sizeof(page)), 1);
	EQ(target_ask(&t, ASK_SHORT, 1), 0);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

static void full_pipe_blocks(void)
{
	full_pipe(0, true);
}

static void full_pipe_without_waiting(void)
{
	full_pipe(O_NONBLOCK, false);
}

static void enable_comes_first(void)
{
	struct target t = target_start();
	struct debugger d;
	u32 queues;

	debugger_open(&d);
	seize(t.pid);
	/* The driver creates a record for a process that has not opened /dev/kfd yet. */
	EQ(debugger_enable(&d, t.pid, NEW | RUNTIME), 0);
	EQ(d.info.runtime_state, DEBUG_RUNTIME_STATE_DISABLED);
	EQ(target_ask(&t, ASK_OPEN, 1), 0);
	EQ(debugger_bytes(&d), 0);
	target_tell(&t, ASK_RUNTIME, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK);
	CHECK(target_sleeps_in(t.pid, "kfd_ioctl_runtime_enable"));
	CHECK(!target_answers(&t, 100));
	EQ(debugger_bytes(&d), 1);
	EQ(debugger_send_runtime(&d, t.pid), 0);
	EQ(target_answer(&t), 0);
	/* The session is active without another ENABLE, so operations on hardware work. */
	target_queue(&t, 0);
	EQ(debugger_bytes(&d), 1);
	EQ(target_ask(&t, ASK_LONG, 0), 0);
	EQ(debugger_suspend(&d, &t, 0), 0);
	EQ(debugger_clear_new(&d, t.pid, &queues), 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	CHECK(device_maps(t.pid, t.ring[0], false));
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

const struct story sessions[] = {
	{ "ENABLE tells the runtime's state in as many bytes as asked for, and takes every "
	  "queue off and on once, with a grace of 1", enable_tells_the_runtime },
	{ "ENABLE without a file is EBADF, without a place for its answer EFAULT: no session, "
	  "but the caller is the debugger", enable_fails },
	{ "an eventfd as the file of events is accepted and stays silent", eventfd_is_silent },
	{ "a full pipe that blocks holds up CREATE_QUEUE until it is read", full_pipe_blocks },
	{ "a full pipe with O_NONBLOCK loses the byte but not the event",
	  full_pipe_without_waiting },
	{ "ENABLE of a process that has not opened the device: active once its runtime is "
	  "enabled and the debugger said go on", enable_comes_first },
	{ NULL, NULL }
};
