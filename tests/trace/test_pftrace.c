// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Perfetto traces. A small protobuf decoder reads the written files. */
#include "tests/shared/gp_test.h"

#include <stdio.h>
#include <string.h>

#include "core/seat.h"
#include "trace/drawing.h"
#include "trace/tracefile.h"

/* ---- the decoder ---- */

struct bytes {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number;
	bool is_bytes;
	uint64_t value;		/* or the number of bytes */
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
	if ((key & 7) == 1) {
		EXPECT(b->end - b->at >= 8);
		memcpy(&f->value, b->at, 8);
		b->at += 8;
		return true;
	}
	EXPECT((key & 7) == 0 || (key & 7) == 2);
	f->value = varint(b);
	if (f->is_bytes) {
		EXPECT(f->value <= (uint64_t)(b->end - b->at));
		f->bytes = b->at;
		b->at += f->value;
	}
	return true;
}

/* The decoded fields of one TracePacket. Numbers are those of Perfetto's .proto files. */
struct packet {
	bool is_track, is_event, is_counter, is_clocks;
	uint64_t timestamp, sequence, flags, clock;
	uint64_t uuid, parent, type, track, value;
	uint64_t pid, flow_end;
	uint64_t flow[4];
	int nr_flows;
	char name[256], process[128];
	char args[512];		/* "name=value " each */
	uint64_t clocks[8];	/* readings, by the number of the clock */
};

static void read_text(char *to, size_t size, const struct field *f)
{
	EXPECT(f->is_bytes && f->value < size);
	memcpy(to, f->bytes, f->value);
	to[f->value] = 0;
}

static struct bytes inside(const struct field *f)
{
	EXPECT(f->is_bytes);
	return (struct bytes){ f->bytes, f->bytes + f->value };
}

static void read_process(struct packet *p, struct bytes b)
{
	struct field f;

	while (next(&b, &f)) {
		if (f.number == 1)
			p->pid = f.value;
		else if (f.number == 6)
			read_text(p->process, sizeof(p->process), &f);
		else
			fail_msg("field %u in a ProcessDescriptor", f.number);
	}
}

static void read_arg(struct packet *p, struct bytes b)
{
	char name[128] = "", value[128] = "";
	size_t n = strlen(p->args);
	struct field f;

	while (next(&b, &f)) {
		if (f.number == 10)
			read_text(name, sizeof(name), &f);
		else if (f.number == 6)
			read_text(value, sizeof(value), &f);
		else if (f.number == 3)
			snprintf(value, sizeof(value), "%llu", (unsigned long long)f.value);
		else
			fail_msg("field %u in a DebugAnnotation", f.number);
	}
	snprintf(p->args + n, sizeof(p->args) - n, "%s=%s ", name, value);
}

static void read_clocks(struct packet *p, struct bytes b)
{
	struct field f, inner;

	p->is_clocks = true;
	while (next(&b, &f)) {
		uint64_t id = 0, reading = 0;
		struct bytes clock;

		if (f.number == 2) {
			EXPECT_EQ(f.value, 6);		/* BOOTTIME is the clock of the trace */
			continue;
		}
		EXPECT_EQ(f.number, 1);
		clock = inside(&f);
		while (next(&clock, &inner))
			*(inner.number == 1 ? &id : &reading) = inner.value;
		EXPECT(id < 8);
		p->clocks[id] = reading;
	}
}

static void read_track(struct packet *p, struct bytes b)
{
	struct field f;

	p->is_track = true;
	while (next(&b, &f)) {
		if (f.number == 1)
			p->uuid = f.value;
		else if (f.number == 2)
			read_text(p->name, sizeof(p->name), &f);
		else if (f.number == 3)
			read_process(p, inside(&f));
		else if (f.number == 5)
			p->parent = f.value;
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
			read_text(p->name, sizeof(p->name), &f);
		else if (f.number == 30)
			p->value = f.value;
		else if (f.number == 4)
			read_arg(p, inside(&f));
		else if (f.number == 47 && p->nr_flows < 4)
			p->flow[p->nr_flows++] = f.value;
		else if (f.number == 48)
			p->flow_end = f.value;
		else
			fail_msg("field %u in a TrackEvent", f.number);
	}
}

