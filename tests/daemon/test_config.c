// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The daemon's configuration: valid input, and every message about invalid input. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/config.h"
#include "text/value.h"
#include "tests/shared/gp_test.h"

static char errors[GP_CONFIG_ERRORS];

static struct gp_config *parse(const char *text)
{
	struct gp_config *config = NULL;

	if (gp_config_parse("conf", text, strlen(text), &config, errors, sizeof(errors)))
		fail_msg("'%s' is refused: %s", text, errors);
	assert_string_equal(errors, "");
	return config;
}

static void expect_refused(const char *text, const char *message)
{
	struct gp_config *config = (void *)&errors;

	EXPECT_EQ(gp_config_parse("conf", text, strlen(text), &config, errors, sizeof(errors)),
		  -EINVAL);
	if (strcmp(errors, message))
		fail_msg("'%s' says\n%sbut should say\n%s", text, errors, message);
	EXPECT(config == (void *)&errors);
}

/* ---- what is taken ---- */

static void nothing_configured_observes_only(void **state)
{
	struct gp_config *config = parse("");

	(void)state;
	EXPECT(!config->policy);
	EXPECT_EQ(config->daemon.mechanism, GP_USE_AUTO);
	EXPECT_EQ(config->daemon.scan_ns, 100 * GP_MSEC);
	EXPECT_EQ(config->nr_classes, 5);
	EXPECT_EQ(config->nr_rules, 0);
	assert_string_equal(config->rules.otherwise->name, "unmanaged");
	EXPECT(!config->rules.otherwise->managed);
	for (u32 i = 0; i < GP_NR_PARAMS; i++)
		EXPECT_EQ(gp_config_params(config, NULL)[i], gp_params[i].initial);
	gp_config_free(config);
	gp_config_free(NULL);
}

static void values_arrive_where_they_belong(void **state)
{
	struct gp_config *config = parse(
		"\xef\xbb\xbf# a comment\n; another\r\n"
		"\t[ daemon ]\n");

	(void)state;
	gp_config_free(config);
	config = parse("[daemon] ; here too\r\npolicy = fair # and here\nmechanism=none\n"
		       "  grace = 7\nenvironment = no\ngpus = 0, 0000:c1:00.0  c1:00.0/2\n"
		       "scan = 1.5s\n"
		       "[policy]\nslice = 3ms\nlinger = ski\n"
		       "[policy fair]\nslice = 4ms\nsmall_victim = 10\n"
		       "[class online]\nweight = 7\n[class mine]\nlatency_critical = yes\n"
		       "period=10ms\nbudget=1ms\n"
		       "[rule r.1]\nclass = mine\nexe = /a/b;c\n");
	EXPECT(config->policy == &gp_policy_fair);
	EXPECT_EQ(config->daemon.mechanism, GP_USE_NONE);
	EXPECT_EQ(config->daemon.grace, 7);
	EXPECT_EQ(config->daemon.scan_ns, 1500 * GP_MSEC);
	EXPECT(!config->daemon.environment);
	EXPECT(!config->rules.environment);
	assert_string_equal(config->daemon.gpus, "0,0000:c1:00.0,c1:00.0/2");
	EXPECT_EQ(gp_config_params(config, NULL)[GP_SLICE], 4 * GP_MSEC);
	EXPECT_EQ(gp_config_params(config, &gp_policy_priority)[GP_SLICE], 3 * GP_MSEC);
	EXPECT_EQ(gp_config_params(config, &gp_policy_priority)[GP_LINGER], GP_LINGER_SKI);
	EXPECT_EQ(gp_config_params(config, &gp_policy_priority)[GP_SMALL_VICTIM], 250);
	EXPECT_EQ(gp_rules_class(&config->rules, "online")->is.priority, 10);
	EXPECT_EQ(gp_rules_class(&config->rules, "online")->is.weight, 7);
	EXPECT_EQ(gp_rules_class(&config->rules, "mine")->is.flags,
		  GP_LATENCY_CRITICAL | GP_PREEMPTIBLE);
	EXPECT_EQ(gp_rules_class(&config->rules, "mine")->is.budget_ns, GP_MSEC);
	assert_string_equal(config->rule[0].exe, "/a/b;c");
	EXPECT(config->rule[0].class == gp_rules_class(&config->rules, "mine"));
	gp_config_free(config);
}

