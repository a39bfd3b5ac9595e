/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* ptrace, as little of it as debug sessions need. */
#ifndef GP_LIB_KFD_DEBUG_SEIZE_H
#define GP_LIB_KFD_DEBUG_SEIZE_H

#include <sys/types.h>

#include "gp_env.h"

/*
 * The calling thread becomes the tracer of the process's first thread, without stopping it.
 * -ESRCH: gone, or not the one that started at @start (0: any). -ECHILD: its first thread has
 * ended, and others run. -EALREADY: a debugger traces it. -EPERM.
 */
int gp_seize(pid_t pid, u64 start);
/* By the thread that seized it. -ETIMEDOUT: it would not stop; it is still traced. */
int gp_unseize(pid_t tid);
/*
 * Calls @fn while @tid, seized by this thread, is stopped: it was not ending then, and whatever
 * comes, it does not end. What @fn returns; -ESRCH: it ends. -ETIMEDOUT: it would not stop.
 */
int gp_seize_while_stopped(pid_t tid, int (*fn)(void *ctx), void *ctx);
/* Lets it go on after every stop there is. -ESRCH: it has ended. */
int gp_seize_wait(pid_t pid);

/*
 * Calls @fn in a thread of its own and waits for it. What that thread has seized is let go
 * by its end, without having been stopped: unlike PTRACE_DETACH that needs no stop. -ENOMEM: no
 * thread can be started.
 */
int gp_seize_briefly(int (*fn)(void *ctx), void *ctx);

/* Another thread of @pid than the first. 0: none. */
pid_t gp_seize_other_thread(pid_t pid);

#endif /* GP_LIB_KFD_DEBUG_SEIZE_H */
