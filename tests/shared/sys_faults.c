// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "sys_faults.h"

#include <stdatomic.h>

static struct sys_fault faults[SYS_FAULTS];
static u32 nr_faults;
static const struct gp_sys *base = &gp_sys_real;
static void (*told)(void *ctx, u64 ns);
static void *told_ctx;
static atomic_ullong calls[GP_SYS_NR], due_calls, late_ns;

/* Counts a call. Returns its fault, or NULL. */
static const struct sys_fault *meet(enum gp_sys_call call)
{
	u64 n = atomic_fetch_add(&calls[call], 1) + 1;

	for (u32 i = 0; i < nr_faults; i++) {
		const struct sys_fault *f = &faults[i];

		if (call != f->call || n < f->nth || n >= f->nth + f->times)
			continue;
		atomic_fetch_add(&due_calls, 1);
		atomic_fetch_add(&late_ns, f->late_ns);
		if (told && f->late_ns)
			told(told_ctx, f->late_ns);
		return f;
	}
	return NULL;
}

/* Returns true with errno set if the call has to fail. */
static bool fails(const struct sys_fault *f)
{
	if (!f || !f->err)
		return false;
	errno = f->err;
	return true;
}

#define WRAPPER(name, type, parameters, arguments)		\
static type fault_##name parameters				\
{								\
	if (fails(meet(GP_SYS_##name)))				\
		return (type)-1;				\
	return base->name arguments;				\
}
GP_SYS_CALLS(WRAPPER)

static size_t half(const struct sys_fault *f, size_t bytes)
{
	return f && f->half ? (bytes + 1) / 2 : bytes;
}

static ssize_t half_read(int fd, void *to, size_t bytes)
{
	const struct sys_fault *f = meet(GP_SYS_read);

	return fails(f) ? -1 : base->read(fd, to, half(f, bytes));
}

static ssize_t half_write(int fd, const void *from, size_t bytes)
{
	const struct sys_fault *f = meet(GP_SYS_write);

	return fails(f) ? -1 : base->write(fd, from, half(f, bytes));
}

static void *fault_realloc(void *old, size_t bytes)
{
	return fails(meet(GP_SYS_realloc)) ? NULL : base->realloc(old, bytes);
}

static u64 fault_monotonic_ns(void)
{
	meet(GP_SYS_monotonic_ns);
	return base->monotonic_ns() + (told ? 0 : atomic_load(&late_ns));
}

void sys_faults_on(const struct gp_sys *table, void (*late)(void *ctx, u64 ns), void *ctx)
{
	base = table ? table : &gp_sys_real;
	told = late;
	told_ctx = ctx;
	gp_sys = base;
}

void sys_faults_begin_all(const struct sys_fault *wanted, u32 nr)
{
	static struct gp_sys table;

	nr_faults = nr < SYS_FAULTS ? nr : SYS_FAULTS;
	for (u32 i = 0; i < nr_faults; i++) {
		faults[i] = wanted[i];
		if (!wanted[i].times)
			faults[i].times = 1;
	}
	for (u32 i = 0; i < GP_SYS_NR; i++)
		atomic_store(&calls[i], 0);
	atomic_store(&due_calls, 0);
	atomic_store(&late_ns, 0);
	table = *base;
#define MEMBER(name, type, parameters, arguments) table.name = fault_##name;
	GP_SYS_CALLS(MEMBER)
	table.read = half_read;
	table.write = half_write;
	table.realloc = fault_realloc;
	table.monotonic_ns = fault_monotonic_ns;
	gp_sys = &table;
}

void sys_faults_begin(const struct sys_fault *wanted)
{
	sys_faults_begin_all(wanted, wanted ? 1 : 0);
}

u64 sys_faults_met(void)
{
	return atomic_load(&due_calls);
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
	return sys_faults_met();
}
