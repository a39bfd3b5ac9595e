/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Converts the pointers of a queue in memory, whose units and wrap-around depend on its kind, to
 * pointers that only count up. Only differences between them mean anything.
 */
#ifndef GP_CORE_RING_H
#define GP_CORE_RING_H

#include "gp_env.h"

enum gp_ring_kind {
	GP_RING_AQL,		/* pointers count packets, 64 bits */
	GP_RING_PM4,		/* dwords; the read pointer has 32 bits, modulo the ring */
	GP_RING_SDMA,		/* bytes */
};

struct gp_ring_at {
	u64 rptr, wptr;			/* converted */
	u64 raw_read, raw_write;	/* as last loaded */
	u32 ring_bytes;			/* a power of two */
	u8 kind;			/* enum gp_ring_kind */
	bool known;			/* raw_* are valid */
	/*
	 * The write pointer cannot be read, so the read pointer stands in for it. Movement of the
	 * queue is seen, pending work is not.
	 */
	bool blind;
};

/*
 * True if the read pointer need not be loaded: the write pointer did not move and nothing is
 * pending.
 */
static inline bool gp_ring_quiet(const struct gp_ring_at *at, u64 raw_write)
{
	return raw_write == at->raw_write && at->rptr == at->wptr && at->known && !at->blind;
}

/* True if neither pointer moved, which is the usual case. */
static inline bool gp_ring_same(const struct gp_ring_at *at, u64 raw_read, u64 raw_write)
{
	return raw_read == at->raw_read && raw_write == at->raw_write && at->known;
}

/* Takes newly loaded pointers. Returns true if one of them moved. */
bool gp_ring_take(struct gp_ring_at *at, u64 raw_read, u64 raw_write);

/* True if a packet that begins with @head makes its queue wait, so that pending is not work. */
bool gp_ring_waits_at(u32 head);

#endif /* GP_CORE_RING_H */
