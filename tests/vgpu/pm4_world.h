/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One stream of PM4 packets on a memory. */
#ifndef PM4_WORLD_H
#define PM4_WORLD_H

#include "stream_memory.h"
#include "vgpu/kernel.h"
#include "vgpu/pm4_stream.h"

#define RING	MEM
#define IB	(MEM + 0x20000)
#define IB2	(MEM + 0x30000)
#define CODE	(MEM + 0x40000)
#define ARGS	(MEM + 0x50000)
#define FLAG	(MEM + 0x60000)
enum { RING_DWORDS = 256, UNKNOWN_NS = 4321 };

struct fixture {
	struct memory m;
	struct vgpu_pm4 s;
	u64 now;
};

static inline int up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct vgpu_pm4_args args = { .base = RING, .size = RING_DWORDS, .unknown_ns = UNKNOWN_NS };

	EXPECT_EQ(vgpu_pm4_init(&f->s, &args), 0);
	f->s.vmid = 8;
	f->s.xcc = 2;
	f->s.pasid = 0x8002;
	f->now = 12345678;
	*state = f;
	return 0;
}

static inline int down(void **state)
{
	free(*state);
	return 0;
}

static inline void give(struct fixture *f, const u32 *dw, u32 n)
{
	u64 wptr = f->s.wptr;

	for (u32 i = 0; i < n; i++, wptr++)
		mem_set_u32(&f->m, RING + wptr % RING_DWORDS * 4, dw[i]);
	vgpu_pm4_wptr(&f->s, wptr);
}

#define GIVE(f, ...)							\
do {									\
	const u32 dw_[] = { __VA_ARGS__ };				\
	give(f, dw_, sizeof(dw_) / 4);					\
} while (0)

/* Writes dwords to a buffer in memory. Returns their number. */
#define BUFFER(f, at, ...)						\
do {									\
	const u32 dw_[] = { __VA_ARGS__ };				\
	memcpy(mem_at(&(f)->m, at, sizeof(dw_)), dw_, sizeof(dw_));	\
} while (0)

static inline int run(struct fixture *f)
{
	return vgpu_pm4_run(&f->s, &mem_bus, &f->m, f->now);
}

#define PM4(op, n)		(3u << 30 | ((n) - 2u) << 16 | (op) << 8)
#define FENCE(at, value)	PM4(0x37, 5), 5 << 8 | 1 << 20, LO(at), HI(at), value
#define JUMP(at, n)		PM4(0x3f, 4), LO(at), HI(at), (n) | 1 << 23
#define CHAIN(at, n)		PM4(0x3f, 4), LO(at), HI(at), (n) | 1 << 23 | 1 << 20
#define RELEASE(int_sel, data_sel, at, data, context)			\
	PM4(0x49, 8), 0x14 | 5 << 8, (u32)(data_sel) << 29 | (int_sel) << 24, LO(at), HI(at),	\
	LO(data), HI(data), context
#define DISPATCH(x, y, z)	PM4(0x15, 5), x, y, z, 1
#define FENCE_DWORDS 5

/* Sets the registers in the order of kfdtest: start, threads, program, resources, user data. */
static inline void set_up_dispatch(struct fixture *f, u32 threads)
{
	GIVE(f, PM4(0x58, 7), 0x28c00000, ~0u, 0xff, 0, 0, 4);
	GIVE(f, PM4(0x76, 8), 0x204, 0, 0, 0, threads, 1, 1);
	GIVE(f, PM4(0x76, 4), 0x20c, LO(CODE >> 8), HI(CODE >> 8));
	GIVE(f, PM4(0x76, 4), 0x212, 0x000c0084 | 3, 0x00000090 | 5 << 15);
	GIVE(f, PM4(0x76, 3), 0x22d, 0);
	GIVE(f, PM4(0x76, 4), 0x240, LO(ARGS), HI(ARGS));
}

static inline void synthetic(struct fixture *f)
{
	struct vgpu_kernel k = { .magic = VGPU_KERNEL_MAGIC, .workgroup_ns = 777, .gap_ns = 55,
				 .vgpr_bytes = 4096 };
	struct vgpu_kernarg arg = { .result = FLAG, .key = 99 };

	memcpy(mem_at(&f->m, CODE, sizeof(k)), &k, sizeof(k));
	memcpy(mem_at(&f->m, ARGS, sizeof(arg)), &arg, sizeof(arg));
}

#endif /* PM4_WORLD_H */
