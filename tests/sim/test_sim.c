// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A simulated run: it is reproducible and has the expected figures. */
#include <stdio.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "sim/expect.h"
#include "sim/figures.h"
#include "sim/heap.h"
#include "sim/ring.h"
#include "sim/rows.h"

static struct gp_scenario sc;
static char err[512];

static void load(const char *name)
{
	const char *top = getenv("GP_TOP");
	char path[512];

	snprintf(path, sizeof(path), "%s/scenarios/%s", top ? top : ".", name);
	if (gp_scenario_load(path, &sc, err, sizeof(err)))
		fail_msg("%s", err);
}

/* Runs the loaded scenario as @row with additional @settings. The caller ends *@ret. */
static void run_row(const char *row, u64 seed, struct gp_result *ret)
{
	struct gp_run_args args = { .seed = seed, .invariants = true };
	struct gp_scenario copy = sc;

	if (gp_row_apply(&copy, row, err, sizeof(err)) ||
	    gp_run(&copy, &args, ret, err, sizeof(err)))
		fail_msg("%s: %s", row, err);
}

static void set(const char *key, const char *value)
{
	if (gp_scenario_set(&sc, key, value, err, sizeof(err)))
		fail_msg("%s", err);
}

static void events_come_in_order_of_time_then_of_pushing(void **state)
{
	struct gp_heap h = { 0 };
	struct gp_event e = { 0 };
	u64 seed = gp_test_seed(1), last = 0, order = 0;

	(void)state;
	for (u64 i = 0; i < 10000; i++) {
		e.at_ns = gp_test_random(&seed) % 100;
		EXPECT_EQ(gp_heap_push(&h, &e), 0);
	}
	while (h.nr) {
		gp_heap_pop(&h, &e);
		EXPECT(e.at_ns > last || (e.at_ns == last && (!order || e.order > order - 1)));
		last = e.at_ns;
		order = e.order + 1;
	}
	gp_heap_fini(&h);
}

static struct gp_ring *ring_with(u64 workgroups)
{
	struct vgpu_packet p = { .kind = VGPU_KERNEL, .workgroups = workgroups };
	struct gp_ring *r = gp_ring_new(NULL, NULL, 4096);

	EXPECT(r && gp_ring_write(r, &p, 0));
	return r;
}

static void do_workgroup(struct gp_ring *r, u64 i)
{
	const struct gp_kernel *k = gp_ring_at(r, 0);

	gp_ring_add(r, k->packet.result, 1);
	gp_ring_add(r, k->packet.result + 8, (i + 1) * k->packet.key);
}

static void the_books_find_a_workgroup_lost_doubled_or_both(void **state)
{
	static const struct {
		u64 done[4];
		u32 nr;
		u64 lost, doubled;
	} story[] = {
		{ { 0, 1, 2 }, 3, 0, 0 },
		{ { 2, 0 }, 2, 1, 0 },
		{ { 0, 1, 2, 1 }, 4, 0, 1 },
		{ { 0, 1, 1 }, 3, 1, 1 },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(story) / sizeof(story[0]); i++) {
		struct gp_ring *r = ring_with(3);

		for (u32 n = 0; n < story[i].nr; n++)
			do_workgroup(r, story[i].done[n]);
		EXPECT(gp_ring_complete(r, 0));
		EXPECT_EQ(r->lost, story[i].lost);
		EXPECT_EQ(r->doubled, story[i].doubled);
		EXPECT(!gp_ring_complete(r, 0));
		do_workgroup(r, 0);	/* after its end */
		EXPECT_EQ(r->doubled, story[i].doubled + 1);
		gp_ring_free(r);
	}
}

static void a_save_area_takes_what_it_has_room_for(void **state)
{
	struct gp_ring *r = ring_with(1);
	char byte = 'x';

	(void)state;
	EXPECT_EQ(gp_ring_area_write(r, 4095, "y", 1), 0);
	EXPECT_EQ(gp_ring_area_write(r, 4096, "y", 1), -EFAULT);
	EXPECT_EQ(gp_ring_area_write(r, ~0ull, "y", 1), -EFAULT);
	EXPECT_EQ(gp_ring_area_read(r, 4095, &byte, 1), 0);
	EXPECT_EQ(byte, 'y');
	gp_ring_free(r);
}

