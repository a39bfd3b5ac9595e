// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The daemon's configuration: what it takes, and every sentence it says about the rest. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/config.h"
#include "text/value.h"
#include "gp_test.h"

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
	static const char *const bad[] = { "", "5", "1.5ns", "1.5.5ms", "ms", "-1s", "1 h", "1e3s",
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
	EXPECT_EQ(gp_parse_ns("0", &ns), 0);
	EXPECT_EQ(ns, 0);
}

static void the_bounds_themselves_are_taken(void **state)
{
	(void)state;
	gp_config_free(parse("[daemon]\nheartbeat = 1s\n[policy]\nlease = 1s\n"
			     "look_min = 50us\nlook_max = 50us\n"));
}

/* ---- what is refused, word for word ---- */

#define CLASS_NAMES	"online, interactive, offline, idle, unmanaged"
#define DAEMON_KEYS	"policy, mechanism, gpus, default_class, environment, scan, " \
			"attach_after, attach_rate, grace, heartbeat, socket, group, clients, " \
			"state, log, unpreemptible"

static const struct refusal {
	const char *text, *message;
} refusals[] = {
	/* lines */
	{ "policy = fair\n",
	  "conf:1: 'policy' stands before any section; write [daemon] or another above it\n" },
	{ "[daemon]\nfair\n",
	  "conf:2: neither a section nor a setting; write [NAME] or KEY = VALUE\n" },
	{ "[daemon]\ngrace ; = 3\n",
	  "conf:2: neither a section nor a setting; write [NAME] or KEY = VALUE\n" },
	{ "[daemon]\n= fair\n",
	  "conf:2: neither a section nor a setting; write [NAME] or KEY = VALUE\n" },
	{ "[daemon\n",
	  "conf:1: a section has no name or is not closed; write [NAME] and nothing else on the "
	  "line\n" },
	{ "[daemon] x\ngrace = 0\n",
	  "conf:1: a section has no name or is not closed; write [NAME] and nothing else on the "
	  "line\n" },
	{ "[]\n", "conf:1: a section has no name or is not closed; write [NAME] and nothing else "
	  "on the line\n" },
	/* sections */
	{ "[demon]\n", "conf:1: no section [demon]; write [daemon], [policy], [policy NAME], "
	  "[class NAME] or [rule NAME]\n" },
	{ "[fault x]\na = b\n", "conf:1: no section [fault x]; write [daemon], [policy], "
	  "[policy NAME], [class NAME] or [rule NAME]\n" },
	{ "[daemon two]\n", "conf:1: [daemon two]: there is one daemon; write [daemon]\n" },
	{ "[policy best]\n", "conf:1: [policy best]: there is no such policy; write [policy] or "
	  "one of fifo, priority, fair, deadline\n" },
	{ "[class]\n", "conf:1: [class ]: not a name; write letters, digits, _ and -, at most "
	  "31\n" },
	{ "[class 1a]\n",
	  "conf:1: [class 1a]: not a name; write letters, digits, _ and -, at most 31\n" },
	{ "[class a]\n[class b]\n\n[class a]\n",
	  "conf:4: [class a]: defined at conf:1 already; merge the two\n" },
	{ "[class unmanaged]\npriority = 1\n",
	  "conf:1: [class unmanaged]: it cannot be changed; choose another name\n" },
	{ "[rule a/b]\n",
	  "conf:1: [rule a/b]: not a name; write letters, digits, _, - and ., at most 47\n" },
	{ "[rule a]\nuid=0\nclass=idle\n[rule a]\nuid=0\n",
	  "conf:4: [rule a]: defined at conf:1 already; rename one of them\n" },
	/* keys */
	{ "[daemon]\npolcy = fair\n",
	  "conf:2: no key 'polcy' in [daemon]; write one of " DAEMON_KEYS "\n" },
	{ "[class a]\nprio = 1\n", "conf:2: no key 'prio' in [class]; write one of priority, "
	  "weight, latency_critical, preemptible, period, budget, deadline\n" },
	{ "[rule a]\nuser = 1\n", "conf:2: no key 'user' in [rule]; write one of match, uid, gid, "
	  "exe, cmdline, cgroup, class, gang\n" },
	{ "[policy]\nlook = 1ms\n", "conf:2: no key 'look' in [policy]; write one of look_min, "
	  "look_max, look_relaxed, look_cost, look_weight, settle, probe_after, barrier_after, "
	  "stall_after, small_victim, occupancy_every, lease, stop_deadline, retry_after, "
	  "hint_max, min_turn, max_hold, min_share, linger, latency_weight, slice, reserve\n" },
	{ "[daemon]\ngrace = 1\n[daemon]\ngrace = 2\n",
	  "conf:4: grace: set in line 2 already; drop one of them\n" },
	{ "[policy]\nlease = 1s\nlease = 1s\n",
	  "conf:3: lease: set in line 2 already; drop one of them\n" },
	{ "[rule a]\nclass = idle\nuid = 0\nuid = 1\n",
	  "conf:4: uid: set in line 3 already; drop one of them\n" },
	/* values */
	{ "[daemon]\npolicy = best\n", "conf:2: policy: there is no policy 'best'; write one of "
	  "none, fifo, priority, fair, deadline\n" },
	{ "[daemon]\nmechanism = gdb\n", "conf:2: mechanism: 'gdb' will not do; write one of auto, "
	  "kfd-debug, kmod, none\n" },
	{ "[daemon]\nlog =\n",
	  "conf:2: log: '' will not do; write one of error, warning, info, debug\n" },
	{ "[daemon]\ngrace = 256\n",
	  "conf:2: grace: '256' will not do; write a number from 1 to 255\n" },
	{ "[daemon]\nclients = 1.0\n",
	  "conf:2: clients: '1.0' will not do; write a number from 1 to 255\n" },
	{ "[daemon]\nscan = 100\n", "conf:2: scan: '100' will not do; write a time from 10ms to "
	  "10s, with unit ns, us, ms, s or min\n" },
	{ "[daemon]\nscan = 1min\n", "conf:2: scan: '1min' will not do; write a time from 10ms to "
	  "10s, with unit ns, us, ms, s or min\n" },
	{ "[daemon]\nenvironment = on\n",
	  "conf:2: environment: 'on' will not do; write yes or no\n" },
	{ "[daemon]\nsocket = control\n",
	  "conf:2: socket: 'control' will not do; write a path that begins with /\n" },
	{ "[daemon]\nsocket = /3456789012345678901234567890123456789012345678901234567890"
	  "1234567890123456789012345678901234567890123456789\n",
	  "conf:2: socket: the value is too long; write at most 107 bytes\n" },
	{ "[daemon]\ngroup = a b\n", "conf:2: group: 'a b' will not do; write a name of letters, "
	  "digits, _ and -, at most 31\n" },
	{ "[daemon]\ngpus = 0, c1\n", "conf:2: gpus: '0, c1' will not do; write all, or indices "
	  "and PCI addresses with commas, such as 0, 0000:c1:00.0\n" },
	{ "[class a]\npreemptible = maybe\n",
	  "conf:2: preemptible: 'maybe' will not do; write yes or no\n" },
	{ "[policy]\nlook_min = 1ns\n", "conf:2: look_min: '1ns' will not do (shortest time "
	  "between two looks); write a time from 1us to 1s\n" },
	{ "[policy]\nlinger = 2ns\n", "conf:2: linger: '2ns' will not do (how long victims stay "
	  "off after the last work); write learnt, ski or a time from 0 to 10s\n" },
	{ "[policy]\nreserve = 5%\n", "conf:2: reserve: '5%' will not do (thousandths of the "
	  "GPU promised to nobody); write thousandths from 0 to 1000\n" },
	{ "[policy]\nlook_weight = -1\n", "conf:2: look_weight: '-1' will not do (us of processor "
	  "time one us of latency is worth); write a number from 0 to 10000\n" },
	{ "[rule a]\nmatch = any\n",
	  "conf:2: match: 'any' will not do; write one of conditions, all\n" },
	{ "[rule a]\nuid = nosuch\n", "conf:2: uid: there is no user 'nosuch'; write names, "
	  "numbers or ranges of users, with commas\n" },
	{ "[rule a]\ngid = nosuch\n", "conf:2: gid: there is no group 'nosuch'; write names, "
	  "numbers or ranges of groups, with commas\n" },
	{ "[rule a]\nexe = python3\n", "conf:2: exe: 'python3' will not do; write a pattern that "
	  "begins with / (of a whole path) or with ** (of its end)\n" },
	{ "[rule a]\ncgroup = kubepods*\n", "conf:2: cgroup: 'kubepods*' will not do; write a "
	  "pattern that begins with / (of a whole path) or with ** (of its end)\n" },
	{ "[rule a]\ncmdline = [a\n", "conf:2: cmdline: the pattern '[a' has a '[' without ']'; "
	  "write \\ before *, ?, [ or \\ that mean themselves\n" },
	{ "[daemon]\nlog = a\x1b[31m\n",
	  "conf:2: log: 'a?[31m' will not do; write one of error, warning, info, debug\n" },
	{ "[rule a]\nuid = 100000001,100000002,100000003,100000004,100000005,100000006,100000007,"
	  "100000008,100000009,100000010,100000011,100000012,100000013,100000014,100000015,"
	  "100000016,100000017\n", "conf:2: uid: as numbers the list is longer than 180 bytes; "
	  "write ranges, or a second rule\n" },
	{ "[rule a]\nexe = /a/bcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmno"
	  "pqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxy"
	  "zabcdef\n", "conf:2: exe: the value is too long; write at most 159 bytes\n" },
	{ "[daemon]\nsocket = /\n",
	  "conf:2: socket: '/' will not do; write a path that begins with /\n" },
	{ "[daemon]\ngpus = ,\n", "conf:2: gpus: ',' will not do; write all, or indices and PCI "
	  "addresses with commas, such as 0, 0000:c1:00.0\n" },
	{ "[daemon]\ngpus = c1:00.0/x\n", "conf:2: gpus: 'c1:00.0/x' will not do; write all, or "
	  "indices and PCI addresses with commas, such as 0, 0000:c1:00.0\n" },
	{ "[daemon]\ngpus = 1234\n", "conf:2: gpus: '1234' will not do; write all, or indices and "
	  "PCI addresses with commas, such as 0, 0000:c1:00.0\n" },
	{ "[daemon]\ngpus = 0000:c1:0000\n", "conf:2: gpus: '0000:c1:0000' will not do; write all, "
	  "or indices and PCI addresses with commas, such as 0, 0000:c1:00.0\n" },
	/* the whole */
	{ "[daemon]\n\ndefault_class = best\n", "conf:3: default_class: there is no class 'best'; "
	  "add [class best] or write one of " CLASS_NAMES "\n" },
	{ "[rule a]\nuid = 0\nclass = best\n", "conf:3: class: there is no class 'best'; add "
	  "[class best] or write one of " CLASS_NAMES "\n" },
	{ "[rule a]\nuid = 0\n", "conf:1: [rule a] has no class; add class = NAME\n" },
	{ "[rule a]\nclass = idle\n", "conf:1: [rule a] has no condition; add uid, gid, exe, "
	  "cmdline or cgroup, or match = all\n" },
	{ "[rule a]\nclass = idle\nuid = 0\ngang = cgroup\n", "conf:1: [rule a]: gang = cgroup "
	  "without a condition on the cgroup, which says what of its path is one job; "
	  "add cgroup\n" },
	{ "[rule a]\nclass = idle\nmatch = all\nuid = 0\n", "conf:1: [rule a] matches everybody "
	  "and has conditions; drop match = all or the conditions\n" },
	{ "[rule a]\nclass = idle\nmatch = all\n[rule b]\nclass = idle\nuid = 0\n",
	  "conf:4: [rule b] is never reached, since [rule a] at conf:1 matches everybody; move it "
	  "up, or use default_class for the rest\n" },
	{ "[rule a]\nclass = idle\nmatch = all\n[rule b]\nclass = idle\nmatch = all\n"
	  "[rule c]\nclass = idle\nuid = 0\n",
	  "conf:4: [rule b] is never reached, since [rule a] at conf:1 matches everybody; move it "
	  "up, or use default_class for the rest\n"
	  "conf:7: [rule c] is never reached, since [rule a] at conf:1 matches everybody; move it "
	  "up, or use default_class for the rest\n" },
	{ "[class a]\nbudget = 1ms\n",
	  "conf:1: [class a] is contradictory; a budget or deadline needs a period\n" },
	{ "[class idle]\nperiod = 1ms\nbudget = 2ms\n", "conf:1: [class idle] is contradictory; "
	  "the budget must be more than 0 and fit in the period and the deadline\n" },
	{ "[policy]\nlook_min = 1ms\n", "conf:2: look_min 1ms is above look_max 50us; raise the "
	  "second or lower the first\n" },
	{ "[policy]\nlook_min = 30us\n[policy fair]\nlook_max = 25us\n", "conf:4: look_min 30us is "
	  "above look_max 25us; raise the second or lower the first\n" },
	{ "[daemon]\nheartbeat = 2s\n", "conf:2: heartbeat 2s is above lease 1s, so a stopped "
	  "daemon could hold for longer; lower heartbeat or raise lease\n" },
	{ "[daemon]\npolicy = fair\n[policy fair]\nlease = 100ms\n", "conf:4: heartbeat 500ms is "
	  "above lease 100ms, so a stopped daemon could hold for longer; lower heartbeat or raise "
	  "lease\n" },
	/* several at once, and no message that only follows from another */
	{ "[rule a]\nuid = nosuch\n[rule b]\nclas = idle\n[class c]\nbudget = x\nperiod = 1s\n",
	  "conf:2: uid: there is no user 'nosuch'; write names, numbers or ranges of users, with "
	  "commas\n"
	  "conf:4: no key 'clas' in [rule]; write one of match, uid, gid, exe, cmdline, cgroup, "
	  "class, gang\n"
	  "conf:6: budget: 'x' will not do; write a time from 0 to 3600s, with unit ns, us, ms, s "
	  "or min\n" },
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
	assert_string_equal(errors, "conf:2: a zero byte; this is no text file\n");
	memset(line + strlen(line), 'x', 300);
	expect_refused(line, "conf:2: the line is too long; write at most 198 bytes\n");
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
	EXPECT_EQ(lines_of(errors), GP_CONFIG_MESSAGES + 1);
	EXPECT(strstr(errors, "\nand 10 more; mend these first\n"));
	/* A buffer that is too small has whole lines. */
	EXPECT_EQ(gp_config_parse("conf", text, strlen(text), &config, small, sizeof(small)),
		  -EINVAL);
	EXPECT_EQ(lines_of(small), 2);
	EXPECT(strstr(small, "\nand 29 more; mend these first\n"));
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
	expect_refused(text, "conf:60: [class more]: more than 64 classes; drop some\n");
	at = 0;
	for (int i = 0; i < GP_RULES; i++)
		at += (size_t)sprintf(text + at, "[rule r%d]\nuid=0\nclass=idle\n", i);
	gp_config_free(parse(text));
	sprintf(text + at, "[rule more]\n");
	expect_refused(text, "conf:769: [rule more]: more than 256 rules; drop some\n");
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
	CLAIM(every_fault_is_one_line_that_says_what_to_do),
	CLAIM(a_line_that_is_no_text_is_refused),
	CLAIM(faults_are_listed_up_to_a_limit_and_counted),
	CLAIM(there_are_bounds_on_classes_and_rules),
	CLAIM(what_is_printed_loads_to_the_same),
	CLAIM(the_json_says_the_same),
)
