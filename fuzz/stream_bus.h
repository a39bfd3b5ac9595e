/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A small memory for fuzzed packets. It repeats every 64 KiB up to 8 GiB, so that most
 * addresses of an input are mapped. Addresses above that are not mapped.
 */
#ifndef STREAM_BUS_H
#define STREAM_BUS_H

#include <string.h>

#include "vgpu/stream.h"

enum {
	STREAM_BUS_BYTES	= 1 << 16,
	STREAM_BUS_AT		= 0x10000,
	STREAM_BUS_MOST		= 4096,		/* bytes of an access, because SDMA moves pages */
};
#define STREAM_BUS_END	(8ull << 30)

struct stream_bus {
	u8 bytes[STREAM_BUS_BYTES + STREAM_BUS_MOST];	/* the last access may exceed the end */
	u32 reports, irqs;
};

static inline void stream_bus_fill(struct stream_bus *b, const u8 *data, size_t size)
{
	memset(b, 0, sizeof(*b));
	memcpy(b->bytes, data, size < STREAM_BUS_BYTES ? size : STREAM_BUS_BYTES);
}

static inline bool stream_bus_has(u64 address, u32 n)
{
	return n && n <= STREAM_BUS_MOST && address < STREAM_BUS_END - n;
}

static inline int stream_bus_read(void *ctx, vgpu_space space, u64 address, void *to, u32 n)
{
	struct stream_bus *b = ctx;

	(void)space;
	if (!n || n > STREAM_BUS_MOST)
		__builtin_trap();
	if (!stream_bus_has(address, n))
		return -EFAULT;
	memcpy(to, b->bytes + address % STREAM_BUS_BYTES, n);
	return 0;
}

static inline int stream_bus_write(void *ctx, vgpu_space space, u64 address, const void *from,
				   u32 n)
{
	struct stream_bus *b = ctx;

	(void)space;
	if (!n || n > STREAM_BUS_MOST)
		__builtin_trap();
	if (!stream_bus_has(address, n))
		return -EFAULT;
	memcpy(b->bytes + address % STREAM_BUS_BYTES, from, n);
	return 0;
}

static inline int stream_bus_add(void *ctx, vgpu_space space, u64 address, u64 value, u64 *ret)
{
	if (address & 7)
		__builtin_trap();
	if (stream_bus_read(ctx, space, address, ret, 8))
		return -EFAULT;
	*ret += value;
	return stream_bus_write(ctx, space, address, ret, 8);
}

static inline u64 stream_bus_doorbell(void *ctx, u32 index)
{
	(void)ctx, (void)index;
	return 0;
}

static inline void stream_bus_interrupt(void *ctx, const struct vgpu_interrupt *irq)
{
	(void)irq;
	((struct stream_bus *)ctx)->irqs++;
}

static inline void stream_bus_report(void *ctx, const char *what)
{
	if (!what || !*what)
		__builtin_trap();
	((struct stream_bus *)ctx)->reports++;
}

static const struct vgpu_bus stream_bus_calls = {
	.read = stream_bus_read, .write = stream_bus_write, .add = stream_bus_add,
	.doorbell = stream_bus_doorbell, .interrupt = stream_bus_interrupt,
	.report = stream_bus_report,
};

#endif /* STREAM_BUS_H */
