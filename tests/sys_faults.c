// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sys_faults.h"

#include <stdatomic.h>

static struct sys_fault fault;
static const struct gp_sys *base = &gp_sys_real;
static void (*told)(void *ctx, u64 ns);
static void *told_ctx;
static atomic_ullong calls[GP_SYS_NR], due_calls, late_ns;

/* Counts a call. Returns true if it is one of the fault's. */
static bool is_due(enum gp_sys_call call)
{
	u64 n = atomic_fetch_add(&calls[call], 1) + 1;

	if (call != fault.call || n < fault.nth || n >= fault.nth + fault.times)
		return false;
	atomic_fetch_add(&due_calls, 1);
	atomic_fetch_add(&late_ns, fault.late_ns);
	if (told && fault.late_ns)
		told(told_ctx, fault.late_ns);
	return true;
}

/* Returns true with errno set if the call has to fail. */
static bool fails(enum gp_sys_call call)
{
	if (!is_due(call) || !fault.err)
		return false;
	errno = fault.err;
	return true;
}

#define WRAPPER(name, type, parameters, arguments)		\
static type fault_##name parameters				\
{								\
	if (fails(GP_SYS_##name))				\
		return (type)-1;				\
	return base->name arguments;				\
}
GP_SYS_CALLS(WRAPPER)

static ssize_t half_read(int fd, void *to, size_t bytes)
{
	return base->read(fd, to, is_due(GP_SYS_read) ? (bytes + 1) / 2 : bytes);
}

static ssize_t half_write(int fd, const void *from, size_t bytes)
{
	return base->write(fd, from, is_due(GP_SYS_write) ? (bytes + 1) / 2 : bytes);
}

static void *fault_realloc(void *old, size_t bytes)
{
	return fails(GP_SYS_realloc) ? NULL : base->realloc(old, bytes);
}

static u64 fault_monotonic_ns(void)
{
	is_due(GP_SYS_monotonic_ns);
	return base->monotonic_ns() + (told ? 0 : atomic_load(&late_ns));
}

void sys_faults_on(const struct gp_sys *table, void (*late)(void *ctx, u64 ns), void *ctx)
{
	base = table ? table : &gp_sys_real;
	told = late;
	told_ctx = ctx;
	gp_sys = base;
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
	table = *base;
#define MEMBER(name, type, parameters, arguments) table.name = fault_##name;
	GP_SYS_CALLS(MEMBER)
	if (fault.half && fault.call == GP_SYS_read)
		table.read = half_read;
	if (fault.half && fault.call == GP_SYS_write)
		table.write = half_write;
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
	gp_sys = base;
	return atomic_load(&due_calls);
}
