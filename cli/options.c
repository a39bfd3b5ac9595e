// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The options of all commands. */
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "term.h"
#include "text/nearest.h"
#include "text/value.h"

struct spec {
	const char *name;
	char letter;		/* short form, or 0 */
	const char *arg;	/* NULL: takes none */
	const char *help;	/* NULL: only for tests */
};

#define OPTION(id, ...)	[GP_OPT_##id] = { __VA_ARGS__ }

static const struct spec options[GP_NR_OPTIONS] = {
	OPTION(POLICY, "policy", 'p', "P",
	       "decide with policy P: fifo, priority, fair, deadline"),
	OPTION(MECHANISM, "mechanism", 'm', "M",
	       "stop and start with mechanism M: evict, direct, debug, ..."),
	OPTION(SET, "set", 's', "SECTION.KEY=VALUE",
	       "change a line of the scenario; may be repeated"),
	OPTION(SEED, "seed", 0, "N",
	       "seed of all random numbers (1)"),
	OPTION(SEEDS, "seeds", 0, "A..B",
	       "seeds A to B: min, median and max of each figure"),
	OPTION(ROWS, "rows", 'r', "A,B",
	       "only these rows"),
	OPTION(ROBUST, "robust", 0, NULL,
	       "every assumed cost x 0.5, x 1, x 3: does the order stay?"),
	OPTION(FRONTIER, "frontier", 0, NULL,
	       "latency against goodput, for learnt and fixed linger"),
	OPTION(LENGTH, "length", 'l', "T",
	       "virtual time to run, e.g. 5s"),
	OPTION(TRACE, "trace", 't', "F",
	       "write what happened: F.pftrace (Perfetto), F.gptrace (replay)"),
	OPTION(CHECK, "check", 0, NULL,
	       "check every invariant at every event (slow)"),
	OPTION(OUTPUT, "output", 'o', "DIR",
	       "folder for what is written"),
	OPTION(PROFILE, "profile", 0, "P",
	       "mi308x (unless told), mi300x, mi210 or a100"),
	OPTION(JOBS, "jobs", 'j', "N",
	       "run N rows at a time (one per processor)"),
	OPTION(GPU, "gpu", 'g', "GPU",
	       "only these GPUs: index, address (c1:00.0, c1:00.0/3), a list, or all"),
	OPTION(CLASS, "class", 'c', "C",
	       "the class: online, offline, ... or one of the configuration"),
	OPTION(ANYWAY, "anyway", 0, NULL,
	       "run the command even if gpreemptd cannot be told"),
	OPTION(IN, "in", 0, "T",
	       "the work comes in T, e.g. 2ms (0: now)"),
	OPTION(FOR, "for", 0, "T",
	       "for so long, e.g. 10s"),
	OPTION(DRY_RUN, "dry-run", 'n', NULL,
	       "say whether it would do, change nothing"),
	OPTION(PROMETHEUS, "prometheus", 0, NULL,
	       "print the text format of Prometheus"),
	OPTION(BUNDLE, "bundle", 0, "FILE.tar",
	       "also collect what others need to judge this machine"),
	OPTION(SELFTEST, "selftest-direct", 0, "PID",
	       "try what the mechanism direct assumes, by stopping PID once"),
	OPTION(FILE, "file", 'f', "F",
	       "the module's file, if not the installed one"),
	OPTION(ROUNDS, "rounds", 0, "N",
	       "measure N times, 1 to 10000 (50)"),
	OPTION(GRACE, "grace", 0, "G,G",
	       "grace periods, each 1 to 255 thousand GPU clocks (1,4,16,64,255)"),
	OPTION(ROOT, "root", 0, "DIR", NULL),
	OPTION(JSON, "json", 0, NULL,
	       "print JSON instead of text"),
	OPTION(WATCH, "watch", 'w', "SEC",
	       "again every SEC seconds, until interrupted"),
	OPTION(PROGRESS, "progress", 0, NULL,
	       "show progress on stderr even if it is no terminal"),
	OPTION(HELP, "help", 'h', NULL,
	       "this text"),
};

