// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt: the table of commands. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "term.h"

#ifndef GP_VERSION
#define GP_VERSION "unknown"
#endif

#define COMPARES	(GP_TAKES(SEED) | GP_TAKES(JSON) | GP_TAKES(JOBS) | GP_TAKES(PROGRESS))

static const struct gp_command commands[] = {
	{
		{ "demo", NULL, false, COMPARES | GP_TAKES(LENGTH) | GP_TAKES(OUTPUT) },
		"a short comparison with a picture: begin here",
		"Runs an inference server beside a training job on the virtual MI308X, one way of\n"
		"sharing after the other, draws the result, and writes a timeline to open at\n"
		"https://ui.perfetto.dev.\n",
		gp_cmd_demo,
	},
	{
		{ "sim", "FILE", false,
		  COMPARES | GP_TAKES(POLICY) | GP_TAKES(MECHANISM) | GP_TAKES(SET) |
			  GP_TAKES(LENGTH) | GP_TAKES(TRACE) | GP_TAKES(CHECK) },
		"run one scenario in virtual time",
		"Runs the scenario as it is written and checks what it expects.\n"
		"FILE is a scenario, or the name of one that came with gpreempt (colocate).\n",
		gp_cmd_sim,
	},
	{
		{ "compare", "FILE", false,
		  COMPARES | GP_TAKES(SET) | GP_TAKES(LENGTH) | GP_TAKES(ROWS) | GP_TAKES(SEEDS) |
			  GP_TAKES(ROBUST) | GP_TAKES(FRONTIER) },
		"run a scenario in every way there is and compare",
		"Runs the same arrivals alone, natively, with every other way we know and with\n"
		"ours, and says also where another way is better.\n",
		gp_cmd_compare,
	},
	{
		{ "replay", "TRACE", false, GP_TAKES(JSON) },
		"feed a recorded run to a fresh scheduler and compare",
		"Reads what `gpreempt sim FILE --trace F.gptrace` wrote, feeds its inputs to a\n"
		"fresh scheduler and compares every decision, bit by bit.\n",
		gp_cmd_replay,
	},
	{
		{ "facts", NULL, false, GP_TAKES(PROFILE) | GP_TAKES(JSON) },
		"every number of the model, with its source",
		"Lists each number the model rests on, its unit, and whether it is assumed, read\n"
		"in public code or documents, or measured on hardware.\n",
		gp_cmd_facts,
	},
	{
		{ "help", "COMMAND", true, 0 },
		"this text, or that of a command",
		"",
		gp_cmd_help,
	},
};

enum { NR_COMMANDS = sizeof(commands) / sizeof(*commands) };

static const struct gp_command *find(const char *name)
{
	for (int i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i].syntax.command, name))
			return &commands[i];
	}
	return NULL;
}

static void list(FILE *to)
{
	fputs("usage: gpreempt COMMAND [options]\n\n"
	      "Preemptive scheduling for AMD GPUs: latency-critical work runs at once on a GPU\n"
	      "that batch work keeps full. The commands below run on a model of an MI308X.\n\n",
	      to);
	for (int i = 0; i < NR_COMMANDS; i++) {
		const struct gp_syntax *s = &commands[i].syntax;
		char left[24];

		snprintf(left, sizeof(left), s->operand_optional ? "%s [%s]" : "%s %s", s->command,
			 s->operand ? s->operand : "");
		fprintf(to, "  %-15s  %s\n", left, commands[i].what);
	}
	fputs("\n  gpreempt COMMAND --help   options of a command\n"
	      "  gpreempt --version\n\n"
	      "exit codes: 0 done, 1 an expectation failed or a difference was found,\n"
	      "2 a bad file or bad usage\n", to);
}

static void help(const struct gp_command *c)
{
	gp_options_usage(&c->syntax, stdout);
	printf("\n%s", c->help);
	if (!c->syntax.options)
		return;
	puts("\noptions:");
	gp_options_help(c->syntax.options | GP_TAKES(HELP), stdout);
	printf("\nmore: man gpreempt-%s\n", c->syntax.command);
}

int gp_cmd_help(const struct gp_options *o)
{
	const struct gp_command *c;

	if (!o->file) {
		list(stdout);
		return GP_EXIT_OK;
	}
	c = find(o->file);
	if (!c) {
		gp_error("no command '%s'; 'gpreempt --help' lists them", o->file);
		return GP_EXIT_BAD;
	}
	help(c);
	return GP_EXIT_OK;
}

static int run(const struct gp_command *c, char **argv)
{
	struct gp_syntax syntax = c->syntax;
	struct gp_options o;
	int code;

	syntax.options |= GP_TAKES(HELP);
	if (gp_options_parse(&syntax, argv, &o))
		return GP_EXIT_BAD;
	if (o.help) {
		help(c);
		return GP_EXIT_OK;
	}
	code = c->run(&o);
	/* A table cut short by a full disk must not look like a success. */
	if (fflush(stdout) || ferror(stdout)) {
		gp_error("cannot write the result: %s", strerror(errno));
		return GP_EXIT_BAD;
	}
	return code;
}

int main(int argc, char **argv)
{
	const struct gp_command *c;

	if (argc < 2) {
		list(stderr);
		return GP_EXIT_BAD;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		list(stdout);
		return GP_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		puts("gpreempt " GP_VERSION);
		return GP_EXIT_OK;
	}
	c = find(argv[1]);
	if (!c) {
		gp_error("no command '%s'; 'gpreempt --help' lists them", argv[1]);
		return GP_EXIT_BAD;
	}
	return run(c, argv + 2);
}
