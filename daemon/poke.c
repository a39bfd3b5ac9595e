// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The poke: a process that lives for a moment and wakes the processes of one user that sleep in
 * enabling or disabling their runtime because their debugger died (lib/kfd_debug).
 *
 * A hostile process can make it hang. Then the supervisor kills it, and only that user is harmed.
 */
#include <dirent.h>
#include <limits.h>

#include "lib/gpu.h"
#include "lib/kfd_debug/session.h"
#include "lib/sys.h"
#include "lib/user.h"
#include "lib/sysfs.h"
#include "log.h"
#include "supervisor.h"

int gp_poke_main(int channel, uid_t user)
{
	struct dirent *e;
	const char *end;
	uid_t owner;
	u32 poked = 0;
	DIR *dir;
	u64 pid;

	(void)channel;
	dir = gp_sys_opendir(GP_SYSFS_KFD "/proc");
	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		if (!gp_sysfs_parse(e->d_name, 10, &pid, &end) || *end || pid > INT_MAX ||
		    gp_process_user(NULL, (pid_t)pid, &owner) || owner != user)
			continue;
		if (gp_session_needs_poke(NULL, (pid_t)pid) == 1 && !gp_session_poke((pid_t)pid))
			poked++;
	}
	closedir(dir);
	if (poked)
		gp_log(GP_LOG_WARNING, "%u processes of user %u waited in the driver for a "
		       "debugger that is gone: woken", poked, user);
	return 0;
}
