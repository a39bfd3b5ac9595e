// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The reader of scenarios: valid input, and messages about invalid input. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "sim/rows.h"
#include "text/value.h"
#include "vgpu/vgpu.h"

static struct gp_scenario sc;
static char err[1024];

static int parse(const char *text)
{
	return gp_scenario_parse(text, strlen(text), &sc, err, sizeof(err));
}

/* Expects that @text is refused with @message in the error. */
static void expect_refused(const char *text, const char *message)
{
	if (parse(text) != -EINVAL)
		fail_msg("taken: %s", text);
	if (!strstr(err, message))
		fail_msg("'%s' does not say '%s'", err, message);
}

static const char *path_of(const char *name)
{
	static char path[512];
	const char *top = getenv("GP_TOP");

	snprintf(path, sizeof(path), "%s/scenarios/%s", top ? top : ".", name);
	return path;
}

static void times_have_units_and_are_exact(void **state)
{
	u64 ns;

	(void)state;
	EXPECT_EQ(gp_parse_ns("1.5us", &ns), 0);
	EXPECT_EQ(ns, 1500);
	EXPECT_EQ(gp_parse_ns("2s", &ns), 0);
	EXPECT_EQ(ns, 2000000000);
	EXPECT_EQ(gp_parse_ns("0", &ns), 0);
	EXPECT_EQ(ns, 0);
	EXPECT_EQ(gp_parse_ns("5", &ns), -EINVAL);
	EXPECT_EQ(gp_parse_ns("1.5ns", &ns), -EINVAL);
	EXPECT_EQ(gp_parse_ns("", &ns), -EINVAL);
	EXPECT_EQ(gp_parse_ns("99999999999999999999s", &ns), -EINVAL);
	EXPECT_EQ(ns, 0);
}

static void a_result_rests_on_the_costs_of_the_path_too(void **state)
{
	static struct gp_costs costs;

	(void)state;
	EXPECT_EQ(parse("[a]\nrole = offline\n"), 0);
	EXPECT_EQ(gp_costs_of(&sc, &costs), 0);
	for (u32 i = 0; i < VGPU_NR_FACTS; i++)
		costs.device.f[i].from = VGPU_MEASURED;
	EXPECT_EQ(gp_costs_weakest(&costs), VGPU_ASSUMED);
	for (u32 i = 0; i < GP_NR_COSTS; i++)
		costs.path[i].from = VGPU_READ;
	EXPECT_EQ(gp_costs_weakest(&costs), VGPU_READ);
	costs.path[0].from = VGPU_UNSET;
	EXPECT_EQ(gp_costs_weakest(&costs), VGPU_UNSET);
}

/*
 * A save is bytes over bandwidth times efficiency. Both are guesses, so together they scale by 3
 * and not by 9.
 */
static void three_times_the_costs_is_three_times_a_save(void **state)
{
	static const char *const areas[] = { "vram", "host" };
	static struct gp_costs once, thrice;

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		u64 bytes = 3 << 24, a, b;

		EXPECT_EQ(parse("[a]\nrole = offline\n"), 0);
		EXPECT_EQ(gp_scenario_set(&sc, "gpu.save_area", areas[i], err, sizeof(err)), 0);
		EXPECT_EQ(gp_costs_of(&sc, &once), 0);
		EXPECT_EQ(gp_scenario_set(&sc, "costs.scale.assumed", "3", err, sizeof(err)), 0);
		EXPECT_EQ(gp_costs_of(&sc, &thrice), 0);
		a = vgpu_save_ns(&once.device, bytes);
		b = vgpu_save_ns(&thrice.device, bytes);
		EXPECT(b > 3 * a - a / 50 && b < 3 * a + a / 50);
	}
}

static void a_lognormal_range_holds_nine_of_ten(void **state)
{
	struct gp_dist d;
	struct gp_rng rng;
	u32 below = 0, above = 0;

	(void)state;
	EXPECT_EQ(gp_dist_parse("lognormal 0.05..2ms", &d), 0);
	gp_rng_init(&rng, 1, "test");
	for (u32 i = 0; i < 100000; i++) {
		u64 ns = gp_dist_draw(&d, &rng);

		below += ns < 50000;
		above += ns > 2000000;
	}
	EXPECT(below > 4700 && below < 5300);
	EXPECT(above > 4700 && above < 5300);
}

