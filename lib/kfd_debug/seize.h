/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The part of ptrace that debug sessions need. */
#ifndef GP_LIB_KFD_DEBUG_SEIZE_H
#define GP_LIB_KFD_DEBUG_SEIZE_H

#include <sys/types.h>

#include "gp_env.h"

/*
 * Makes the calling thread the tracer of the process's first thread, without stopping it. -ESRCH:
 * gone, or not the process that started at @start (0: any). -ECHILD: its first thread has ended,
 * and others run. -EALREADY: a debugger traces it. -EPERM.
 */
int gp_seize(pid_t pid, u64 start);
/*
 * Detaches. Only the thread that seized it may call this. -ETIMEDOUT: it did not stop and is still
 * traced.
 */
int gp_unseize(pid_t tid);
/*
 * Calls @fn while @tid, seized by this thread, is stopped, so that it cannot end meanwhile. Returns
 * the result of @fn; -ESRCH: it is ending; -ETIMEDOUT: it did not stop.
 */
int gp_seize_while_stopped(pid_t tid, int (*fn)(void *ctx), void *ctx);
/* Continues the process after all pending stops. -ESRCH: it has ended. */
int gp_seize_wait(pid_t pid);

/*
 * Calls @fn in a new thread and waits for it. The end of the thread detaches what it seized, and
 * unlike PTRACE_DETACH that needs no stop. -ENOMEM: no thread can be started.
 */
int gp_seize_briefly(int (*fn)(void *ctx), void *ctx);

/* Returns a thread of @pid other than the first. 0: none. */
pid_t gp_seize_other_thread(pid_t pid);

#endif /* GP_LIB_KFD_DEBUG_SEIZE_H */
