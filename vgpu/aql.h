/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * AQL packets (HSA) and AMD's signals, as they stand in memory. Offsets in bytes.
 */
#ifndef VGPU_AQL_H
#define VGPU_AQL_H

#include "gp_env.h"

enum vgpu_aql_type {
	VGPU_AQL_TYPE_VENDOR	= 0,	/* AMD: PM4 in an AQL packet */
	VGPU_AQL_TYPE_INVALID	= 1,	/* not published yet, or consumed */
	VGPU_AQL_TYPE_KERNEL	= 2,
	VGPU_AQL_TYPE_AND	= 3,
	VGPU_AQL_TYPE_AGENT	= 4,	/* a call of the host, not executed by a GPU */
	VGPU_AQL_TYPE_OR	= 5,
};

enum {
	VGPU_AQL_BYTES		= 64,
	VGPU_AQL_LOG_BYTES	= 6,

	VGPU_AQL_HEADER		= 0,	/* u16: 7:0 type, 8 barrier bit */
	VGPU_AQL_SETUP		= 2,	/* u16: dimensions */
	VGPU_AQL_WORKGROUP	= 4,	/* 3 x u16 */
	VGPU_AQL_GRID		= 12,	/* 3 x u32 */
	VGPU_AQL_GROUP_SEGMENT	= 28,	/* u32: LDS */
	VGPU_AQL_KERNEL_OBJECT	= 32,
	VGPU_AQL_KERNARG	= 40,
	VGPU_AQL_DEP		= 8,	/* 5 x u64, of barriers */
	VGPU_AQL_SIGNAL		= 56,

	VGPU_SIGNAL_VALUE	= 8,
	VGPU_SIGNAL_MAILBOX	= 16,	/* address; 0: no thread sleeps on it */
	VGPU_SIGNAL_EVENT	= 24,	/* u32 */
	VGPU_SIGNAL_START	= 32,	/* ticks of 10 ns */
	VGPU_SIGNAL_END		= 40,

	/* AMD's kernel descriptor: bits 5:0 are eights of VGPRs less one */
	VGPU_DESCRIPTOR_RSRC1	= 48,
	VGPU_VGPR_GRANULE	= 8 * 64 * 4,	/* bytes of a wave */
	VGPU_WAVE_LANES		= 64,
	VGPU_WORKGROUP_LANES	= 1024,
	VGPU_TICK_NS		= 10,
};

#endif /* VGPU_AQL_H */
