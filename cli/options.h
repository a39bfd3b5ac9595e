/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The options of all commands in one table, which parsing and help use. A command lists the
 * options that it accepts.
 */
#ifndef GP_OPTIONS_H
#define GP_OPTIONS_H

#include <stdio.h>

#include "gp_env.h"

enum gp_option_id {
	GP_OPT_POLICY,
	GP_OPT_MECHANISM,
	GP_OPT_SET,
	GP_OPT_SEED,
	GP_OPT_SEEDS,
	GP_OPT_ROWS,
	GP_OPT_ROBUST,
	GP_OPT_FRONTIER,
	GP_OPT_LENGTH,
	GP_OPT_TRACE,
	GP_OPT_CHECK,
	GP_OPT_OUTPUT,
	GP_OPT_PROFILE,
	GP_OPT_JOBS,
	GP_OPT_GPU,
	GP_OPT_CLASS,
	GP_OPT_ANYWAY,
	GP_OPT_IN,
	GP_OPT_FOR,
	GP_OPT_DRY_RUN,
	GP_OPT_PROMETHEUS,
	GP_OPT_BUNDLE,
	GP_OPT_SELFTEST,
	GP_OPT_FILE,
	GP_OPT_ROUNDS,
	GP_OPT_GRACE,
	GP_OPT_ROOT,
	GP_OPT_JSON,
	GP_OPT_WATCH,
	GP_OPT_PROGRESS,
	GP_OPT_HELP,
	GP_NR_OPTIONS,
};

#define GP_TAKES(option)	BIT_ULL(GP_OPT_##option)

enum { GP_SETS_MAX = 64 };

struct gp_options {
	const char *command;		/* for messages */
	const char *file;		/* the first operand, or NULL */
	char **operands;		/* all operands, ended by NULL */
	u32 nr_operands;
	bool dashes;			/* "--" was given */
	u64 given;			/* bit per option that was given */
	const char *policy, *mechanism, *rows, *length, *trace, *output, *profile;
	const char *set[GP_SETS_MAX];	/* "section.key=value" */
	u32 nr_sets;
	u64 seed, last_seed;		/* 1..1 by default */
	u32 jobs;			/* 0: one per processor */
	const char *gpu, *class_name, *root, *bundle, *module_file, *grace;
	u32 rounds;			/* 0 if not given */
	u64 in_ns, for_ns;		/* 0 if not given */
	u64 every_ns;			/* 0: once */
	bool json, robust, frontier, progress, check, help;
	bool anyway, dry_run, prometheus;
	int selftest_pid;		/* 0 if not given */
};

/* How many operands a command takes. */
enum gp_operands {
	GP_ONE,			/* none, if the operand has no name */
	GP_OPTIONAL,
	GP_SEVERAL,		/* one or more */
	GP_ANY,			/* none or more */
	GP_REST,		/* the first and everything after it, options too */
};

/* The options and operands that a command accepts. */
struct gp_syntax {
	const char *command;
	const char *operand;		/* "FILE", or NULL: none */
	u8 operands;			/* enum gp_operands */
	u64 options;			/* GP_TAKES() of each */
};

/*
 * Parses @argv after argv[0] with getopt_long() and moves the operands to its front. Returns 0,
 * or -EINVAL after a message on stderr.
 */
int gp_options_parse(const struct gp_syntax *syntax, int argc, char **argv, struct gp_options *ret);
/* Prints one line per option of @options, except options that only tests use. */
void gp_options_help(u64 options, FILE *to);
/* Prints " --json -w ...", with the same exceptions. */
void gp_options_words(u64 options, FILE *to);
/* Prints "FILE [--policy P] ...". */
void gp_options_usage(const struct gp_syntax *syntax, FILE *to);

#endif /* GP_OPTIONS_H */
