// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which class a process gets, and the explanation. */
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"
#include "text/glob.h"
#include "tests/shared/gp_test.h"

/* ---- patterns ---- */

static void patterns_match_as_the_shell_does(void **state)
{
	static const struct {
		const char *pattern, *text;
		int text_kind, path_kind;	/* expected results: as text, as path */
	} cases[] = {
		{ "abc", "abc", 1, 1 },
		{ "abc", "abcd", 0, 0 },
		{ "abc", "ab", 0, 0 },
		{ "*", "", 1, 1 },
		{ "*", "a/b", 1, 0 },
		{ "**", "a/b", 1, 1 },
		{ "a*c", "abbbc", 1, 1 },
		{ "a*c", "ab/c", 1, 0 },
		{ "a**c", "ab/c", 1, 1 },
		{ "a?c", "abc", 1, 1 },
		{ "a?c", "a/c", 1, 0 },
		{ "a[/]c", "a/c", 1, 0 },
		{ "[a-c]x", "bx", 1, 1 },
		{ "[!a-c]x", "bx", 0, 0 },
		{ "[!a-c]x", "dx", 1, 1 },
		{ "[]x]", "]", 1, 1 },
		{ "[a-]", "-", 1, 1 },
		{ "[\\]]", "]", 1, 1 },
		{ "\\*", "*", 1, 1 },
		{ "\\*", "x", 0, 0 },
		{ "\\\\[x]", "\\x", 1, 1 },
		{ "/opt/*/bin/x", "/opt/a/bin/x", 1, 1 },
		{ "/opt/*/bin/x", "/opt/a/b/bin/x", 1, 0 },
		{ "/opt/**/x", "/opt/a/b/bin/x", 1, 1 },
		{ "**/py*", "/usr/bin/python3", 1, 1 },
		{ "*a*b*c*", "xxaxxbxxcxx", 1, 1 },
		{ "*a*b*c*", "xxaxxcxxbxx", 0, 0 },
		{ "\xc3\xa4*", "\xc3\xa4x", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *p = cases[i].pattern, *t = cases[i].text;

		EXPECT(!gp_glob_wrong(p));
		if (gp_glob(p, t, GP_GLOB_TEXT) != cases[i].text_kind ||
		    gp_glob(p, t, GP_GLOB_PATH) != cases[i].path_kind)
			fail_msg("'%s' and '%s'", p, t);
	}
}

static void a_pattern_of_a_folder_matches_what_is_in_it(void **state)
{
	static const struct {
		const char *pattern, *path;
		size_t in;	/* bytes of the matching folder; 0: none */
	} cases[] = {
		{ "/a", "/a", 2 }, { "/a", "/a/b/c", 2 }, { "/a", "/ab", 0 },
		{ "/a*", "/ab/c", 3 }, { "/a/*", "/a", 0 }, { "/a/*", "/a/b/c", 4 },
		{ "**/job_7", "/x/y/job_7/step_0", 10 }, { "**/job_*", "/x/job_77/step_0", 9 },
		{ "**/job_7", "/x/job_77/step_0", 0 }, { "**", "/", 1 }, { "**", "/a/b", 2 },
		{ "/", "/a", 0 }, { "/", "/", 1 }, { "/a/", "/a/b", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (gp_glob_within(cases[i].pattern, cases[i].path) != cases[i].in)
			fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].path);
	}
}

/* Matches by trying everything. Only for short patterns. */
static bool slow(const char *p, const char *t, bool path)
{
	if (!*p)
		return !*t;
	if (*p == '*') {
		bool deep = !path || p[1] == '*';

		while (*p == '*')
			p++;
		for (;; t++) {
			if (slow(p, t, path))
				return true;
			if (!*t || (*t == '/' && !deep))
				return false;
		}
	}
	return *t && (*p == *t || (*p == '?' && !(path && *t == '/'))) && slow(p + 1, t + 1, path);
}

