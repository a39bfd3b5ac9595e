// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Timelines: what is written is read back, the Perfetto trace with a small
 * protobuf decoder of our own, the Chrome trace with jansson.
 */
#include "gp_test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/seat.h"
#include "sim/states.h"
#include "trace/chrome.h"
#include "trace/pftrace.h"
#include "trace/tracefile.h"

/* ---- the decoder ---- */

struct bytes {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number;
	bool is_bytes;
	uint64_t value;		/* or how many bytes */
	const uint8_t *bytes;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		EXPECT(b->at < b->end);
		byte = *b->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	fail_msg("a varint of more than ten bytes");
	return 0;
}

static bool next(struct bytes *b, struct field *f)
{
	uint64_t key;

	if (b->at == b->end)
		return false;
	key = varint(b);
	f->number = (uint32_t)(key >> 3);
	f->is_bytes = (key & 7) == 2;
	EXPECT((key & 7) == 0 || (key & 7) == 2);
	f->value = varint(b);
	if (f->is_bytes) {
		EXPECT(f->value <= (uint64_t)(b->end - b->at));
		f->bytes = b->at;
		b->at += f->value;
	}
	return true;
}

/* What we read of one TracePacket; numbers as in Perfetto's .proto files. */
struct packet {
	bool is_track, is_event, is_counter;
	uint64_t timestamp, sequence, flags;
	uint64_t uuid, type, track, value;
	char name[256];
};

static void read_name(struct packet *p, const struct field *f)
{
	EXPECT(f->is_bytes && f->value < sizeof(p->name));
	memcpy(p->name, f->bytes, f->value);
	p->name[f->value] = 0;
}

static void read_track(struct packet *p, struct bytes b)
{
	struct field f;

	p->is_track = true;
	while (next(&b, &f)) {
		if (f.number == 1)
			p->uuid = f.value;
		else if (f.number == 2)
			read_name(p, &f);
		else if (f.number == 8)
			p->is_counter = true;
		else
			fail_msg("field %u in a TrackDescriptor", f.number);
	}
}

static void read_event(struct packet *p, struct bytes b)
{
	struct field f;

	p->is_event = true;
	while (next(&b, &f)) {
		if (f.number == 9)
			p->type = f.value;
		else if (f.number == 11)
			p->track = f.value;
		else if (f.number == 23)
			read_name(p, &f);
		else if (f.number == 30)
			p->value = f.value;
		else
			fail_msg("field %u in a TrackEvent", f.number);
	}
}

static void read_packet(struct packet *p, struct bytes b)
{
	struct field f;

	while (next(&b, &f)) {
		struct bytes inner = { NULL, NULL };

		if (f.is_bytes)
			inner = (struct bytes){ f.bytes, f.bytes + f.value };
		if (f.number == 8)
			p->timestamp = f.value;
		else if (f.number == 10)
			p->sequence = f.value;
		else if (f.number == 13)
			p->flags = f.value;
		else if (f.number == 60)
			read_track(p, inner);
		else if (f.number == 11)
			read_event(p, inner);
		else
			fail_msg("field %u in a TracePacket", f.number);
	}
}

enum { PACKETS_MAX = 256 };

/* A trace being written, then read. */
struct story {
	char *text;
	size_t size;
	FILE *file;
	struct gp_pftrace trace;
	struct gp_timeline t;
	struct packet packet[PACKETS_MAX];
	int nr;
};

static struct story *begin(void)
{
	struct story *s = calloc(1, sizeof(*s));

	EXPECT(s);
	s->file = open_memstream(&s->text, &s->size);
	EXPECT(s->file);
	gp_pftrace_init(&s->trace, s->file);
	s->t = gp_pftrace_timeline(&s->trace);
	return s;
}

static void read_back(struct story *s)
{
	struct bytes b;
	struct field f;

	fclose(s->file);
	b = (struct bytes){ (uint8_t *)s->text, (uint8_t *)s->text + s->size };
	while (next(&b, &f)) {
		EXPECT_EQ(f.number, 1);
		EXPECT(f.is_bytes && s->nr < PACKETS_MAX);
		read_packet(&s->packet[s->nr++], (struct bytes){ f.bytes, f.bytes + f.value });
	}
}

static void end(struct story *s)
{
	free(s->text);
	free(s);
}

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* ---- claims ---- */