static int bad_value(const char *option, const char *value, const char *allowed)
{
	gp_error("--%s: '%s' is not %s", option, value, allowed);
	return -EINVAL;
}

/* Parses a number. *@end is the first character after it. */
static int number(const char *text, const char **end, u64 *ret)
{
	char *stop;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &stop, 0);
	*end = stop;
	return errno ? -EINVAL : 0;
}

static int seeds(const char *value, struct gp_options *o)
{
	const char *end;

	if (number(value, &end, &o->seed) || strncmp(end, "..", 2) ||
	    number(end + 2, &end, &o->last_seed) || *end || o->seed > o->last_seed ||
	    o->last_seed - o->seed >= 1000)
		return bad_value("seeds", value,
				 "A..B with A <= B and at most 1000 seeds, e.g. 1..10");
	return 0;
}

static int seed(const char *value, struct gp_options *o)
{
	const char *end;

	if (number(value, &end, &o->seed) || *end)
		return bad_value("seed", value, "a number from 0 to 2^64-1");
	o->last_seed = o->seed;
	return 0;
}

static int process_number(const char *value, int *ret)
{
	const char *end;
	u64 n;

	if (number(value, &end, &n) || *end || !n || n > 0x7fffffff)
		return bad_value("selftest-direct", value, "the number of a process");
	*ret = (int)n;
	return 0;
}

/* Parses a number from 1 to @most. */
static int several(const char *option, const char *value, u32 most, u32 *ret)
{
	char allowed[48];
	const char *end;
	u64 n;

	snprintf(allowed, sizeof(allowed), "a number from 1 to %u", most);
	if (number(value, &end, &n) || *end || !n || n > most)
		return bad_value(option, value, allowed);
	*ret = (u32)n;
	return 0;
}

static int set(const char *value, struct gp_options *o)
{
	const char *dot = value ? strchr(value, '.') : NULL;
	const char *equals = value ? strchr(value, '=') : NULL;

	if (!dot || !equals || dot > equals || dot == value)
		return bad_value("set", value, "SECTION.KEY=VALUE, e.g. monitor.interval=100us");
	if (o->nr_sets == GP_SETS_MAX) {
		gp_error("--set: more than %d", GP_SETS_MAX);
		return -EINVAL;
	}
	o->set[o->nr_sets++] = value;
	return 0;
}

static int duration(const char *option, const char *value, u64 *ret)
{
	if (gp_parse_ns(value, ret))
		return bad_value(option, value, "a time, e.g. 500ms or 10s");
	return 0;
}

static int watch(const char *value, struct gp_options *o)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !(seconds >= 0.1 && seconds <= 86400))
		return bad_value("watch", value, "a number of seconds from 0.1 to 86400");
	o->every_ns = (u64)(seconds * 1e9);
	return 0;
}

