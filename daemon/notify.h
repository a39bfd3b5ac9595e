/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* sd_notify(3) and its watchdog, without libsystemd: one datagram. */
#ifndef GP_DAEMON_NOTIFY_H
#define GP_DAEMON_NOTIFY_H

#include "gp_env.h"

/*
 * "READY=1", "STATUS=...", "STOPPING=1", "WATCHDOG=1", several with newlines. Never blocks: if
 * systemd's queue is full it returns -EAGAIN, and the next call sends the state first ("": only
 * that). 0: sent, or there is no systemd. -errno.
 */
int gp_notify(const char *state);
/* How often "WATCHDOG=1" is wanted of this process, in ns; 0: not at all. */
u64 gp_notify_watchdog(void);

#endif /* GP_DAEMON_NOTIFY_H */
