/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Calls that must not wait for another process or for a GPU. The clock is the guest's. */
#ifndef GP_LAB_PROMPT_H
#define GP_LAB_PROMPT_H

#include "kernel.h"

#define MSEC		1000000ull
/* What a call may take at most. ATTACH itself gives up after 10 ms. */
#define PROMPT_NS	(200 * MSEC)

u64 now_ns(void);
/* A raw call as call(); fails the story if it takes longer than PROMPT_NS. */
int prompt(int control, unsigned long request, void *arg);
/* The same for each call: a preemptible task of one process; PREEMPT or RESUME; one task. */
int prompt_attach(int control, pid_t pid, u32 *task);
int prompt_move(int control, unsigned long request, u32 task);
int prompt_task(int control, unsigned long request, u32 task);
/* A process of another user is attached, taken off, back on and detached; events are read. */
void serves(const struct target *t);

#endif /* GP_LAB_PROMPT_H */
