/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The operations that both the lab and the simulator perform, and their counts on the GPU.
 *
 * In the lab (guest.c) two processes perform them with the real driver; in the simulator
 * (model.c) its own device and mechanisms do. Processes A and B have one kernel each that never
 * ends; all other queues are idle during an operation.
 */
#ifndef LAB_OPERATIONS_H
#define LAB_OPERATIONS_H

#include "gp_env.h"

enum lab_operation {
	LAB_CREATE_FIRST,	/* A's first queue; nothing is mapped */
	LAB_CREATE_SECOND,	/* A's second, idle */
	LAB_CREATE_BESIDE,	/* B's first, while A's kernel runs */
	LAB_UPDATE_OFF,		/* A's second queue to 0 % */
	LAB_UPDATE_ON,		/* and back to 100 % */
	LAB_ATTACH,		/* attach a debugger to A, which all operations until DETACH need */
	LAB_SUSPEND,		/* A, by the debugger's call; the driver's default grace */
	LAB_RESUME,
	LAB_SUSPEND_GRACE_1,	/* the same with a grace of 1 */
	LAB_RESUME_GRACE_1,
	LAB_DETACH,
	LAB_EVICT,		/* A, by the checkpoint's pause */
	LAB_RESTORE,
	LAB_MODULE_EVICT,	/* A, by hand, by each mechanism of gpreempt.ko */
	LAB_MODULE_RESTORE,
	LAB_MODULE_DIRECT,
	LAB_MODULE_MAP,
	LAB_MODULE_HALT,	/* halts B, too */
	LAB_MODULE_UNHALT,
	LAB_KILL,		/* B dies with its kernel running */
	LAB_OVERSUBSCRIBE,	/* A: as many queues more as LAB_QUEUES says, one by one */
	LAB_DESTROY,		/* A's last queue */
	LAB_EXIT,		/* A, with all its queues */
	LAB_NR_OPERATIONS,
};

static const char *const lab_operation_names[LAB_NR_OPERATIONS] = {
	[LAB_CREATE_FIRST] = "create-first", [LAB_CREATE_SECOND] = "create-second",
	[LAB_CREATE_BESIDE] = "create-beside", [LAB_UPDATE_OFF] = "update-off",
	[LAB_UPDATE_ON] = "update-on", [LAB_ATTACH] = "attach",
	[LAB_DETACH] = "detach", [LAB_SUSPEND] = "suspend", [LAB_RESUME] = "resume",
	[LAB_SUSPEND_GRACE_1] = "suspend-grace-1", [LAB_RESUME_GRACE_1] = "resume-grace-1",
	[LAB_EVICT] = "evict", [LAB_RESTORE] = "restore",
	[LAB_MODULE_EVICT] = "module-evict", [LAB_MODULE_RESTORE] = "module-restore",
	[LAB_MODULE_DIRECT] = "module-direct", [LAB_MODULE_MAP] = "module-map",
	[LAB_MODULE_HALT] = "module-halt", [LAB_MODULE_UNHALT] = "module-unhalt",
	[LAB_KILL] = "kill",
	[LAB_OVERSUBSCRIBE] = "oversubscribe", [LAB_DESTROY] = "destroy", [LAB_EXIT] = "exit",
};

enum {
	LAB_QUEUES		= 30,	/* of A when oversubscribed; there are 24 slots */
	LAB_A_WORKGROUPS	= 200,
	LAB_B_WORKGROUPS	= 60,
	LAB_WAVES		= 4,	/* per workgroup */
	LAB_VGPR_BYTES		= 16384,	/* per wave */
};
#define LAB_FOREVER_NS	(3600ull * 1000 * 1000 * 1000)

/* Results of one operation: counts, and parts of the time of the command processor. */
enum lab_part {
	LAB_UNMAPS, LAB_RUNLISTS, LAB_QUEUES_MAPPED, LAB_QUEUES_UNMAPPED, LAB_WAVES_SAVED,
	LAB_BYTES_SAVED, LAB_COMMAND_NS, LAB_SAVE_NS, LAB_SWITCH_NS,
	LAB_NR_PARTS,
	LAB_NR_COUNTS = LAB_COMMAND_NS,		/* the counts before it are exact */
};

static const char *const lab_part_names[LAB_NR_PARTS] = {
	[LAB_UNMAPS] = "unmaps", [LAB_RUNLISTS] = "runlists",
	[LAB_QUEUES_MAPPED] = "queues_mapped", [LAB_QUEUES_UNMAPPED] = "queues_unmapped",
	[LAB_WAVES_SAVED] = "waves_saved", [LAB_BYTES_SAVED] = "bytes_saved",
	[LAB_COMMAND_NS] = "command_ns",	/* the command and the grace */
	[LAB_SAVE_NS] = "save_ns", [LAB_SWITCH_NS] = "switch_ns",	/* RUN_LIST and restore */
};

struct lab_cost {
	u64 part[LAB_NR_PARTS];
};

#endif /* LAB_OPERATIONS_H */
