/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A command of gpreempt: commands.c has the table of all. */
#ifndef GP_COMMAND_H
#define GP_COMMAND_H

#include "lib/exit.h"	/* what a command returns */
#include "options.h"

struct gp_command {
	struct gp_syntax syntax;
	bool model;		/* works on the model instead of this machine */
	const char *what;	/* one line, for the list of commands */
	const char *help;	/* description and output, for its own help */
	int (*run)(const struct gp_options *o);
};

/* The table; the first is the default. The name of the last is NULL. */
extern const struct gp_command gp_commands[];

int gp_cmd_status(const struct gp_options *o);
int gp_cmd_list(const struct gp_options *o);
int gp_cmd_run(const struct gp_options *o);
int gp_cmd_suspend(const struct gp_options *o);
int gp_cmd_resume(const struct gp_options *o);
int gp_cmd_class(const struct gp_options *o);
int gp_cmd_policy(const struct gp_options *o);
int gp_cmd_hint(const struct gp_options *o);
int gp_cmd_stats(const struct gp_options *o);
int gp_cmd_off(const struct gp_options *o);
int gp_cmd_on(const struct gp_options *o);
int gp_cmd_record(const struct gp_options *o);
int gp_cmd_bench(const struct gp_options *o);
int gp_cmd_doctor(const struct gp_options *o);
int gp_cmd_module(const struct gp_options *o);
int gp_cmd_sim(const struct gp_options *o);
int gp_cmd_compare(const struct gp_options *o);
int gp_cmd_what_if(const struct gp_options *o);
int gp_cmd_replay(const struct gp_options *o);
int gp_cmd_demo(const struct gp_options *o);
int gp_cmd_scenarios(const struct gp_options *o);
int gp_cmd_facts(const struct gp_options *o);
int gp_cmd_help(const struct gp_options *o);

/* Writes a bash completion script, generated from the table. */
void gp_completion(FILE *to);

/* Printed with all figures. */
#define GP_MODEL_NOTE	"figures are results of a model; no hardware was used"

#endif /* GP_COMMAND_H */
