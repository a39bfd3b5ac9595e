// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt: finds the command and runs it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "term.h"
#include "text/nearest.h"

#ifndef GP_VERSION
#define GP_VERSION "unknown"
#endif

static const struct gp_command *find(const char *name)
{
	struct gp_nearest nearest = { .word = name };

	for (const struct gp_command *c = gp_commands; c->run; c++) {
		if (!strcmp(c->syntax.command, name))
			return c;
		gp_nearest_try(&nearest, c->syntax.command);
	}
	if (!strcmp(name, "report"))
		gp_error("report: this command has moved; run ./run report in the source tree");
	else if (nearest.name)
		gp_error("no command '%s'; did you mean '%s'?", name, nearest.name);
	else
		gp_error("no command '%s'; 'gpreempt --help' lists them", name);
	return NULL;
}

static void list_one(const struct gp_command *c, FILE *to)
{
	const struct gp_syntax *s = &c->syntax;
	bool brackets = s->operand && s->operands == GP_OPTIONAL;
	char left[40];

	snprintf(left, sizeof(left), "%s%s%s%s%s", s->command, s->operand ? " " : "",
		 brackets ? "[" : "", s->operand ? s->operand : "", brackets ? "]" : "");
	fprintf(to, "  %-28s  %s\n", left, c->what);
}

static void list_those(bool model, FILE *to)
{
	for (const struct gp_command *c = gp_commands; c->run; c++) {
		if (c->model == model)
			list_one(c, to);
	}
}

static void list(FILE *to)
{
	fputs("usage: gpreempt [COMMAND] [options]\n\n"
	      "Preemptive scheduling for AMD GPUs: latency-critical work runs at once on a GPU\n"
	      "that batch work keeps full.\n\n"
	      "on this machine, by gpreemptd (doctor, module, bench: without it):\n", to);
	list_those(false, to);
	fputs("\non a model of an MI308X, without a GPU:\n", to);
	list_those(true, to);
	fputs("\n  gpreempt COMMAND --help   options of a command\n"
	      "  gpreempt --version\n\n"
	      "exit codes: 0 done, 1 failed (an expectation, a check), 2 a bad file or bad usage,\n"
	      "3 gpreemptd is not there, 4 not allowed, 5 no such process or GPU, 6 no answer in\n"
	      "time; run: as the command, or 125-127\n", to);
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
	if (!c)
		return GP_EXIT_BAD;
	help(c);
	return GP_EXIT_OK;
}

/* A table that a full disk truncates must not count as success. */
static int flushed(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	gp_error("cannot write the result: %s", strerror(errno));
	return GP_EXIT_BAD;
}

/* Repeats the command until it fails or is interrupted. On a terminal it redraws in place. */
static int watch(const struct gp_command *c, const struct gp_options *o)
{
	struct timespec pause = {
		.tv_sec = (time_t)(o->every_ns / 1000000000),
		.tv_nsec = (long)(o->every_ns % 1000000000),
	};
	bool clear = isatty(STDOUT_FILENO) && !o->json;

	for (;;) {
		int code;

		if (clear)
			fputs("\033[H\033[2J", stdout);
		code = flushed(c->run(o));
		if (code)
			return code;
		nanosleep(&pause, NULL);
		if (!clear && !o->json)
			putchar('\n');
	}
}

static int run(const struct gp_command *c, int argc, char **argv)
{
	struct gp_syntax syntax = c->syntax;
	struct gp_options o;

	syntax.options |= GP_TAKES(HELP);
	if (gp_options_parse(&syntax, argc, argv, &o))
		return c->run == gp_cmd_run ? GP_EXIT_OURS : GP_EXIT_BAD;
	if (o.help) {
		help(c);
		return flushed(GP_EXIT_OK);
	}
	return o.every_ns ? watch(c, &o) : flushed(c->run(&o));
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct gp_command *c;

	if (argc < 1)
		return GP_EXIT_BAD;	/* before Linux 5.18, execve() allows it */
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		list(stdout);
		return flushed(GP_EXIT_OK);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "version")) {
		puts("gpreempt " GP_VERSION);
		return flushed(GP_EXIT_OK);
	}
	if (!strcmp(word, "--bash-completion")) {
		gp_completion(stdout);
		return flushed(GP_EXIT_OK);
	}
	/* `gpreempt` and `gpreempt --json` run the first command. */
	if (argc < 2 || *word == '-')
		return run(&gp_commands[0], argc, argv);
	c = find(word);
	return c ? run(c, argc - 1, argv + 1) : GP_EXIT_BAD;
}
