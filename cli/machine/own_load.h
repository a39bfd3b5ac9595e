/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program that `gpreempt bench` runs to have a process to measure with. */
#ifndef GP_CLI_OWN_LOAD_H
#define GP_CLI_OWN_LOAD_H

#include <sys/types.h>

/* Starts @argv with its output on stderr. Returns enum gp_exit, or 125 to 127 as env(1) does. */
int gp_own_load_start(char *const *argv, pid_t *ret);
/*
 * Waits until the program has a queue and its GPU runtime is ready. Returns enum gp_exit after a
 * message.
 */
int gp_own_load_await(pid_t pid);
/* Sends SIGTERM, and SIGKILL after a while. */
void gp_own_load_end(pid_t pid);

#endif /* GP_CLI_OWN_LOAD_H */
