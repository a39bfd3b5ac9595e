/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * PM4 packets with which a driver commands the hardware scheduler of gfx 9.
 *
 * A packet is a header and count + 1 dwords: bits 31:30 are 3, 29:16 the count,
 * 15:8 the opcode. One NOP is a single dword, the padding at the end of a ring.
 */
#ifndef VGPU_PM4_H
#define VGPU_PM4_H

#include "gp_env.h"

enum vgpu_pm4_op {
	VGPU_PM4_NOP		= 0x10,
	VGPU_PM4_WRITE_DATA	= 0x37,
	VGPU_PM4_SET_RESOURCES	= 0xa0,
	VGPU_PM4_MAP_PROCESS	= 0xa1,
	VGPU_PM4_MAP_QUEUES	= 0xa2,
	VGPU_PM4_UNMAP_QUEUES	= 0xa3,
	VGPU_PM4_QUERY_STATUS	= 0xa4,
	VGPU_PM4_RUN_LIST	= 0xa5,
};

/* Dwords of each, header included. */
enum vgpu_pm4_size {
	VGPU_PM4_WRITE_DATA_DW		= 5,
	VGPU_PM4_SET_RESOURCES_DW	= 8,
	VGPU_PM4_MAP_PROCESS_DW		= 16,
	VGPU_PM4_MAP_PROCESS_WATCH_DW	= 21,	/* with watch points: gfx90a and later */
	VGPU_PM4_MAP_QUEUES_DW		= 7,
	VGPU_PM4_UNMAP_QUEUES_DW	= 6,
	VGPU_PM4_QUERY_STATUS_DW	= 7,
	VGPU_PM4_RUN_LIST_DW		= 4,
	VGPU_PM4_MOST_DW		= 21,	/* of those above */
};

#define VGPU_PM4_PAD		0xffff1000u	/* a NOP of one dword */
/* A driver writes this to test its own recovery. */
#define VGPU_PM4_HANG		0x55555555u

#define VGPU_PM4_HEADER(op, dwords)	(0xc0000000u | ((u32)(dwords) - 2) << 16 | (u32)(op) << 8)

static inline u32 vgpu_bits(u32 value, u32 high, u32 low)
{
	return value >> low & (u32)(BIT_ULL(high - low + 1) - 1);
}

static inline u64 vgpu_wide(u32 lo, u32 hi)
{
	return lo | (u64)hi << 32;
}

static inline bool vgpu_pm4_is_packet(u32 header)
{
	return header >> 30 == 3;
}

static inline u32 vgpu_pm4_op(u32 header)
{
	return vgpu_bits(header, 15, 8);
}

/* Dwords of the packet, header included: 1 for the padding, else 2..0x4000. */
static inline u32 vgpu_pm4_dwords(u32 header)
{
	u32 count = vgpu_bits(header, 29, 16);

	return vgpu_pm4_op(header) == VGPU_PM4_NOP && count == 0x3fff ? 1 : count + 2;
}

/* UNMAP_QUEUES */
enum vgpu_pm4_action {
	VGPU_PM4_PREEMPT, VGPU_PM4_RESET, VGPU_PM4_DISABLE, VGPU_PM4_PREEMPT_NO_UNMAP,
};
enum vgpu_pm4_sel {
	VGPU_PM4_BY_DOORBELL, VGPU_PM4_BY_PASID, VGPU_PM4_ALL, VGPU_PM4_DYNAMIC,
};

/* QUERY_STATUS */
enum vgpu_pm4_command {
	VGPU_PM4_IRQ_ONLY, VGPU_PM4_FENCE_AT_ONCE, VGPU_PM4_FENCE, VGPU_PM4_FENCE_AND_IRQ,
};

/* MAP_QUEUES: engine_sel 28:26 */
enum vgpu_pm4_engine {
	VGPU_PM4_COMPUTE, VGPU_PM4_HIQ, VGPU_PM4_SDMA0, VGPU_PM4_SDMA1,
};

/* The dword index of a doorbell, as MAP_QUEUES, UNMAP_QUEUES and MQDs hold it. */
static inline u32 vgpu_pm4_doorbell(u32 dw)
{
	return vgpu_bits(dw, 27, 2);
}

#endif /* VGPU_PM4_H */
