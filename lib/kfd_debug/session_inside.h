/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the beginning of a debug session (attach.c) and the rest of it (session.c) share. */
#ifndef GP_LIB_KFD_DEBUG_SESSION_INSIDE_H
#define GP_LIB_KFD_DEBUG_SESSION_INSIDE_H

#include "session.h"

/* What we are told of: queues that are new, and a runtime that is enabled or disabled. */
#define GP_SESSION_EC_NEW	GP_KFD_EC_BIT(GP_KFD_EC_QUEUE_NEW)
#define GP_SESSION_EC_RUNTIME	GP_KFD_EC_BIT(GP_KFD_EC_RUNTIME)

/* What the driver returns, or -errno. */
int gp_session_call(struct gp_session *s, struct gp_kfd_dbg *args);
/* A target that waits for its debugger does so no more; or never, if said in advance. */
int gp_session_go_on(struct gp_session *s);
/* Attaches, and looks at the queues. As gp_session_open(). */
int gp_session_attach(struct gp_session *s);
/*
 * Ends the session; everything runs. -EPERM: but for a first thread that sleeps in the driver and
 * is traced by a thread of ours, by whom gp_unseize() wakes it.
 */
int gp_session_leave(struct gp_session *s);

#endif /* GP_LIB_KFD_DEBUG_SESSION_INSIDE_H */
