// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A timeline as a Perfetto trace.
 *
 * Numbers of fields and enums are those of protos/perfetto/trace/ in Perfetto's
 * sources (trace_packet.proto, track_event/{track_event,track_descriptor}.proto),
 * which promises to keep them.
 */
#include "pftrace.h"

#include <string.h>

enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_FLAGS = 13,
       PACKET_DESCRIPTOR = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_COUNTER = 8 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_VALUE = 30 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1 };	/* the first packet of a sequence says so */
enum { SEQUENCE = 1 };		/* we are the only writer */

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* Names are cut so that every message fits. */
enum { NAME_MAX_BYTES = 120, MESSAGE_BYTES = 256 };

struct message {
	u8 bytes[MESSAGE_BYTES];
	size_t n;
};

static void put_varint(struct message *m, u64 value)
{
	while (value >= 0x80) {
		m->bytes[m->n++] = (u8)(value | 0x80);
		value >>= 7;
	}
	m->bytes[m->n++] = (u8)value;
}

static void put_number(struct message *m, u32 field, u64 value)
{
	put_varint(m, field << 3 | WIRE_VARINT);
	put_varint(m, value);
}

static void put_bytes(struct message *m, u32 field, const void *bytes, size_t n)
{
	put_varint(m, field << 3 | WIRE_BYTES);
	put_varint(m, n);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void put_name(struct message *m, u32 field, const char *name)
{
	put_bytes(m, field, name, strnlen(name, NAME_MAX_BYTES));
}

static void write_packet(struct gp_pftrace *p, struct message *packet)
{
	struct message head = { .n = 0 };

	put_number(packet, PACKET_SEQUENCE, SEQUENCE);
	if (!p->begun)
		put_number(packet, PACKET_FLAGS, STATE_CLEARED);
	p->begun = true;
	put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
	put_varint(&head, packet->n);
	fwrite(head.bytes, 1, head.n, p->file);
	fwrite(packet->bytes, 1, packet->n, p->file);
}

static void write_descriptor(struct gp_pftrace *p, u32 lane, const struct gp_lane_want *want)
{
	struct message track = { .n = 0 }, packet = { .n = 0 };

	put_number(&track, TRACK_UUID, lane);
	put_name(&track, TRACK_NAME, want->track);
	if (want->counter)
		put_bytes(&track, TRACK_COUNTER, "", 0);
	put_bytes(&packet, PACKET_DESCRIPTOR, track.bytes, track.n);
	write_packet(p, &packet);
}

/* The lane for @want, described to the reader if it is new; 0: leave it out. */
static u32 lane_for(struct gp_pftrace *p, const struct gp_lane_want *want)
{
	bool is_new;
	u32 lane = gp_tracks_lane(&p->tracks, want, &is_new);

	if (is_new)
		write_descriptor(p, lane, want);
	return lane;
}

static void write_event(struct gp_pftrace *p, u64 at_ns, const struct message *event)
{
	struct message packet = { .n = 0 };

	put_number(&packet, PACKET_TIMESTAMP, at_ns);
	put_bytes(&packet, PACKET_EVENT, event->bytes, event->n);
	write_packet(p, &packet);
}

static struct message event_on(u32 lane, u32 type, const char *name)
{
	struct message event = { .n = 0 };

	put_number(&event, EVENT_TYPE, type);
	put_number(&event, EVENT_TRACK, lane);
	if (name)
		put_name(&event, EVENT_NAME, name);
	return event;
}

static void span(void *ctx, const char *track, const char *name, u64 begin_ns, u64 end_ns)
{
	struct gp_lane_want want = { track, false, begin_ns, end_ns };
	struct gp_pftrace *p = ctx;
	struct message begin, end;
	u32 lane = lane_for(p, &want);

	if (!lane)
		return;
	begin = event_on(lane, SLICE_BEGIN, name);
	end = event_on(lane, SLICE_END, NULL);
	write_event(p, begin_ns, &begin);
	write_event(p, end_ns, &end);
}

static void instant(void *ctx, const char *track, const char *name, u64 at_ns)
{
	struct gp_lane_want want = { track, false, at_ns, at_ns };
	struct gp_pftrace *p = ctx;
	struct message event;
	u32 lane = lane_for(p, &want);

	if (!lane)
		return;
	event = event_on(lane, INSTANT, name);
	write_event(p, at_ns, &event);
}

static void counter(void *ctx, const char *track, u64 value, u64 at_ns)
{
	struct gp_lane_want want = { track, true, at_ns, at_ns };
	struct gp_pftrace *p = ctx;
	struct message event;
	u32 lane = lane_for(p, &want);

	if (!lane)
		return;
	event = event_on(lane, COUNTER, NULL);
	put_number(&event, EVENT_VALUE, value);
	write_event(p, at_ns, &event);
}

void gp_pftrace_init(struct gp_pftrace *p, FILE *file)
{
	memset(p, 0, sizeof(*p));
	p->file = file;
}

struct gp_timeline gp_pftrace_timeline(struct gp_pftrace *p)
{
	return (struct gp_timeline){ p, span, instant, counter };
}