static void times_have_units_and_are_exact(void **state)
{
	static const char *const bad[] = { "", "5", "1.5ns", "1.5.5ms", "ms", "-1s", "1 d", "1e3s",
		"1234567890123456789ns", "99999999999999s", "1.5 msx" };
	u64 ns = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!gp_parse_ns(bad[i], &ns))
			fail_msg("'%s' is taken", bad[i]);
	}
	EXPECT_EQ(ns, 7);
	EXPECT_EQ(gp_parse_ns("1.5 us", &ns), 0);
	EXPECT_EQ(ns, 1500);
	EXPECT_EQ(gp_parse_ns("2min", &ns), 0);
	EXPECT_EQ(ns, 120 * GP_SEC);
	EXPECT_EQ(gp_parse_ns("1.5h", &ns), 0);
	EXPECT_EQ(ns, 5400 * GP_SEC);
	EXPECT_EQ(gp_parse_ns("0", &ns), 0);
	EXPECT_EQ(ns, 0);
}

static void the_bounds_themselves_are_taken(void **state)
{
	(void)state;
	gp_config_free(parse("[daemon]\nheartbeat = 1s\n[policy]\nlease = 1s\n"
			     "look_min = 50us\nlook_max = 50us\n"));
}

/* A scenario has the same bounds, see test_scenario.c. */
static void a_class_may_reserve_up_to_an_hour(void **state)
{
	(void)state;
	gp_config_free(parse("[class a]\npriority = 1000\nweight = 10000\nperiod = 3600s\n"
			     "budget = 3600s\ndeadline = 60min\n"));
	expect_refused("[class a]\nperiod = 3601s\nbudget = 1s\n",
		       "conf:2: period: invalid value '3601s' (renews the reservation); expected "
		       "a time from 0 to 3600s with a unit (ns, us, ms, s, min, h)\n");
}

static void a_colon_separates_like_an_equals_sign(void **state)
{
	struct gp_config *config = parse("[daemon]\ngrace : 7\nsocket: /a=b\n");

	(void)state;
	EXPECT_EQ(config->daemon.grace, 7);
	assert_string_equal(config->daemon.socket, "/a=b");
	gp_config_free(config);
}

/* ---- what is refused, word for word ---- */