static void a_span_is_a_begin_and_an_end_on_a_track_described_before(void **state)
{
	struct story *s = begin();

	(void)state;
	s->t.span(s->t.ctx, "task infer", "request 7", 1000, 2960);
	read_back(s);
	EXPECT_EQ(s->nr, 3);
	EXPECT(s->packet[0].is_track && !s->packet[0].is_counter);
	assert_string_equal(s->packet[0].name, "task infer");
	EXPECT_EQ(s->packet[1].type, SLICE_BEGIN);
	EXPECT_EQ(s->packet[1].timestamp, 1000);
	EXPECT_EQ(s->packet[1].track, s->packet[0].uuid);
	assert_string_equal(s->packet[1].name, "request 7");
	EXPECT_EQ(s->packet[2].type, SLICE_END);
	EXPECT_EQ(s->packet[2].timestamp, 2960);
	EXPECT_EQ(s->packet[2].track, s->packet[0].uuid);
	end(s);
}

static void every_packet_belongs_to_one_sequence_and_the_first_clears_its_state(void **state)
{
	struct story *s = begin();

	(void)state;
	s->t.instant(s->t.ctx, "monitor", "look", 5);
	s->t.instant(s->t.ctx, "monitor", "look", 6);
	read_back(s);
	EXPECT_EQ(s->nr, 3);
	for (int i = 0; i < s->nr; i++) {
		EXPECT_EQ(s->packet[i].sequence, 1);
		EXPECT_EQ(s->packet[i].flags, i == 0);
	}
	EXPECT_EQ(s->packet[1].type, INSTANT);
	end(s);
}

static void a_track_is_described_once(void **state)
{
	struct story *s = begin();
	int tracks = 0;

	(void)state;
	for (uint64_t i = 0; i < 50; i++)
		s->t.span(s->t.ctx, "gpu 0", "kernel", i * 10, i * 10 + 10);
	read_back(s);
	for (int i = 0; i < s->nr; i++)
		tracks += s->packet[i].is_track;
	EXPECT_EQ(tracks, 1);
	EXPECT_EQ(s->nr, 101);
	end(s);
}

static void spans_that_overlap_are_on_lanes_of_their_own(void **state)
{
	struct story *s = begin();

	(void)state;
	s->t.span(s->t.ctx, "task infer", "a", 0, 10);
	s->t.span(s->t.ctx, "task infer", "b", 5, 15);
	s->t.span(s->t.ctx, "task infer", "c", 10, 20);
	read_back(s);
	EXPECT_EQ(s->nr, 8);
	EXPECT(s->packet[3].is_track);
	assert_string_equal(s->packet[3].name, "task infer");
	EXPECT(s->packet[3].uuid != s->packet[0].uuid);
	EXPECT_EQ(s->packet[4].track, s->packet[3].uuid);
	EXPECT_EQ(s->packet[6].track, s->packet[0].uuid);
	end(s);
}

static void a_backlog_without_end_is_cut_and_counted(void **state)
{
	struct story *s = begin();

	(void)state;
	for (uint64_t i = 0; i < 40; i++)
		s->t.span(s->t.ctx, "task infer", "waits", i, 1000 + i);
	EXPECT_EQ(s->trace.tracks.nr, GP_TRACK_LANES);
	EXPECT_EQ(s->trace.tracks.dropped, 40 - GP_TRACK_LANES);
	read_back(s);
	EXPECT_EQ(s->nr, 3 * GP_TRACK_LANES);
	end(s);
}

static void a_counter_is_on_a_counter_track_even_beside_a_span_of_its_name(void **state)
{
	struct story *s = begin();

	(void)state;
	s->t.span(s->t.ctx, "waves", "x", 0, 10);
	s->t.counter(s->t.ctx, "waves", 2560, 7);
	read_back(s);
	EXPECT_EQ(s->nr, 5);
	EXPECT(s->packet[3].is_track && s->packet[3].is_counter);
	EXPECT_EQ(s->packet[4].type, COUNTER);
	EXPECT_EQ(s->packet[4].value, 2560);
	EXPECT_EQ(s->packet[4].track, s->packet[3].uuid);
	end(s);
}

static void numbers_of_every_size_survive(void **state)
{
	static const uint64_t times[] = { 0, 1, 127, 128, 16383, 16384, 1ull << 35, 1ull << 63,
					  UINT64_MAX };
	struct story *s = begin();

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		s->t.counter(s->t.ctx, "c", times[i], times[i]);
	read_back(s);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		EXPECT(s->packet[i + 1].timestamp == times[i]);
		EXPECT(s->packet[i + 1].value == times[i]);
	}
	end(s);
}

