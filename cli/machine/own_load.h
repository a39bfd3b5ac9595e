/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program that `gpreempt bench` runs to have a process to measure with. */
#ifndef GP_CLI_OWN_LOAD_H
#define GP_CLI_OWN_LOAD_H

#include <sys/types.h>

/* Starts @argv; its output goes to stderr. enum gp_exit; 125..127 as of env(1). */
int gp_own_load_start(char *const *argv, pid_t *ret);
/* Until it has a queue and its GPU runtime is ready. enum gp_exit; says what is wrong. */
int gp_own_load_await(pid_t pid);
/* Told to end, and after a while ended. */
void gp_own_load_end(pid_t pid);

#endif /* GP_CLI_OWN_LOAD_H */