static void trying_only_the_last_star_again_misses_nothing(void **state)
{
	u64 seed = gp_test_seed(4), rounds = gp_test_full() ? 3000000 : 300000;
	u32 hits = 0;

	(void)state;
	for (u64 n = 0; n < rounds; n++) {
		char p[10], t[10];
		u64 r = gp_test_random(&seed);

		for (int i = 0; i < 9; i++) {
			p[i] = "ab/**?*"[(r >> (i * 3)) % 7];
			t[i] = "ab/a"[(r >> (30 + i * 2)) % 4];
		}
		p[1 + (r >> 50) % 9] = '\0';
		t[(r >> 55) % 10] = '\0';
		for (int path = 0; path < 2; path++) {
			bool want = slow(p, t, path);

			hits += want;
			if (gp_glob(p, t, path ? GP_GLOB_PATH : GP_GLOB_TEXT) != want)
				fail_msg("'%s' and '%s' as %s", p, t, path ? "path" : "text");
		}
	}
	EXPECT(hits > rounds / 20);
}

static void a_pattern_full_of_stars_takes_no_time(void **state)
{
	static char text[4096];
	char pattern[] = "/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[0] = '/';
	EXPECT(!gp_glob(pattern, text, GP_GLOB_PATH));
	EXPECT(!gp_glob(pattern, text, GP_GLOB_TEXT));
}

static void bad_patterns_are_known(void **state)
{
	(void)state;
	assert_string_equal(gp_glob_wrong(""), "is empty");
	assert_string_equal(gp_glob_wrong("a["), "has a '[' without ']'");
	assert_string_equal(gp_glob_wrong("[!]"), "has a '[' without ']'");
	assert_string_equal(gp_glob_wrong("[a\\]"), "has a '[' without ']'");
	assert_string_equal(gp_glob_wrong("a\\"), "ends with '\\'");
	EXPECT(!gp_glob_wrong("\\["));
}

/* ---- ids ---- */

static void ids_are_names_numbers_and_ranges(void **state)
{
	char text[160];
	const struct gp_why why = { text, sizeof(text) };
	struct gp_ids ids;

	(void)state;
	EXPECT_EQ(gp_ids_parse("root, 5 7-9,", false, &ids, &why), 0);
	EXPECT_EQ(ids.nr, 3);
	EXPECT_EQ(ids.range[0].first, 0);
	EXPECT_EQ(ids.range[1].last, 5);
	EXPECT_EQ(ids.range[2].first, 7);
	EXPECT_EQ(ids.range[2].last, 9);
	EXPECT_EQ(gp_ids_parse("root", true, &ids, &why), 0);
	EXPECT_EQ(ids.nr, 1);
}

