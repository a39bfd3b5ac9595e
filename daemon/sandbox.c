// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE	AUDIT_ARCH_X86_64
#define FOREIGN_CALLS	0x40000000u	/* x32: the same architecture, other numbers */
#elif defined(__aarch64__)
#define ARCHITECTURE	AUDIT_ARCH_AARCH64
#define FOREIGN_CALLS	0xffffffffu
#else
#error "the system call filter does not know this architecture"
#endif

#define WRITING		(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_PATH)
#define ARGUMENT_2	(offsetof(struct seccomp_data, args) + 2 * sizeof(u64))
#define REFUSE		(SECCOMP_RET_ERRNO | EPERM)

/* ---- capabilities ---- */

static int drop_capabilities(u64 keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	u32 i;

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (i = 0; i < 64 && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(keep & BIT_ULL(i)) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) && errno != EPERM)
			return -errno;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Being uid 0 shall give no capability again. Needs CAP_SETPCAP, so before it goes. */
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
	      SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
	      SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, 0, 0, 0);
	for (i = 0; i < 2; i++) {
		data[i].permitted &= (u32)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* ---- system calls ---- */

struct program {
	struct sock_filter at[GP_SANDBOX_CALLS * 5 + 8];
	u32 nr;
};

static void add(struct program *p, u16 code, u32 k, u8 yes, u8 no)
{
	p->at[p->nr++] = (struct sock_filter){ .code = code, .jt = yes, .jf = no, .k = k };
}

static void load(struct program *p, u32 offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void add_call(struct program *p, const struct gp_call *call)
{
	u32 forbidden = call->check == GP_CALL_READ_ONLY ? WRITING :
			call->check == GP_CALL_NO_EXEC ? PROT_EXEC : 0;

	add(p, BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, forbidden ? 4 : 1);
	if (forbidden) {
		load(p, ARGUMENT_2);
		add(p, BPF_JMP | BPF_JSET | BPF_K, forbidden, 0, 1);
		add(p, BPF_RET | BPF_K, REFUSE, 0, 0);
	}
	add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static int filter_calls(const struct gp_call *calls, u32 nr)
{
	struct program p = { .nr = 0 };
	struct sock_fprog prog = { .filter = p.at };
	u32 i;

	if (nr > GP_SANDBOX_CALLS)
		return -E2BIG;
	load(&p, offsetof(struct seccomp_data, arch));
	add(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	add(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	load(&p, offsetof(struct seccomp_data, nr));
	add(&p, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALLS, 0, 1);
	add(&p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	for (i = 0; i < nr; i++)
		add_call(&p, &calls[i]);
	add(&p, BPF_RET | BPF_K, REFUSE, 0, 0);
	prog.len = (unsigned short)p.nr;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) ? -errno : 0;
}

int gp_sandbox(const struct gp_sandbox_args *args)
{
	struct rlimit none = { 0 }, files;
	int err;

	/* A unit whose filter forbids these calls (EPERM) sets the limits itself. */
	if (setrlimit(RLIMIT_CORE, &none) && errno != EPERM)
		return -errno;
	if (getrlimit(RLIMIT_NOFILE, &files))
		return -errno;
	if (args->files && args->files < files.rlim_max)
		files.rlim_max = args->files;
	files.rlim_cur = files.rlim_max;
	if (args->files && setrlimit(RLIMIT_NOFILE, &files) && errno != EPERM)
		return -errno;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	err = drop_capabilities(args->capabilities);
	if (err)
		return err;
	return args->calls ? filter_calls(args->calls, args->nr_calls) : 0;
}