static void two_runs_with_one_seed_are_equal_to_the_bit(void **state)
{
	struct gp_result a, b, c;

	(void)state;
	load("colocate-eager.ini");
	set("run.length", "1s");
	run_row("ours-evict", 7, &a);
	run_row("ours-evict", 7, &b);
	run_row("ours-evict", 8, &c);
	EXPECT_EQ(a.nr_requests, b.nr_requests);
	EXPECT_EQ(memcmp(a.request_ns, b.request_ns, a.nr_requests * sizeof(u64)), 0);
	EXPECT_EQ(memcmp(&a.task, &b.task, sizeof(a.task)), 0);
	EXPECT(a.online.mean != c.online.mean);
	gp_result_fini(&a);
	gp_result_fini(&b);
	gp_result_fini(&c);
}

/* Expects that nearly every request of @row takes at most @most longer than alone. */
static void expect_common_requests(const char *row, u64 most)
{
	struct gp_result alone, with;
	u64 equal = 0;

	run_row("alone", 3, &alone);
	run_row(row, 3, &with);
	EXPECT_EQ(alone.nr_requests, with.nr_requests);
	for (u64 i = 0; i < alone.nr_requests; i++)
		equal += with.request_ns[i] - alone.request_ns[i] < most;
	EXPECT(equal * 100 > alone.nr_requests * 95);
	gp_result_fini(&alone);
	gp_result_fini(&with);
}

static void arrivals_and_kernels_are_common_to_all_rows(void **state)
{
	(void)state;
	load("colocate.ini");
	set("run.length", "2s");
	/* With a hint the victim is off in time. */
	expect_common_requests("ours-hint", GP_USEC);
	set("infer.kernel.time", "uniform 10..500us");
	set("infer.kernel.workgroup", "kernel");
	set("infer.submit", "sync");
	expect_common_requests("ours-evict", 120 * GP_USEC);
}

static void alone_a_request_takes_its_kernels_and_gaps(void **state)
{
	struct gp_result r;

	(void)state;
	load("colocate.ini");
	set("run.length", "2s");
	run_row("alone", 1, &r);
	EXPECT_EQ(r.online.p50, (12 * 160 + 11 * 5) * GP_USEC);
	EXPECT_EQ(r.task[0].kernels, 12 * r.served);
	gp_result_fini(&r);
}

static void the_seeds_time_line_comes_out_as_they_say(void **state)
{
	static const struct {
		const char *row;
		u64 ns;
	} rows[] = {
		{ "monitor-5ms", 5011000 },
		{ "monitor-1ms", 1011000 },
		{ "monitor-hybrid", 1011000 },
		{ "manual", 11000 },
		{ "user-poll", 10016000 },	/* the source's "15 ms": 10 ms poll + 15 us */
		{ "user-event", 6016000 },
	};

	(void)state;
	load("timeline.ini");
	set("run.length", "2s");
	for (u32 i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gp_result r;

		run_row(rows[i].row, 1, &r);
		EXPECT(r.preemptions > 30);
		/* 2 ns: a save without bytes is rounded up */
		if (r.part[GP_PART_TOTAL].max - rows[i].ns > 10)
			fail_msg("%s takes %llu ns", rows[i].row,
				 (unsigned long long)r.part[GP_PART_TOTAL].max);
		gp_result_fini(&r);
	}
}

static void mechanisms_that_keep_state_lose_and_double_nothing(void **state)
{
	static const char *const rows[] = {
		"ours-debug", "ours-evict", "ours-direct", "ours-hint", "halt", "drain", "bound",
		"gpreempt-amd", "monitor-1ms", "user-poll", "hws-quantum", "throttle",
	};

	(void)state;
	load("colocate.ini");
	set("run.length", "1s");
	for (u32 i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gp_result r;

		run_row(rows[i], 2, &r);
		if (r.work_lost || r.work_doubled)
			fail_msg("%s: lost %llu, doubled %llu", rows[i],
				 (unsigned long long)r.work_lost,
				 (unsigned long long)r.work_doubled);
		gp_result_fini(&r);
	}
}

