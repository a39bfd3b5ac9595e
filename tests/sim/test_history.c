/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* When each process of a recording had work, and the scenario made from it. */
#include <stdlib.h>
#include <string.h>

#include "core/sched.h"
#include "tests/shared/gp_test.h"
#include "sim/compare.h"
#include "sim/recorded.h"

enum { RECORDS = 4096, TRAIN = 3, INFER = 7, TRAIN_QUEUE = 11, INFER_QUEUE = 12 };

#define MS	GP_MSEC

struct tape {
	u64 bytes[1 + RECORDS * sizeof(struct gp_rec) / sizeof(u64)];
	size_t size;
	u64 begin_ns;
	struct gp_tracefile_error err;
};

static void put(struct tape *t, struct gp_rec rec)
{
	FILE *f = fmemopen((char *)t->bytes + t->size, sizeof(t->bytes) - t->size, "w");

	rec.now_ns += t->begin_ns;
	gp_tracefile_emit(f, &rec);
	EXPECT_EQ(fclose(f), 0);
	t->size += sizeof(rec);
}

#define REC(...)	put(t, (struct gp_rec){ __VA_ARGS__ })

static void sample(struct tape *t, u64 at, u32 queue, u64 rptr, u64 wptr)
{
	REC(.kind = GP_REC_SAMPLE, .now_ns = at, .queue = queue, .sample = { rptr, wptr });
	REC(.kind = GP_REC_LOOK, .now_ns = at);
}

static struct tape *tape_new(void)
{
	struct tape *t = calloc(1, sizeof(*t));
	struct gp_rec_who train = { 101, true, "train", "offline" };
	struct gp_rec_who infer = { 102, false, "infer", "online" };
	u64 magic = GP_TRACE_MAGIC;

	memcpy(t->bytes, &magic, sizeof(magic));
	t->size = sizeof(magic);
	t->begin_ns = 77 * GP_SEC;
	REC(.kind = GP_REC_INIT, .init = { 64, 64, 64, 64, GP_INIT_MIDDLE });
	REC(.kind = GP_REC_DEVICE_ADD);
	REC(.kind = GP_REC_TASK_ADD, .task = TRAIN, .class = { 1, 1, 100, 0 });
	REC(.kind = GP_REC_TASK_ADD, .task = INFER, .class = { 1, 10, 100, GP_LATENCY_CRITICAL });
	put(t, gp_rec_of_who(TRAIN, &train));
	put(t, gp_rec_of_who(INFER, &infer));
	REC(.kind = GP_REC_QUEUE_ADD, .task = TRAIN, .queue = TRAIN_QUEUE, .queue_add = { 0, 4 });
	REC(.kind = GP_REC_QUEUE_ADD, .task = INFER, .queue = INFER_QUEUE, .queue_add = { 5, 5 });
	return t;
}

static struct gp_history *read_tape(struct tape *t)
{
	struct gp_tracefile file;
	struct gp_history *h = NULL;

	EXPECT_EQ(gp_tracefile_over(t->bytes, t->size, &file, &t->err), 0);
	return gp_history_read(&file, &h, &t->err) ? NULL : h;
}

/*
 * Records one second. Training reads a packet every 10 ms and always has more. The server gets
 * two packets of work every 100 ms, which take 6 ms beside training.
 */
static struct tape *second(void)
{
	struct tape *t = tape_new();
	u64 asked = 5;

	for (u64 ms = 1; ms <= 1000; ms++) {
		if (ms % 10 == 0)
			sample(t, ms * MS, TRAIN_QUEUE, ms / 10, ms / 10 + 4);
		if (ms % 100 == 3) {
			sample(t, ms * MS, INFER_QUEUE, asked, asked + 2);
			asked += 2;
		}
		if (ms % 100 == 9)
			sample(t, ms * MS, INFER_QUEUE, asked, asked);
	}
	return t;
}

