/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Between a stream of PM4 packets (pm4_stream.c) and what they do (pm4_packet.c). */
#ifndef VGPU_PM4_PACKET_H
#define VGPU_PM4_PACKET_H

#include "pm4_stream.h"

enum { PM4_NOP = 0x10, PM4_INDIRECT_BUFFER = 0x3f };

/* The stream with its way to memory and the packet it is at, for the length of one call. */
struct vgpu_pm4_port {
	struct vgpu_pm4 *s;
	const struct vgpu_bus *bus;
	void *ctx;
	u64 now_ns;
	u32 length;		/* dwords */
	u32 dw[VGPU_PM4_DWORDS];	/* the first dwords, the others are 0 */
};

static inline u64 pm4_u64(const u32 *dw)
{
	return (u64)dw[1] << 32 | dw[0];
}

/* Stops the stream for good and reports it once. Returns -EINVAL. */
int vgpu_pm4_bad(struct vgpu_pm4_port *p, const char *what);
int vgpu_pm4_get(struct vgpu_pm4_port *p, u64 address, void *to, u32 n);
/* Reads dwords of the stream; @from counts from the current packet. */
int vgpu_pm4_stream(struct vgpu_pm4_port *p, u32 from, u32 *to, u32 n);

/*
 * Do what the packet says, other than NOP and INDIRECT_BUFFER. IDLE: done, pass
 * it. DISPATCH: the same. DRAIN, POLLING: not done, look again. ERROR.
 */
enum vgpu_pm4_state vgpu_pm4_execute(struct vgpu_pm4_port *p);

#endif /* VGPU_PM4_PACKET_H */
