// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: the rights of this process and of the daemon. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/machine/secure_boot.h"
#include "doctor.h"
#include "lib/mqd_dump.h"

enum { CAP_PTRACE = 19 };	/* CAP_SYS_PTRACE */

void gp_check_ptrace(struct gp_doctor *d)
{
	s64 scope;
	int err = gp_doctor_number(d, "/proc/sys/kernel/yama/ptrace_scope", &scope);

	if (err == -ENOENT)
		gp_found(d, GP_PASS, NULL, "no Yama: CAP_SYS_PTRACE suffices");
	else if (err)
		gp_found(d, GP_WARN, "run as root", "ptrace_scope cannot be read: %s",
			 strerror(-err));
	else if (scope >= 3)
		gp_found(d, GP_FAIL, "it cannot be undone while the system runs: change "
			 "kernel.yama.ptrace_scope in /etc/sysctl.d and boot again",
			 "ptrace_scope = %" PRId64 ": no process may attach to another", scope);
	else
		gp_found(d, GP_PASS, NULL, "ptrace_scope = %" PRId64 ": CAP_SYS_PTRACE suffices",
			 scope);
}

/* Returns the effective capabilities of this process, or 0 if they are unknown. */
static u64 capabilities(const struct gp_doctor *d)
{
	char text[4096];
	const char *line;

	if (gp_doctor_text(d, "/proc/self/status", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nCapEff:");
	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

void gp_check_rights(struct gp_doctor *d)
{
	char path[GP_DOCTOR_PATH];

	if (access(gp_doctor_path(d, "/dev/kfd", path), R_OK | W_OK) && errno != ENOENT)
		gp_found(d, GP_WARN, "run as root, or join group render",
			 "/dev/kfd: %s", strerror(errno));
	else if (!(capabilities(d) & BIT_ULL(CAP_PTRACE)))
		gp_found(d, GP_WARN, "run as root to see what the daemon will see",
			 "no CAP_SYS_PTRACE: processes of others are not looked at");
	else
		gp_found(d, GP_PASS, NULL, "CAP_SYS_PTRACE is there");
}

void gp_check_debugfs(struct gp_doctor *d)
{
	struct gp_mqd_list list = { 0 };
	char path[GP_DOCTOR_PATH];
	u32 line = 0;
	int err = gp_mqd_dump_read(gp_doctor_path(d, GP_MQD_DUMP, path), 0, &list, &line);

	if (!err)
		gp_found(d, GP_PASS, NULL, "queue descriptors can be read: %s",
			 gp_number_of(list.count, "queue").s);
	else if (err == -ENOENT)
		gp_found(d, GP_WARN, "mount -t debugfs none /sys/kernel/debug",
			 "no %s: queues that are not traced cannot be watched", GP_MQD_DUMP);
	else if (err == -EACCES || err == -EPERM)
		gp_found(d, GP_WARN, "run as root", "%s: %s", GP_MQD_DUMP, strerror(-err));
	else if (err == -EPROTO)
		gp_found(d, GP_FAIL, "report the line and `uname -r`",
			 "%s:%" PRIu32 ": not as we know it", GP_MQD_DUMP, line);
	else
		gp_found(d, GP_FAIL, "read the kernel's log", "%s: %s", GP_MQD_DUMP,
			 strerror(-err));
	gp_mqd_list_fini(&list);
}

void gp_check_lockdown(struct gp_doctor *d)
{
	char text[128];
	int n = gp_doctor_text(d, "/sys/kernel/security/lockdown", text, sizeof(text));

	if (n == -EACCES || n == -EPERM)
		gp_found(d, GP_WARN, "run as root", "lockdown cannot be read");
	else if (n < 0 || strstr(text, "[none]"))
		gp_found(d, GP_PASS, NULL, "the kernel is not locked down");
	else
		gp_found(d, GP_WARN, "kfd-debug works; sign the module for the other mechanisms",
			 "the kernel is locked down (%s): unsigned modules are refused", text);
}

void gp_check_secure_boot(struct gp_doctor *d)
{
	char path[GP_DOCTOR_PATH];
	int is = gp_secure_boot(gp_doctor_path(d, GP_SECURE_BOOT, path));

	if (is > 0)
		gp_found(d, GP_WARN, "kfd-debug works; sign the module for the other mechanisms",
			 "Secure Boot is on: unsigned modules are refused");
	else if (is < 0)
		gp_found(d, GP_WARN, "run as root; mokutil --sb-state",
			 "whether Secure Boot is on cannot be read");
	else
		gp_found(d, GP_PASS, NULL, "Secure Boot is off");
}