static void periods_and_rates_are_what_the_pointers_show(void **state)
{
	struct tape *t = second();
	struct gp_history *h = read_tape(t);
	const struct gp_history_seat *train, *infer;

	(void)state;
	EXPECT(h);
	EXPECT_EQ(h->nr, 2);
	EXPECT_EQ(h->gpus, 1);
	EXPECT_EQ(h->length_ns, 1000 * MS);
	EXPECT(!h->acted);
	train = &h->seat[0];
	infer = &h->seat[1];
	assert_string_equal(train->who.name, "train");
	assert_string_equal(infer->who.class_name, "online");
	EXPECT_EQ(infer->who.pid, 102);
	EXPECT(gp_history_always_busy(train) && !gp_history_online(train));
	EXPECT(!gp_history_always_busy(infer) && gp_history_online(infer));
	EXPECT_EQ(infer->nr, 10);
	EXPECT_EQ(infer->period[4].at_ns, 403 * MS);
	EXPECT_EQ(infer->period[4].done_ns, 409 * MS);
	EXPECT_EQ(infer->period[4].units, 2);
	EXPECT(infer->period[4].contended);
	EXPECT_EQ(infer->busy_ns, 60 * MS);
	EXPECT_EQ(train->alone_ns, 940 * MS);
	EXPECT_EQ(train->units, 100);
	EXPECT_EQ(gp_history_unit_ns(h, train), 940 * MS / train->alone_units);
	/* never alone, so the fastest tenth counts */
	EXPECT_EQ(gp_history_unit_ns(h, infer), 3 * MS);
	gp_history_free(h);
	free(t);
}

static void what_came_and_went_between_two_looks_is_a_short_request(void **state)
{
	struct tape *t = tape_new();
	struct gp_history *h;

	(void)state;
	sample(t, 5 * MS, INFER_QUEUE, 6, 6);
	sample(t, 9 * MS, INFER_QUEUE, 7, 7);
	REC(.kind = GP_REC_QUEUE_DEL, .now_ns = 20 * MS, .queue = INFER_QUEUE);
	REC(.kind = GP_REC_TASK_DEL, .now_ns = 30 * MS, .task = TRAIN);
	REC(.kind = GP_REC_TICK, .now_ns = 40 * MS);
	h = read_tape(t);
	EXPECT(h);
	EXPECT_EQ(h->seat[1].nr, 2);
	EXPECT_EQ(h->seat[1].period[1].at_ns, 9 * MS);
	EXPECT_EQ(h->seat[1].period[1].done_ns, 9 * MS);
	/* a removed process does not count until the end */
	EXPECT_EQ(h->seat[0].to_ns, 30 * MS);
	EXPECT_EQ(h->seat[0].nr, 1);
	gp_history_free(h);
	free(t);
}

static void work_while_held_off_is_not_held_against_it(void **state)
{
	struct tape *t = tape_new();
	struct gp_history *h;

	(void)state;
	sample(t, 10 * MS, TRAIN_QUEUE, 1, 5);
	REC(.kind = GP_REC_STATE, .now_ns = 10 * MS, .task = TRAIN,
	    .state = { GP_STOPPING, GP_OFF });
	REC(.kind = GP_REC_STATE, .now_ns = 90 * MS, .task = TRAIN,
	    .state = { GP_STARTING, GP_ON });
	sample(t, 100 * MS, TRAIN_QUEUE, 2, 6);
	h = read_tape(t);
	EXPECT(h);
	EXPECT(h->acted);
	EXPECT_EQ(h->seat[0].off_ns, 80 * MS);
	EXPECT_EQ(h->seat[0].busy_ns, 20 * MS);
	EXPECT_EQ(h->seat[0].alone_ns, 20 * MS);
	EXPECT(gp_history_always_busy(&h->seat[0]));
	gp_history_free(h);
	free(t);
}

/* Pointers that move at launch are equal while waves still run. */
static void waves_behind_equal_pointers_are_work(void **state)
{
	struct tape *t = tape_new();
	struct gp_history *h;

	(void)state;
	sample(t, 10 * MS, INFER_QUEUE, 6, 6);
	REC(.kind = GP_REC_PROBED, .now_ns = 11 * MS, .task = INFER, .probed = { GP_EXEC_YES });
	REC(.kind = GP_REC_PROBED, .now_ns = 15 * MS, .task = INFER, .probed = { GP_EXEC_NO });
	sample(t, 50 * MS, INFER_QUEUE, 7, 7);
	REC(.kind = GP_REC_PROBED, .now_ns = 51 * MS, .task = INFER, .probed = { GP_EXEC_NO });
	sample(t, 60 * MS, INFER_QUEUE, 8, 8);
	REC(.kind = GP_REC_PROBED, .now_ns = 61 * MS, .task = INFER, .probed = { GP_EXEC_YES });
	sample(t, 64 * MS, INFER_QUEUE, 10, 10);
	REC(.kind = GP_REC_PROBED, .now_ns = 66 * MS, .task = INFER, .probed = { GP_EXEC_YES });
	REC(.kind = GP_REC_PROBED, .now_ns = 70 * MS, .task = INFER, .probed = { GP_EXEC_NO });
	h = read_tape(t);
	EXPECT(h);
	EXPECT_EQ(h->seat[1].nr, 3);
	EXPECT_EQ(h->seat[1].period[0].done_ns, 15 * MS);
	/* no packet was seen, because the work ended before a look */
	EXPECT_EQ(h->seat[1].period[1].done_ns, 50 * MS);
	/* more work arrived while it ran and joins the same period */
	EXPECT_EQ(h->seat[1].period[2].at_ns, 60 * MS);
	EXPECT_EQ(h->seat[1].period[2].done_ns, 70 * MS);
	EXPECT_EQ(h->seat[1].period[2].units, 3);
	gp_history_free(h);
	free(t);
}

