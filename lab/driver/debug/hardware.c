// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Settings of the GPU for one process, as its MAP_PROCESS packet has them. */
#include <errno.h>
#include <unistd.h>

#include "story.h"

enum {
	DW_FLAGS	= 1,
	SINGLE_MEMOPS	= 1 << 16,
	DW_SPI		= 14,
	TRAP_EN		= 1 << 3,
	DW_WATCH	= 15,
	WATCH_POINTS	= 4,
};

static const u32 watch_valid = 1u << 31;

static u32 process_word(u32 at)
{
	u32 dw[21];

	return runlist_process(dw) ? 0xbad : dw[at];
}

static int set_flags(struct debugger *d, pid_t pid, u32 *io)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_SET_FLAGS,
						.set_flags.flags = *io };
	int err = gp_debug(&d->c, pid, &args, "DBG_TRAP SET_FLAGS");

	*io = args.set_flags.flags;
	return err;
}

static int launch_mode(struct debugger *d, pid_t pid, u32 mode)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE,
						.launch_mode.launch_mode = mode };

	return gp_debug(&d->c, pid, &args, "DBG_TRAP SET_WAVE_LAUNCH_MODE");
}

static void flags_story(void)
{
	struct target t = target_busy(1);
	struct device_counts before;
	struct debugger d;
	u32 io = KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP;

	debugger_attach(&d, &t, 0);
	EQ(process_word(DW_FLAGS) & SINGLE_MEMOPS, 0);
	before = device_counts();
	EQ(set_flags(&d, t.pid, &io), 0);
	SAW(&before, 1, 1, 2);
	EQ(io, 0);
	EQ(process_word(DW_FLAGS) & SINGLE_MEMOPS, SINGLE_MEMOPS);
	io = KFD_DBG_TRAP_FLAG_SINGLE_ALU_OP;
	EQ(set_flags(&d, t.pid, &io), -EACCES);
	EQ(io, KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP);	/* returns the current flags */
	EQ(process_word(DW_FLAGS) & SINGLE_MEMOPS, SINGLE_MEMOPS);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	EQ(process_word(DW_FLAGS) & SINGLE_MEMOPS, 0);
	target_ends_right(&t);
}

static void launch_modes(void)
{
	struct target t = target_busy(1);
	struct device_counts before;
	struct debugger d;

	debugger_attach(&d, &t, 0);
	EQ(process_word(DW_SPI), TRAP_EN);
	EQ(launch_mode(&d, t.pid, 2), -EINVAL);
	EQ(launch_mode(&d, t.pid, 4), -EINVAL);
	before = device_counts();
	EQ(launch_mode(&d, t.pid, 3), 0);
	SAW(&before, 1, 1, 2);
	EQ(process_word(DW_SPI), TRAP_EN | 3 << 1);
	EQ(launch_mode(&d, t.pid, KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT), 0);
	EQ(process_word(DW_SPI), TRAP_EN | KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT << 1);
	EQ(launch_mode(&d, t.pid, 256), 0);	/* the driver checks only the low byte */
	EQ(process_word(DW_SPI), TRAP_EN);
	EQ(launch_mode(&d, t.pid, KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT), 0);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	EQ(process_word(DW_SPI), TRAP_EN);
	target_ends_right(&t);
}

static int override(struct debugger *d, pid_t pid,
		    struct kfd_ioctl_dbg_trap_set_wave_launch_override_args *io)
{
	struct kfd_ioctl_dbg_trap_args args = { .op = KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE,
						.launch_override = *io };
	int err = gp_debug(&d->c, pid, &args, "DBG_TRAP SET_WAVE_LAUNCH_OVERRIDE");

	*io = args.launch_override;
	return err;
}

static void launch_override(void)
{
	struct target t = target_busy(1);
	struct kfd_ioctl_dbg_trap_set_wave_launch_override_args o = { .override_mode = 2 };
	struct device_counts before;
	struct debugger d;

	debugger_attach(&d, &t, 0);
	EQ(override(&d, t.pid, &o), -EPERM);
	o = (struct kfd_ioctl_dbg_trap_set_wave_launch_override_args){
		.enable_mask = 1u << 20, .support_request_mask = 1u << 20
	};
	EQ(override(&d, t.pid, &o), -EACCES);
	EQ(o.support_request_mask, 0xc00001ff);	/* nine exceptions, start and end of a wave */
	o = (struct kfd_ioctl_dbg_trap_set_wave_launch_override_args){
		.enable_mask = 0x81, .support_request_mask = 0x80
	};
	before = device_counts();
	EQ(override(&d, t.pid, &o), 0);
	SAW(&before, 1, 1, 2);
	EQ(o.enable_mask, 0);		/* returns the old mask */
	EQ(process_word(DW_SPI), TRAP_EN | 0x80 << 4);
	o = (struct kfd_ioctl_dbg_trap_set_wave_launch_override_args){
		.override_mode = 1, .enable_mask = 0x1, .support_request_mask = 0x1
	};
	EQ(override(&d, t.pid, &o), 0);
	EQ(o.enable_mask, 0x80);
	EQ(process_word(DW_SPI), TRAP_EN | 0x81 << 4 | 1 << 13);
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	EQ(process_word(DW_SPI), TRAP_EN);
	target_ends_right(&t);
}

