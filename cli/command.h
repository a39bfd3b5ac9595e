/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A command of gpreempt: main.c has the table of all. */
#ifndef GP_COMMAND_H
#define GP_COMMAND_H

#include "options.h"

/* What a command returns, and what the program exits with. */
enum gp_exit {
	GP_EXIT_OK	= 0,
	GP_EXIT_FAILED	= 1,	/* an expectation, or a difference */
	GP_EXIT_BAD	= 2,	/* a bad file or bad usage */
};

struct gp_command {
	struct gp_syntax syntax;
	const char *what;	/* one line, for the list of commands */
	const char *help;	/* what it does and prints, for its own help */
	int (*run)(const struct gp_options *o);
};

int gp_cmd_sim(const struct gp_options *o);
int gp_cmd_compare(const struct gp_options *o);
int gp_cmd_replay(const struct gp_options *o);
int gp_cmd_demo(const struct gp_options *o);
int gp_cmd_facts(const struct gp_options *o);
int gp_cmd_help(const struct gp_options *o);

/* Said wherever figures are shown. */
#define GP_MODEL_NOTE	"figures are results of a model; no hardware was used"

#endif /* GP_COMMAND_H */
