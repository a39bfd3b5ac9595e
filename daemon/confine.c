// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS_MAX = 96, PROGRAM_MAX = CALLS_MAX + 40 };

static int drop_capabilities(u64 keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	u32 excess = 0;

	/* Needs CAP_SETPCAP. Without it the bounding set of the unit applies. */
	for (unsigned long cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (!(keep & BIT_ULL(cap)))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* uid 0 regains no capability. */
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
	      SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
	      SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, 0, 0, 0);
	if (syscall(SYS_capget, &header, data))
		return -errno;
	for (u32 i = 0; i < 2; i++) {
		u32 mask = (u32)(keep >> (32 * i));

		excess |= ((data[i].permitted | data[i].effective) & ~mask) | data[i].inheritable;
		data[i].permitted &= mask;
		data[i].effective &= mask;
		data[i].inheritable = 0;
	}
	/* A unit whose filter forbids the call must bound the capabilities itself. */
	return excess && syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Lowering it needs CAP_SYS_RESOURCE. Without that the unit's value stays. */
static void set_oom(int adjust)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dprintf(fd, "%d", adjust);
	close(fd);
}

/* A unit whose filter forbids the call (EPERM) sets the limit itself. */
static int limit_files(u32 most)
{
	struct rlimit files;

	if (!most)
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &files))
		return -errno;
	if (most < files.rlim_max)
		files.rlim_max = most;
	files.rlim_cur = files.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &files) && errno != EPERM ? -errno : 0;
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (u32)offsetof(struct seccomp_data, member))
#define LOAD_LOW(arg) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (u32)offsetof(struct seccomp_data, args) + 8 * (arg))
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW		RETURN(SECCOMP_RET_ALLOW)
#define DENY		RETURN(SECCOMP_RET_ERRNO | ENOSYS)
#define FORBID		RETURN(SECCOMP_RET_ERRNO | EPERM)

#define NEW_NAMESPACES	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
			 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* @call fails if @arg has one of @bits. */
#define WITHOUT(call, arg, bits) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4), \
	LOAD_LOW(arg), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), \
	FORBID, \
	LOAD(nr)

/* Listed calls that are allowed with some arguments only. Other calls skip each block. */
static const struct sock_filter narrow[] = {
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5),
	LOAD_LOW(1),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'K' << 8, 1, 0),
	FORBID,
	LOAD(nr),
	WITHOUT(SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_PATH),
	WITHOUT(SYS_clone, 0, NEW_NAMESPACES),
	WITHOUT(SYS_mmap, 2, PROT_EXEC),
	WITHOUT(SYS_mprotect, 2, PROT_EXEC),
};

/*
 * A call that is not listed fails with ENOSYS, because the C library has fallbacks for that. A
 * newer C library may use calls that did not exist when the list was made.
 */
int gp_confine_syscalls(const struct gp_syscalls *allowed)
{
	struct sock_filter program[PROGRAM_MAX];
	struct sock_fprog prog = { .filter = program };
	u16 n = 0;

	if (allowed->nr > CALLS_MAX)
		return -E2BIG;
	program[n++] = (struct sock_filter)LOAD(arch);
	program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						     AUDIT_ARCH_X86_64, 1, 0);
	program[n++] = (struct sock_filter)DENY;
	program[n++] = (struct sock_filter)LOAD(nr);
	if (allowed->narrow) {
		memcpy(program + n, narrow, sizeof(narrow));
		n = (u16)(n + sizeof(narrow) / sizeof(narrow[0]));
	}
	for (u32 i = 0; i < allowed->nr; i++)
		program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(u32)allowed->number[i], (u8)(allowed->nr - i), 0);
	program[n++] = (struct sock_filter)DENY;
	program[n++] = (struct sock_filter)ALLOW;
	prog.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) ? -errno : 0;
}

#else

/* Sanitizers make calls of their own; other architectures number them differently. */
int gp_confine_syscalls(const struct gp_syscalls *allowed)
{
	(void)allowed;
	return 0;
}

#endif

int gp_confine(const struct gp_confinement *to)
{
	int err;

	set_oom(to->oom);
	err = limit_files(to->files);
	if (!err)
		err = drop_capabilities(to->caps);
	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return 0;
}
