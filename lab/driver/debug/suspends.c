// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Snapshots, SUSPEND_QUEUES and RESUME_QUEUES: arguments, marks, packets and grace periods. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "story.h"

#define INVALID	((u32)KFD_DBG_QUEUE_INVALID_MASK)

enum { UNKNOWN_ID = 777, TRIES = 10 };

static int raw_snapshot(struct debugger *d, pid_t pid,
			struct kfd_ioctl_dbg_trap_queue_snapshot_args *s, u32 op)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = op, .queue_snapshot = *s };
	int err = gp_debug(&d->c, pid, &args, "snapshot");

	*s = args.queue_snapshot;
	return err;
}

static void queue_snapshot(void)
{
	struct target t = target_busy(2);
	struct kfd_queue_snapshot_entry e[3];
	struct kfd_ioctl_dbg_trap_queue_snapshot_args s = { .snapshot_buf_ptr = (u64)(uintptr_t)e };
	struct debugger d;
	u32 count = 0;

	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, 0), 0);
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT),
	   -EINVAL); /* entry_size 0 */
	s = (struct kfd_ioctl_dbg_trap_queue_snapshot_args){ .entry_size = 100,
							     .exception_mask = NEW };
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT), 0);
	EQ(s.num_queues, 2);
	EQ(s.entry_size, 64);
	/*
	 * The call above copied no entry and cleared no exception. The next one copies and clears
	 * one.
	 */
	memset(e, 0xee, sizeof(e));
	EQ(gp_debug_snapshot(&d.c, t.pid, NEW, e, 1, &count), 0);
	EQ(count, 2);
	EQ(e[0].queue_id, t.queue[1]);		/* the newest comes first */
	EQ(e[0].exception_status, NEW);
	EQ(e[1].queue_id, 0xeeeeeeee);
	EQ(gp_debug_snapshot(&d.c, t.pid, 0, e, 3, &count), 0);
	EQ(count, 2);
	EQ(e[0].exception_status, 0);
	EQ(e[1].exception_status, NEW);
	EQ(e[1].queue_id, t.queue[0]);
	EQ(e[1].ring_base_address, t.ring[0]);
	EQ(e[1].gpu_id, d.c.node.gpu_id);
	EQ(e[1].queue_type, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
	EQ(e[1].ring_size, 65536);
	EQ(e[1].ctx_save_restore_area_size, d.c.geometry.save_bytes);
	CHECK(e[1].read_pointer_address && e[1].write_pointer_address &&
	      e[1].ctx_save_restore_address);
	s = (struct kfd_ioctl_dbg_trap_queue_snapshot_args){ .entry_size = 64, .num_queues = 2 };
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT), -EFAULT);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	target_ends_right(&t);
}

static void snapshot_stride(void)
{
	struct target t = target_ready(2);
	struct { struct kfd_queue_snapshot_entry e; u64 mine[4]; } wide[2];
	struct kfd_ioctl_dbg_trap_queue_snapshot_args s = {
		.snapshot_buf_ptr = (u64)(uintptr_t)wide,
		.num_queues = 2,
		.entry_size = sizeof(wide[0]),
	};
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 1), 0);
	debugger_attach(&d, &t, 0);
	memset(wide, 0xee, sizeof(wide));
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT), 0);
	EQ(wide[1].e.queue_id, t.queue[0]);
	EQ(wide[0].mine[0], 0xeeeeeeeeeeeeeeee);
	memset(wide, 0xee, sizeof(wide));
	s.entry_size = 44;	/* up to and including the queue's id */
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT), 0);
	EQ(s.entry_size, 44);
	EQ(((u32 *)wide)[10], t.queue[1]);
	EQ(((u32 *)wide)[21], t.queue[0]);
	EQ(((u32 *)wide)[22], 0xeeeeeeee);
	target_ends_right(&t);
}