/* Results must be the same on every machine, so these values must not change. */
static void random_numbers_are_the_same_everywhere(void **state)
{
	struct gp_rng rng;

	(void)state;
	gp_rng_init(&rng, 1, "infer");
	EXPECT_EQ(gp_rng_next(&rng), -3528718435159977577ll);
	EXPECT_EQ(gp_rng_exponential(&rng, 20000000), 42713922);
	EXPECT_EQ(gp_rng_normal(&rng), -3025584507ll);
	EXPECT_EQ(gp_scale2(1000000, 6442450944), 2828426); /* 2^1.5 */
}

static void later_keys_override_earlier_ones(void **state)
{
	(void)state;
	EXPECT_EQ(parse("[a]\nkernels = 3\n[run]\nlength = 2s\n[a]\nkernels = 5\n"), 0);
	EXPECT_EQ(sc.nr_tasks, 1);
	EXPECT_EQ(sc.task[0].kernels, 5);
}

static void blanks_and_comments_do_not_matter(void **state)
{
	(void)state;
	EXPECT_EQ(parse("# head\n\n  [a]\n\tkernels = 3 # three\n ; more\n"), 0);
	EXPECT_EQ(sc.task[0].kernels, 3);
}

static void a_role_brings_its_class(void **state)
{
	(void)state;
	EXPECT_EQ(parse("[a]\nrole = online\n[b]\nrole = offline\npriority = 4\n"), 0);
	EXPECT(sc.task[0].class.flags & GP_LATENCY_CRITICAL);
	EXPECT(!(sc.task[0].class.flags & GP_PREEMPTIBLE));
	EXPECT_EQ(sc.task[1].class.flags, GP_PREEMPTIBLE);
	EXPECT_EQ(sc.task[1].class.priority, 4);
}

static void what_is_wrong_is_said_with_place_and_remedy(void **state)
{
	(void)state;
	expect_refused("[a]\nkernels = 0\n", "text:2: kernels: invalid value '0' (of a request)");
	expect_refused("[a]\nfoo = 1\n", "unknown key 'foo' in [a]; expected one of role, class");
	expect_refused("[run]\nlength = 5\n", "expected a time from 1us to");
	expect_refused("[gpu]\nprofile = h100\n", "mi308x");
	expect_refused("[monitor]\nplacement = moon\n", "expected one of none, kernel, daemon");
	expect_refused("[policy]\nname = magic\n", "fifo, priority, fair, deadline or on-demand");
	expect_refused("[policy]\nlinger = soon\n", "learnt, ski or a time");
	expect_refused("[policy]\nmax_hold = 1ns\n", "max_hold: invalid value '1ns'");
	expect_refused("[costs]\nsave_fixed = 3\n", "expected a time");
	expect_refused("[costs]\nrptr_at = 1\n", "set it in [gpu]");
	expect_refused("[a]\narrivals = sometimes\n", "poisson R/s, periodic T, burst N every T");
	expect_refused("[a]\nexpect = a p99 < 3\n", "expected a time");
	expect_refused("[a]\nexpect = a speed < 3\n", "unknown metric 'speed'");
	expect_refused("[a]\nexpect = a p99 about 3us\n", "expected < <= = != >= or >");
	expect_refused("[a]\nkernels = 1\nexpect = b p99 < 3us\n", "unknown task 'b'");
	expect_refused("[fault]\nwhat = rain\n", "expected one of hang, preempt-failed");
	expect_refused("[a]\nkernels = 1\n[fault]\nwhat = hang\ntask = b\n", "unknown task 'b'");
	expect_refused("[a b]\nkernels = 1\n", "letters, digits");
	expect_refused("kernels = 1\n", "before any section");
	expect_refused("[a]\nhello\n", "text:2: invalid line");
	expect_refused("include = x.ini\n", "this text is not a file");
	expect_refused("[a]\narrivals = trace x\n", "trace FILE");
	expect_refused("", "no task");
	expect_refused("[a]\ndevices = 1\n", "only 1 GPUs");
	expect_refused("[a]\ngang = yes\narrivals = periodic 1ms\n", "needs loop = closed");
}

