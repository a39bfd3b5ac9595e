// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Trace files: written, read, damaged and replayed. */
#include "tests/shared/gp_test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/sched.h"
#include "trace/replay.h"

/* A file in memory. */
struct file {
	char *bytes;
	size_t size;
	FILE *stream;
};

static void open_file(struct file *f)
{
	f->stream = open_memstream(&f->bytes, &f->size);
	EXPECT(f->stream);
	gp_tracefile_begin(f->stream);
}

static void add(struct file *f, uint32_t kind)
{
	struct gp_rec rec = { .now_ns = 7, .kind = kind, .device = 1, .task = 2, .queue = 3,
			      .arg = { 4, 5, 6, 7, 8, 9, 10, UINT64_MAX } };

	gp_tracefile_emit(f->stream, &rec);
}

/* Records a small story into @f: a request preempts a batch task. */
static void record_story(struct file *f)
{
	static const struct gp_limits limits = { 1, 4, 4, 4 };
	struct gp_sched_args args = { .limits = limits };
	struct gp_class batch = { .priority = 1, .weight = 1, .flags = GP_PREEMPTIBLE };
	struct gp_class online = { .priority = 9, .weight = 1, .flags = GP_LATENCY_CRITICAL };
	struct gp_pointers zero = { 0, 0 };
	void *mem = malloc(gp_sched_size(&limits));
	uint32_t device, task[2], queue[2], list[4];
	struct gp_sched *s;
	struct gp_todo todo;
	const char *why;

	open_file(f);
	args.trace = (struct gp_trace){ gp_tracefile_emit, f->stream };
	EXPECT_EQ(gp_sched_init(mem, &args, &s), 0);
	EXPECT_EQ(gp_sched_set_policy(s, &gp_policy_priority, 0, &why), 0);
	EXPECT_EQ(gp_device_add(s, GP_RPTR_IS_COMPLETION, &device), 0);
	EXPECT_EQ(gp_task_add(s, 1, &batch, 1, &task[0], &why), 0);
	EXPECT_EQ(gp_task_add(s, 1, &online, 1, &task[1], &why), 0);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(gp_queue_add(s, task[i], device, &zero, 1, &queue[i]), 0);
	for (uint64_t now = 1000000; now < 40000000; now += 50000) {
		uint64_t asked = now / 10000000;	/* a request every 10 ms, done 2 ms later */
		uint64_t done = asked - (asked && now % 10000000 < 2000000);
		struct gp_sample samples[2] = {
			{ .queue = queue[0], .rptr = now / 100000, .wptr = now / 100000 + 2 },
			{ .queue = queue[1], .rptr = done, .wptr = asked },
		};

		EXPECT_EQ(gp_sched_look(s, device, samples, 2, now), 0);
		while (gp_sched_pull(s, now, list, &todo)) {
			struct gp_answer answer = { .task = GP_NONE, .outcome = GP_DONE };

			if (todo.verb != GP_DO_SWITCH)
				continue;
			answer.action = todo.action.id;
			EXPECT_EQ(gp_sched_answer(s, &answer, now + 20000), 0);
		}
	}
	fclose(f->stream);
	free(mem);
}

static int read_over(const struct file *f, struct gp_tracefile *t, struct gp_tracefile_error *err)
{
	return gp_tracefile_over(f->bytes, f->size, t, err);
}

/* ---- claims ---- */

static void what_was_written_is_read(void **state)
{
	struct gp_tracefile_error err;
	struct file f = { 0 };
	struct gp_tracefile t;
	struct gp_rec rec;

	(void)state;
	open_file(&f);
	add(&f, GP_REC_INIT);
	add(&f, GP_REC_LOOK);
	fclose(f.stream);
	EXPECT_EQ(f.size, 8 + 2 * 88);
	EXPECT(!memcmp(f.bytes, "ptrace10", 8));
	EXPECT_EQ(read_over(&f, &t, &err), 0);
	EXPECT_EQ(t.nr, 2);
	rec = gp_tracefile_get(&t, 1);
	EXPECT_EQ(rec.kind, GP_REC_LOOK);
	EXPECT_EQ(rec.queue, 3);
	EXPECT(rec.arg[7] == UINT64_MAX);
	free(f.bytes);
}

static void every_shorter_file_is_refused_or_whole(void **state)
{
	struct gp_tracefile_error err;
	struct file f = { 0 };
	struct gp_tracefile t;

	(void)state;
	open_file(&f);
	add(&f, GP_REC_INIT);
	add(&f, GP_REC_TICK);
	fclose(f.stream);
	for (size_t n = 0; n <= f.size; n++) {
		bool whole = n == 8 + 88 || n == 8 + 2 * 88;

		EXPECT_EQ(gp_tracefile_over(f.bytes, n, &t, &err), whole ? 0 : -EINVAL);
		EXPECT(whole || strlen(err.text));
	}
	free(f.bytes);
}