static int take(struct gp_options *o, enum gp_option_id id, const char *value)
{
	o->given |= BIT_ULL(id);
	switch (id) {
	case GP_OPT_POLICY:	o->policy = value; return 0;
	case GP_OPT_MECHANISM:	o->mechanism = value; return 0;
	case GP_OPT_ROWS:	o->rows = value; return 0;
	case GP_OPT_LENGTH:	o->length = value; return 0;
	case GP_OPT_TRACE:	o->trace = value; return 0;
	case GP_OPT_OUTPUT:	o->output = value; return 0;
	case GP_OPT_PROFILE:	o->profile = value; return 0;
	case GP_OPT_ROBUST:	o->robust = true; return 0;
	case GP_OPT_FRONTIER:	o->frontier = true; return 0;
	case GP_OPT_JSON:	o->json = true; return 0;
	case GP_OPT_PROGRESS:	o->progress = true; return 0;
	case GP_OPT_CHECK:	o->check = true; return 0;
	case GP_OPT_HELP:	o->help = true; return 0;
	case GP_OPT_GPU:	o->gpu = value; return 0;
	case GP_OPT_CLASS:	o->class_name = value; return 0;
	case GP_OPT_BUNDLE:	o->bundle = value; return 0;
	case GP_OPT_SELFTEST:	return process_number(value, &o->selftest_pid);
	case GP_OPT_ROOT:	o->root = value; return 0;
	case GP_OPT_FILE:	o->module_file = value; return 0;
	case GP_OPT_GRACE:	o->grace = value; return 0;
	case GP_OPT_ROUNDS:	return several("rounds", value, 10000, &o->rounds);
	case GP_OPT_ANYWAY:	o->anyway = true; return 0;
	case GP_OPT_DRY_RUN:	o->dry_run = true; return 0;
	case GP_OPT_PROMETHEUS:	o->prometheus = true; return 0;
	case GP_OPT_IN:		return duration("in", value, &o->in_ns);
	case GP_OPT_FOR:	return duration("for", value, &o->for_ns);
	case GP_OPT_WATCH:	return watch(value, o);
	case GP_OPT_SET:	return set(value, o);
	case GP_OPT_SEED:	return seed(value, o);
	case GP_OPT_SEEDS:	return seeds(value, o);
	case GP_OPT_JOBS:	return several("jobs", value, 64, &o->jobs);
	case GP_NR_OPTIONS:	break;
	}
	return -EINVAL;
}

/* getopt_long() returns this plus i for options[i] if that has no letter. */
enum { FIRST_OPTION = 256 };

/* The arguments of getopt_long() for one command. */
struct getopt_table {
	struct option all[GP_NR_OPTIONS + 1];
	char letters[2 * GP_NR_OPTIONS + 3];
};

/* @mode: '+' stops at the first operand, '-' returns operands in order. */
static void fill(struct getopt_table *table, u64 which, char mode)
{
	struct option *next = table->all;
	char *letter = table->letters;

	memset(table, 0, sizeof(*table));
	*letter++ = mode;
	*letter++ = ':';	/* return ':' for a missing value */
	for (int i = 0; i < GP_NR_OPTIONS; i++) {
		const struct spec *o = &options[i];

		if (!(which & BIT_ULL(i)))
			continue;
		*next++ = (struct option){
			.name = o->name, .has_arg = o->arg ? required_argument : no_argument,
			.val = o->letter ? o->letter : FIRST_OPTION + i,
		};
		if (o->letter)
			*letter++ = o->letter;
		if (o->letter && o->arg)
			*letter++ = ':';
	}
}

/* Returns the option of @syntax for which getopt_long() returned @c, or GP_NR_OPTIONS. */
static enum gp_option_id option_of(const struct gp_syntax *syntax, int c)
{
	int i = 0;

	while (i < GP_NR_OPTIONS && (!(syntax->options & BIT_ULL(i)) ||
				     (c != FIRST_OPTION + i && c != options[i].letter)))
		i++;
	return (enum gp_option_id)i;
}

static void unknown_option(const struct gp_syntax *syntax, const char *word)
{
	struct gp_nearest nearest = { .word = word + strspn(word, "-") };
	bool is_long = !strncmp(word, "--", 2);

	for (int i = 0; is_long && i < GP_NR_OPTIONS; i++) {
		if (syntax->options & BIT_ULL(i) && options[i].help)
			gp_nearest_try(&nearest, options[i].name);
	}
	if (nearest.name)
		gp_error("%s has no option '%s'; did you mean '--%s'?", syntax->command, word,
			 nearest.name);
	else
		gp_error("%s has no option '%s'; 'gpreempt %s --help' lists them",
			 syntax->command, word, syntax->command);
}

/* Reports why getopt_long() returned @c, which is '?' or ':', for @word. */
static int refuse(const struct gp_syntax *syntax, int c, const char *word)
{
	enum gp_option_id id = optopt ? option_of(syntax, optopt) : GP_NR_OPTIONS;
	char letter[3] = { '-', (char)optopt };

	if (id == GP_NR_OPTIONS)
		unknown_option(syntax, !strncmp(word, "--", 2) ? word : letter);
	else if (c == ':')
		gp_error("--%s needs a value: --%s %s", options[id].name, options[id].name,
			 options[id].arg);
	else
		gp_error("--%s takes no value", options[id].name);
	return -EINVAL;
}