static void device_snapshot(void)
{
	struct target t = target_ready(1);
	struct kfd_dbg_device_info_entry e = { 0 };
	struct kfd_ioctl_dbg_trap_queue_snapshot_args s = { .num_queues = 1,
							    .entry_size = sizeof(e) };
	struct debugger d;

	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	debugger_attach(&d, &t, 0);
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT),
	   -EINVAL); /* no buffer */
	s = (struct kfd_ioctl_dbg_trap_queue_snapshot_args){ .snapshot_buf_ptr = (u64)(uintptr_t)&e,
							     .entry_size = 500 };
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT), 0);
	EQ(s.num_queues, 1);
	EQ(s.entry_size, 120);
	s.num_queues = 5;
	EQ(raw_snapshot(&d, t.pid, &s, KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT), 0);
	EQ(s.num_queues, 1);
	EQ(e.gpu_id, d.c.node.gpu_id);
	EQ(e.location_id, d.c.node.location_id);
	EQ(e.vendor_id, 0x1002);
	EQ(e.device_id, d.c.node.device_id);
	EQ(e.gfx_target_version, d.c.node.gfx_version);
	EQ(e.simd_count, d.c.node.simds);
	EQ(e.num_xcc, d.c.node.xccs);
	EQ(e.capability, d.c.node.capability);
	EQ(e.exception_status, 0);
	CHECK(e.lds_limit > e.lds_base && e.scratch_limit > e.scratch_base);
	target_ends_right(&t);
}

static void new_queue(void)
{
	struct target t = target_busy(2);
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_SUSPEND_QUEUES,
		.suspend_queues = { .exception_mask = NEW, .grace_period = 1 },
	};
	struct kfd_queue_snapshot_entry e[2];
	struct device_counts before;
	struct debugger d;
	u32 ids[2], count;

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	debugger_open(&d);
	seize(t.pid);
	EQ(debugger_enable(&d, t.pid, NEW), 0);
	/* The call's own mask does not help. Nothing was suspended, so nothing is cleared. */
	memcpy(ids, t.queue, sizeof(ids));
	args.suspend_queues.queue_array_ptr = (u64)(uintptr_t)ids;
	args.suspend_queues.num_queues = 2;
	before = device_counts();
	EQ(gp_debug(&d.c, t.pid, &args, "SUSPEND"), 0);
	SAW(&before, 0, 0, 0);
	EQ(ids[0], t.queue[0] | INVALID);
	EQ(ids[1], t.queue[1] | INVALID);
	EQ(gp_debug(&d.c, t.pid, &args, "SUSPEND"), 0);
	/* A call that suspends another queue clears the mask, but too late for itself. */
	EQ(gp_debug_snapshot(&d.c, t.pid, NEW, e, 1, &count), 0);
	EQ(gp_debug(&d.c, t.pid, &args, "SUSPEND"), 1);
	EQ(ids[0], t.queue[0] | INVALID);
	EQ(ids[1], t.queue[1]);
	CHECK(device_maps(t.pid, t.ring[0], true));
	EQ(gp_debug(&d.c, t.pid, &args, "SUSPEND"), 2);
	EQ(ids[0], t.queue[0]);
	CHECK(device_maps(t.pid, t.ring[0], false));
	EQ(gp_debug_resume(&d.c, t.pid, NULL, 0), 2);
	/* A queue that is created later is new again and is reported. */
	EQ(debugger_bytes(&d), 0);
	target_queue(&t, 2);
	EQ(debugger_bytes(&d), 1);
	EQ(debugger_suspend(&d, &t, 2), 0);
	EQ(target_ask(&t, ASK_SHORT, 2), 0);
	target_ends_right(&t);
}

