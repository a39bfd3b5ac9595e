// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Writes a Perfetto trace.
 *
 * Numbers of fields and enums are those of protos/perfetto/trace/ in Perfetto's sources
 * (trace_packet.proto, clock_snapshot.proto, track_event/), which promises to keep them.
 */
#include "perfetto.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11,
       PACKET_FLAGS = 13, PACKET_CLOCK = 58, PACKET_DESCRIPTOR = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { EVENT_ARG = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_VALUE = 30,
       EVENT_FLOW = 47, EVENT_FLOW_END = 48 };
enum { ARG_NUMBER = 3, ARG_TEXT = 6, ARG_NAME = 10 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6 };
enum { STATE_CLEARED = 1 };	/* the first packet of a sequence says so */

/* Other writers, whose traces may be put behind ours, use small numbers or hashes of 64 bits. */
enum { SEQUENCE = 0x67707265, FIRST_TRACK = 0x67707265 };

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* Names are cut so that every message fits. */
enum { NAME_MAX_BYTES = 120, MESSAGE_BYTES = 4096 };

struct message {
	u8 bytes[MESSAGE_BYTES];
	size_t n;
};

static_assert(GP_PERFETTO_ARGS * 2 * (NAME_MAX_BYTES + 16) + GP_PERFETTO_FLOWS * 10 + 256 <
	      MESSAGE_BYTES, "the largest event fits");

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

