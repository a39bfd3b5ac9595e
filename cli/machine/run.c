// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt run: runs a command in a class from its first queue on. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"

/*
 * Announces this process before exec(), so that the daemon knows the class before a queue exists.
 * The command's children inherit the class from the environment.
 */
static int tell(const char *class_name)
{
	struct gp_daemon *daemon;
	int code = gp_ask_open(&daemon), err;

	if (code)
		return code;
	err = gp_daemon_register(daemon, class_name);
	code = err ? gp_ask_failed(err, "run") : GP_EXIT_OK;
	gp_daemon_close(daemon);
	return code;
}

int gp_cmd_run(const struct gp_options *o)
{
	if (!o->class_name) {
		gp_error("run: no class; usage: gpreempt run --class C -- COMMAND...");
		return GP_EXIT_OURS;
	}
	if (tell(o->class_name) && !o->anyway)
		return GP_EXIT_OURS;
	if (setenv("GPREEMPT_CLASS", o->class_name, 1)) {
		gp_error("run: %s", strerror(errno));
		return GP_EXIT_OURS;
	}
	execvp(o->operands[0], o->operands);
	gp_error("run: %s: %s", o->operands[0], strerror(errno));
	return errno == ENOENT ? GP_EXIT_NOENT : GP_EXIT_NOEXEC;
}
