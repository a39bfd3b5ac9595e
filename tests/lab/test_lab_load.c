// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpload where it needs no GPU: its command line, the shape of its kernels, its reports. */
#include "tests/shared/gp_test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lab/client/load.h"

#define PARSE(o, ...)								\
	gp_load_parse((int)(sizeof((const char *[]){ "gpload", __VA_ARGS__ }) / sizeof(char *)), \
		      (const char *[]){ "gpload", __VA_ARGS__ }, o)

static const struct gp_node mi308x = {
	.gpu_id = 7, .gfx_version = 90402, .xccs = 4, .simds = 320, .waves_per_simd = 8,
};

static void options_arrive_where_they_belong(void **state)
{
	struct gp_load_options o;

	(void)state;
	EXPECT_EQ(PARSE(&o, "--class", "online", "--queues", "4", "--kernel", "20ms", "--waves=64",
			"--pointers", "gtt", "--poisson", "2.5", "--seconds", "1.5", "--wait",
			"event", "--save-area", "full", "--json", "--seed=0x10", "--gpu", "1",
			"--patience", "0", "--print-every", "2"), 0);
	EXPECT(!strcmp(o.class, "online"));
	EXPECT_EQ(o.queues, 4);
	EXPECT_EQ(o.kernel_ns, 20000000);
	EXPECT_EQ(o.waves, 64);
	EXPECT_EQ(o.pointers, GP_MEMORY_GTT);
	EXPECT_EQ(o.rate_milli, 2500);
	EXPECT_EQ(o.seconds_ns, 1500000000);
	EXPECT_EQ(o.requests, 0);
	EXPECT_EQ(o.wait, GP_LOAD_EVENT);
	EXPECT_EQ(o.save_area, GP_SAVE_FULL);
	EXPECT_EQ(o.depth, 16);
	EXPECT_EQ(o.seed, 16);
	EXPECT_EQ(o.gpu, 1);
	EXPECT_EQ(o.patience_ns, 0);
	EXPECT_EQ(o.print_every_ns, 2000000000);
	EXPECT(o.json && !o.check && !o.help);
}

static void without_options_it_is_a_short_closed_load(void **state)
{
	const char *argv[] = { "gpload", NULL };
	struct gp_load_options o;

	(void)state;
	EXPECT_EQ(gp_load_parse(1, argv, &o), 0);
	EXPECT(!strcmp(o.class, "offline"));
	EXPECT_EQ(o.requests, 100);
	EXPECT_EQ(o.depth, 2);
	EXPECT_EQ(o.pointers, GP_MEMORY_USERPTR);
	EXPECT_EQ(o.save_area, GP_SAVE_SPARSE);
	EXPECT_EQ(o.patience_ns, 120 * 1000000000ll);
}

static void every_mistake_is_named_in_one_line(void **state)
{
	static const char *const wrong[][3] = {
		/* arguments, and what the line must contain */
		{ "--queues", "0", "--queues 0" },
		{ "--queues", "1025", "--queues 1025" },
		{ "--queues", "-1", "--queues -1" },
		{ "--queues", "4x", "--queues 4x" },
		{ "--kernel", "20", "such as 20ms" },
		{ "--kernel", "0ms", "--kernel 0ms" },
		{ "--kernel", "ms", "--kernel ms" },
		{ "--kernel", "99999999999s", "--kernel" },
		{ "--waves", "many", "full or a number" },
		{ "--waves", "0", "full or a number" },
		{ "--class", "batch", "offline or online" },
		{ "--pointers", "vram", "userptr or gtt" },
		{ "--save-area", "none", "sparse or full" },
		{ "--wait", "sleep", "poll or event" },
		{ "--poisson", "0", "rate" },
		{ "--poisson", "1/s", "rate" },
		{ "--seconds", "0", "seconds" },
		{ "--depth", "513", "1 to 512" },
		{ "--requests", "0", "from 1" },
		{ "--gpu", "64", "0 to 63" },
		{ "--nothing", "1", "no such option" },
		{ "queues", "1", "no option" },
	};
	struct gp_load_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *argv[] = { "gpload", wrong[i][0], wrong[i][1], NULL };

		if (gp_load_parse(3, argv, &o) != -EINVAL)
			fail_msg("%s %s was accepted", wrong[i][0], wrong[i][1]);
		if (!strstr(gp_client_error(), wrong[i][2]))
			fail_msg("%s %s: '%s' lacks '%s'", wrong[i][0], wrong[i][1],
				 gp_client_error(), wrong[i][2]);
		EXPECT(!strchr(gp_client_error(), '\n'));
	}
	EXPECT_EQ(PARSE(&o, "--queues"), -EINVAL);
	EXPECT_EQ(PARSE(&o, "--requests", "5", "--seconds", "5"), -EINVAL);
	EXPECT(strstr(gp_client_error(), "only one"));
}