static void read_packet(struct packet *p, struct bytes b)
{
	struct field f;

	while (next(&b, &f)) {
		if (f.number == 8)
			p->timestamp = f.value;
		else if (f.number == 10)
			p->sequence = f.value;
		else if (f.number == 13)
			p->flags = f.value;
		else if (f.number == 58)
			p->clock = f.value;
		else if (f.number == 60)
			read_track(p, inside(&f));
		else if (f.number == 11)
			read_event(p, inside(&f));
		else if (f.number == 6)
			read_clocks(p, inside(&f));
		else
			fail_msg("field %u in a TracePacket", f.number);
	}
}

enum { PACKETS_MAX = 256 };

/* A trace that is written, then read. */
struct story {
	char *text;
	size_t size;
	FILE *file;
	struct gp_perfetto out;		/* or */
	struct gp_drawing *drawing;
	struct packet packet[PACKETS_MAX];
	int nr;
};

static struct story *begin(void)
{
	struct story *s = calloc(1, sizeof(*s));

	EXPECT(s);
	s->file = open_memstream(&s->text, &s->size);
	EXPECT(s->file);
	gp_perfetto_init(&s->out, s->file, GP_PERFETTO_VIRTUAL);
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
		read_packet(&s->packet[s->nr++], inside(&f));
	}
}

static void end(struct story *s)
{
	gp_perfetto_fini(&s->out);
	gp_drawing_free(s->drawing);
	free(s->text);
	free(s);
}

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

static void span(struct story *s, const char *track, const char *name, uint64_t from, uint64_t to)
{
	struct gp_perfetto_event e = {
		.track = gp_perfetto_lane(&s->out, 0, track, from, to), .at_ns = from, .name = name,
	};

	gp_perfetto_begin(&s->out, &e);
	gp_perfetto_end(&s->out, e.track, to);
}

static void count(struct story *s, const char *track, uint64_t value, uint64_t at)
{
	gp_perfetto_counter(&s->out, gp_perfetto_track(&s->out, 0, GP_PERFETTO_COUNTER, track),
			    value, at);
}

/* ---- claims about the writer ---- */

