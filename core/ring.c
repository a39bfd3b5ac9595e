// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ring.h"

/* Packet types of an AQL queue (HSA), in the first byte. */
enum {
	VENDOR			= 0,
	BARRIER_AND		= 3,
	BARRIER_OR		= 5,
	/* AMD's vendor packet that waits for a value; the third byte has this format. */
	AMD_BARRIER_VALUE	= 2,
};

/* The distance from @from to @to of a pointer that counts up or wraps at the ring's end. */
static u64 progress(u64 from, u64 to, u64 ring)
{
	return to >= from ? to - from : (to - from) & (ring - 1);
}

static void take_wrapped(struct gp_ring_at *at, u64 raw_read, u64 raw_write)
{
	u64 ring = at->kind == GP_RING_PM4 ? at->ring_bytes / 4 : at->ring_bytes;
	u64 pending = (raw_write - raw_read) & (ring - 1), rptr;

	if (!at->known) {
		at->wptr = raw_write < pending ? raw_write + ring : raw_write;
		at->rptr = at->wptr - pending;
		return;
	}
	at->wptr += progress(at->raw_write, raw_write, ring);
	rptr = at->wptr - pending;
	/* Never go backwards: the two pointers were not read at the same moment. */
	if (rptr > at->rptr)
		at->rptr = rptr;
}

bool gp_ring_take(struct gp_ring_at *at, u64 raw_read, u64 raw_write)
{
	u64 rptr = at->rptr, wptr = at->wptr;
	bool moved;

	if (at->kind == GP_RING_PM4)
		raw_read = (u32)raw_read;
	if (at->kind == GP_RING_AQL) {
		at->wptr = raw_write;
		at->rptr = raw_read < raw_write ? raw_read : raw_write;
	} else if (!at->blind) {
		take_wrapped(at, raw_read, raw_write);
	} else {
		at->rptr = at->known ? rptr + progress(at->raw_read, raw_read, at->ring_bytes) :
				       raw_read;
		at->wptr = at->rptr;
	}
	moved = at->known && (at->rptr != rptr || at->wptr != wptr);
	at->raw_read = raw_read;
	at->raw_write = raw_write;
	at->known = true;
	return moved;
}

bool gp_ring_waits_at(u32 head)
{
	switch (head & 0xff) {
	case BARRIER_AND:
	case BARRIER_OR:
		return true;
	case VENDOR:
		return (head >> 16 & 0xff) == AMD_BARRIER_VALUE;
	}
	return false;
}
