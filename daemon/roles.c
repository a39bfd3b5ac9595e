// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The kinds of process that the supervisor starts for the decider, and what each may do. */
#include <linux/capability.h>

#include "holder.h"
#include "reader.h"
#include "supervisor.h"

/*
 * Tracing a process, taking its descriptors and reading its /proc/PID/fd and syscall need
 * CAP_SYS_PTRACE; opening the directory /proc/PID/fd of another uid needs CAP_DAC_READ_SEARCH.
 */
#define TOUCH_TARGETS	(BIT_ULL(CAP_SYS_PTRACE) | BIT_ULL(CAP_DAC_READ_SEARCH))

const struct gp_role gp_roles[GP_NR_ROLES] = {
	[GP_ROLE_HOLDER] = {
		.name = "gp-holder", .may = { .caps = TOUCH_TARGETS, .oom = -900 },
		.main = gp_holder_main, .kill_stopped = true,
	},
	[GP_ROLE_READER] = {
		.name = "gp-reader", .may = { .caps = TOUCH_TARGETS, .oom = 500 },
		.main = gp_reader_main,
	},
	[GP_ROLE_POKE] = {
		.name = "gp-poke", .may = { .caps = TOUCH_TARGETS },
		.main = gp_poke_main,
	},
};