static void killing_and_restarting_does_work_twice(void **state)
{
	struct gp_result r;

	(void)state;
	load("colocate-dnn.ini");
	set("run.length", "500ms");
	run_row("kill-restart", 1, &r);
	EXPECT_EQ(r.work_lost, 0);
	EXPECT(r.work_doubled > 0);
	gp_result_fini(&r);
}

static void direct_saves_no_online_wave(void **state)
{
	struct gp_result evict, direct;

	(void)state;
	load("colocate.ini");
	set("run.length", "1s");
	run_row("ours-evict", 1, &evict);
	run_row("ours-direct", 1, &direct);
	EXPECT(evict.online_waves_saved > 0);
	EXPECT_EQ(direct.online_waves_saved, 0);
	EXPECT(direct.part[GP_PART_TOTAL].mean < evict.part[GP_PART_TOTAL].mean);
	gp_result_fini(&evict);
	gp_result_fini(&direct);
}

/* Returns what @row adds to a request of the loaded scenario, compared with @alone. */
static struct gp_figures figures_of(const char *row, const struct gp_result *alone)
{
	struct gp_baseline base = { alone, NULL, NULL };
	struct gp_figures f;
	struct gp_result r;

	run_row(row, 1, &r);
	EXPECT_EQ(gp_figures(&r, &base, &f), 0);
	EXPECT_EQ(r.work_lost, 0);
	gp_result_fini(&r);
	return f;
}

/* At 70 % load the rivals keep victims off for longer than our longest hold. */
static void rivals_have_none_of_our_bounds(void **state)
{
	struct gp_result alone;
	struct gp_figures f;

	(void)state;
	load("colocate.ini");
	set("run.length", "2s");
	set("infer.arrivals", "poisson 350/s");
	set("policy.max_hold", "10ms");
	set("policy.min_share", "200");
	run_row("alone", 1, &alone);
	f = figures_of("gpreempt-amd-nohint", &alone);
	EXPECT(!f.saturated && f.added.mean < (s64)(45 * GP_USEC));
	f = figures_of("gpreempt-amd", &alone);
	EXPECT(!f.saturated && f.added.mean < (s64)(5 * GP_USEC));
	/* The own row keeps its promises to the victim. */
	f = figures_of("ours-evict", &alone);
	EXPECT(f.saturated || f.added.mean > (s64)(500 * GP_USEC));
	gp_result_fini(&alone);
}

/* Detection takes up to an interval. The other parts of a preemption do not change. */
static void an_interval_is_only_how_often_our_monitor_looks(void **state)
{
	static const char *const intervals[] = {
		"1us", "7us", "45us", "60us", "111us", "160us", "500us", "1ms",
	};
	struct gp_result alone;
	struct gp_figures f;
	char row[64];

	(void)state;
	load("colocate.ini");
	set("run.length", "2s");
	run_row("alone", 1, &alone);
	for (u32 i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		s64 interval;

		snprintf(row, sizeof(row), "ours-evict:monitor.interval=%s", intervals[i]);
		f = figures_of(row, &alone);
		set("monitor.interval", intervals[i]);
		interval = (s64)sc.monitor.interval_ns;
		if (f.added.mean > 42000 + interval * 6 / 10 || f.added.p99 > 60000 + interval)
			fail_msg("%s: mean %lld, p99 %lld", row, (long long)f.added.mean,
				 (long long)f.added.p99);
	}
	f = figures_of("ours-evict:monitor.interval=1s", &alone);
	EXPECT(!f.saturated);
	gp_result_fini(&alone);
}