static int set_watch(struct debugger *d, pid_t pid, u32 gpu, u32 *ret_id)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH,
		.set_node_address_watch = {
			.address = 0x12345680, .mode = 3, .mask = 0x7fffff80, .gpu_id = gpu,
		},
	};
	int err = gp_debug(&d->c, pid, &args, "DBG_TRAP SET_NODE_ADDRESS_WATCH");

	*ret_id = args.set_node_address_watch.id;
	return err;
}

static int clear_watch(struct debugger *d, pid_t pid, u32 gpu, u32 id)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.op = KFD_IOC_DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH,
		.clear_node_address_watch = { .gpu_id = gpu, .id = id },
	};

	return gp_debug(&d->c, pid, &args, "DBG_TRAP CLEAR_NODE_ADDRESS_WATCH");
}

static void address_watch(void)
{
	struct target t = target_busy(1);
	struct device_counts before;
	struct debugger d;
	u32 gpu, id = 99;

	debugger_attach(&d, &t, 0);
	gpu = d.c.node.gpu_id;
	EQ(set_watch(&d, t.pid, gpu ^ 1, &id), -ENODEV);
	EQ(clear_watch(&d, t.pid, gpu ^ 1, 0), -ENODEV);
	EQ(clear_watch(&d, t.pid, gpu, 0), -EINVAL);	/* the process has no watch point */
	EQ(clear_watch(&d, t.pid, gpu, WATCH_POINTS), -EINVAL);
	before = device_counts();
	EQ(set_watch(&d, t.pid, gpu, &id), 0);
	SAW(&before, 1, 1, 2);
	EQ(id, 0);
	EQ(process_word(DW_WATCH) & watch_valid, watch_valid);
	EQ(process_word(DW_WATCH + 1), 0);
	for (u32 i = 1; i < WATCH_POINTS; i++) {
		EQ(set_watch(&d, t.pid, gpu, &id), 0);
		EQ(id, i);
	}
	EQ(set_watch(&d, t.pid, gpu, &id), -ENOMEM);
	before = device_counts();
	EQ(clear_watch(&d, t.pid, gpu, 2), 0);
	SAW(&before, 1, 1, 2);
	EQ(process_word(DW_WATCH + 2), 0);
	EQ(clear_watch(&d, t.pid, gpu, 2), -EINVAL);
	EQ(set_watch(&d, t.pid, gpu, &id), 0);
	EQ(id, 2);
	/* DISABLE releases all four watch points. */
	before = device_counts();
	EQ(gp_debug_disable(&d.c, t.pid), 0);
	SAW(&before, 4 + WATCH_POINTS, 4 + WATCH_POINTS, 6 + 2 * WATCH_POINTS);
	EQ(debugger_enable(&d, t.pid, 0), 0);
	EQ(set_watch(&d, t.pid, gpu, &id), 0);
	EQ(id, 0);
	target_ends_right(&t);
}

const struct story hardware[] = {
	{ "SET_FLAGS: single memory operations reach the GPU, ALU is EACCES, the old flags come "
	  "back", flags_story },
	{ "SET_WAVE_LAUNCH_MODE: normal, halt and debug reach the GPU, others are EINVAL",
	  launch_modes },
	{ "SET_WAVE_LAUNCH_OVERRIDE: a bad mode is EPERM, an unsupported exception EACCES, "
	  "others reach the GPU", launch_override },
	{ "address watch: four points, ENOMEM for a fifth, EINVAL for one that is not ours, "
	  "ENODEV for no GPU; DISABLE clears them", address_watch },
	{ NULL, NULL }
};

/* The driver refuses every operation, on any process, before it checks anything else. */
static void without_hws(void)
{
	struct debugger d;

	debugger_open(&d);
	for (u32 op = 0; op <= KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT; op++) {
		EQ(debugger_op(&d, getpid(), op), -EINVAL);
		EQ(debugger_op(&d, 0x3ffff0, op), -EINVAL);
	}
}

const struct story no_hws[] = {
	{ "without the hardware scheduler (sched_policy=2) every operation is EINVAL, before "
	  "ESRCH", without_hws },
	{ NULL, NULL }
};
