/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Messages between the processes of the daemon: supervisor, decider, holders and readers.
 *
 * A channel is a pair of SOCK_SEQPACKET sockets. Every message begins with struct gp_message,
 * has one size per kind, and may carry descriptors. Nothing here blocks. The receiver checks
 * every message: a process that sends a malformed one is broken, and its channel is closed.
 */
#ifndef GP_DAEMON_CHANNEL_H
#define GP_DAEMON_CHANNEL_H

#include <stddef.h>

#include "gp_env.h"

enum {
	GP_CHANNEL_VERSION	= 1,
	GP_CHANNEL_FDS		= 2,	/* descriptors in one message, at most */
};

struct gp_message {
	u16 version;		/* GP_CHANNEL_VERSION */
	u16 kind;		/* of the protocol that the channel speaks */
	u32 bytes;		/* of the whole message */
};

/* A message of type @type and kind @k; the other members follow. */
#define GP_MESSAGE(type, k, ...) \
	((type){ .is = { GP_CHANNEL_VERSION, (k), sizeof(type) }, ##__VA_ARGS__ })

/* Both ends are non-blocking and close-on-exec. 0 or -errno. */
int gp_channel_pair(int ret[2]);

/*
 * Sends @message (m->bytes of it) and @nr descriptors, which stay the caller's.
 * 0; -EAGAIN: the receiver does not read; -EPIPE: the receiver is gone.
 */
int gp_channel_send(int fd, const struct gp_message *message, const int *fds, u32 nr);

/*
 * Receives one message of at most @room bytes. @fds has room for GP_CHANNEL_FDS descriptors,
 * which become the caller's; unused ones are -1. NULL: messages with descriptors are malformed.
 * The size in bytes; -EAGAIN: no message; -EPIPE: the sender is gone; -EPROTO: malformed (wrong
 * version, wrong size, truncated).
 */
int gp_channel_recv(int fd, void *to, size_t room, int *fds);

/* Returns true if the received @message is of kind @kind and @bytes long. */
static inline bool gp_message_is(const struct gp_message *message, u32 kind, size_t bytes)
{
	return message->kind == kind && message->bytes == bytes;
}

#endif /* GP_DAEMON_CHANNEL_H */