static void arrivals_can_come_from_a_file(void **state)
{
	char path[] = "/tmp/gp-trace-XXXXXX", text[64];
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct gp_result r;

	(void)state;
	EXPECT(f);
	fputs("# two requests\n10ms\n30.5ms\n", f);
	fclose(f);
	load("colocate.ini");
	set("run.warmup", "0");
	set("run.length", "100ms");
	snprintf(text, sizeof(text), "trace %s", path);
	strcpy(sc.dir, ".");
	set("infer.arrivals", text);
	run_row("alone", 1, &r);
	remove(path);
	EXPECT_EQ(r.offered, 2);
	EXPECT_EQ(r.served, 2);
	gp_result_fini(&r);
}

static int run_text(const char *text, struct gp_result *ret)
{
	struct gp_run_args args = { .seed = 1 };

	if (gp_scenario_parse(text, strlen(text), &sc, err, sizeof(err)))
		fail_msg("%s", err);
	return gp_run(&sc, &args, ret, err, sizeof(err));
}

/* The room for offline work is the time in which online work is idle. */
static void online_work_that_never_ends_leaves_no_room(void **state)
{
	struct gp_result r;

	(void)state;
	EXPECT_EQ(run_text("[run]\nwarmup = 5ms\nlength = 50ms\n[monitor]\nplacement = none\n"
			   "[mechanism]\nname = none\n[a]\nrole = online\nloop = closed\n", &r),
		  0);
	EXPECT_EQ(r.online_busy_ns, r.length_ns);
	gp_result_fini(&r);
}

static void what_an_online_task_leaves_is_counted_gpu_by_gpu(void **state)
{
	static const char text[] =
		"[run]\nwarmup = 20ms\nlength = 500ms\n[gpu]\ncount = 2\n"
		"[a]\nrole = offline\ndevices = 0\n[b]\nrole = offline\ndevices = 1\n"
		"[infer]\nrole = online\ndevices = 0\narrivals = poisson 100/s\n"
		"kernel.time = 5ms\n";
	struct gp_result alone, offline, both;
	struct gp_baseline base = { &alone, &offline, NULL };
	struct gp_figures f;

	(void)state;
	if (gp_scenario_parse(text, strlen(text), &sc, err, sizeof(err)))
		fail_msg("%s", err);
	run_row("alone", 1, &alone);
	run_row("offline-alone", 1, &offline);
	run_row("ours-evict", 1, &both);
	EXPECT_EQ(gp_figures(&both, &base, &f), 0);
	EXPECT(alone.online_busy_ns > alone.length_ns / 3);
	EXPECT(f.has_goodput && f.goodput > 0.95 && f.goodput < 1.005);
	gp_result_fini(&alone);
	gp_result_fini(&offline);
	gp_result_fini(&both);
}

/* A victim beside the online work uses only the free slots. */
static void goodput_is_in_slots_and_never_above_1(void **state)
{
	static const char text[] =
		"[run]\nwarmup = 20ms\nlength = 500ms\n[train]\nrole = offline\n"
		"kernel.time = 10ms\n[infer]\nrole = online\narrivals = poisson 100/s\n"
		"kernel.time = 2ms\nkernel.workgroup = kernel\nkernel.slots = 1/4\n";
	struct gp_result alone, offline, r;
	struct gp_baseline base = { &alone, &offline, NULL };
	struct gp_figures f;

	(void)state;
	if (gp_scenario_parse(text, strlen(text), &sc, err, sizeof(err)))
		fail_msg("%s", err);
	run_row("alone", 1, &alone);
	run_row("offline-alone", 1, &offline);
	run_row("native", 1, &r);
	EXPECT_EQ(gp_figures(&r, &base, &f), 0);
	/* All slots are used all the time. */
	EXPECT(f.goodput > 0.999 && f.goodput <= 1 && f.total_work > 0.999);
	gp_result_fini(&r);
	run_row("ours-evict", 1, &r);
	EXPECT_EQ(gp_figures(&r, &base, &f), 0);
	/* Three quarters of the slots are idle for 100 x 2 ms of each second. */
	EXPECT(f.goodput > 0.80 && f.goodput < 0.86);
	EXPECT(f.total_work > 0.82 && f.total_work < 0.86);
	gp_result_fini(&r);
	gp_result_fini(&alone);
	gp_result_fini(&offline);
}