static const char *blank_before(const char *text)
{
	return text ? " " : "";
}

static int operand(const struct gp_syntax *syntax, char *arg, struct gp_options *o)
{
	bool more = syntax->operands == GP_SEVERAL || syntax->operands == GP_ANY ||
		    syntax->operands == GP_REST;

	if (!syntax->operand || (o->nr_operands && !more)) {
		gp_error("%s: '%s': unexpected operand; usage: gpreempt %s%s%s [options]",
			 syntax->command, arg, syntax->command, blank_before(syntax->operand),
			 syntax->operand ? syntax->operand : "");
		return -EINVAL;
	}
	o->operands[o->nr_operands++] = arg;
	return 0;
}

static bool may_be_absent(const struct gp_syntax *syntax)
{
	return !syntax->operand || syntax->operands == GP_OPTIONAL || syntax->operands == GP_ANY;
}

/* Parses @argv. Moves the operands to the front of o->operands, after the command. */
static int words(const struct gp_syntax *syntax, int argc, char **argv, struct gp_options *o)
{
	struct getopt_table table;
	int bad = 0, c;

	fill(&table, syntax->options, syntax->operands == GP_REST ? '+' : '-');
	optind = 0;	/* makes glibc read the mode again */
	opterr = 0;
	while (!bad && (c = getopt_long(argc, argv, table.letters, table.all, NULL)) != -1) {
		if (c == 1)
			bad = operand(syntax, optarg, o);
		else if (c == '?' || c == ':')
			bad = refuse(syntax, c, argv[optind - 1]);
		else
			bad = take(o, option_of(syntax, c), optarg);
	}
	o->dashes = !bad && optind > 1 && !strcmp(argv[optind - 1], "--");
	for (; !bad && optind < argc; optind++)
		bad = operand(syntax, argv[optind], o);
	if (!bad)
		o->operands[o->nr_operands] = NULL;
	return bad;
}

int gp_options_parse(const struct gp_syntax *syntax, int argc, char **argv, struct gp_options *ret)
{
	struct gp_options o = {
		.command = syntax->command, .seed = 1, .last_seed = 1, .operands = argv + 1,
	};
	int bad = words(syntax, argc, argv, &o);

	if (bad)
		return bad;
	if (!o.nr_operands && !may_be_absent(syntax) && !o.help) {
		gp_error("%s: no %s; usage: gpreempt %s %s", syntax->command, syntax->operand,
			 syntax->command, syntax->operand);
		return -EINVAL;
	}
	o.file = o.nr_operands ? o.operands[0] : NULL;
	*ret = o;
	return 0;
}

void gp_options_help(u64 which, FILE *to)
{
	for (int i = 0; i < GP_NR_OPTIONS; i++) {
		const struct spec *o = &options[i];
		char left[48];

		if (!(which & BIT_ULL(i)) || !o->help)
			continue;
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		fprintf(to, "  %-28s  %s\n", left, o->help);
	}
}

void gp_options_words(u64 which, FILE *to)
{
	for (int i = 0; i < GP_NR_OPTIONS; i++) {
		if (!(which & BIT_ULL(i)) || !options[i].help)
			continue;
		fprintf(to, " --%s", options[i].name);
		if (options[i].letter)
			fprintf(to, " -%c", options[i].letter);
	}
}

void gp_options_usage(const struct gp_syntax *syntax, FILE *to)
{
	const char *options_first = syntax->operands == GP_REST ? " [options]" : "";

	fprintf(to, "usage: gpreempt %s%s", syntax->command, options_first);
	/* The text for several operands has its own brackets. */
	if (syntax->operand)
		fprintf(to, syntax->operands == GP_OPTIONAL ? " [%s]" : " %s", syntax->operand);
	fputs(*options_first ? "\n" : " [options]\n", to);
}
