/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The executor of one user SDMA queue: packets of SDMA 4.4.2 on a ring.
 *
 *	vgpu_sdma_init()	the queue was made: once, then the struct is kept
 *	vgpu_sdma_start()	it got its engine, now
 *	vgpu_sdma_wptr()	its write pointer moved (doorbell, or read when mapped)
 *	vgpu_sdma_run()		at sdma.next_ns, and now and then while it polls
 *	vgpu_sdma_stop()	it lost its engine, now
 *
 * A packet takes SDMA_PACKET_NS and then its bytes at SDMA_BANDWIDTH, in pieces.
 * A piece is moved when its time is over: stopped in a piece, the queue has
 * moved nothing of it and does it later; what was moved is never moved again.
 * The read pointer passes a packet when the packet is complete.
 *
 * SDMA moves bytes up to the next page boundary of the source or of the destination. So an
 * access needs one translation, and a fault names the first byte that is not there.
 */
#ifndef VGPU_SDMA_H
#define VGPU_SDMA_H

#include "stream.h"

enum {
	VGPU_SDMA_DWORDS	= 16,		/* the longest packet without its data: 13 */
	VGPU_SDMA_PIECE		= 64 * 1024,	/* bytes moved at once: an unmap waits for none */
	VGPU_SDMA_STEPS		= 64,		/* packets and pieces per call, at most */
	VGPU_SDMA_SHARE		= 128,		/* limit of @work per call; a piece may exceed it */
	VGPU_SDMA_PAGE		= 4096,		/* of the GPU: what one translation covers */
};

enum vgpu_sdma_state {
	VGPU_SDMA_IDLE,		/* nothing to do before the write pointer moves */
	VGPU_SDMA_BUSY,		/* does something at next_ns, which may be now */
	VGPU_SDMA_POLLING,	/* waits for a word of memory: looked at once per run */
	VGPU_SDMA_STOPPED,	/* has no engine */
	VGPU_SDMA_ERROR,	/* for good, see .stop; reported once */
};

struct vgpu_sdma_args {
	const struct vgpu_facts *facts;
	vgpu_space space;	/* may be changed in the struct while stopped */
	u64 base;		/* of the ring */
	u32 size;		/* bytes, a power of two, at least 256 */
	u64 rptr;		/* bytes, not wrapped */
	/*
	 * VGPU_SDMA_PAGE bytes for the bytes under way, since a page is too much for a
	 * kernel's stack. Only used inside vgpu_sdma_run(): queues may share it.
	 */
	u64 *page;
};

struct vgpu_sdma {
	/* the caller's to read; space, engine, vmid and pasid also to write */
	vgpu_space space;
	u64 rptr, wptr;		/* bytes, not wrapped */
	u64 next_ns;		/* VGPU_NEVER: not by itself */
	struct vgpu_stop stop;
	u8 state;		/* enum vgpu_sdma_state */
	u8 engine, vmid;	/* for VGPU_IRQ_SDMA_TRAP */
	u16 pasid;
	u64 copies, others;	/* packets completed */
	u64 bytes;		/* moved, by copies, fills and writes */
	u64 work;		/* what it took: packets, pieces and parts of pages */

	/* its own */
	u64 base;
	u8 *page;		/* the caller's */
	u32 size;
	u32 length;		/* dwords of the packet under way with its data; 0: none */
	u32 dw[VGPU_SDMA_DWORDS];	/* the packet without its data */
	u64 total, done;	/* bytes it moves, and has moved */
	u32 skip;		/* dwords for COND_EXE to skip */
	bool in_ib;		/* packets come from an indirect buffer */
	u64 ib;			/* address of its next dword */
	u32 ib_left;		/* dwords */
	u64 at_ns;		/* what came before was over */
	u64 packet_ns, bandwidth;
};

/* 0, -EINVAL for a ring that cannot be. */
int vgpu_sdma_init(struct vgpu_sdma *s, const struct vgpu_sdma_args *args);
void vgpu_sdma_start(struct vgpu_sdma *s, u64 now_ns);
void vgpu_sdma_stop(struct vgpu_sdma *s);
/* Taken in every state. Behind the read pointer or a ring ahead of it is an error at run. */
void vgpu_sdma_wptr(struct vgpu_sdma *s, u64 wptr, u64 now_ns);
/*
 * Do what is due until @now_ns, at most VGPU_SDMA_STEPS or VGPU_SDMA_SHARE of it; the
 * new state. Takes a call more when next_ns is still not after @now_ns.
 */
enum vgpu_sdma_state vgpu_sdma_run(struct vgpu_sdma *s, const struct vgpu_bus *bus, void *ctx,
				   u64 now_ns);

#endif /* VGPU_SDMA_H */