static void every_bad_line_is_reported(void **state)
{
	(void)state;
	EXPECT_EQ(parse("[a]\nkernels = 0\nqueue = 3\nhello\nqueues = 2\n[b\nx = 1\n"), -EINVAL);
	assert_string_equal(err, "text:2: kernels: invalid value '0' (of a request); expected a "
			    "number from 1 to 10000\n"
			    "text:3: unknown key 'queue' in [a]; did you mean 'queues'?\n"
			    "text:4: invalid line; expected [NAME] or KEY = VALUE\n"
			    "text:6: invalid section header; expected [NAME] and nothing else on "
			    "the line");
	/* A buffer that is too small for one message gets its beginning. */
	EXPECT_EQ(gp_scenario_parse("[a]\nfoo = 1\n", 12, &sc, err, 40), -EINVAL);
	assert_string_equal(err, "text:2: unknown key 'foo' in [a]; expe");
}

/* A configuration has the same bounds, see test_config.c. */
static void a_class_may_reserve_up_to_an_hour(void **state)
{
	(void)state;
	EXPECT_EQ(parse("[a]\npriority = 1000\nweight = 10000\nperiod = 3600s\n"
			"budget = 3600s\ndeadline = 60min\n"), 0);
	EXPECT_EQ(sc.task[0].class.period_ns, 3600 * GP_SEC);
	expect_refused("[a]\nperiod = 3601s\n", "expected a time from 0 to 3600s");
}

static void words_stand_for_times(void **state)
{
	(void)state;
	EXPECT_EQ(parse("[monitor]\ninterval = 5ms\ninterval = adaptive\n"
			"[a]\nkernel.workgroup = kernel\n"), 0);
	EXPECT_EQ(sc.monitor.interval_ns, 0);
	EXPECT_EQ(sc.task[0].workgroup_ns, 0);
	expect_refused("[monitor]\ninterval = 0\n", "expected adaptive or a time from 1us to 1s");
}

static void too_much_is_refused(void **state)
{
	static char text[8192];
	size_t at = 0;

	(void)state;
	for (u32 i = 0; i <= GP_SCENARIO_TASKS; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "[t%u]\nkernels = 1\n", i);
	expect_refused(text, "at most 64 tasks");
	memset(text, 'x', 4000);
	strcpy(text + 4000, "\n");
	expect_refused(text, "expected at most 198 bytes");
	EXPECT_EQ(gp_scenario_parse("[a]\nk\0ernels = 1\n", 18, &sc, err, sizeof(err)), -EINVAL);
}

static void a_refused_setting_changes_nothing(void **state)
{
	static struct gp_scenario before;

	(void)state;
	EXPECT_EQ(parse("[a]\nkernels = 3\n"), 0);
	before = sc;
	EXPECT_EQ(gp_scenario_set(&sc, "a.kernels", "none", err, sizeof(err)), -EINVAL);
	EXPECT_EQ(gp_scenario_set(&sc, "b.kernels", "3", err, sizeof(err)), -EINVAL);
	EXPECT(strstr(err, "no section 'b'"));
	EXPECT_EQ(gp_scenario_set(&sc, "kernels", "3", err, sizeof(err)), -EINVAL);
	EXPECT_EQ(gp_scenario_set(&sc, "gpu.count", "0", err, sizeof(err)), -EINVAL);
	EXPECT_EQ(memcmp(&sc, &before, sizeof(sc)), 0);
	EXPECT_EQ(gp_scenario_set(&sc, "a.kernel.time", "3ms", err, sizeof(err)), 0);
	EXPECT_EQ(sc.task[0].kernel_ns.a_ns, 3000000);
}

static void a_file_that_is_not_there_is_named(void **state)
{
	(void)state;
	EXPECT_EQ(gp_scenario_load("/nowhere.ini", &sc, err, sizeof(err)), -ENOENT);
	EXPECT(strstr(err, "/nowhere.ini"));
}

