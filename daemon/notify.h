/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* sd_notify(3) and its watchdog, without libsystemd: one datagram. */
#ifndef GP_DAEMON_NOTIFY_H
#define GP_DAEMON_NOTIFY_H

#include "gp_env.h"

/*
 * "READY=1", "STATUS=...", "STOPPING=1", "WATCHDOG=1", several with newlines. Never blocks. If
 * systemd's queue is full it returns -EAGAIN, and the next call sends the state first ("": only
 * that). 0: sent, or there is no systemd. -errno.
 */
int gp_notify(const char *state);
/* Returns the interval at which this process must send "WATCHDOG=1", in ns; 0: never. */
u64 gp_notify_watchdog(void);

#endif /* GP_DAEMON_NOTIFY_H */
