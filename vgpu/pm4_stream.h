/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The executor of a stream of PM4 packets of one user compute queue: the ring of
 * a PM4 queue, or the indirect buffer an AQL vendor packet jumps to.
 *
 * It takes no time of its own: it goes on until it needs its caller.
 *
 *	vgpu_pm4_init()		the queue was made: once, then the struct is kept
 *	vgpu_pm4_wptr()		PM4 queue: the write pointer moved
 *	vgpu_pm4_aql()		AQL queue: a vendor packet is next
 *	vgpu_pm4_run()		until it says IDLE
 *	vgpu_pm4_drained()	every dispatch it gave is complete
 *
 * Nothing needs to be said when the queue loses its slot: the caller no longer
 * runs it, and goes on later.
 */
#ifndef VGPU_PM4_STREAM_H
#define VGPU_PM4_STREAM_H

#include "stream.h"

enum {
	VGPU_PM4_NESTING	= 2,	/* indirect buffers in indirect buffers */
	VGPU_PM4_CHAIN		= 64,	/* jumps from buffer to buffer per packet of the ring */
	VGPU_PM4_STEPS		= 256,	/* packets per call, at most */
	VGPU_PM4_DWORDS		= 12,	/* the longest packet without its data */
	VGPU_PM4_SH_FIRST	= 0x200,	/* COMPUTE_DISPATCH_INITIATOR in SET_SH_REG */
	VGPU_PM4_SH_NR		= 0x50,		/* up to the last COMPUTE_USER_DATA */
};

enum vgpu_pm4_state {
	VGPU_PM4_IDLE,		/* nothing left to read */
	VGPU_PM4_DISPATCH,	/* launch .packet, then run again */
	VGPU_PM4_DRAIN,		/* run again after vgpu_pm4_drained() */
	VGPU_PM4_POLLING,	/* waits for a word of memory, checked once per run */
	VGPU_PM4_MORE,		/* used up its share; run again after other queues */
	VGPU_PM4_ERROR,		/* stopped for good, see .stop; reported once */
};

struct vgpu_pm4_args {
	vgpu_space space;
	u64 base;		/* of the ring */
	u32 size;		/* dwords, a power of two; 0: no ring, indirect buffers only */
	u64 rptr;		/* dwords, not wrapped */
	u64 unknown_ns;		/* run time of a workgroup whose kernel cannot be executed */
};

struct vgpu_pm4_buffer {
	u64 at;			/* address of the next dword */
	u32 left;		/* dwords */
};

struct vgpu_pm4 {
	/* the caller's to read; space, vmid, pasid and xcc also to write */
	vgpu_space space;
	u64 rptr, wptr;		/* dwords, not wrapped: in memory the read pointer is modulo size */
	struct vgpu_packet packet;	/* of VGPU_PM4_DISPATCH */
	bool time_only;		/* .packet is a kernel that cannot be executed */
	struct vgpu_stop stop;
	u8 state;		/* enum vgpu_pm4_state */
	u8 vmid, xcc;		/* for VGPU_IRQ_END_OF_PIPE */
	u16 pasid;
	u64 packets;		/* completed */

	/* private */
	u64 base;
	u32 size;
	u64 unknown_ns;
	bool undrained;		/* a dispatch was handed out and may not be complete */
	bool said_register;	/* writes to registers were reported */
	u8 depth;		/* of ib[] in use */
	u8 chained;
	u32 held;		/* dwords of the packet on the ring that ib[] belongs to */
	struct vgpu_pm4_buffer ib[VGPU_PM4_NESTING];
	u64 atomic_return;	/* of the last ATOMIC_MEM, for COPY_DATA */
	u32 sh[VGPU_PM4_SH_NR];	/* COMPUTE_* as SET_SH_REG left them */
};

/* 0, or -EINVAL for an invalid ring. */
int vgpu_pm4_init(struct vgpu_pm4 *s, const struct vgpu_pm4_args *args);
/* Behind the read pointer or more than a ring ahead of it is an error at run. */
void vgpu_pm4_wptr(struct vgpu_pm4 *s, u64 wptr);
enum vgpu_pm4_state vgpu_pm4_run(struct vgpu_pm4 *s, const struct vgpu_bus *bus, void *ctx,
				 u64 now_ns);
void vgpu_pm4_drained(struct vgpu_pm4 *s);

/* AMD's formats of a vendor-specific AQL packet (type 0): bits 23:16 of the first dword. */
enum vgpu_aql_format { VGPU_AQL_PM4_IB = 1, VGPU_AQL_BARRIER_VALUE = 2 };
static inline u32 vgpu_aql_format(const u32 packet[16])
{
	return packet[0] >> 16 & 0xff;
}

/*
 * Take the indirect buffer of a PM4_IB packet; @drained: no dispatch before it is
 * under way. The stream is idle when all of it is done: then the caller completes
 * the packet. -EINVAL: no such jump in the packet; -EBUSY: not idle.
 */
int vgpu_pm4_aql(struct vgpu_pm4 *s, const u32 packet[16], bool drained);

/* A BARRIER_VALUE packet: 1 if its condition holds, 0 if not yet, -EFAULT, -EINVAL. */
int vgpu_aql_barrier_value(const u32 packet[16], const struct vgpu_bus *bus, void *ctx,
			   vgpu_space space);

#endif /* VGPU_PM4_STREAM_H */