static void bad_ids_say_which_word(void **state)
{
	static const struct {
		const char *text;
		bool group;
		const char *why;
	} cases[] = {
		{ "", false, "the list is empty" },
		{ ", ,", false, "the list is empty" },
		{ "0, nosuch", false, "unknown user 'nosuch'" },
		{ "nosuch", true, "unknown group 'nosuch'" },
		{ "7-5", false, "invalid id or range A-B '7-5', ids are 0 to 4294967294" },
		{ "1x", true, "invalid id or range A-B '1x', ids are 0 to 4294967294" },
		{ "5-", true, "invalid id or range A-B '5-', ids are 0 to 4294967294" },
		{ "4294967295", false,
		  "invalid id or range A-B '4294967295', ids are 0 to 4294967294" },
		{ "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6", false,
		  "more than 32 ids, or one longer than 63" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char says[160] = "";
		const struct gp_why why = { says, sizeof(says) };
		struct gp_ids ids = { .nr = 77 };

		EXPECT_EQ(gp_ids_parse(cases[i].text, cases[i].group, &ids, &why),
			  -EINVAL);
		assert_string_equal(says, cases[i].why);
		EXPECT_EQ(ids.nr, 77);
	}
}

/* ---- rules ---- */

static const char text[] =
	"[daemon]\npolicy = priority\n"				/* 2 */
	"[class online]\npriority = 20\n"			/* 4 */
	"[class urgent]\nweight = 400\n"			/* 6 */
	"[class reserved]\npriority = 5\npreemptible = no\n"	/* 9 */
	"period = 10ms\nbudget = 2ms\n"				/* 11 */
	"[class smaller]\nperiod = 20ms\nbudget = 1ms\n"	/* 14 */
	"[rule debugger]\nexe = **/rocgdb\nclass = unmanaged\n"	/* 17 */
	"[rule vllm]\nuid = 1000-1999\ncmdline = *vllm.entry*\nclass = online\n"	/* 21 */
	"[rule group]\ngid = 50\nclass = interactive\n"		/* 24 */
	"[rule besteffort]\ncgroup = /kubepods.slice/kubepods-besteffort.slice\nclass = idle\n"
	"[rule job]\ncgroup = /system.slice/*slurmstepd.scope/job_7\nclass = urgent\n"
	"[rule jobs]\ncgroup = /system.slice/*slurmstepd.scope/job_*\nclass = offline\n"
	"[rule res]\nuid = 3\nclass = reserved\n";

#define POD	"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice/" \
		"cri-containerd-0123.scope"
#define JOB(n)	"/system.slice/node1_slurmstepd.scope/job_" #n "/step_0/user/task_0"

static int up(void **state)
{
	static char errors[GP_CONFIG_ERRORS];
	struct gp_config *config = NULL;

	if (gp_config_parse("conf", text, sizeof(text) - 1, &config, errors, sizeof(errors)))
		print_error("%s", errors);
	*state = config;
	return !config;
}

static int down(void **state)
{
	gp_config_free(*state);
	return 0;
}

static void the_first_rule_whose_conditions_hold_decides(void **state)
{
	static const struct {
		struct gp_subject who;
		const char *class, *why;
	} cases[] = {
		{ { .uid = 1000, .gid = 50, .cmdline = "python3 -m vllm.entrypoints.api" },
		  "online", "rule 'vllm' (conf:18): class online" },
		{ { .uid = 2000, .gid = 50, .cmdline = "python3 -m vllm.entrypoints.api" },
		  "interactive", "rule 'group' (conf:22): class interactive" },
		{ { .uid = 1000, .gid = 50, .cmdline = "vllm.entry",
		    .exe = "/opt/rocm/bin/rocgdb" },
		  "unmanaged", "rule 'debugger' (conf:15): class unmanaged" },
		{ { .uid = 1000, .cgroup = POD }, "idle",
		  "rule 'besteffort' (conf:25): class idle" },
		{ { .cgroup = JOB(7) }, "urgent", "rule 'job' (conf:28): class urgent" },
		{ { .cgroup = JOB(77) }, "offline", "rule 'jobs' (conf:31): class offline" },
		{ { .cgroup = "/system.slice/ssh.service" }, "unmanaged",
		  "no rule matches: class unmanaged (default_class)" },
		{ { .uid = UINT32_MAX }, "unmanaged",
		  "no rule matches: class unmanaged (default_class)" },
	};
	const struct gp_config *config = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_match m;

		gp_rules_match(&config->rules, &cases[i].who, &m);
		assert_string_equal(m.class->name, cases[i].class);
		assert_string_equal(m.why, cases[i].why);
		EXPECT(!m.lowered);
		EXPECT_EQ(!m.rule, !strncmp(m.why, "no rule", 7));
	}
}

