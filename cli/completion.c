// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Writes a bash completion script from the table of commands. */
#include <string.h>

#include "command.h"

/* Returns the words that can follow @c besides its options, or NULL for file names. */
static const char *operand_words(const struct gp_command *c)
{
	const char *operand = c->syntax.operand;

	if (!operand)
		return "";
	if (!strncmp(operand, "PID", 3))
		return "$(command ls /sys/class/kfd/kfd/proc 2>/dev/null)";
	if (!strncmp(operand, "[NAME]", 6))
		return "fifo priority fair deadline";
	if (c->run == gp_cmd_help)
		return "$commands";
	return NULL;
}

static void one(const struct gp_command *c, FILE *to)
{
	const char *operands = operand_words(c);

	fprintf(to, "\t%s)\n\t\twords=\"", c->syntax.command);
	if (operands)
		fputs(operands, to);
	gp_options_words(c->syntax.options | GP_TAKES(HELP), to);
	fprintf(to, "\"\n\t\t%s;;\n", operands ? "" : "files=yes\n\t\t");
}

void gp_completion(FILE *to)
{
	fputs("# SPDX-License-Identifier: GPL-2.0-only OR MIT\n"
	      "# Completion of gpreempt(1) for bash, made by `gpreempt --bash-completion`.\n"
	      "_gpreempt() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} commands words= files=\n"
	      "\tcommands=\"", to);
	for (const struct gp_command *c = gp_commands; c->run; c++)
		fprintf(to, "%s%s", c == gp_commands ? "" : " ", c->syntax.command);
	fputs("\"\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n", to);
	for (const struct gp_command *c = gp_commands; c->run; c++)
		one(c, to);
	fputs("\tesac\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t[ -z \"$files\" ] || [ \"${cur#-}\" != \"$cur\" ] ||\n"
	      "\t\tcompopt -o default 2>/dev/null\n"
	      "}\n"
	      "complete -F _gpreempt gpreempt\n", to);
}