static void put_fixed64(struct message *m, u32 field, u64 value)
{
	put_varint(m, field << 3 | WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		m->bytes[m->n++] = (u8)(value >> 8 * i);
}

static void put_bytes(struct message *m, u32 field, const void *bytes, size_t n)
{
	put_varint(m, field << 3 | WIRE_BYTES);
	put_varint(m, n);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void put_message(struct message *m, u32 field, const struct message *inner)
{
	put_bytes(m, field, inner->bytes, inner->n);
}

static void put_name(struct message *m, u32 field, const char *name)
{
	size_t n = strlen(name);

	put_bytes(m, field, name, n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES);
}

static void write_packet(struct gp_perfetto *p, struct message *packet)
{
	struct message head;

	put_number(packet, PACKET_SEQUENCE, SEQUENCE);
	if (!p->begun)
		put_number(packet, PACKET_FLAGS, STATE_CLEARED);
	p->begun = true;
	head.n = 0;
	put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
	put_varint(&head, packet->n);
	fwrite(head.bytes, 1, head.n, p->file);
	fwrite(packet->bytes, 1, packet->n, p->file);
}

/* ---- clocks ---- */

static void put_clock(struct message *snapshot, u32 id, clockid_t clock)
{
	struct message m;
	struct timespec t;

	clock_gettime(clock, &t);
	m.n = 0;
	put_number(&m, CLOCK_ID, id);
	put_number(&m, CLOCK_TIME, (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec);
	put_message(snapshot, SNAPSHOT_CLOCK, &m);
}

static void write_clocks(struct gp_perfetto *p)
{
	struct message snapshot, packet;

	snapshot.n = packet.n = 0;
	put_clock(&snapshot, BOOTTIME, CLOCK_BOOTTIME);
	put_clock(&snapshot, MONOTONIC, CLOCK_MONOTONIC);
	put_clock(&snapshot, REALTIME, CLOCK_REALTIME);
	put_number(&snapshot, SNAPSHOT_PRIMARY, BOOTTIME);
	put_message(&packet, PACKET_CLOCKS, &snapshot);
	write_packet(p, &packet);
}

/* ---- tracks ---- */

static void write_track(struct gp_perfetto *p, u64 uuid, const struct gp_perfetto_track *t,
			const char *process)
{
	struct message track, inner, packet;

	track.n = inner.n = packet.n = 0;
	put_number(&track, TRACK_UUID, uuid);
	put_name(&track, TRACK_NAME, t->name);
	if (t->parent)
		put_number(&track, TRACK_PARENT, t->parent);
	if (t->kind == GP_PERFETTO_COUNTER)
		put_bytes(&track, TRACK_COUNTER, "", 0);
	if (t->pid) {
		put_number(&inner, PROCESS_PID, t->pid);
		put_name(&inner, PROCESS_NAME, process);
		put_message(&track, TRACK_PROCESS, &inner);
	}
	put_message(&packet, PACKET_DESCRIPTOR, &track);
	write_packet(p, &packet);
}

static bool same_track(const struct gp_perfetto_track *a, const struct gp_perfetto_track *b)
{
	return a->parent == b->parent && a->kind == b->kind && !strcmp(a->name, b->name);
}

/* @process: what the process is called, for a track of one. */
static u64 find_or_add(struct gp_perfetto *p, const struct gp_perfetto_track *want,
		       const char *process)
{
	for (u32 i = 0; i < p->nr; i++) {
		if (same_track(&p->track[i], want))
			return FIRST_TRACK + i;
	}
	if (p->nr == p->room) {
		u32 room = p->room ? p->room * 2 : 64;
		struct gp_perfetto_track *grown = realloc(p->track, room * sizeof(*grown));

		if (!grown)
			return 0;
		p->track = grown;
		p->room = room;
	}
	p->track[p->nr] = *want;
	write_track(p, FIRST_TRACK + p->nr, want, process);
	return FIRST_TRACK + p->nr++;
}

u64 gp_perfetto_process(struct gp_perfetto *p, u32 pid, const char *name)
{
	struct gp_perfetto_track want = { .kind = GP_PERFETTO_PROCESS, .pid = pid };

	if (pid)
		snprintf(want.name, sizeof(want.name), "%.60s (%u)", name, pid);
	else
		snprintf(want.name, sizeof(want.name), "%.60s", name);
	return find_or_add(p, &want, name);
}

u64 gp_perfetto_track(struct gp_perfetto *p, u64 parent, enum gp_perfetto_kind kind,
		      const char *name)
{
	struct gp_perfetto_track want = { .parent = parent, .kind = kind };

	snprintf(want.name, sizeof(want.name), "%s", name);
	return find_or_add(p, &want, NULL);
}

u64 gp_perfetto_lane(struct gp_perfetto *p, u64 parent, const char *name, u64 begin_ns, u64 end_ns)
{
	char lane[GP_PERFETTO_NAME];

	for (u32 i = 1; i <= GP_PERFETTO_LANES; i++) {
		struct gp_perfetto_track *t;
		u64 track;

		snprintf(lane, sizeof(lane), i == 1 ? "%.70s" : "%.70s %u", name, i);
		track = gp_perfetto_track(p, parent, GP_PERFETTO_SLICES, lane);
		if (!track)
			break;
		t = &p->track[track - FIRST_TRACK];
		if (t->end_ns > begin_ns)
			continue;
		t->end_ns = end_ns;
		return track;
	}
	return 0;
}

/* ---- events ---- */

u64 gp_perfetto_flows(struct gp_perfetto *p, u64 nr)
{
	u64 first = ((u64)SEQUENCE << 32) + p->flows + 1;

	p->flows += nr;
	return first;
}

static void put_arg(struct message *event, const struct gp_perfetto_arg *arg)
{
	struct message m;

	m.n = 0;
	put_name(&m, ARG_NAME, arg->name);
	if (arg->text)
		put_name(&m, ARG_TEXT, arg->text);
	else
		put_number(&m, ARG_NUMBER, arg->number);
	put_message(event, EVENT_ARG, &m);
}

static void put_head(struct message *event, u64 track, u32 type)
{
	event->n = 0;
	put_number(event, EVENT_TYPE, type);
	put_number(event, EVENT_TRACK, track);
}

static void write_event(struct gp_perfetto *p, u64 at_ns, const struct message *event)
{
	struct message packet;

	packet.n = 0;
	put_number(&packet, PACKET_TIMESTAMP, at_ns);
	if (p->clock == GP_PERFETTO_MONOTONIC)
		put_number(&packet, PACKET_CLOCK, MONOTONIC);
	put_message(&packet, PACKET_EVENT, event);
	write_packet(p, &packet);
}

static void write_named(struct gp_perfetto *p, u32 type, const struct gp_perfetto_event *e)
{
	struct message event;

	put_head(&event, e->track, type);
	put_name(&event, EVENT_NAME, e->name);
	for (u32 i = 0; i < GP_PERFETTO_ARGS && e->arg[i].name; i++)
		put_arg(&event, &e->arg[i]);
	for (u64 i = 0; i < e->nr_flows && i < GP_PERFETTO_FLOWS; i++)
		put_fixed64(&event, EVENT_FLOW, e->flow + i);
	if (e->flow_end)
		put_fixed64(&event, EVENT_FLOW_END, e->flow_end);
	write_event(p, e->at_ns, &event);
}

void gp_perfetto_begin(struct gp_perfetto *p, const struct gp_perfetto_event *e)
{
	if (!e->track) {
		p->dropped++;
		return;
	}
	p->slices++;
	write_named(p, SLICE_BEGIN, e);
}

void gp_perfetto_end(struct gp_perfetto *p, u64 track, u64 at_ns)
{
	struct message event;

	put_head(&event, track, SLICE_END);
	if (track)
		write_event(p, at_ns, &event);
}

void gp_perfetto_instant(struct gp_perfetto *p, const struct gp_perfetto_event *e)
{
	if (e->track)
		write_named(p, INSTANT, e);
	else
		p->dropped++;
}

void gp_perfetto_counter(struct gp_perfetto *p, u64 track, u64 value, u64 at_ns)
{
	struct message event;

	put_head(&event, track, COUNTER);
	put_number(&event, EVENT_VALUE, value);
	if (track)
		write_event(p, at_ns, &event);
}

void gp_perfetto_init(struct gp_perfetto *p, FILE *file, enum gp_perfetto_clock clock)
{
	memset(p, 0, sizeof(*p));
	p->file = file;
	p->clock = clock;
	if (clock == GP_PERFETTO_MONOTONIC)
		write_clocks(p);
}

void gp_perfetto_fini(struct gp_perfetto *p)
{
	free(p->track);
	p->track = NULL;
}
