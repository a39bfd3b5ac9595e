// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sys_faults.h"

#include <stdatomic.h>

static struct sys_fault fault;
static atomic_ullong calls[GP_SYS_NR], due_calls, late_ns;

/* Counts a call, and returns true with errno set if it has to fail. */
static bool fails(enum gp_sys_call call)
{
	u64 n = atomic_fetch_add(&calls[call], 1) + 1;

	if (call != fault.call || n < fault.nth || n >= fault.nth + fault.times)
		return false;
	atomic_fetch_add(&due_calls, 1);
	atomic_fetch_add(&late_ns, fault.late_ns);
	if (fault.err)
		errno = fault.err;
	return fault.err;
}

#define WRAPPER(name, type, parameters, arguments)		\
static type fault_##name parameters				\
{								\
	if (fails(GP_SYS_##name))				\
		return -1;					\
	return gp_sys_real.name arguments;			\
}
GP_SYS_CALLS(WRAPPER)

static void *fault_realloc(void *old, size_t bytes)
{
	return fails(GP_SYS_realloc) ? NULL : gp_sys_real.realloc(old, bytes);
}

static u64 fault_monotonic_ns(void)
{
	fails(GP_SYS_monotonic_ns);
	return gp_sys_real.monotonic_ns() + atomic_load(&late_ns);
}

void sys_faults_begin(const struct sys_fault *wanted)
{
	static struct gp_sys table;

	fault = wanted ? *wanted : (struct sys_fault){ .call = GP_SYS_NR };
	if (!fault.times)
		fault.times = 1;
	for (u32 i = 0; i < GP_SYS_NR; i++)
		atomic_store(&calls[i], 0);
	atomic_store(&due_calls, 0);
	atomic_store(&late_ns, 0);
	table = gp_sys_real;
#define MEMBER(name, type, parameters, arguments) table.name = fault_##name;
	GP_SYS_CALLS(MEMBER)
	table.realloc = fault_realloc;
	table.monotonic_ns = fault_monotonic_ns;
	gp_sys = &table;
}

u64 sys_faults_calls(enum gp_sys_call call)
{
	return atomic_load(&calls[call]);
}

const char *sys_faults_name(enum gp_sys_call call)
{
	static const char *const names[] = {
#define NAME(name, type, parameters, arguments) [GP_SYS_##name] = #name,
		GP_SYS_CALLS(NAME)
		[GP_SYS_realloc] = "realloc", [GP_SYS_monotonic_ns] = "monotonic_ns",
	};

	return names[call];
}

u64 sys_faults_end(void)
{
	gp_sys = &gp_sys_real;
	return atomic_load(&due_calls);
}