static void an_unknown_kind_a_second_init_and_a_missing_one_are_refused(void **state)
{
	static const uint32_t bad[][2] = {
		{ GP_REC_INIT, 0 }, { GP_REC_INIT, GP_REC_NR_INPUTS }, { GP_REC_INIT, UINT32_MAX },
		{ GP_REC_INIT, GP_REC_NR_OUTPUTS }, { GP_REC_INIT, GP_REC_INIT },
		{ GP_REC_TICK, GP_REC_TICK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gp_tracefile_error err;
		struct file f = { 0 };
		struct gp_tracefile t;

		open_file(&f);
		add(&f, bad[i][0]);
		add(&f, bad[i][1]);
		fclose(f.stream);
		EXPECT_EQ(read_over(&f, &t, &err), -EINVAL);
		EXPECT(!strncmp(err.text, "record ", 7));
		free(f.bytes);
	}
}

static void a_missing_file_and_a_folder_are_errors_with_a_sentence(void **state)
{
	struct gp_tracefile_error err;
	struct gp_tracefile t;

	(void)state;
	EXPECT_EQ(gp_tracefile_open("/nonexistent/x.gptrace", &t, &err), -ENOENT);
	assert_string_equal(err.text, "No such file or directory");
	EXPECT_EQ(gp_tracefile_open("/", &t, &err), -EISDIR);
	EXPECT_EQ(gp_tracefile_open("/dev/null", &t, &err), -EINVAL);
}

static void a_recorded_run_replays_bit_by_bit(void **state)
{
	struct gp_tracefile_error err;
	struct gp_replay r;
	struct file f = { 0 };
	struct gp_tracefile t;

	(void)state;
	record_story(&f);
	EXPECT_EQ(read_over(&f, &t, &err), 0);
	EXPECT_EQ(gp_replay(&t, &r, &err), 0);
	if (r.differs)
		fail_msg("record %llu differs: %s recorded, %s replayed",
			 (unsigned long long)r.at, gp_rec_name(r.recorded.kind),
			 gp_rec_name(r.replayed.kind));
	EXPECT_EQ(r.same, r.outputs);
	EXPECT(r.actions >= 2);
	EXPECT_EQ(r.inputs + r.outputs, r.records);
	free(f.bytes);
}

/* Returns the index of the first record of that kind. */
static uint64_t first(const struct gp_tracefile *t, uint32_t kind)
{
	for (uint64_t i = 0; i < t->nr; i++) {
		if (gp_tracefile_get(t, i).kind == kind)
			return i;
	}
	fail_msg("no %s in the story", gp_rec_name(kind));
	return 0;
}

static void a_decision_changed_by_one_bit_is_found_and_named(void **state)
{
	struct gp_tracefile_error err;
	struct gp_replay r;
	struct file f = { 0 };
	struct gp_tracefile t;
	uint64_t at;

	(void)state;
	record_story(&f);
	EXPECT_EQ(read_over(&f, &t, &err), 0);
	at = first(&t, GP_REC_ACTION);
	f.bytes[8 + at * 88 + 24] ^= 1;
	EXPECT_EQ(gp_replay(&t, &r, &err), 0);
	EXPECT(r.differs);
	EXPECT_EQ(r.at, at);
	EXPECT_EQ(r.recorded.kind, GP_REC_ACTION);
	EXPECT(r.recorded.action.id == (r.replayed.action.id ^ 1));
	free(f.bytes);
}

static void a_decision_missing_at_the_end_is_found(void **state)
{
	struct gp_tracefile_error err;
	struct gp_replay r;
	struct file f = { 0 };
	struct gp_tracefile t;

	(void)state;
	record_story(&f);
	EXPECT_EQ(read_over(&f, &t, &err), 0);
	/*
	 * Cut just before the first action, so the preceding pull decides more than was recorded.
	 */
	t.nr = first(&t, GP_REC_ACTION);
	EXPECT_EQ(gp_replay(&t, &r, &err), 0);
	EXPECT(r.differs);
	EXPECT_EQ(r.recorded.kind, 0);
	free(f.bytes);
}

static void limits_out_of_bounds_are_refused(void **state)
{
	struct gp_tracefile_error err;
	struct gp_replay r;
	struct file f = { 0 };
	struct gp_tracefile t;

	(void)state;
	record_story(&f);
	memset(f.bytes + 8 + 24, 0xff, 8);
	EXPECT_EQ(read_over(&f, &t, &err), 0);
	EXPECT_EQ(gp_replay(&t, &r, &err), -EINVAL);
	free(f.bytes);
}

/* Any result except a crash passes. The sanitizers detect memory errors. */
static void a_trace_damaged_at_random_ends_with_an_answer(void **state)
{
	uint64_t seed = gp_test_seed(1);
	int rounds = gp_test_full() ? 20000 : 500;
	struct file f = { 0 };

	(void)state;
	record_story(&f);
	for (int i = 0; i < rounds; i++) {
		struct gp_tracefile_error err;
		struct gp_tracefile t;
		struct gp_replay r;
		char *copy = malloc(f.size);
		int hits = 1 + (int)(gp_test_random(&seed) % 8);

		memcpy(copy, f.bytes, f.size);
		/* Keeps the init record, because the largest scheduler is slow to make. */
		while (hits--)
			copy[96 + gp_test_random(&seed) % (f.size - 96)] =
				(char)gp_test_random(&seed);
		if (!gp_tracefile_over(copy, f.size, &t, &err))
			gp_replay(&t, &r, &err);
		free(copy);
	}
	free(f.bytes);
}

PROVE(
	CLAIM(what_was_written_is_read),
	CLAIM(every_shorter_file_is_refused_or_whole),
	CLAIM(an_unknown_kind_a_second_init_and_a_missing_one_are_refused),
	CLAIM(a_missing_file_and_a_folder_are_errors_with_a_sentence),
	CLAIM(a_recorded_run_replays_bit_by_bit),
	CLAIM(a_decision_changed_by_one_bit_is_found_and_named),
	CLAIM(a_decision_missing_at_the_end_is_found),
	CLAIM(limits_out_of_bounds_are_refused),
	CLAIM(a_trace_damaged_at_random_ends_with_an_answer),
)
