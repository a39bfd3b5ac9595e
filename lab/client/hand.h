/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Preempts one process by calls of /dev/gpreempt. */
#ifndef GP_LAB_HAND_H
#define GP_LAB_HAND_H

#include <stdbool.h>
#include <sys/types.h>

/* 0 or -errno. */
int gp_hand_open(pid_t victim);
/* "evict", "direct" (its self test is run first) or "halt". 0 or -errno. */
int gp_hand_mechanism(const char *name);
/* Takes the process off the GPU (@out) or puts it back, and waits for that. */
int gp_hand_move(bool out);

#endif /* GP_LAB_HAND_H */
