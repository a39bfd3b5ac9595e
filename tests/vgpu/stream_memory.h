/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A memory and its bus, for tests of packet executors. It has 1 MiB at MEM, from which a test may
 * remove pages. The address space is ignored. As in the lab, an access makes one translation per
 * page, and the bytes before a missing page are copied.
 */
#ifndef STREAM_MEMORY_H
#define STREAM_MEMORY_H

#include <stdio.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "vgpu/stream.h"

enum { MEM_BYTES = 1 << 20, MEM_PAGE = 4096, MEM_PAGES = MEM_BYTES / MEM_PAGE };
#define MEM	0x7f0012300000ull	/* above 4 GiB, to detect a lost upper half */

struct memory {
	u8 bytes[MEM_BYTES];
	struct vgpu_interrupt irq;	/* the last interrupt */
	u32 irqs, reports, adds, writes;
	u32 translations;
	u32 largest;			/* largest access */
	bool absent[MEM_PAGES];
	char report[200];		/* the last report */
};

static inline u8 *mem_at(struct memory *m, u64 address, u64 n)
{
	if (address < MEM || address - MEM > MEM_BYTES || MEM_BYTES - (address - MEM) < n)
		return NULL;
	return m->bytes + (address - MEM);
}

/* Returns how many bytes of an access are mapped, up to @n. */
static inline u32 mem_reach(struct memory *m, u64 address, u32 n)
{
	u32 reached = 0;

	if (n > m->largest)
		m->largest = n;
	if (!mem_at(m, address, n))
		return 0;
	while (reached < n) {
		u64 at = address - MEM + reached;
		u32 part = MEM_PAGE - (u32)(at % MEM_PAGE);

		m->translations++;
		if (m->absent[at / MEM_PAGE])
			break;
		reached += part < n - reached ? part : n - reached;
	}
	return reached;
}

static inline int mem_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	struct memory *m = ctx;
	u32 reached = mem_reach(m, address, n);

	(void)space;
	if (reached)
		memcpy(to, mem_at(m, address, reached), reached);
	return reached < n ? -EFAULT : 0;
}

static inline int mem_write(void *ctx, vgpu_space space, u64 address, const void *from, u32 n)
{
	struct memory *m = ctx;
	u32 reached = mem_reach(m, address, n);

	(void)space;
	if (reached)
		memcpy(mem_at(m, address, reached), from, reached);
	if (reached < n)
		return -EFAULT;
	m->writes++;
	return 0;
}

static inline int mem_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	struct memory *m = ctx;
	u8 *at = mem_at(m, address, 8);

	(void)space;
	if (!at)
		return -EFAULT;
	memcpy(ret, at, 8);
	*ret += value;
	memcpy(at, ret, 8);
	m->adds++;
	return 0;
}

static inline u64 mem_doorbell(void *ctx, u32 index)
{
	(void)ctx, (void)index;
	return 0;
}

static inline void mem_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	struct memory *m = ctx;

	m->irq = *irq;
	m->irqs++;
}

static inline void mem_report(void *ctx, const char *what)
{
	struct memory *m = ctx;

	snprintf(m->report, sizeof(m->report), "%s", what);
	m->reports++;
}

static const struct vgpu_bus mem_bus = {
	.read = mem_read, .write = mem_write, .add = mem_add, .doorbell = mem_doorbell,
	.interrupt = mem_interrupt, .report = mem_report,
};

static inline u32 mem_u32(struct memory *m, u64 address)
{
	u32 word = 0;

	EXPECT_EQ(mem_read(m, 0, address, &word, 4), 0);
	return word;
}

static inline u64 mem_u64(struct memory *m, u64 address)
{
	u64 word = 0;

	EXPECT_EQ(mem_read(m, 0, address, &word, 8), 0);
	return word;
}

static inline void mem_set_u32(struct memory *m, u64 address, u32 word)
{
	EXPECT_EQ(mem_write(m, 0, address, &word, 4), 0);
}

static inline void mem_set_u64(struct memory *m, u64 address, u64 word)
{
	EXPECT_EQ(mem_write(m, 0, address, &word, 8), 0);
}

/* Writes bytes that differ within a page. */
static inline void mem_pattern(struct memory *m, u64 address, u32 n, u32 seed)
{
	u8 *at = mem_at(m, address, n);

	EXPECT(at);
	for (u32 i = 0; i < n; i++)
		at[i] = (u8)(i * 7 + (i >> 8) * 13 + seed);
}

#define LO(x)	((u32)(x))
#define HI(x)	((u32)((u64)(x) >> 32))

#endif /* STREAM_MEMORY_H */