static const struct refusal {
	const char *text, *message;
} refusals[] = {
	/* lines */
	{ "policy = fair\n",
	  "conf:1: 'policy' stands before any section; write [daemon] or another above it\n" },
	{ "[daemon]\nfair\n",
	  "conf:2: invalid line; expected [NAME] or KEY = VALUE\n" },
	{ "[daemon]\ngrace ; = 3\n",
	  "conf:2: invalid line; expected [NAME] or KEY = VALUE\n" },
	{ "[daemon]\n= fair\n",
	  "conf:2: invalid line; expected [NAME] or KEY = VALUE\n" },
	{ "[daemon\n",
	  "conf:1: invalid section header; expected [NAME] and nothing else on the line\n" },
	{ "[daemon] x\ngrace = 0\n",
	  "conf:1: unexpected text behind [daemon]; write it on a line of its own\n" },
	{ "[]\n",
	  "conf:1: invalid section header; expected [NAME] and nothing else on the line\n" },
	/* sections */
	{ "[demon]\n",
	  "conf:1: unknown section [demon]; expected [daemon], [policy], [policy NAME], [class "
	  "NAME] or [rule NAME]\n" },
	{ "[fault x]\na = b\n",
	  "conf:1: unknown section [fault x]; expected [daemon], [policy], [policy NAME], [class "
	  "NAME] or [rule NAME]\n" },
	{ "[daemon two]\n",
	  "conf:1: [daemon two]: unexpected name; expected [daemon]\n" },
	{ "[policy best]\n",
	  "conf:1: [policy best]: unknown policy; expected [policy] or one of fifo, priority, "
	  "fair, deadline\n" },
	{ "[class]\n",
	  "conf:1: [class ]: invalid name; expected a letter and then letters, digits, _ and -, "
	  "at most 31 together\n" },
	{ "[class 1a]\n",
	  "conf:1: [class 1a]: invalid name; expected a letter and then letters, digits, _ and "
	  "-, at most 31 together\n" },
	{ "[class a]\n[class b]\n\n[class a]\n",
	  "conf:4: [class a]: already defined at conf:1; merge the two\n" },
	{ "[class unmanaged]\npriority = 1\n",
	  "conf:1: [class unmanaged]: it cannot be changed; choose another name\n" },
	{ "[rule a/b]\n",
	  "conf:1: [rule a/b]: invalid name; expected letters, digits, _, - and ., at most 47\n" },
	{ "[rule a]\nuid=0\nclass=idle\n[rule a]\nuid=0\n",
	  "conf:4: [rule a]: already defined at conf:1; rename one of them\n" },
	/* keys */
	{ "[daemon]\npolcy = fair\n",
	  "conf:2: unknown key 'polcy' in [daemon]; did you mean 'policy'?\n" },
	{ "[class a]\nprio = 1\n",
	  "conf:2: unknown key 'prio' in [class]; did you mean 'priority'?\n" },
	{ "[rule a]\nuser = 1\n",
	  "conf:2: unknown key 'user' in [rule]; expected one of match, uid, gid, exe, cmdline, "
	  "cgroup, class, gang\n" },
	{ "[policy]\nlook = 1ms\n",
	  "conf:2: unknown key 'look' in [policy]; did you mean 'look_min'?\n" },
	{ "[daemon]\ngrace = 1\n[daemon]\ngrace = 2\n",
	  "conf:4: grace: already set in line 2; remove one of them\n" },
	{ "[policy]\nlease = 1s\nlease = 1s\n",
	  "conf:3: lease: already set in line 2; remove one of them\n" },
	{ "[rule a]\nclass = idle\nuid = 0\nuid = 1\n",
	  "conf:4: uid: already set in line 3; remove one of them\n" },
	/* values */
	{ "[daemon]\npolicy = best\n",
	  "conf:2: policy: invalid value 'best'; expected one of none, fifo, priority, fair, "
	  "deadline\n" },
	{ "[daemon]\nmechanism = gdb\n",
	  "conf:2: mechanism: invalid value 'gdb'; expected one of auto, kfd-debug, kmod, none\n" },
	{ "[daemon]\nlog =\n",
	  "conf:2: log: invalid value ''; expected one of error, warning, info, debug\n" },
	{ "[daemon]\ngrace = 256\n",
	  "conf:2: grace: invalid value '256' (in units of 1000 GPU clocks); expected a "
	  "number from 1 to 255\n" },
	{ "[daemon]\nclients = 1.0\n",
	  "conf:2: clients: invalid value '1.0' (connections at a time); expected a number from "
	  "1 to 255\n" },
	{ "[daemon]\nscan = 100\n",
	  "conf:2: scan: invalid value '100' (time between two scans for processes); expected a "
	  "time from 10ms to 10s with a unit (ns, us, ms, s, min, h)\n" },
	{ "[daemon]\nscan = 1min\n",
	  "conf:2: scan: invalid value '1min' (time between two scans for processes); expected a "
	  "time from 10ms to 10s with a unit (ns, us, ms, s, min, h)\n" },
	{ "[daemon]\nenvironment = on\n",
	  "conf:2: environment: invalid value 'on' (whether processes may lower their class with "
	  "GPREEMPT_CLASS); expected yes or no\n" },
	{ "[daemon]\nsocket = control\n",
	  "conf:2: socket: invalid value 'control'; expected a path that begins with /\n" },
	{ "[daemon]\nsocket = /3456789012345678901234567890123456789012345678901234567890"
	  "1234567890123456789012345678901234567890123456789\n",
	  "conf:2: socket: the value is too long; expected at most 107 bytes\n" },
	{ "[daemon]\ngroup = a b\n",
	  "conf:2: group: invalid value 'a b'; expected a letter and then letters, digits, _ and "
	  "-, at most 31 together\n" },
	{ "[daemon]\ngpus = 0, c1\n",
	  "conf:2: gpus: invalid value '0, c1'; expected all, or indices and PCI addresses with "
	  "commas, such as 0, 0000:c1:00.0\n" },
	{ "[class a]\npreemptible = maybe\n",
	  "conf:2: preemptible: invalid value 'maybe' (whether it may be preempted); expected "
	  "yes or no\n" },
	{ "[policy]\nlook_min = 1ns\n",
	  "conf:2: look_min: invalid value '1ns' (shortest time between two looks); expected a "
	  "time from 1us to 1s\n" },
	{ "[policy]\nlinger = 2ns\n",
	  "conf:2: linger: invalid value '2ns' (how long victims stay off after the last work); "
	  "expected learnt, ski or a time from 0 to 10s\n" },
	{ "[policy]\nreserve = 5%\n",
	  "conf:2: reserve: invalid value '5%' (thousandths of the GPU never promised); "
	  "expected thousandths from 0 to 1000\n" },
	{ "[policy]\nlook_weight = -1\n",
	  "conf:2: look_weight: invalid value '-1' (us of processor time one us of latency is "
	  "worth); expected a number from 0 to 10000\n" },
	{ "[rule a]\nmatch = any\n",
	  "conf:2: match: invalid value 'any'; expected one of conditions, all\n" },
	{ "[rule a]\nuid = nosuch\n",
	  "conf:2: uid: unknown user 'nosuch'; expected names, numbers or ranges of users, "
	  "separated by commas\n" },
	{ "[rule a]\ngid = nosuch\n",
	  "conf:2: gid: unknown group 'nosuch'; expected names, numbers or ranges of groups, "
	  "separated by commas\n" },
	{ "[rule a]\nexe = python3\n",
	  "conf:2: exe: invalid value 'python3'; expected a pattern that begins with / (of a "
	  "whole path) or with ** (of its end)\n" },
	{ "[rule a]\ncgroup = kubepods*\n",
	  "conf:2: cgroup: invalid value 'kubepods*'; expected a pattern that begins with / (of "
	  "a whole path) or with ** (of its end)\n" },
	{ "[rule a]\ncmdline = [a\n",
	  "conf:2: cmdline: the pattern '[a' has a '[' without ']'; write \\ before *, ?, [ or "
	  "\\ that mean themselves\n" },
	{ "[daemon]\nlog = a\x1b[31m\n",
	  "conf:2: log: invalid value 'a?[31m'; expected one of error, warning, info, debug\n" },
	{ "[rule a]\nuid = 100000001,100000002,100000003,100000004,100000005,100000006,100000007,"
	  "100000008,100000009,100000010,100000011,100000012,100000013,100000014,100000015,"
	  "100000016,100000017\n",
	  "conf:2: uid: the list is longer than 180 bytes as numbers; use ranges or a second "
	  "rule\n" },
	{ "[rule a]\nexe = /a/bcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmno"
	  "pqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxy"
	  "zabcdef\n",
	  "conf:2: exe: the value is too long; expected at most 159 bytes\n" },
	{ "[daemon]\nsocket = /\n",
	  "conf:2: socket: invalid value '/'; expected a path that begins with /\n" },
	{ "[daemon]\ngpus = ,\n",
	  "conf:2: gpus: invalid value ','; expected all, or indices and PCI addresses with "
	  "commas, such as 0, 0000:c1:00.0\n" },
	{ "[daemon]\ngpus = c1:00.0/x\n",
	  "conf:2: gpus: invalid value 'c1:00.0/x'; expected all, or indices and PCI addresses "
	  "with commas, such as 0, 0000:c1:00.0\n" },
	{ "[daemon]\ngpus = 1234\n",
	  "conf:2: gpus: invalid value '1234'; expected all, or indices and PCI addresses with "
	  "commas, such as 0, 0000:c1:00.0\n" },
	{ "[daemon]\ngpus = 0000:c1:0000\n",
	  "conf:2: gpus: invalid value '0000:c1:0000'; expected all, or indices and PCI "
	  "addresses with commas, such as 0, 0000:c1:00.0\n" },
	/* the file as a whole */
	{ "[daemon]\n\ndefault_class = best\n",
	  "conf:3: default_class: unknown class 'best'; add [class best] or write one of online, "
	  "interactive, offline, idle, unmanaged\n" },
	{ "[rule a]\nuid = 0\nclass = best\n",
	  "conf:3: class: unknown class 'best'; add [class best] or write one of online, "
	  "interactive, offline, idle, unmanaged\n" },
	{ "[rule a]\nuid = 0\n",
	  "conf:1: [rule a] has no class; add class = NAME\n" },
	{ "[rule a]\nclass = idle\n",
	  "conf:1: [rule a] has no condition; add uid, gid, exe, cmdline or cgroup, or match = "
	  "all\n" },
	{ "[rule a]\nclass = idle\nuid = 0\ngang = cgroup\n",
	  "conf:1: [rule a]: gang = cgroup needs a condition on the cgroup, which says what part "
	  "of its path is one job; add cgroup\n" },
	{ "[rule a]\nclass = idle\nmatch = all\nuid = 0\n",
	  "conf:1: [rule a] has match = all and conditions; remove match = all or the "
	  "conditions\n" },
	{ "[rule a]\nclass = idle\nmatch = all\n[rule b]\nclass = idle\nuid = 0\n",
	  "conf:4: [rule b] is never reached, since [rule a] at conf:1 matches every process; "
	  "move it up, or use default_class for the rest\n" },
	{ "[rule a]\nclass = idle\nmatch = all\n[rule b]\nclass = idle\nmatch = all\n"
	  "[rule c]\nclass = idle\nuid = 0\n",
	  "conf:4: [rule b] is never reached, since [rule a] at conf:1 matches every process; "
	  "move it up, or use default_class for the rest\n"
	  "conf:7: [rule c] is never reached, since [rule a] at conf:1 matches every process; "
	  "move it up, or use default_class for the rest\n" },
	{ "[class a]\nbudget = 1ms\n",
	  "conf:1: [class a] is contradictory; a budget or deadline needs a period\n" },
	{ "[class idle]\nperiod = 1ms\nbudget = 2ms\n",
	  "conf:1: [class idle] is contradictory; the budget must be more than 0 and fit in the "
	  "period and the deadline\n" },
	{ "[policy]\nlook_min = 1ms\n",
	  "conf:2: look_min 1ms is above look_max 50us; raise the second or lower the first\n" },
	{ "[policy]\nlook_min = 30us\n[policy fair]\nlook_max = 25us\n",
	  "conf:4: look_min 30us is above look_max 25us; raise the second or lower the first\n" },
	{ "[daemon]\nheartbeat = 2s\n",
	  "conf:2: heartbeat 2s is above lease 1s, so a stopped daemon could hold for longer; "
	  "lower heartbeat or raise lease\n" },
	{ "[daemon]\npolicy = fair\n[policy fair]\nlease = 100ms\n",
	  "conf:4: heartbeat 500ms is above lease 100ms, so a stopped daemon could hold for "
	  "longer; lower heartbeat or raise lease\n" },
	/* several errors at once, and no message that only follows from another */
	{ "[rule a]\nuid = nosuch\n[rule b]\nclas = idle\n[class c]\nbudget = x\nperiod = 1s\n",
	  "conf:2: uid: unknown user 'nosuch'; expected names, numbers or ranges of users, "
	  "separated by commas\n"
	  "conf:4: unknown key 'clas' in [rule]; did you mean 'class'?\n"
	  "conf:6: budget: invalid value 'x' (GPU time reserved per period); expected a time "
	  "from 0 to 3600s with a unit (ns, us, ms, s, min, h)\n" },
};

