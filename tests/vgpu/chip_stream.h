/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* PM4 and SDMA queues in the world of chip_world.h, and their packets. */
#ifndef CHIP_STREAM_H
#define CHIP_STREAM_H

#include "chip_world.h"

#define LO(a)	((u32)(a))
#define HI(a)	((u32)((u64)(a) >> 32))
#define PM4(op, n)	VGPU_PM4_HEADER(op, n)

enum {
	CW_STREAM_RING	= CW_RING * VGPU_AQL_BYTES / 4,	/* dwords */
	CW_PM4_UNIT	= 1,		/* added to the pointers of a PM4 queue per dword */
	CW_SDMA_UNIT	= 4,		/* the same for an SDMA queue */
	CW_MAP_SDMA0	= 0x28000010,	/* dword 1 of MAP_QUEUES: engine_sel 2 */
};

u32 cw_pm4_queue(struct chip_world *w, u32 process);
/* Makes an SDMA queue of engine 0. */
u32 cw_sdma_queue(struct chip_world *w, u32 process);

/* Writes dwords to the ring of a stream and rings its doorbell. */
void cw_give(struct chip_world *w, u32 queue, u32 unit, const u32 *dw, u32 n);
#define GIVE(w, q, unit, ...)							\
do {										\
	const u32 dw_[] = { __VA_ARGS__ };					\
										\
	cw_give(w, q, unit, dw_, sizeof(dw_) / 4);				\
} while (0)

/* Dispatches @n workgroups of 64 threads that run @ns each. */
void cw_pm4_dispatch(struct chip_world *w, u32 queue, u32 n, u64 ns);
/*
 * Writes RELEASE_MEM: after all earlier work, it stores @value at @at and raises an interrupt of
 * @event.
 */
void cw_pm4_release(struct chip_world *w, u32 queue, u64 at, u32 value, u32 event);

#endif /* CHIP_STREAM_H */
