/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the commands that talk to gpreemptd share: asking it, saying what went
 * wrong, and reading its answers.
 *
 * The socket is that of $GPREEMPT_SOCKET if it is set. Functions that return enum
 * gp_exit have printed one line on stderr unless it is GP_EXIT_OK.
 */
#ifndef GP_ASK_H
#define GP_ASK_H

#include <jansson.h>
#include <sys/types.h>

#include "cli/command.h"
#include "cli/term.h"
#include "lib/gpreempt.h"

/* The exit code that says -@err best. */
int gp_ask_code(int err);
/* One line on stderr about what a call returned, behind @what if not NULL; its exit code. */
int gp_ask_failed(int err, const char *what);
/* enum gp_exit */
int gp_ask_open(struct gp_daemon **ret);

/*
 * One call on @daemon, or if it is NULL on a connection of its own. Consumes
 * @parameters (NULL: none). *@ret is a new object. enum gp_exit.
 */
int gp_ask_call(struct gp_daemon *daemon, const char *method, json_t *parameters, json_t **ret);

/* "pid" of an object or an operand. -EINVAL after a message: not a number. */
int gp_ask_pid(const char *text, pid_t *ret);
/* {"pid": ...} for the process that @pid_text names; NULL after a message. */
json_t *gp_ask_about(const char *pid_text);

/* Members of an answer; an old daemon may leave them out. */
const char *gp_ask_text(const json_t *o, const char *name);	/* "" if absent */
u64 gp_ask_number(const json_t *o, const char *name);		/* 0 if absent or negative */
bool gp_ask_true(const json_t *o, const char *name);

/*
 * Where the unit begins in the name of a counter that is a time, "_ns" of "wait_ns" and
 * "scan_ns_max"; NULL if it is none.
 */
const char *gp_ask_unit(const char *counter);

/* Bit per index of the GPUs in a List answer that -g selects; all without -g. enum gp_exit */
int gp_ask_gpus(const json_t *list, const char *text, u64 *ret);
/* Drops from a List answer the GPUs that are not in @mask, seats and queues on them, and
 * processes that have neither there. */
void gp_ask_keep(json_t *list, u64 mask);
/* Bit per index of the GPUs where a process of a List answer has queues. */
u64 gp_ask_queues(const json_t *process);

/*
 * Prints {"schema": 1, members of @answer}; on one line if it is repeated. Consumes
 * @answer. enum gp_exit
 */
int gp_ask_print(const struct gp_options *o, json_t *answer);

#endif /* GP_ASK_H */
