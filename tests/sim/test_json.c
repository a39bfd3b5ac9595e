// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Figures of a row from constructed results, and their JSON. */
#include "tests/shared/gp_test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/account.h"
#include "sim/json.h"
#include "vgpu/facts.h"

enum { REQUESTS = 100 };

/* One second with a request of 2 ms every 10 ms. The GPU has one slot. */
struct world {
	uint64_t alone_ns[REQUESTS], row_ns[REQUESTS];
	struct gp_result alone, offline_alone, native, row;
	struct gp_baseline base;
};

static void make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	for (int i = 0; i < REQUESTS; i++) {
		w->alone_ns[i] = 2000000;
		w->row_ns[i] = 2000000 + 1000 * (uint64_t)(i + 1);
	}
	w->alone = (struct gp_result){
		.length_ns = 1000000000, .offered = REQUESTS, .served = REQUESTS,
		.online = { REQUESTS, 2000000, 2000000, 2000000, 2000000, 2000000 },
		.online_work_ns = 200000000, .online_busy_ns = 200000000,
		.request_ns = w->alone_ns, .nr_requests = REQUESTS,
		.nr_gpus = 1, .gpu[0] = { 200000000, 200000000, 0 },
	};
	w->offline_alone = (struct gp_result){
		.length_ns = 1000000000, .offline_work_ns = 1000000000,
		.nr_gpus = 1, .gpu[0].offline_work_ns = 1000000000,
	};
	w->native = (struct gp_result){
		.length_ns = 1000000000, .offline_work_ns = 900000000, .online_work_ns = 100000000,
	};
	w->row = (struct gp_result){
		.scenario = "colocate", .length_ns = 1000000000,
		.offered = REQUESTS, .served = REQUESTS,
		.online = { REQUESTS, 2050500, 2050000, 2099000, 2100000, 2100000 },
		.online_work_ns = 200000000, .offline_work_ns = 784000000,
		.monitor_cpu_ns = 24000000, .preemptions = REQUESTS, .weakest = VGPU_ASSUMED,
		.request_ns = w->row_ns, .nr_requests = REQUESTS,
		.nr_gpus = 1, .gpu[0] = { 200000000, 200000000, 784000000 },
		.nr_tasks = 1,
	};
	strcpy(w->row.task[0].name, "infer");
	for (int i = 0; i < GP_RESULT_PARTS; i++)
		w->row.part[i] =
			(struct gp_spread){ REQUESTS, 10 * i + 1, 0, 10 * i + 2, 0, 10 * i + 3 };
	w->base = (struct gp_baseline){ &w->alone, &w->offline_alone, &w->native };
}

static json_t *row_of(struct world *w)
{
	struct gp_figures f;

	EXPECT_EQ(gp_figures(&w->row, &w->base, &f), 0);
	return gp_json_row("ours-evict", &w->row, &f);
}

static int64_t integer_at(json_t *o, const char *a, const char *b)
{
	json_t *inner = json_object_get(o, a);
	json_t *value = b ? json_object_get(inner, b) : inner;

	EXPECT(json_is_integer(value));
	return json_integer_value(value);
}

static void added_is_each_request_minus_the_same_request_alone(void **state)
{
	struct world w;
	json_t *row;

	(void)state;
	make(&w);
	row = row_of(&w);
	EXPECT_EQ(integer_at(row, "added", "mean"), 50500);
	EXPECT_EQ(integer_at(row, "added", "p50"), 50000);
	EXPECT_EQ(integer_at(row, "added", "p99"), 99000);
	EXPECT_EQ(integer_at(row, "added", "max"), 100000);
	json_decref(row);
}

static void a_request_may_be_served_sooner_than_alone(void **state)
{
	struct world w;
	struct gp_figures f;

	(void)state;
	make(&w);
	for (int i = 0; i < REQUESTS; i++)
		w.row_ns[i] = 1999000;
	EXPECT_EQ(gp_figures(&w.row, &w.base, &f), 0);
	EXPECT_EQ(f.added.mean, -1000);
	EXPECT_EQ(f.added.p99, -1000);
}

static void goodput_counts_only_the_time_the_online_work_leaves(void **state)
{
	struct world w;
	struct gp_figures f;

	(void)state;
	make(&w);
	EXPECT_EQ(gp_figures(&w.row, &w.base, &f), 0);
	/* 784 ms of work; 800 ms were left */
	EXPECT(f.has_goodput && f.goodput > 0.97999 && f.goodput < 0.98001);
	EXPECT(f.has_total && f.total_vs_native > 0.98399 && f.total_vs_native < 0.98401);
}

/* Unanswered requests do not give a latency of 0. */
static void a_row_that_served_nothing_has_no_latency(void **state)
{
	struct world w;
	json_t *row;

	(void)state;
	make(&w);
	w.row.served = 0;
	w.row.online = (struct gp_spread){ 0 };
	memset(w.row_ns, 0, sizeof(w.row_ns));
	row = row_of(&w);
	EXPECT(json_is_null(json_object_get(row, "online")));
	EXPECT(json_is_null(json_object_get(row, "added")));
	EXPECT(json_is_null(json_object_get(row, "cost")));
	json_decref(row);
}

