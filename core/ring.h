/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The pointers of a queue as they stand in memory, in units and with a wrap that depend on its
 * kind, become pointers that count up for ever: differences are all that means anything.
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
	u64 rptr, wptr;			/* what comes out */
	u64 raw_read, raw_write;	/* as last loaded */
	u32 ring_bytes;			/* a power of two */
	u8 kind;			/* enum gp_ring_kind */
	bool known;			/* raw_* are valid */
	/*
	 * There is no write pointer to load: it is taken to be the read pointer. That the queue
	 * moves is seen, that it has work is not.
	 */
	bool blind;
};

/*
 * Need the read pointer not be loaded? The write pointer, just loaded, and nothing pending
 * say so.
 */
static inline bool gp_ring_quiet(const struct gp_ring_at *at, u64 raw_write)
{
	return raw_write == at->raw_write && at->rptr == at->wptr && at->known && !at->blind;
}

/* Is what was loaded what was loaded last? Nearly always: then there is nothing to take. */
static inline bool gp_ring_same(const struct gp_ring_at *at, u64 raw_read, u64 raw_write)
{
	return raw_read == at->raw_read && raw_write == at->raw_write && at->known;
}

/* Takes what was loaded; true: something moved since the last time. */
bool gp_ring_take(struct gp_ring_at *at, u64 raw_read, u64 raw_write);

/* Does a queue wait at a packet that begins with @head, so that what is pending is not work? */
bool gp_ring_waits_at(u32 head);

#endif /* GP_CORE_RING_H */