static void durations_have_units_and_fractions(void **state)
{
	u64 ns;

	(void)state;
	EXPECT_EQ(gp_load_duration("1.5s", &ns), 0);
	EXPECT_EQ(ns, 1500000000);
	EXPECT_EQ(gp_load_duration("0.25ms", &ns), 0);
	EXPECT_EQ(ns, 250000);
	EXPECT_EQ(gp_load_duration("300us", &ns), 0);
	EXPECT_EQ(ns, 300000);
	EXPECT_EQ(gp_load_duration("7ns", &ns), 0);
	EXPECT_EQ(ns, 7);
	EXPECT_EQ(gp_load_duration("1.123456789h", &ns), 0);
	EXPECT_EQ(ns, 4044444440400);
	EXPECT_EQ(gp_load_duration("7", &ns), -EINVAL);
	EXPECT_EQ(gp_load_duration("7 ms", &ns), -EINVAL);
	EXPECT_EQ(gp_load_duration("", &ns), -EINVAL);
}

static void expect_shape(u32 waves, u32 workgroups, u32 want_groups, u32 want_waves)
{
	struct gp_load_options o = { .waves = waves, .workgroups = workgroups };
	u32 groups, per_group;

	EXPECT_EQ(gp_load_shape(&o, &mi308x, &groups, &per_group), 0);
	EXPECT_EQ(groups, want_groups);
	EXPECT_EQ(per_group, want_waves);
}

static void a_kernel_has_exactly_the_waves_asked_for(void **state)
{
	struct gp_load_options o = { .waves = 100, .workgroups = 3 };
	u32 groups, per_group;

	(void)state;
	expect_shape(0, 0, 160, 16);		/* full: all CUs, two workgroups each */
	expect_shape(0, 640, 640, 4);
	expect_shape(1, 0, 1, 1);
	expect_shape(10, 0, 1, 10);
	expect_shape(17, 0, 17, 1);
	expect_shape(100, 0, 10, 10);
	expect_shape(100, 50, 50, 2);
	EXPECT_EQ(gp_load_shape(&o, &mi308x, &groups, &per_group), -EINVAL);
	o = (struct gp_load_options){ .waves = 10, .workgroups = 3 };
	EXPECT_EQ(gp_load_shape(&o, &mi308x, &groups, &per_group), -EINVAL);
	o = (struct gp_load_options){ .waves = 100 };
	o.workgroups = 5;			/* 20 waves in one workgroup */
	EXPECT_EQ(gp_load_shape(&o, &mi308x, &groups, &per_group), -EINVAL);
	EXPECT(strstr(gp_client_error(), "100 waves"));
}

