// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Exceptions: subscription, query and information. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "story.h"

static int query(struct debugger *d, pid_t pid, u64 clear,
		 struct kfd_ioctl_dbg_trap_query_debug_event_args *ret)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT,
						.query_debug_event.exception_mask = clear };
	int err = gp_debug(&d->c, pid, &args, "DBG_TRAP QUERY_DEBUG_EVENT");

	*ret = args.query_debug_event;
	return err;
}

static int subscribe(struct debugger *d, pid_t pid, u64 exceptions)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED,
						.set_exceptions_enabled.exception_mask =
							exceptions };

	return gp_debug(&d->c, pid, &args, "DBG_TRAP SET_EXCEPTIONS_ENABLED");
}

/* The answer of QUERY_EXCEPTION_INFO. */
static struct {
	struct kfd_runtime_info runtime;
	u32 bytes;
} answer;

static int info(struct debugger *d, pid_t pid, u32 code, u32 source, bool clear)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO,
		.query_exception_info = {
			.info_ptr = (u64)(uintptr_t)&answer.runtime,
			.info_size = sizeof(answer.runtime),
			.source_id = source, .exception_code = code, .clear_exception = clear,
		},
	};
	int err = gp_debug(&d->c, pid, &args, "DBG_TRAP QUERY_EXCEPTION_INFO");

	answer.bytes = args.query_exception_info.info_size;
	return err;
}

static void query_events(void)
{
	struct target t = target_ready(2);
	struct kfd_ioctl_dbg_trap_query_debug_event_args e;
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, 0), 0);
	EQ(debugger_bytes(&d), 0);
	EQ(query(&d, t.pid, NEW, &e), -EAGAIN);	/* nothing is subscribed */
	EQ(subscribe(&d, t.pid, NEW), 0);
	EQ(debugger_bytes(&d), 1);		/* one byte, for two queues */
	EQ(query(&d, t.pid, 0, &e), 0);
	EQ(e.exception_mask, NEW);
	EQ(e.queue_id, t.queue[1]);		/* the newest comes first */
	EQ(e.gpu_id, d.c.node.gpu_id);
	EQ(query(&d, t.pid, NEW, &e), 0);
	EQ(e.queue_id, t.queue[1]);		/* the last query did not clear it, this one does */
	EQ(query(&d, t.pid, NEW, &e), 0);
	EQ(e.queue_id, t.queue[0]);
	EQ(query(&d, t.pid, NEW, &e), -EAGAIN);
	EQ(subscribe(&d, t.pid, NEW), 0);
	EQ(debugger_bytes(&d), 0);		/* nothing is pending */
	EQ(debugger_suspend(&d, &t, 0), 1);	/* no longer new */
	EQ(debugger_resume(&d, &t, 0), 1);
	target_ends_right(&t);
}

static void deleted_queue(void)
{
	struct target t = target_ready(2);
	struct kfd_ioctl_dbg_trap_query_debug_event_args e;
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_attach(&d, &t, DELETE);
	EQ(debugger_bytes(&d), 0);
	EQ(target_ask(&t, ASK_DESTROY, 1), 0);
	EQ(debugger_bytes(&d), 1);
	EQ(query(&d, t.pid, 0, &e), 0);
	EQ(e.exception_mask, DELETE);
	EQ(e.gpu_id, d.c.node.gpu_id);
	EQ(e.queue_id, 0);			/* a device's event has no queue id */
	EQ(info(&d, t.pid, EC_DEVICE_QUEUE_DELETE, 1, true), -EINVAL);
	EQ(info(&d, t.pid, EC_DEVICE_QUEUE_DELETE, d.c.node.gpu_id, true), 0);
	EQ(answer.bytes, 0);
	EQ(info(&d, t.pid, EC_DEVICE_QUEUE_DELETE, d.c.node.gpu_id, true), -ENODATA);
	EQ(query(&d, t.pid, 0, &e), -EAGAIN);
	target_ends_right(&t);
}

static void exception_info(void)
{
	struct target t = target_ready(1);
	struct debugger d;
	u32 queue = t.queue[0];

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, 0), 0);
	EQ(debugger_op(&d, t.pid, KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO),
	   -EINVAL); /* no buffer */
	EQ(info(&d, t.pid, EC_QUEUE_NEW, 99, false), -EINVAL);
	EQ(info(&d, t.pid, 0, queue, false), -EINVAL);
	EQ(info(&d, t.pid, 60, queue, false), -EINVAL);
	EQ(info(&d, t.pid, EC_QUEUE_WAVE_TRAP, queue, false), -ENODATA);
	EQ(info(&d, t.pid, EC_QUEUE_NEW, queue, true), 0);
	EQ(answer.bytes, 0);
	EQ(info(&d, t.pid, EC_QUEUE_NEW, queue, true), -ENODATA);
	EQ(debugger_suspend(&d, &t, 0), 1);
	EQ(info(&d, t.pid, EC_PROCESS_RUNTIME, 0, false), -ENODATA);
	target_tell(&t, ASK_RUNTIME, 0);
	CHECK(target_sleeps_in(t.pid, "kfd_ioctl_runtime_enable"));
	memset(&answer, 0xee, sizeof(answer));
	EQ(info(&d, t.pid, EC_PROCESS_RUNTIME, 0, true), 0);
	EQ(answer.bytes, sizeof(answer.runtime));
	EQ(answer.runtime.runtime_state, DEBUG_RUNTIME_STATE_DISABLED);
	EQ(answer.runtime.r_debug, 0);
	EQ(debugger_bytes(&d), 0);		/* raised, but not subscribed */
	EQ(debugger_send_runtime(&d, t.pid), 0);
	EQ(target_answer(&t), 0);
	target_ends_right(&t);
}

static void send_to_nobody(void)
{
	struct target t = target_ready(1);
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT,
		.send_runtime_event = { .exception_mask = KFD_EC_MASK(EC_DEVICE_MEMORY_VIOLATION),
					.gpu_id = 1 },
	};
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_attach(&d, &t, 0);
	EQ(gp_debug(&d.c, t.pid, &args, "SEND_RUNTIME_EVENT"), -ENODEV);
	args.send_runtime_event.exception_mask = 0;
	EQ(gp_debug(&d.c, t.pid, &args, "SEND_RUNTIME_EVENT"), 0);
	target_ends_right(&t);
}

const struct story events[] = {
	{ "only what is subscribed is told and found: one byte, then queue by queue until "
	  "EAGAIN", query_events },
	{ "a queue that is destroyed is an event of its GPU", deleted_queue },
	{ "QUERY_EXCEPTION_INFO: EINVAL for what does not exist, ENODATA for what was not "
	  "raised, the runtime's state", exception_info },
	{ "SEND_RUNTIME_EVENT about a GPU that does not exist is ENODEV, about nothing 0",
	  send_to_nobody },
	{ NULL, NULL }
};
