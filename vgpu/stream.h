/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the executors of packet streams (sdma.h, pm4_stream.h) share: how they
 * stop, how they compare what they poll, and the atomics of the memory.
 */
#ifndef VGPU_STREAM_H
#define VGPU_STREAM_H

#include "chip.h"

/* Ticks of the device clock, 100 MHz: timestamps in memory. */
#define VGPU_NS_PER_TICK	10

/* Why a stream stopped for good. */
struct vgpu_stop {
	const char *what;	/* a sentence, NULL while it has not stopped */
	bool fault;		/* @address is not mapped; otherwise the bytes were wrong */
	bool write;		/* the access that faulted */
	u64 address;
};

/* The functions of POLL_REGMEM and WAIT_REG_MEM, 3 bits; 7 is no function and never true. */
bool vgpu_compare(u32 function, u64 value, u64 reference);

struct vgpu_atomic {
	u32 op;			/* as in ATOMIC and ATOMIC_MEM: 47 adds 64 bits */
	u64 address;
	u64 value;
	u64 compare;		/* of compare-and-swap */
};
/*
 * The value before in @ret. 64-bit adds are one access; the others are a read
 * and a write, atomic against this device only. 0, -EFAULT, -EINVAL: no such op.
 */
int vgpu_atomic(const struct vgpu_bus *bus, void *ctx, vgpu_space space,
		const struct vgpu_atomic *what, u64 *ret);

#endif /* VGPU_STREAM_H */