static void every_fault_is_one_line_that_says_what_to_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		expect_refused(refusals[i].text, refusals[i].message);
}

static void a_line_that_is_no_text_is_refused(void **state)
{
	static const char zero[] = "[daemon]\ngrace\0 = 1\n";
	struct gp_config *config;
	char line[400] = "[daemon]\nlog = ";

	(void)state;
	EXPECT_EQ(gp_config_parse("conf", zero, sizeof(zero) - 1, &config, errors, sizeof(errors)),
		  -EINVAL);
	assert_string_equal(errors, "conf:2: the line has a zero byte; expected a text file\n");
	memset(line + strlen(line), 'x', 300);
	expect_refused(line, "conf:2: the line is too long; expected at most 198 bytes\n");
}

static u32 lines_of(const char *text)
{
	u32 nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

static void faults_are_listed_up_to_a_limit_and_counted(void **state)
{
	char text[2000] = "[daemon]\n", small[100];
	struct gp_config *config;

	(void)state;
	for (int i = 0; i < 30; i++)
		strcat(text, "nothing\n");
	EXPECT_EQ(gp_config_parse("conf", text, strlen(text), &config, errors, sizeof(errors)),
		  -EINVAL);
	EXPECT_EQ(lines_of(errors), GP_INI_LISTED + 1);
	EXPECT(strstr(errors, "\nand 10 more; fix these first\n"));
	/* A buffer that is too small gets whole lines. */
	EXPECT_EQ(gp_config_parse("conf", text, strlen(text), &config, small, sizeof(small)),
		  -EINVAL);
	EXPECT_EQ(lines_of(small), 2);
	EXPECT(strstr(small, "\nand 29 more; fix these first\n"));
}

static void there_are_bounds_on_classes_and_rules(void **state)
{
	static char text[40000];
	size_t at = 0;

	(void)state;
	for (int i = 5; i < GP_CLASSES; i++)
		at += (size_t)sprintf(text + at, "[class c%d]\n", i);
	gp_config_free(parse(text));
	sprintf(text + at, "[class more]\n");
	expect_refused(text, "conf:60: [class more]: more than 64 classes; remove some\n");
	at = 0;
	for (int i = 0; i < GP_RULES; i++)
		at += (size_t)sprintf(text + at, "[rule r%d]\nuid=0\nclass=idle\n", i);
	gp_config_free(parse(text));
	sprintf(text + at, "[rule more]\n");
	expect_refused(text, "conf:769: [rule more]: more than 256 rules; remove some\n");
}

/* ---- printing ---- */

static char *printed(const struct gp_config *config, bool json)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	EXPECT_EQ(json ? gp_config_print_json(config, to) : gp_config_print(config, to), 0);
	fclose(to);
	return text;
}

