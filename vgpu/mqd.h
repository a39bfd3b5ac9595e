/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * MQDs of gfx 9: what a queue is when it is not on the GPU. Offsets are in
 * dwords. Dword 128 + i of a compute MQD is register CP_MQD_BASE_ADDR + i.
 */
#ifndef VGPU_MQD_H
#define VGPU_MQD_H

#include "gp_env.h"

enum {
	VGPU_MQD_DW			= 512,
	VGPU_MQD_PAGE			= 4096,	/* the control stack follows it */

	VGPU_MQD_THREAD_MGMT_SE0	= 23,
	VGPU_MQD_THREAD_MGMT_SE1	= 24,
	VGPU_MQD_THREAD_MGMT_SE2	= 26,
	VGPU_MQD_THREAD_MGMT_SE3	= 27,
	VGPU_MQD_REGISTERS		= 128,
	VGPU_MQD_BASE_LO		= 128,
	VGPU_MQD_ACTIVE			= 130,
	VGPU_MQD_VMID			= 131,
	VGPU_MQD_PIPE_PRIORITY		= 133,
	VGPU_MQD_QUEUE_PRIORITY		= 134,
	VGPU_MQD_PQ_BASE_LO		= 136,	/* address >> 8 */
	VGPU_MQD_PQ_BASE_HI		= 137,
	VGPU_MQD_PQ_RPTR		= 138,	/* dwords */
	VGPU_MQD_RPTR_REPORT_LO		= 139,
	VGPU_MQD_RPTR_REPORT_HI		= 140,
	VGPU_MQD_WPTR_POLL_LO		= 141,
	VGPU_MQD_WPTR_POLL_HI		= 142,
	VGPU_MQD_DOORBELL_CONTROL	= 143,
	VGPU_MQD_PQ_CONTROL		= 145,
	VGPU_MQD_CTX_SAVE_LO		= 171,
	VGPU_MQD_CTX_SAVE_HI		= 172,
	VGPU_MQD_CNTL_STACK_OFFSET	= 174,
	VGPU_MQD_CNTL_STACK_SIZE	= 175,
	VGPU_MQD_WG_STATE_OFFSET	= 176,
	VGPU_MQD_CTX_SAVE_SIZE		= 177,
	VGPU_MQD_PQ_WPTR_LO		= 182,
	VGPU_MQD_PQ_WPTR_HI		= 183,
	VGPU_MQD_TARGET_XCC		= 225,	/* of a PM4 queue */
	VGPU_MQD_STRIDE			= 226,	/* bytes from one XCC's copy to the next */
	/*
	 * Reserved: the driver clears it when it makes a queue and never looks
	 * at it again, so what the chip finds here is what it left itself.
	 */
	VGPU_MQD_HANDLE			= 236,
	VGPU_MQD_FAILED_DOORBELL	= 240,	/* 16 words, HIQ: queues that were not preempted */
	VGPU_MQD_FAILED_DOORBELLS	= 16,

	VGPU_SDMA_MQD_DW		= 128,
	VGPU_SDMA_MQD_RB_CNTL		= 0,	/* 6:1 size as a power of two of dwords */
	VGPU_SDMA_MQD_BASE_LO		= 1,	/* address >> 8 */
	VGPU_SDMA_MQD_BASE_HI		= 2,
	VGPU_SDMA_MQD_RPTR_LO		= 3,	/* bytes */
	VGPU_SDMA_MQD_RPTR_HI		= 4,
	VGPU_SDMA_MQD_WPTR_LO		= 5,
	VGPU_SDMA_MQD_WPTR_HI		= 6,
	VGPU_SDMA_MQD_RPTR_ADDR_HI	= 8,
	VGPU_SDMA_MQD_RPTR_ADDR_LO	= 9,
	VGPU_SDMA_MQD_DOORBELL_OFFSET	= 22,
	VGPU_SDMA_MQD_HANDLE		= 124,	/* reserved too */
	VGPU_SDMA_MQD_ENGINE		= 126,
	VGPU_SDMA_MQD_QUEUE		= 127,
};

#define VGPU_DOORBELL_EN	0x40000000u
#define VGPU_PQ_NO_UPDATE_RPTR	0x08000000u

/* pq_control: dwords of the ring */
static inline u64 vgpu_pq_dwords(u32 control)
{
	return 2ull << (control & 0x3f);
}

/* pq_control: the write pointer counts packets of 64 bytes */
static inline bool vgpu_pq_is_aql(u32 control)
{
	return (control >> 25 & 3) == 2;
}

#endif /* VGPU_MQD_H */
