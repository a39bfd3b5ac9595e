/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef GP_LAB_KFD_DEBUG_H
#define GP_LAB_KFD_DEBUG_H

#include "lib/kfd_debug/session.h"
#include "lab/driver/debug/story.h"

extern const struct story discoveries[], readers[], holds[], edges[], mechanisms[],
	two_gpus[];

/* /dev/kfd, as a daemon has it open. */
int open_kfd(void);
/* The session of a target; the story ends if it cannot be had. */
struct gp_session session_of(const struct target *t);
/* What gp_session_open() says of it; 0 is closed at once. */
int try_session(const struct target *t);
/* A process traces it. */
bool is_traced(pid_t pid);
/* The thread that seized it has ended, a moment after it was joined. */
bool comes_to_be_untraced(pid_t pid);
/* Events have come within ten seconds: their mask. */
int wait_events(struct gp_session *s);

/* A gpload as a child; its output is thrown away. */
pid_t start_gpload(const char *const *options);
/* Its exit code, when it has ended by itself. */
int gpload_ends(pid_t pid);
/* It has this many queues within half a minute. */
bool has_queues(pid_t pid, u32 nr);

#endif /* GP_LAB_KFD_DEBUG_H */