static void suspend_arguments(void)
{
	static u32 many[GP_KFD_DBG_QUEUE_MAX + 1];
	struct target t = target_busy(2);
	u32 ids[4] = { UNKNOWN_ID, t.queue[0], t.queue[0], t.queue[1] | INVALID };
	struct debugger d;

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	debugger_attach(&d, &t, 0);
	EQ(gp_debug_suspend(&d.c, t.pid, NULL, 0, 1), 0);
	EQ(gp_debug_suspend(&d.c, t.pid, NULL, 1, 1), -EINVAL);
	EQ(gp_debug_suspend(&d.c, t.pid, ids, 0, 1), 0);
	memset(many, 0xff, sizeof(many));
	EQ(gp_debug_suspend(&d.c, t.pid, many, GP_KFD_DBG_QUEUE_MAX + 1, 1), -EINVAL);
	EQ(gp_debug_resume(&d.c, t.pid, many, GP_KFD_DBG_QUEUE_MAX + 1), -EINVAL);
	EQ(gp_debug_suspend(&d.c, t.pid, many, GP_KFD_DBG_QUEUE_MAX, 1), 0);
	EQ(gp_debug_suspend(&d.c, t.pid, (u32 *)8, 1, 1), -EFAULT);
	/* One unknown id, one id twice (the second is marked), and one id that is still marked. */
	EQ(gp_debug_suspend(&d.c, t.pid, ids, 4, 1), 2);
	EQ(ids[0], UNKNOWN_ID | INVALID);
	EQ(ids[1], t.queue[0]);
	EQ(ids[2], t.queue[0] | INVALID);
	EQ(ids[3], t.queue[1]);
	CHECK(device_maps(t.pid, t.ring[0], false));
	CHECK(device_maps(t.pid, t.ring[1], false));
	/* A queue that is already suspended counts. */
	EQ(debugger_suspend(&d, &t, 0), 1);
	CHECK(held(&t, 0) && held(&t, 1));
	ids[0] = UNKNOWN_ID;
	EQ(gp_debug_resume(&d.c, t.pid, ids, 2), 1);
	EQ(ids[0], UNKNOWN_ID | INVALID);
	EQ(ids[1], t.queue[0]);
	CHECK(device_maps(t.pid, t.ring[0], true));
	CHECK(device_maps(t.pid, t.ring[1], false));
	/* A queue that is not suspended counts as resumed. Without an array all are resumed. */
	EQ(debugger_resume(&d, &t, 0), 1);
	EQ(gp_debug_resume(&d.c, t.pid, NULL, 0), 2);
	CHECK(device_maps(t.pid, t.ring[1], true));
	target_ends_right(&t);
}

static void packets_of_operations(void)
{
	struct target t = target_busy(2);
	struct device_counts before;
	struct debugger d;
	u32 ids[2] = { t.queue[0], t.queue[1] };

	EQ(target_ask(&t, ASK_LONG, 1), 0);
	debugger_attach(&d, &t, 0);
	CHECK(device_maps(t.pid, t.ring[0], true));
	before = device_counts();
	EQ(debugger_suspend(&d, &t, 0), 1);
	SAW(&before, 1, 1, 2);
	CHECK(device_ended_with("WRITE_DATA UNMAP_QUEUES:30 QUERY_STATUS WRITE_DATA RUN_LIST"));
	before = device_counts();
	EQ(debugger_suspend(&d, &t, 0), 1);	/* changes nothing but costs a cycle */
	SAW(&before, 1, 1, 2);
	before = device_counts();
	EQ(gp_debug_suspend(&d.c, t.pid, ids, 2, GP_KFD_GRACE_DEFAULT), 2);
	SAW(&before, 1, 0, 0);			/* no process is left for a runlist */
	before = device_counts();
	EQ(debugger_suspend(&d, &t, 1), 1);
	SAW(&before, 0, 0, 0);			/* nothing is left to unmap */
	before = device_counts();
	EQ(debugger_resume(&d, &t, 0), 1);
	SAW(&before, 0, 1, 0);
	before = device_counts();
	EQ(gp_debug_resume(&d.c, t.pid, NULL, 0), 2);
	SAW(&before, 1, 1, 0);
	CHECK(device_ended_with("UNMAP_QUEUES:30 QUERY_STATUS RUN_LIST"));
	before = device_counts();
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	SAW(&before, 4, 4, 6);			/* resume, launch mode, flags, trap */
	target_ends_right(&t);
}