static void bad_recordings_say_which_record(void **state)
{
	static const struct {
		struct gp_rec rec;
		const char *why;
	} bad[] = {
		{ { .kind = GP_REC_LOOK, .now_ns = 1 }, "time goes backwards" },
		{ { .kind = GP_REC_SAMPLE, .now_ns = 20 * MS, .queue = GP_MAX_QUEUES },
		  "a number" },
		{ { .kind = GP_REC_TASK_DEL, .now_ns = 20 * MS, .task = GP_NONE }, "a number" },
		{ { .kind = GP_REC_QUEUE_ADD, .now_ns = 20 * MS, .device = 64 }, "a number" },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tape *t = tape_new();

		REC(.kind = GP_REC_TICK, .now_ns = 10 * MS);
		put(t, bad[i].rec);
		EXPECT(!read_tape(t));
		EXPECT(!strncmp(t->err.text, "record 9: ", 10) && strstr(t->err.text, bad[i].why));
		free(t);
	}
}

static void a_recording_without_work_is_no_scenario(void **state)
{
	struct tape *t = tape_new();
	struct gp_scenario *sc = calloc(1, sizeof(*sc));
	struct gp_arrival *arrivals;
	struct gp_history *h;

	(void)state;
	t->size = sizeof(u64) + 7 * sizeof(struct gp_rec);	/* without training's work */
	h = read_tape(t);
	EXPECT(h);
	EXPECT_EQ(gp_history_scenario(h, sc, &arrivals, &t->err), 0 - EINVAL);
	EXPECT(strstr(t->err.text, "record while they run"));
	gp_history_free(h);
	free(sc);
	free(t);
}

/* Natively requests wait for training. With preemption they do not. The scenario must show both. */
static void the_scenario_repeats_the_requests_and_preemption_helps_them(void **state)
{
	static const char *const rows[] = { "native", "ours-debug:policy.name=priority", NULL };
	struct tape *t = second();
	struct gp_scenario *sc = calloc(1, sizeof(*sc));
	struct gp_compare_args args = { .scenario = sc, .seed = 1, .rows = rows };
	struct gp_arrival *arrivals;
	struct gp_comparison c;
	struct gp_history *h = read_tape(t);
	char why[256];

	(void)state;
	EXPECT(h);
	EXPECT_EQ(gp_history_scenario(h, sc, &arrivals, &t->err), 0);
	EXPECT_EQ(sc->nr_tasks, 2);
	assert_string_equal(sc->task[1].name, "infer-102");
	EXPECT_EQ(sc->task[1].class.priority, 10);
	EXPECT_EQ(sc->task[1].nr_recorded, 10);
	EXPECT_EQ(sc->task[1].recorded[4].at_ns, 403 * MS);
	EXPECT_EQ(sc->task[1].recorded[4].work_ns, 6 * MS);
	EXPECT_EQ(gp_compare(&args, &c, why, sizeof(why)), 0);
	EXPECT_EQ(c.row[0].result.online.count, 10);
	EXPECT_EQ(c.row[1].result.online.count, 10);
	EXPECT(c.row[0].result.online.mean > c.row[1].result.online.mean);
	EXPECT(c.row[1].result.online.p50 < 6 * MS + MS);
	EXPECT(c.row[1].result.preemptions >= 10);
	EXPECT(c.row[1].result.offline_work_ns > 0);
	gp_comparison_fini(&c);
	gp_history_free(h);
	free(arrivals);
	free(sc);
	free(t);
}

PROVE(
	CLAIM(periods_and_rates_are_what_the_pointers_show),
	CLAIM(what_came_and_went_between_two_looks_is_a_short_request),
	CLAIM(work_while_held_off_is_not_held_against_it),
	CLAIM(waves_behind_equal_pointers_are_work),
	CLAIM(bad_recordings_say_which_record),
	CLAIM(a_recording_without_work_is_no_scenario),
	CLAIM(the_scenario_repeats_the_requests_and_preemption_helps_them),
)