static void the_environment_lowers_and_never_raises(void **state)
{
	static const struct {
		u32 uid;
		const char *wanted, *class, *why;
	} cases[] = {
		{ 1000, "offline", "offline",
		  "rule 'vllm' (conf:18): class online; lowered to offline by GPREEMPT_CLASS" },
		{ 1000, "online", "online", "rule 'vllm' (conf:18): class online" },
		{ 1000, "unmanaged", "unmanaged",
		  "rule 'vllm' (conf:18): class online; lowered to unmanaged by GPREEMPT_CLASS" },
		{ 1000, "urgent", "online", "rule 'vllm' (conf:18): class online; "
		  "GPREEMPT_CLASS=urgent ignored: it may only lower" },
		{ 1000, "reserved", "online", "rule 'vllm' (conf:18): class online; "
		  "GPREEMPT_CLASS=reserved ignored: it may only lower" },
		{ 1000, "no\nsuch", "online", "rule 'vllm' (conf:18): class online; "
		  "GPREEMPT_CLASS=no?such ignored: unknown class" },
		/* Cut within a character, which is no UTF-8 and no JSON. */
		{ 1000, "123456789012345678901234567890\303\244", "online", "rule 'vllm' "
		  "(conf:18): class online; "
		  "GPREEMPT_CLASS=123456789012345678901234567890? ignored: unknown class" },
		{ 1000, "", "online", "rule 'vllm' (conf:18): class online; "
		  "GPREEMPT_CLASS= ignored: unknown class" },
		{ 3, "smaller", "smaller",
		  "rule 'res' (conf:34): class reserved; lowered to smaller by GPREEMPT_CLASS" },
		{ 3, "interactive", "reserved", "rule 'res' (conf:34): class reserved; "
		  "GPREEMPT_CLASS=interactive ignored: it may only lower" },
		{ 9, "offline", "offline", "no rule matches: class unmanaged (default_class); "
		  "lowered to offline by GPREEMPT_CLASS" },
		{ 9, "interactive", "unmanaged", "no rule matches: class unmanaged "
		  "(default_class); "
		  "GPREEMPT_CLASS=interactive ignored: it may only lower" },
	};
	const struct gp_config *config = *state;
	struct gp_rules deaf = config->rules;
	struct gp_match m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_subject who = { .uid = cases[i].uid, .cmdline = "vllm.entry",
					  .wanted = cases[i].wanted };

		gp_rules_match(&config->rules, &who, &m);
		assert_string_equal(m.class->name, cases[i].class);
		assert_string_equal(m.why, cases[i].why);
		EXPECT_EQ(m.lowered, strstr(m.why, "lowered") != NULL);
	}
	deaf.environment = false;
	gp_rules_match(&deaf, &(struct gp_subject){ .wanted = "offline" }, &m);
	assert_string_equal(m.why, "no rule matches: class unmanaged (default_class)");
}

static void a_gang_is_named_by_a_cgroup_or_by_the_environment(void **state)
{
	static const char text[] = "[rule job]\ncgroup = **/job_*\nclass = offline\ngang = cgroup\n"
		"[rule rest]\nmatch = all\nclass = offline\n";
	static const struct {
		struct gp_subject who;
		const char *gang;
	} cases[] = {
		{ { .cgroup = JOB(7), .gang = "mine" },
		  "/system.slice/node1_slurmstepd.scope/job_7" },
		{ { .cgroup = "/user.slice", .gang = "train.3" }, "train.3" },
		{ { .cgroup = "/user.slice" }, "" },
		{ { .gang = "/system.slice/slurmstepd.scope/job_7" }, "" },
		{ { .gang = "" }, "" },
		{ { .gang = "a b" }, "" },
	};
	static char errors[GP_CONFIG_ERRORS];
	struct gp_config *config;
	struct gp_rules deaf;
	struct gp_match m;

	(void)state;
	EXPECT_EQ(gp_config_parse("conf", text, strlen(text), &config, errors, sizeof(errors)), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gp_rules_match(&config->rules, &cases[i].who, &m);
		assert_string_equal(m.gang, cases[i].gang);
		EXPECT_EQ(strstr(m.why, "GPREEMPT_GANG ignored") != NULL,
			  cases[i].who.gang && !m.gang[0]);
	}
	deaf = config->rules;
	deaf.environment = false;
	gp_rules_match(&deaf, &cases[1].who, &m);
	assert_string_equal(m.gang, "");
	gp_config_free(config);
}