static void graces(void)
{
	static const struct { u32 asked, seen; } grace[] = {
		{ 0, 1 }, { 1, 1 }, { 64, 64 }, { 255, 255 }, { 257, 1 }, { 1000, 232 },
	};
	struct target t = target_busy(2);
	struct device_counts before;
	struct debugger d;
	u32 first = 0, last = 0;
	u32 id = t.queue[0];

	debugger_attach(&d, &t, 0);
	for (size_t i = 0; i < sizeof(grace) / sizeof(*grace); i++) {
		before = device_counts();
		EQ(gp_debug_suspend(&d.c, t.pid, &id, 1, grace[i].asked), 1);
		SAW(&before, 1, 1, 2);
		EQ(device_graces(&first, &last), 0);
		EQ(first, grace[i].seen);
		EQ(last, 0x40);
		EQ(debugger_resume(&d, &t, 0), 1);
	}
	before = device_counts();
	EQ(gp_debug_suspend(&d.c, t.pid, &id, 1, GP_KFD_GRACE_DEFAULT), 1);
	SAW(&before, 1, 1, 0);
	EQ(debugger_resume(&d, &t, 0), 1);
	target_ends_right(&t);
}

static void endless_grace(void)
{
	struct target t = target_ready(1);
	struct device_counts before;
	struct debugger d;
	u32 first = 0, last = 0, id = t.queue[0];
	int tries;

	debugger_attach(&d, &t, 0);
	/* Retry until the suspend catches one of the three kernels. */
	for (tries = 0; tries < TRIES; tries++) {
		EQ(target_ask(&t, ASK_LONG, 0), 0);
		before = device_counts();
		EQ(gp_debug_suspend(&d.c, t.pid, &id, 1, 256), 1);
		SAW(&before, 1, 0, 2);
		if (target_ask(&t, ASK_PENDING, 0) > 0)
			break;
		EQ(debugger_resume(&d, &t, 0), 1);
	}
	CHECK(tries < TRIES);
	EQ(device_graces(&first, &last), 0);
	EQ(first, 0);
	/* The waves ran to their end and no new wave was launched. */
	EQ(device_counts().waves_saved, before.waves_saved);
	EQ(debugger_resume(&d, &t, 0), 1);
	target_ends_right(&t);
}

static void held_work_waits(void)
{
	struct target t = target_ready(2);
	struct debugger d;

	debugger_attach(&d, &t, 0);
	EQ(debugger_suspend(&d, &t, 0), 1);
	EQ(target_ask(&t, ASK_SHORT, 0), 0);
	EQ(target_ask(&t, ASK_SHORT, 1), 0);
	/* The kernel on the other queue ends. The kernel on this one does not start. */
	while (target_ask(&t, ASK_PENDING, 0) > 1)
		usleep(1000);
	CHECK(device_maps(t.pid, t.ring[0], false));
	EQ(target_ask(&t, ASK_PENDING, 0), 1);
	EQ(debugger_resume(&d, &t, 0), 1);
	target_ends_right(&t);
}

const struct story suspends[] = {
	{ "a queue snapshot: size 0 is EINVAL, room 0 counts, the newest first, only what is "
	  "copied is cleared", queue_snapshot },
	{ "a snapshot's stride is the caller's: longer entries keep their rest, shorter ones "
	  "are cut", snapshot_stride },
	{ "a device snapshot describes the GPU as the topology does", device_snapshot },
	{ "a new queue is INVALID to SUSPEND until a snapshot has cleared that; SUSPEND's own "
	  "mask comes too late", new_queue },
	{ "SUSPEND and RESUME: arrays that are missing, too long, with unknown, double and "
	  "marked ids", suspend_arguments },
	{ "the packets of SUSPEND, RESUME and DISABLE, as the device counts them",
	  packets_of_operations },
	{ "graces: 0 becomes 1, others lose what is above 8 bits, 0xffffffff writes nothing",
	  graces },
	{ "a grace of 256 is an endless one: waves end by themselves and are not saved",
	  endless_grace },
	{ "what is put on a suspended queue is accepted and waits; other queues go on",
	  held_work_waits },
	{ NULL, NULL }
};