static void a_name_too_long_is_cut_not_refused(void **state)
{
	struct story *s = begin();
	char name[1000];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	s->t.span(s->t.ctx, name, name, 0, 1);
	s->t.span(s->t.ctx, name, name, 1, 2);
	read_back(s);
	EXPECT_EQ(s->nr, 5);
	EXPECT_EQ(strlen(s->packet[1].name), 120);
	end(s);
}

static void take(struct gp_states *states, uint64_t now_ns, uint32_t kind, uint64_t to)
{
	struct gp_rec rec = { .now_ns = now_ns, .kind = kind, .task = 0, .state = { 0, to } };

	if (kind == GP_REC_NAME)
		rec = gp_rec_of_who(0, &(struct gp_rec_who){ .name = "train" });
	gp_states_take(states, &rec);
}

static void a_task_taken_off_and_put_back_is_drawn_under_its_name(void **state)
{
	struct gp_states states;
	struct story *s = begin();

	(void)state;
	gp_states_init(&states, &s->t);
	take(&states, 0, GP_REC_TASK_ADD, 0);
	take(&states, 0, GP_REC_NAME, 0);
	take(&states, 100, GP_REC_STATE, GP_STOPPING);
	take(&states, 130, GP_REC_STATE, GP_OFF);
	take(&states, 900, GP_REC_STATE, GP_STARTING);
	take(&states, 950, GP_REC_STATE, GP_ON);
	take(&states, 2000, GP_REC_STATE, GP_STOPPING);
	take(&states, 2100, GP_REC_TICK, 0);
	gp_states_fini(&states);
	read_back(s);
	EXPECT_EQ(s->nr, 9);
	assert_string_equal(s->packet[0].name, "state of train");
	assert_string_equal(s->packet[3].name, "off");
	EXPECT_EQ(s->packet[3].timestamp, 130);
	EXPECT_EQ(s->packet[4].timestamp, 900);
	assert_string_equal(s->packet[7].name, "stopping");
	EXPECT_EQ(s->packet[8].timestamp, 2100);
	end(s);
}

static void a_chrome_trace_is_json_with_microseconds_and_named_tracks(void **state)
{
	struct gp_chrome chrome;
	struct gp_timeline t;
	json_t *root, *events;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	gp_chrome_init(&chrome, file);
	t = gp_chrome_timeline(&chrome);
	t.span(t.ctx, "task \"x\"\\", "tab\there", 1500, 4001);
	t.instant(t.ctx, "monitor", "look", 7);
	t.counter(t.ctx, "waves", 3, 9);
	gp_chrome_fini(&chrome);
	fclose(file);

	root = json_loadb(text, size, 0, NULL);
	EXPECT(root);
	events = json_object_get(root, "traceEvents");
	EXPECT_EQ(json_array_size(events), 5);
	assert_string_equal(json_string_value(json_object_get(json_object_get(
		json_array_get(events, 0), "args"), "name")), "task \"x\"\\");
	EXPECT(json_number_value(json_object_get(json_array_get(events, 1), "ts")) == 1.5);
	EXPECT(json_number_value(json_object_get(json_array_get(events, 1), "dur")) == 2.501);
	json_decref(root);
	free(text);
}

static void an_empty_chrome_trace_is_json_too(void **state)
{
	struct gp_chrome chrome;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	json_t *root;

	(void)state;
	gp_chrome_init(&chrome, file);
	gp_chrome_fini(&chrome);
	fclose(file);
	root = json_loadb(text, size, 0, NULL);
	EXPECT(root);
	json_decref(root);
	free(text);
}

PROVE(
	CLAIM(a_span_is_a_begin_and_an_end_on_a_track_described_before),
	CLAIM(every_packet_belongs_to_one_sequence_and_the_first_clears_its_state),
	CLAIM(a_track_is_described_once),
	CLAIM(spans_that_overlap_are_on_lanes_of_their_own),
	CLAIM(a_backlog_without_end_is_cut_and_counted),
	CLAIM(a_counter_is_on_a_counter_track_even_beside_a_span_of_its_name),
	CLAIM(numbers_of_every_size_survive),
	CLAIM(a_name_too_long_is_cut_not_refused),
	CLAIM(a_task_taken_off_and_put_back_is_drawn_under_its_name),
	CLAIM(a_chrome_trace_is_json_with_microseconds_and_named_tracks),
	CLAIM(an_empty_chrome_trace_is_json_too),
)