static void colocate_is_as_agreed(void **state)
{
	const struct gp_task_spec *train, *infer;

	(void)state;
	EXPECT_EQ(gp_scenario_load(path_of("colocate.ini"), &sc, err, sizeof(err)), 0);
	train = gp_scenario_task(&sc, "train");
	infer = gp_scenario_task(&sc, "infer");
	EXPECT(train && infer);
	EXPECT_EQ(sc.warmup_ns, 2 * GP_SEC);
	EXPECT_EQ(sc.length_ns, 60 * GP_SEC);
	EXPECT_EQ(train->queues, 4);
	EXPECT_EQ(train->ahead, 2);
	EXPECT_EQ(train->kernel_ns.kind, GP_DIST_UNIFORM);
	EXPECT_EQ(train->kernel_ns.a_ns, 20 * GP_MSEC);
	EXPECT_EQ(train->kernel_ns.b_ns, 100 * GP_MSEC);
	EXPECT_EQ(train->workgroup_ns, 200 * GP_USEC);
	EXPECT_EQ(infer->interval_ns, 20 * GP_MSEC);
	EXPECT_EQ(infer->kernels, 12);
	EXPECT_EQ(infer->kernel_ns.a_ns, 160 * GP_USEC);
	EXPECT_EQ(infer->gap_device_ns, 5 * GP_USEC);
	EXPECT(!infer->sync);
}

static bool is_ini(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && !strcmp(name + n - 4, ".ini");
}

static void every_scenario_of_the_tree_reads_and_asserts(void **state)
{
	DIR *dir = opendir(path_of(""));
	struct dirent *entry;
	u32 nr = 0;

	(void)state;
	EXPECT(dir);
	while ((entry = readdir(dir))) {
		if (!is_ini(entry->d_name))
			continue;
		nr++;
		if (gp_scenario_load(path_of(entry->d_name), &sc, err, sizeof(err)))
			fail_msg("%s", err);
		if (!sc.nr_expects)
			fail_msg("%s asserts nothing", entry->d_name);
	}
	closedir(dir);
	EXPECT(nr >= 24);
}

static void every_row_applies_to_colocate(void **state)
{
	static struct gp_scenario row;

	(void)state;
	EXPECT_EQ(gp_scenario_load(path_of("colocate.ini"), &sc, err, sizeof(err)), 0);
	for (u32 i = 0; gp_rows[i].name; i++) {
		row = sc;
		if (gp_rows[i].profile)
			EXPECT_EQ(gp_row_apply(&row, gp_rows[i].name, err, sizeof(err)), -EINVAL);
		else if (gp_row_apply(&row, gp_rows[i].name, err, sizeof(err)))
			fail_msg("%s: %s", gp_rows[i].name, err);
	}
	EXPECT_EQ(gp_row_apply(&sc, "ours-evict:policy.linger=1ms:policy.latency_weight=20", err,
			       sizeof(err)), 0);
	EXPECT_EQ(sc.param[GP_LINGER], GP_MSEC);
	EXPECT_EQ(sc.param[GP_LATENCY_WEIGHT], 20);
	EXPECT_EQ(gp_row_apply(&sc, "theirs", err, sizeof(err)), -EINVAL);
	EXPECT(strstr(err, "expected one of alone, native"));
}

static void every_setting_of_the_scheduler_is_in_the_manual(void **state)
{
	static char text[65536];
	char path[1024], name[64];
	size_t n;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/man/gpreempt-scenario.5.scd", getenv("GP_TOP"));
	f = fopen(path, "r");
	EXPECT(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		snprintf(name, sizeof(name), "*%s* = ", gp_params[i].name);
		if (!strstr(text, name))
			fail_msg("%s is missing", name);
	}
}

PROVE(
	CLAIM(times_have_units_and_are_exact),
	CLAIM(a_result_rests_on_the_costs_of_the_path_too),
	CLAIM(three_times_the_costs_is_three_times_a_save),
	CLAIM(a_lognormal_range_holds_nine_of_ten),
	CLAIM(random_numbers_are_the_same_everywhere),
	CLAIM(later_keys_override_earlier_ones),
	CLAIM(blanks_and_comments_do_not_matter),
	CLAIM(a_role_brings_its_class),
	CLAIM(what_is_wrong_is_said_with_place_and_remedy),
	CLAIM(every_bad_line_is_reported),
	CLAIM(a_class_may_reserve_up_to_an_hour),
	CLAIM(words_stand_for_times),
	CLAIM(too_much_is_refused),
	CLAIM(a_refused_setting_changes_nothing),
	CLAIM(a_file_that_is_not_there_is_named),
	CLAIM(colocate_is_as_agreed),
	CLAIM(every_scenario_of_the_tree_reads_and_asserts),
	CLAIM(every_row_applies_to_colocate),
	CLAIM(every_setting_of_the_scheduler_is_in_the_manual),
)
