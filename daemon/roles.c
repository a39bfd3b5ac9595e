// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The roles of processes that the supervisor starts for the decider, and their rights. */
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>

#include "holder.h"
#include "lib/gpu.h"
#include "lib/kfd_debug/session.h"
#include "lib/sysfs.h"
#include "lib/user.h"
#include "log.h"
#include "reader.h"
#include "supervisor.h"

/*
 * The poke is a short-lived process. It wakes the processes of one user that sleep in enabling or
 * disabling their runtime because their debugger died (lib/kfd_debug).
 *
 * A hostile process can make it hang. Then the supervisor kills it. That harms only the same user.
 */
static int poke_main(int channel, uid_t user)
{
	struct gp_sysfs_dir dir;
	u64 pid, inode;
	uid_t owner;
	u32 poked = 0;

	(void)channel;
	if (gp_sysfs_dir_open(&dir, AT_FDCWD, GP_SYSFS_KFD "/proc"))
		return 0;
	while (gp_sysfs_dir_number(&dir, 1, INT_MAX, &pid, &inode) > 0) {
		if (gp_process_user(NULL, (pid_t)pid, &owner) || owner != user)
			continue;
		if (gp_session_needs_poke(NULL, (pid_t)pid) == 1 && !gp_session_poke((pid_t)pid))
			poked++;
	}
	gp_sysfs_dir_close(&dir);
	if (poked)
		gp_log(GP_LOG_WARNING, "%u processes of user %u waited in the driver for a "
		       "debugger that is gone: woken", poked, user);
	return 0;
}

/*
 * Tracing a process, taking its descriptors and reading its /proc/PID/fd and syscall need
 * CAP_SYS_PTRACE; opening the directory /proc/PID/fd of another uid needs CAP_DAC_READ_SEARCH.
 */
#define TOUCH_TARGETS	(BIT_ULL(CAP_SYS_PTRACE) | BIT_ULL(CAP_DAC_READ_SEARCH))

const struct gp_role gp_roles[GP_NR_ROLES] = {
	[GP_ROLE_HOLDER] = {
		.name = "gp-holder", .nice = -20,
		.may = { .caps = TOUCH_TARGETS, .oom = -900 },
		.main = gp_holder_main, .kill_stopped = true,
	},
	[GP_ROLE_READER] = {
		.name = "gp-reader", .nice = -10,
		.may = { .caps = TOUCH_TARGETS, .oom = 500, .files = 16384 },
		.main = gp_reader_main,
	},
	[GP_ROLE_POKE] = {
		.name = "gp-poke", .may = { .caps = TOUCH_TARGETS },
		.main = poke_main,
	},
};