static void ratios_are_against_alone(void **state)
{
	struct world w;
	struct gp_figures f;

	(void)state;
	make(&w);
	EXPECT_EQ(gp_figures(&w.row, &w.base, &f), 0);
	EXPECT(f.has_ratio && !f.saturated);
	EXPECT(f.ratio_mean > 1.02524 && f.ratio_mean < 1.02526);
	EXPECT(f.ratio_p99 > 1.04949 && f.ratio_p99 < 1.04951);
}

static void a_row_that_serves_less_than_99_percent_is_saturated_and_has_no_ratio(void **state)
{
	struct world w;
	json_t *row;

	(void)state;
	make(&w);
	w.row.served = 99;
	row = row_of(&w);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "ok");
	json_decref(row);

	w.row.served = 98;
	row = row_of(&w);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "saturated");
	EXPECT(json_is_null(json_object_get(row, "ratio")));
	json_decref(row);
}

static void a_request_that_was_never_answered_is_left_out_of_added(void **state)
{
	struct world w;
	struct gp_figures f;

	(void)state;
	make(&w);
	w.row_ns[REQUESTS - 1] = 0;
	EXPECT_EQ(gp_figures(&w.row, &w.base, &f), 0);
	EXPECT_EQ(f.added.count, REQUESTS - 1);
	EXPECT_EQ(f.added.max, 99000);
}

static void without_a_preemption_there_is_no_breakdown(void **state)
{
	struct world w;
	json_t *row;

	(void)state;
	make(&w);
	row = row_of(&w);
	EXPECT_EQ(integer_at(json_object_get(row, "breakdown"), "detect", "mean"), 1);
	EXPECT_EQ(integer_at(json_object_get(row, "breakdown"), "switch", "p99"), 42);
	EXPECT_EQ(integer_at(json_object_get(row, "breakdown"), "total", "max"), 53);
	json_decref(row);

	memset(w.row.part, 0, sizeof(w.row.part));
	row = row_of(&w);
	EXPECT(json_is_null(json_object_get(row, "breakdown")));
	json_decref(row);
}

static void a_row_without_baselines_has_nulls_not_guesses(void **state)
{
	static const char *const nulls[] = { "added", "ratio", "offline_goodput",
					     "total_vs_native" };
	struct world w;
	json_t *row;

	(void)state;
	make(&w);
	w.base = (struct gp_baseline){ 0 };
	row = row_of(&w);
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		EXPECT(json_is_null(json_object_get(row, nulls[i])));
	json_decref(row);
}

static void the_object_has_every_field_of_the_schema_in_its_order(void **state)
{
	static const char *const keys[] = {
		"name", "state", "served", "offered", "online", "added", "ratio",
		"offline_goodput", "total_work", "cost", "total_vs_native", "work_lost",
		"work_doubled", "preemptions", "breakdown", "monitor_cpu", "weakest_source",
	};
	struct world w;
	json_t *row;
	void *at;

	(void)state;
	make(&w);
	row = row_of(&w);
	at = json_object_iter(row);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		EXPECT(at);
		assert_string_equal(json_object_iter_key(at), keys[i]);
		at = json_object_iter_next(row, at);
	}
	assert_string_equal(json_string_value(json_object_get(row, "weakest_source")), "assumed");
	json_decref(row);
}

static void printed_twice_it_is_the_same_text_with_short_reals(void **state)
{
	char *text[2] = { NULL, NULL };
	struct world w;

	(void)state;
	make(&w);
	for (int i = 0; i < 2; i++) {
		size_t size;
		FILE *f = open_memstream(&text[i], &size);

		EXPECT_EQ(gp_json_print(row_of(&w), f), 0);
		fclose(f);
	}
	assert_string_equal(text[0], text[1]);
	EXPECT(strstr(text[0], "\"monitor_cpu\": 0.024,"));
	EXPECT(strstr(text[0], "\"offline_goodput\": 0.98,"));
	free(text[0]);
	free(text[1]);
}

static void a_name_that_is_not_utf8_is_still_printed(void **state)
{
	json_t *head = gp_json_head("caf\xe9.ini", 3);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(head, "scenario")), "caf?.ini");
	EXPECT_EQ(integer_at(head, "schema", NULL), 1);
	EXPECT_EQ(integer_at(head, "seed", NULL), 3);
	json_decref(head);
}

PROVE(
	CLAIM(added_is_each_request_minus_the_same_request_alone),
	CLAIM(a_request_may_be_served_sooner_than_alone),
	CLAIM(goodput_counts_only_the_time_the_online_work_leaves),
	CLAIM(a_row_that_served_nothing_has_no_latency),
	CLAIM(ratios_are_against_alone),
	CLAIM(a_row_that_serves_less_than_99_percent_is_saturated_and_has_no_ratio),
	CLAIM(a_request_that_was_never_answered_is_left_out_of_added),
	CLAIM(without_a_preemption_there_is_no_breakdown),
	CLAIM(a_row_without_baselines_has_nulls_not_guesses),
	CLAIM(the_object_has_every_field_of_the_schema_in_its_order),
	CLAIM(printed_twice_it_is_the_same_text_with_short_reals),
	CLAIM(a_name_that_is_not_utf8_is_still_printed),
)