/* A load as it stands at the end, without a GPU. */
static void make_load(struct gp_load *l, const struct gp_load_options *o,
		      struct gp_load_queue *queues)
{
	memset(l, 0, sizeof(*l));
	l->o = o;
	l->c.node = mi308x;
	l->queues = queues;
	l->created = o->queues;
	l->workgroups = 160;
	l->waves = 16;
	l->submitted = l->completed = 4;
	l->start_ns = 1000;
	l->last_done_ns = 2000001000;
	for (u32 i = 1; i <= 4; i++)
		gp_hist_add(&l->latency, i * 1000000);
}

static char *report(void (*print)(const struct gp_load *, int, FILE *), const struct gp_load *l,
		    int err)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	print(l, err, f);
	fclose(f);
	return text;
}

static void the_json_report_is_json_and_says_that_it_is_a_model(void **state)
{
	static struct gp_load l;
	struct gp_load_options o = { .class = "offline", .queues = 2, .kernel_ns = 20000000 };
	struct gp_load_queue queues[2] = { { .q.id = 5, .completed = 3 }, { .q.id = 6 } };
	json_t *json;
	char *text;

	(void)state;
	make_load(&l, &o, queues);
	text = report(gp_load_report_json, &l, 0);
	json = json_loads(text, 0, NULL);
	EXPECT(json);
	EXPECT_EQ(json_integer_value(json_object_get(json, "schema")), 1);
	EXPECT(strstr(json_string_value(json_object_get(json, "source")), "model"));
	EXPECT_EQ(json_integer_value(json_object_get(json, "elapsed_ns")), 2000000000);
	EXPECT(json_is_true(json_object_get(json, "verified")));
	EXPECT(json_real_value(json_object_get(json, "requests_per_s")) == 2.0);
	EXPECT_EQ(json_integer_value(json_object_get(json_object_get(json, "latency_ns"), "max")),
		  4000000);
	EXPECT_EQ(json_array_size(json_object_get(json, "queues")), 2);
	EXPECT(json_array_size(json_object_get(json, "histogram")) >= 2);
	json_decref(json);
	free(text);
}

static void what_is_wrong_is_in_the_json_report(void **state)
{
	static struct gp_load l;
	struct gp_load_options o = { .class = "online", .queues = 1 };
	struct gp_load_queue queues[1] = { { .q.id = 5 } };
	json_t *json;
	char *text;

	(void)state;
	make_load(&l, &o, queues);
	snprintf(l.lost, sizeof(l.lost), "queue 5 \"packet\" 3: lost");
	text = report(gp_load_report_json, &l, -EBADMSG);
	json = json_loads(text, 0, NULL);
	EXPECT(json);
	EXPECT(json_is_false(json_object_get(json, "verified")));
	EXPECT(!strcmp(json_string_value(json_object_get(json, "wrong")), l.lost));
	json_decref(json);
	free(text);
}

static void the_text_report_claims_success_only_when_there_is_some(void **state)
{
	static struct gp_load l;
	struct gp_load_options o = { .class = "offline", .queues = 1 };
	struct gp_load_queue queues[1] = { { .q.id = 5 } };
	char *right, *wrong;

	(void)state;
	make_load(&l, &o, queues);
	right = report(gp_load_report, &l, 0);
	wrong = report(gp_load_report, &l, -EBADMSG);
	EXPECT(strstr(right, "exactly once"));
	EXPECT(!strstr(wrong, "exactly once"));
	EXPECT(strstr(right, "not of hardware"));
	EXPECT(strstr(right, "2.000 requests/s"));
	free(right);
	free(wrong);
}

PROVE(
	CLAIM(options_arrive_where_they_belong),
	CLAIM(without_options_it_is_a_short_closed_load),
	CLAIM(every_mistake_is_named_in_one_line),
	CLAIM(durations_have_units_and_fractions),
	CLAIM(a_kernel_has_exactly_the_waves_asked_for),
	CLAIM(the_json_report_is_json_and_says_that_it_is_a_model),
	CLAIM(what_is_wrong_is_in_the_json_report),
	CLAIM(the_text_report_claims_success_only_when_there_is_some),
)