static const char sample[] =
	"[daemon]\npolicy = deadline\ngpus = 1, 0000:c1:00.0\ndefault_class = mine\n"
	"[policy]\nlinger = 3ms\n[policy fair]\nslice = 1500us\n"
	"[class mine]\nperiod = 10ms\nbudget = 1ms\n"
	"[rule one]\nuid = 0, 5-9\nexe = **/x[!a]\nclass = mine\n"
	"[rule rest]\nmatch = all\nclass = unmanaged\n";

static void what_is_printed_loads_to_the_same(void **state)
{
	struct gp_config *a = parse(sample), *b;
	char *first = printed(a, false), *second;

	(void)state;
	EXPECT(strstr(first, "\n[rule one]\nmatch = conditions\nuid = 0, 5-9\nexe = **/x[!a]\n"));
	b = parse(first);
	second = printed(b, false);
	assert_string_equal(first, second);
	EXPECT(!memcmp(a->param, b->param, sizeof(a->param)));
	EXPECT(!memcmp(&a->daemon, &b->daemon, sizeof(a->daemon)));
	EXPECT_EQ(a->nr_rules, b->nr_rules);
	gp_config_free(a);
	gp_config_free(b);
	free(first);
	free(second);
}

static void the_json_says_the_same(void **state)
{
	struct gp_config *config = parse(sample);
	char *text = printed(config, true);
	json_t *o = json_loads(text, 0, NULL), *rule;
	json_int_t slice;

	(void)state;
	EXPECT(o);
	EXPECT_EQ(json_integer_value(json_object_get(o, "schema")), GP_CONFIG_SCHEMA);
	EXPECT(json_is_false(json_object_get(o, "observe_only")));
	EXPECT_EQ(json_unpack(o, "{s:{s:{s:I}}}", "policies", "fair", "slice_ns", &slice), 0);
	EXPECT_EQ(slice, 1500000);
	rule = json_array_get(json_object_get(o, "rules"), 0);
	assert_string_equal(json_string_value(json_object_get(rule, "name")), "one");
	EXPECT_EQ(json_integer_value(json_object_get(rule, "line")), 12);
	EXPECT_EQ(json_integer_value(json_array_get(json_array_get(json_object_get(rule, "uid"), 1),
						    1)), 9);
	json_decref(o);
	free(text);
	gp_config_free(config);
}

PROVE(
	CLAIM(nothing_configured_observes_only),
	CLAIM(values_arrive_where_they_belong),
	CLAIM(times_have_units_and_are_exact),
	CLAIM(the_bounds_themselves_are_taken),
	CLAIM(a_class_may_reserve_up_to_an_hour),
	CLAIM(a_colon_separates_like_an_equals_sign),
	CLAIM(every_fault_is_one_line_that_says_what_to_do),
	CLAIM(a_line_that_is_no_text_is_refused),
	CLAIM(faults_are_listed_up_to_a_limit_and_counted),
	CLAIM(there_are_bounds_on_classes_and_rules),
	CLAIM(what_is_printed_loads_to_the_same),
	CLAIM(the_json_says_the_same),
)