static void a_span_is_a_begin_and_an_end_on_a_track_described_before(void **state)
{
	struct story *s = begin();

	(void)state;
	span(s, "requests", "request 7", 1000, 2960);
	read_back(s);
	EXPECT_EQ(s->nr, 3);
	EXPECT(s->packet[0].is_track && !s->packet[0].is_counter);
	assert_string_equal(s->packet[0].name, "requests");
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
	struct gp_perfetto_event e = { .at_ns = 5, .name = "look" };

	(void)state;
	e.track = gp_perfetto_track(&s->out, 0, GP_PERFETTO_SLICES, "monitor");
	gp_perfetto_instant(&s->out, &e);
	gp_perfetto_instant(&s->out, &e);
	read_back(s);
	EXPECT_EQ(s->nr, 3);
	EXPECT(s->packet[0].sequence);
	for (int i = 0; i < s->nr; i++) {
		EXPECT_EQ(s->packet[i].sequence, s->packet[0].sequence);
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
		span(s, "gpu 0", "kernel", i * 10, i * 10 + 10);
	read_back(s);
	for (int i = 0; i < s->nr; i++)
		tracks += s->packet[i].is_track;
	EXPECT_EQ(tracks, 1);
	EXPECT_EQ(s->nr, 101);
	end(s);
}

static void spans_that_overlap_are_on_lanes_with_names_of_their_own(void **state)
{
	struct story *s = begin();

	(void)state;
	span(s, "requests", "a", 0, 10);
	span(s, "requests", "b", 5, 15);
	span(s, "requests", "c", 10, 20);
	read_back(s);
	EXPECT_EQ(s->nr, 8);
	EXPECT(s->packet[3].is_track);
	assert_string_equal(s->packet[3].name, "requests 2");
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
		span(s, "requests", "waits", i, 1000 + i);
	EXPECT_EQ(s->out.nr, GP_PERFETTO_LANES);
	EXPECT_EQ(s->out.dropped, 40 - GP_PERFETTO_LANES);
	read_back(s);
	EXPECT_EQ(s->nr, 3 * GP_PERFETTO_LANES);
	end(s);
}

static void a_counter_is_on_a_counter_track_even_beside_a_span_of_its_name(void **state)
{
	struct story *s = begin();

	(void)state;
	span(s, "waves", "x", 0, 10);
	count(s, "waves", 2560, 7);
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
		count(s, "c", times[i], times[i]);
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
	span(s, name, name, 0, 1);
	span(s, name, name, 1, 2);
	read_back(s);
	EXPECT_EQ(s->nr, 5);
	EXPECT_EQ(strlen(s->packet[1].name), 120);
	end(s);
}

static void the_largest_event_fits(void **state)
{
	struct story *s = begin();
	struct gp_perfetto_event e = { .nr_flows = 1000, .flow_end = 1 };
	char name[1000];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	e.name = name;
	for (int i = 0; i < GP_PERFETTO_ARGS; i++)
		e.arg[i] = (struct gp_perfetto_arg){ name, name, 0 };
	e.track = gp_perfetto_process(&s->out, UINT32_MAX, name);
	gp_perfetto_instant(&s->out, &e);
	fclose(s->file);
	EXPECT(s->size > GP_PERFETTO_ARGS * 240 + GP_PERFETTO_FLOWS * 10);
	EXPECT(s->size < 4096);
	end(s);
}

static void a_recording_says_how_its_clock_relates_to_that_of_rocprof(void **state)
{
	struct story *s = begin();
	const uint64_t *clocks;

	(void)state;
	gp_perfetto_init(&s->out, s->file, GP_PERFETTO_MONOTONIC);
	count(s, "c", 1, 2);
	read_back(s);
	EXPECT_EQ(s->nr, 3);
	EXPECT(s->packet[0].is_clocks);
	/* MONOTONIC stops while the machine sleeps. BOOTTIME does not. */
	clocks = s->packet[0].clocks;
	EXPECT(clocks[3] && clocks[6] + 1000000000 > clocks[3]);
	EXPECT(clocks[1] > clocks[6]);
	EXPECT_EQ(s->packet[2].clock, 3);
	end(s);
}

/* ---- claims about the drawing ---- */

enum { TRAIN, INFER, OTHER, TRAIN_QUEUE = 5, INFER_QUEUE = 6 };

#define US	1000ull

#define TAKE(s, ...)	gp_drawing_take((s)->drawing, &(struct gp_rec){ __VA_ARGS__ })

static void name(struct story *s, uint32_t task, const char *text, uint32_t pid)
{
	struct gp_rec_who who = { .pid = pid };
	struct gp_rec rec;

	snprintf(who.name, sizeof(who.name), "%s", text);
	rec = gp_rec_of_who(task, &who);
	gp_drawing_take(s->drawing, &rec);
}

static struct story *begin_drawing(void)
{
	struct story *s = begin();

	s->drawing = gp_drawing_alloc(s->file, GP_PERFETTO_VIRTUAL);
	EXPECT(s->drawing);
	TAKE(s, .kind = GP_REC_DEVICE_ADD, .device_add = { 0, 3 });
	name(s, TRAIN, "train", 101);
	name(s, INFER, "infer", 102);
	name(s, OTHER, "other", 103);
	TAKE(s, .kind = GP_REC_QUEUE_ADD, .task = TRAIN, .queue = TRAIN_QUEUE);
	TAKE(s, .kind = GP_REC_QUEUE_ADD, .task = INFER, .queue = INFER_QUEUE);
	return s;
}

static void state_is(struct story *s, uint64_t at, uint32_t task, uint64_t from, uint64_t to)
{
	TAKE(s, .now_ns = at, .kind = GP_REC_STATE, .task = task, .state = { from, to });
}

static void end_drawing(struct story *s, uint64_t at)
{
	gp_drawing_end(s->drawing, at);
	read_back(s);
}

/* Returns the track with that path below a process. It must be described before its events. */
static const struct packet *track(const struct story *s, const char *process, const char *below)
{
	for (int i = 0; i < s->nr; i++) {
		const struct packet *p = &s->packet[i];

		if (!p->is_track || strcmp(p->name, below))
			continue;
		for (int k = 0; k < i; k++) {
			if (s->packet[k].is_track && s->packet[k].uuid == p->parent &&
			    !strcmp(s->packet[k].name, process))
				return p;
		}
	}
	fail_msg("no track %s below %s", below, process);
	return NULL;
}

/* Returns the nth event of that track, from 0. */
static const struct packet *event(const struct story *s, const struct packet *on, int n)
{
	for (int i = 0; i < s->nr; i++) {
		if (s->packet[i].is_event && s->packet[i].track == on->uuid && !n--)
			return &s->packet[i];
	}
	return NULL;
}

static void expect_slice(const struct packet *b, const char *title, uint64_t from)
{
	EXPECT(b && b->type == SLICE_BEGIN);
	assert_string_equal(b->name, title);
	EXPECT_EQ(b->timestamp, from);
}

static void expect_end(const struct packet *e, uint64_t at)
{
	EXPECT(e && e->type == SLICE_END);
	EXPECT_EQ(e->timestamp, at);
}

static void a_task_taken_off_and_put_back_is_drawn_under_its_name(void **state)
{
	struct story *s = begin_drawing();
	const struct packet *t;

	(void)state;
	state_is(s, 100, TRAIN, GP_ON, GP_STOPPING);
	state_is(s, 130, TRAIN, GP_STOPPING, GP_OFF);
	state_is(s, 900, TRAIN, GP_OFF, GP_STARTING);
	state_is(s, 950, TRAIN, GP_STARTING, GP_ON);
	state_is(s, 2000, TRAIN, GP_ON, GP_STOPPING);
	end_drawing(s, 2100);
	t = track(s, "train (101)", "GPU 3");
	EXPECT_EQ(s->packet[0].pid, 101);
	assert_string_equal(s->packet[0].process, "train");
	expect_slice(event(s, t, 0), "stopping", 100);
	expect_slice(event(s, t, 2), "off", 130);
	expect_end(event(s, t, 3), 900);
	expect_slice(event(s, t, 6), "stopping", 2000);
	expect_end(event(s, t, 7), 2100);
	EXPECT(!event(s, t, 8));
	end(s);
}

static void a_task_that_was_off_when_the_recording_began_is_drawn_off(void **state)
{
	struct story *s = begin_drawing();
	const struct packet *t;

	(void)state;
	state_is(s, 50, TRAIN, GP_OFF, GP_OFF);
	end_drawing(s, 300);
	t = track(s, "train (101)", "GPU 3");
	expect_slice(event(s, t, 0), "off", 0);
	expect_end(event(s, t, 1), 300);
	end(s);
}

static void a_queue_is_below_its_process_with_its_work_and_what_is_pending(void **state)
{
	struct story *s = begin_drawing();
	const struct packet *work, *pending;

	(void)state;
	TAKE(s, .now_ns = 40 * US, .kind = GP_REC_LOOK);
	TAKE(s, .now_ns = 90 * US, .kind = GP_REC_SAMPLE, .queue = INFER_QUEUE,
	     .sample = { 0, 7 });
	TAKE(s, .now_ns = 90 * US, .kind = GP_REC_LOOK);
	TAKE(s, .now_ns = 140 * US, .kind = GP_REC_SAMPLE, .queue = INFER_QUEUE,
	     .sample = { 7, 7 });
	TAKE(s, .now_ns = 140 * US, .kind = GP_REC_LOOK);
	end_drawing(s, 200 * US);
	work = track(s, "infer (102)", "GPU 3 queue 6");
	expect_slice(event(s, work, 0), "work", 40 * US);
	assert_string_equal(event(s, work, 0)->args, "packets read=7 ");
	expect_end(event(s, work, 1), 140 * US);
	pending = track(s, "infer (102)", "GPU 3 pending");
	EXPECT(pending->is_counter);
	EXPECT_EQ(event(s, pending, 0)->value, 7);
	EXPECT_EQ(event(s, pending, 1)->value, 0);
	end(s);
}

static void waves_are_a_counter_where_a_probe_saw_them(void **state)
{
	struct story *s = begin_drawing();
	const struct packet *t;

	(void)state;
	TAKE(s, .now_ns = 10, .kind = GP_REC_PROBED, .task = TRAIN, .probed = { GP_EXEC_YES, 250 });
	TAKE(s, .now_ns = 20, .kind = GP_REC_PROBED, .task = TRAIN,
	     .probed = { GP_EXEC_YES, GP_OCCUPANCY_UNKNOWN });
	TAKE(s, .now_ns = 30, .kind = GP_REC_PROBED, .task = TRAIN, .probed = { GP_EXEC_NO, 0 });
	end_drawing(s, 40);
	t = track(s, "train (101)", "GPU 3 waves");
	EXPECT(t->is_counter);
	EXPECT_EQ(event(s, t, 0)->value, 250);
	EXPECT_EQ(event(s, t, 1)->value, 0);
	EXPECT_EQ(event(s, t, 1)->timestamp, 30);
	end(s);
}

/* INFER preempts TRAIN and OTHER: asked at 100 us, both off at 150, OTHER 10 us earlier. */
static void preempt_two(struct story *s)
{
	TAKE(s, .now_ns = 100 * US, .kind = GP_REC_ACTION, .task = INFER, .action = { 64, 0 });
	for (uint32_t task = TRAIN; task <= OTHER; task += OTHER - TRAIN) {
		state_is(s, 100 * US, task, GP_ON, GP_STOPPING);
		TAKE(s, .now_ns = 100 * US, .kind = GP_REC_ACTION_TASK, .task = task,
		     .action_task = { 64, GP_STOPPING });
	}
	state_is(s, 140 * US, OTHER, GP_STOPPING, GP_OFF);
	state_is(s, 150 * US, TRAIN, GP_STOPPING, GP_OFF);
}

static void a_preemption_has_its_parts_nested_and_a_flow_to_every_victim(void **state)
{
	static const char *const parts[] = { "detect", "decide", "command", "save", "switch" };
	static const uint64_t from[] = { 80, 90, 100, 120, 145 }, to[] = { 90, 100, 120, 145, 150 };
	struct story *s = begin_drawing();
	const struct packet *t, *outer;

	(void)state;
	preempt_two(s);
	TAKE(s, .now_ns = 150 * US, .kind = GP_REC_PARTS, .task = INFER,
	     .parts = { { 10 * US, 10 * US, 20 * US, 25 * US, 5 * US, 70 * US }, 2, 80 * US });
	end_drawing(s, 200 * US);
	EXPECT_EQ(gp_drawing_count(s->drawing).preemptions, 1);
	t = track(s, "infer (102)", "GPU 3 preemptions");
	outer = event(s, t, 0);
	expect_slice(outer, "preemption", 80 * US);
	assert_string_equal(outer->args, "victims=2 detect=10000 decide=10000 command=20000 "
			    "save=25000 switch=5000 total=70000 ");
	for (int i = 0; i < 5; i++) {
		expect_slice(event(s, t, 1 + 2 * i), parts[i], from[i] * US);
		expect_end(event(s, t, 2 + 2 * i), to[i] * US);
	}
	expect_end(event(s, t, 11), 150 * US);
	EXPECT_EQ(outer->nr_flows, 2);
	for (int i = 0; i < 2; i++) {
		const struct packet *stop = event(s, track(s, i ? "other (103)" : "train (101)",
							   "GPU 3"), 0);

		expect_slice(stop, "stopping", 100 * US);
		assert_string_equal(stop->args, "for=infer (102) ");
		EXPECT_EQ(stop->flow_end, outer->flow[i]);
	}
	EXPECT(outer->flow[0] && outer->flow[0] != outer->flow[1]);
	end(s);
}

static void parts_that_cannot_be_told_apart_are_one_slice(void **state)
{
	struct story *s = begin_drawing();
	const struct packet *t;

	(void)state;
	TAKE(s, .now_ns = 90, .kind = GP_REC_PARTS, .task = INFER,
	     .parts = { { 5, 5, 20, GP_PART_WITHIN, GP_PART_WITHIN, 30 }, 1, 60 });
	TAKE(s, .now_ns = 95, .kind = GP_REC_PARTS, .task = INFER,
	     .parts = { { 0, 5, GP_PART_WITHIN, 20, 500, 30 }, 1, 95 });
	end_drawing(s, 200);
	t = track(s, "infer (102)", "GPU 3 preemptions");
	expect_slice(event(s, t, 5), "command, save and switch", 70);
	expect_end(event(s, t, 6), 90);
	expect_end(event(s, t, 7), 90);
	/* A part without length is omitted, and no part is longer than the whole. */
	expect_slice(event(s, t, 9), "decide", 95);
	expect_slice(event(s, t, 11), "command and save", 100);
	expect_slice(event(s, t, 13), "switch", 120);
	expect_end(event(s, t, 14), 125);
	end(s);
}

static void a_stop_without_a_preemption_has_no_flow(void **state)
{
	struct story *s = begin_drawing();
	const struct packet *t;

	(void)state;
	preempt_two(s);
	state_is(s, 190 * US, TRAIN, GP_OFF, GP_STARTING);
	TAKE(s, .now_ns = 195 * US, .kind = GP_REC_TASK_DEL, .task = OTHER);
	end_drawing(s, 200 * US);
	t = track(s, "train (101)", "GPU 3");
	expect_slice(event(s, t, 0), "stopping", 100 * US);
	expect_slice(event(s, t, 2), "off", 150 * US);
	for (int i = 0; i < s->nr; i++)
		EXPECT(!s->packet[i].flow_end && !s->packet[i].nr_flows);
	end(s);
}

static void records_out_of_bounds_draw_nothing(void **state)
{
	struct story *s = begin_drawing();

	(void)state;
	for (uint32_t kind = 0; kind <= GP_REC_NR_OUTPUTS; kind++) {
		struct gp_rec rec = { .kind = kind, .device = GP_NONE, .task = GP_NONE,
				      .queue = GP_NONE };

		memset(rec.arg, 0xff, sizeof(rec.arg));
		gp_drawing_take(s->drawing, &rec);
	}
	state_is(s, 10, TRAIN, GP_NR_STATES, 77);
	end_drawing(s, 20);
	EXPECT_EQ(s->nr, 0);
	end(s);
}

PROVE(
	CLAIM(a_span_is_a_begin_and_an_end_on_a_track_described_before),
	CLAIM(every_packet_belongs_to_one_sequence_and_the_first_clears_its_state),
	CLAIM(a_track_is_described_once),
	CLAIM(spans_that_overlap_are_on_lanes_with_names_of_their_own),
	CLAIM(a_backlog_without_end_is_cut_and_counted),
	CLAIM(a_counter_is_on_a_counter_track_even_beside_a_span_of_its_name),
	CLAIM(numbers_of_every_size_survive),
	CLAIM(a_name_too_long_is_cut_not_refused),
	CLAIM(the_largest_event_fits),
	CLAIM(a_recording_says_how_its_clock_relates_to_that_of_rocprof),
	CLAIM(a_task_taken_off_and_put_back_is_drawn_under_its_name),
	CLAIM(a_task_that_was_off_when_the_recording_began_is_drawn_off),
	CLAIM(a_queue_is_below_its_process_with_its_work_and_what_is_pending),
	CLAIM(waves_are_a_counter_where_a_probe_saw_them),
	CLAIM(a_preemption_has_its_parts_nested_and_a_flow_to_every_victim),
	CLAIM(parts_that_cannot_be_told_apart_are_one_slice),
	CLAIM(a_stop_without_a_preemption_has_no_flow),
	CLAIM(records_out_of_bounds_draw_nothing),
)