static void expect_refused(const char *text, const char *message)
{
	char whole[256];
	struct gp_result r;

	snprintf(whole, sizeof(whole), "[run]\nlength = 1ms\n%s", text);
	EXPECT_EQ(run_text(whole, &r), -EINVAL);
	if (!strstr(err, message))
		fail_msg("'%s' does not say '%s'", err, message);
}

static void what_would_be_ignored_is_refused(void **state)
{
	struct gp_result r;

	(void)state;
	expect_refused("[a]\nstart = 2s\nstop = 1s\n", "[a] stop: not after start");
	expect_refused("[a]\nstart = 2s\nstop = 2s\n", "[a] stop: not after start");
	expect_refused("[a]\ncu.first = 40\n", "[a] cu.first: needs cu.count");
	expect_refused("[a]\nahead = 2\n[fault]\nwhat = hang\nat = 1ms\nfor = 1ms\n",
		       "[fault] for: only slow-save and early-rptr");
	expect_refused("[a]\nahead = 2\n[fault]\nwhat = process-death\nat = 1ms\nfor = 1ms\n",
		       "[fault] for: only slow-save and early-rptr");
	/* An empty CU mask for the others would mean all CUs. */
	expect_refused("[gpu]\nonline_cus = 80\n[a]\nrole = offline\n",
		       "[gpu] online_cus: there are 80 CUs");
	EXPECT_EQ(run_text("[run]\nlength = 1ms\n[gpu]\nonline_cus = 79\n"
			   "[a]\nstart = 1us\nstop = 2us\ncu.first = 4\ncu.count = 4\n"
			   "[fault]\nwhat = early-rptr\nat = 1us\nfor = 1us\n", &r), 0);
	gp_result_fini(&r);
}

/* An unanswered request counts as later than all answered ones. */
static void percentiles_count_requests_that_were_never_answered(void **state)
{
	struct gp_result r;

	(void)state;
	EXPECT_EQ(run_text("[run]\nlength = 1s\n[monitor]\nplacement = none\n"
			   "[mechanism]\nname = none\n[a]\nrole = online\n"
			   "arrivals = poisson 150/s\nkernel.time = 5ms\n"
			   "[fault]\nwhat = process-death\ntask = a\nat = 520ms\n", &r), 0);
	EXPECT(r.offered > 101 && r.offered < 200);
	EXPECT_EQ(r.served, r.offered - 1);
	EXPECT_EQ(r.online.p99, r.online.max);
	gp_result_fini(&r);
}

/* A task's random numbers follow from its name, so two tasks with one name would do the same. */
static void a_copy_never_has_the_name_of_another_task(void **state)
{
	struct gp_result r;

	(void)state;
	EXPECT_EQ(run_text("[run]\nlength = 1ms\n[a]\nprocesses = 2\n[a-2]\nrole = offline\n", &r),
		  -EINVAL);
	EXPECT(strstr(err, "[a]: another task has the name of its process a-2"));
	EXPECT_EQ(run_text("[run]\nlength = 1ms\n"
			   "[a-name-that-is-longer-than-32-letters-x]\nprocesses = 2\n"
			   "[a-name-that-is-longer-than-32-letters-y]\nprocesses = 2\n", &r),
		  -EINVAL);
}

/* Runs arrivals from the file at @path and returns the reader's result. */
static int run_trace(const char *path, struct gp_result *ret)
{
	struct gp_run_args args = { .seed = 1 };
	char text[64];

	load("colocate.ini");
	set("run.warmup", "0");
	set("run.length", "100ms");
	set("run.only", "online");
	snprintf(text, sizeof(text), "trace %s", path);
	strcpy(sc.dir, ".");
	set("infer.arrivals", text);
	return gp_run(&sc, &args, ret, err, sizeof(err));
}

