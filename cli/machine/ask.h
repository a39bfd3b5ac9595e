/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by the commands that talk to gpreemptd: calls, error messages and access to answers.
 *
 * $GPREEMPT_SOCKET replaces the default socket. Functions that return enum gp_exit have printed
 * one line on stderr unless they return GP_EXIT_OK.
 */
#ifndef GP_ASK_H
#define GP_ASK_H

#include <jansson.h>
#include <sys/types.h>

#include "cli/command.h"
#include "cli/term.h"
#include "lib/gpreempt.h"

/* Returns the exit code for -@err. */
int gp_ask_code(int err);
/* Prints one line on stderr about a failed call, after @what if not NULL. Returns the exit code. */
int gp_ask_failed(int err, const char *what);
/* Returns enum gp_exit. */
int gp_ask_open(struct gp_daemon **ret);

/*
 * Makes one call on @daemon, or on a new connection if it is NULL. Consumes @parameters (NULL:
 * none). *@ret is a new object. Returns enum gp_exit.
 */
int gp_ask_call(struct gp_daemon *daemon, const char *method, json_t *parameters, json_t **ret);

/* Parses a pid. Returns -EINVAL after a message if @text is not a number. */
int gp_ask_pid(const char *text, pid_t *ret);
/* Returns {"pid": ...} for the process that @pid_text names, or NULL after a message. */
json_t *gp_ask_about(const char *pid_text);

/* Return a member of an answer. An old daemon may omit it. */
const char *gp_ask_text(const json_t *o, const char *name);	/* "" if absent */
u64 gp_ask_number(const json_t *o, const char *name);		/* 0 if absent or negative */
bool gp_ask_true(const json_t *o, const char *name);

/*
 * Returns the unit in the name of a counter that is a time, "_ns" of "wait_ns" and "scan_ns_max",
 * or NULL for another counter.
 */
const char *gp_ask_unit(const char *counter);

/*
 * Selects the GPUs of a List answer that -g names, or all, as a bit per index. Returns enum
 * gp_exit.
 */
int gp_ask_gpus(const json_t *list, const char *text, u64 *ret);
/*
 * Drops the GPUs outside @mask from a List answer, with their seats and queues. Also drops
 * processes without seats and queues on the remaining GPUs.
 */
void gp_ask_keep(json_t *list, u64 mask);
/* Returns a bit per index of the GPUs on which a process of a List answer has queues. */
u64 gp_ask_queues(const json_t *process);

/*
 * Prints {"schema": 1, members of @answer}, on one line if it is repeated. Consumes @answer.
 * Returns enum gp_exit.
 */
int gp_ask_print(const struct gp_options *o, json_t *answer);

#endif /* GP_ASK_H */
