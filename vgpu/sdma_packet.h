/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Between the queue (sdma.c) and what its packets do (sdma_packet.c).
 *
 * Layouts are those of SDMA 4.x; counts of copies have 30 bits since 4.4.0, where
 * older programs leave the upper ones 0. Fences are 32 bits, endian swaps and
 * encryption are not looked at.
 */
#ifndef VGPU_SDMA_PACKET_H
#define VGPU_SDMA_PACKET_H

#include "sdma.h"

enum {
	OP_NOP = 0, OP_COPY = 1, OP_WRITE = 2, OP_INDIRECT = 4, OP_FENCE = 5, OP_TRAP = 6,
	OP_POLL = 8, OP_COND_EXE = 9, OP_ATOMIC = 10, OP_FILL = 11, OP_TIMESTAMP = 13,
	OP_SRBM_WRITE = 14, OP_PRE_EXE = 15,
};
enum { INDIRECT_DWORDS = 6 };

/* The queue with its way to memory, for the length of one call. */
struct vgpu_sdma_port {
	struct vgpu_sdma *s;
	const struct vgpu_bus *bus;
	void *ctx;
};

static inline u32 op_of(const struct vgpu_sdma *s)
{
	return s->dw[0] & 0xff;
}

static inline u32 sub_op_of(const struct vgpu_sdma *s)
{
	return s->dw[0] >> 8 & 0xff;
}

static inline u64 address_at(const struct vgpu_sdma *s, u32 dword)
{
	return (u64)s->dw[dword + 1] << 32 | s->dw[dword];
}

/* Stop the queue for good, say so once: -EINVAL. */
int vgpu_sdma_bad(struct vgpu_sdma_port *p, const char *what);
int vgpu_sdma_get(struct vgpu_sdma_port *p, u64 address, void *to, u32 n);
/* Bytes of the stream, @from on counted from the packet under way. */
int vgpu_sdma_stream(struct vgpu_sdma_port *p, u64 from, void *to, u32 n);

/* Dwords of the packet that dw[0] begins, without its data; 0: no packet. */
u32 vgpu_sdma_fixed(const struct vgpu_sdma *s);
/* Dwords of its data, from the others of dw[]. */
u32 vgpu_sdma_data(const struct vgpu_sdma *s);
/* Bytes it moves in all, and in the next piece. */
u64 vgpu_sdma_total(const struct vgpu_sdma *s);
u64 vgpu_sdma_piece(const struct vgpu_sdma *s);

/* All return 0 or an error with the queue stopped. Do the next piece: */
int vgpu_sdma_move(struct vgpu_sdma_port *p);
/* A poll: 1 if its condition holds. */
int vgpu_sdma_poll(struct vgpu_sdma_port *p);
/* Any other packet that moves nothing. */
int vgpu_sdma_execute(struct vgpu_sdma_port *p);

#endif /* VGPU_SDMA_PACKET_H */