static void a_long_comment_in_a_trace_is_no_arrival(void **state)
{
	char path[] = "/tmp/gp-trace-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct gp_result r;
	int bad;

	(void)state;
	EXPECT(f);
	/* A buffer of 128 bytes would find 50ms at the start of the rest of the line. */
	fprintf(f, "10ms\n#%0126d50ms\n", 0);
	fclose(f);
	bad = run_trace(path, &r);
	remove(path);
	EXPECT_EQ(bad, 0);
	EXPECT_EQ(r.offered, 1);
	gp_result_fini(&r);
}

static void a_trace_that_cannot_be_read_is_said(void **state)
{
	struct gp_result r;

	(void)state;
	EXPECT_EQ(run_trace("/tmp", &r), -EISDIR);
	EXPECT(strstr(err, "cannot read '/tmp'"));
}

static void an_expectation_that_is_not_met_is_said(void **state)
{
	struct gp_result r;

	(void)state;
	load("timeline.ini");
	set("run.length", "500ms");
	run_row("monitor-5ms", 1, &r);
	EXPECT(!gp_expect_needs_baseline(&sc));
	EXPECT_EQ(gp_expect_check(&sc.expect[0], &r, NULL, err, sizeof(err)), 0);
	gp_result_fini(&r);
	run_row("user-poll", 1, &r);
	EXPECT_EQ(gp_expect_check(&sc.expect[0], &r, NULL, err, sizeof(err)), 1);
	EXPECT(strstr(err, "timeline.ini:") && strstr(err, "it is 10016.0"));
	gp_result_fini(&r);
}

static void a_mask_and_a_limit_are_found_by_running(void **state)
{
	struct gp_expansion as;

	(void)state;
	load("colocate-narrow.ini");
	set("run.length", "500ms");
	EXPECT_EQ(gp_row_expand(&sc, "cu-mask", 1, &as), 0);
	EXPECT_EQ(as.nr, 2);
	/* A kernel on a quarter of the slots needs a quarter of the 80 CUs. */
	EXPECT_EQ(strcmp(as.row[0].spec, "cu-mask:gpu.online_cus=20"), 0);
	EXPECT_EQ(gp_row_expand(&sc, "throttle", 1, &as), 0);
	EXPECT_EQ(strcmp(as.row[1].name, "throttle-16"), 0);
	EXPECT_EQ(gp_row_expand(&sc, "native", 1, &as), 0);
	EXPECT_EQ(as.nr, 1);
}

PROVE(
	CLAIM(events_come_in_order_of_time_then_of_pushing),
	CLAIM(the_books_find_a_workgroup_lost_doubled_or_both),
	CLAIM(a_save_area_takes_what_it_has_room_for),
	CLAIM(two_runs_with_one_seed_are_equal_to_the_bit),
	CLAIM(arrivals_and_kernels_are_common_to_all_rows),
	CLAIM(alone_a_request_takes_its_kernels_and_gaps),
	CLAIM(the_seeds_time_line_comes_out_as_they_say),
	CLAIM(mechanisms_that_keep_state_lose_and_double_nothing),
	CLAIM(killing_and_restarting_does_work_twice),
	CLAIM(direct_saves_no_online_wave),
	CLAIM(rivals_have_none_of_our_bounds),
	CLAIM(an_interval_is_only_how_often_our_monitor_looks),
	CLAIM(arrivals_can_come_from_a_file),
	CLAIM(online_work_that_never_ends_leaves_no_room),
	CLAIM(what_an_online_task_leaves_is_counted_gpu_by_gpu),
	CLAIM(goodput_is_in_slots_and_never_above_1),
	CLAIM(what_would_be_ignored_is_refused),
	CLAIM(percentiles_count_requests_that_were_never_answered),
	CLAIM(a_copy_never_has_the_name_of_another_task),
	CLAIM(a_long_comment_in_a_trace_is_no_arrival),
	CLAIM(a_trace_that_cannot_be_read_is_said),
	CLAIM(an_expectation_that_is_not_met_is_said),
	CLAIM(a_mask_and_a_limit_are_found_by_running),
)