static void an_unmanaged_process_may_become_what_offline_is_here(void **state)
{
	static const char changed[] = "[class offline]\npriority = 5\nweight = 300\n";
	static char errors[GP_CONFIG_ERRORS];
	struct gp_config *config;
	struct gp_match m;

	(void)state;
	EXPECT_EQ(gp_config_parse("conf", changed, strlen(changed), &config, errors,
				  sizeof(errors)), 0);
	gp_rules_match(&config->rules, &(struct gp_subject){ .wanted = "offline" }, &m);
	EXPECT(m.lowered);
	assert_string_equal(m.class->name, "offline");
	gp_config_free(config);
}

/* Checks each difference alone, in both directions. */
static void lower_means_lower_in_everything(void **state)
{
	static const struct gp_class base = { 5, 100, GP_LATENCY_CRITICAL, 10, 4, 8 };
	static const struct {
		struct gp_class is;
		bool lower;
	} cases[] = {
		{ { 5, 100, GP_LATENCY_CRITICAL, 10, 4, 8 }, true },
		{ { 4, 100, GP_LATENCY_CRITICAL, 10, 4, 8 }, true },
		{ { 6, 100, GP_LATENCY_CRITICAL, 10, 4, 8 }, false },
		{ { 5, 99, GP_LATENCY_CRITICAL, 10, 4, 8 }, true },
		{ { 5, 101, GP_LATENCY_CRITICAL, 10, 4, 8 }, false },
		{ { 5, 100, 0, 10, 4, 8 }, true },
		{ { 5, 100, GP_LATENCY_CRITICAL | GP_PREEMPTIBLE, 10, 4, 8 }, true },
		{ { 5, 100, GP_LATENCY_CRITICAL, 11, 4, 8 }, true },
		{ { 5, 100, GP_LATENCY_CRITICAL, 9, 4, 8 }, false },
		{ { 5, 100, GP_LATENCY_CRITICAL, 10, 3, 8 }, true },
		{ { 5, 100, GP_LATENCY_CRITICAL, 10, 5, 8 }, false },
		{ { 5, 100, GP_LATENCY_CRITICAL, 10, 4, 7 }, false },
		{ { 5, 100, GP_LATENCY_CRITICAL, 10, 4, 0 }, true },
		{ { 5, 100, GP_LATENCY_CRITICAL, 0, 0, 0 }, true },
	};
	struct gp_named_class from = { .name = "from", .is = base }, to = { .name = "to" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		to.is = cases[i].is;
		if (gp_class_lowers(&from, &to) != cases[i].lower)
			fail_msg("case %zu", i);
		if (i && cases[i].lower && gp_class_lowers(&to, &from))
			fail_msg("case %zu goes both ways", i);
	}
	to.is.flags = GP_PREEMPTIBLE;
	from.is = (struct gp_class){ .priority = 9, .weight = 100 };
	EXPECT(gp_class_lowers(&from, &to));
	from.is.flags = GP_PREEMPTIBLE;
	to.is.flags = 0;
	EXPECT(!gp_class_lowers(&from, &to));
}

PROVE(
	CLAIM(patterns_match_as_the_shell_does),
	CLAIM(a_pattern_of_a_folder_matches_what_is_in_it),
	CLAIM(trying_only_the_last_star_again_misses_nothing),
	CLAIM(a_pattern_full_of_stars_takes_no_time),
	CLAIM(bad_patterns_are_known),
	CLAIM(ids_are_names_numbers_and_ranges),
	CLAIM(bad_ids_say_which_word),
	CLAIM_WITH(the_first_rule_whose_conditions_hold_decides, up, down),
	CLAIM_WITH(the_environment_lowers_and_never_raises, up, down),
	CLAIM(a_gang_is_named_by_a_cgroup_or_by_the_environment),
	CLAIM(an_unmanaged_process_may_become_what_offline_is_here),
	CLAIM(lower_means_lower_in_everything),
)
