// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "channel.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/sys.h"

/* Aligned room for the descriptors of one message. */
union ancillary {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(GP_CHANNEL_FDS * sizeof(int))];
};

int gp_channel_pair(int ret[2])
{
	return gp_sys->socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
				  ret) ? -errno : 0;
}

int gp_channel_send(int fd, const struct gp_message *message, const int *fds, u32 nr)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)message, .iov_len = message->bytes };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	union ancillary room = { .bytes = { 0 } };
	ssize_t sent;

	if (nr > GP_CHANNEL_FDS)
		return -EINVAL;
	if (nr) {
		msg.msg_control = &room;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		room.header.cmsg_level = SOL_SOCKET;
		room.header.cmsg_type = SCM_RIGHTS;
		room.header.cmsg_len = CMSG_LEN(nr * sizeof(int));
		memcpy(CMSG_DATA(&room.header), fds, nr * sizeof(int));
	}
	do {
		sent = gp_sys->sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
}

/* Takes every descriptor out of @msg. Returns how many there were; closes those without room. */
static u32 take_fds(struct msghdr *msg, int *fds)
{
	struct cmsghdr *c;
	u32 nr = 0;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++, nr++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (fds && nr < GP_CHANNEL_FDS)
				fds[nr] = one;
			else
				close(one);
		}
	}
	return nr;
}

static void drop_fds(int *fds)
{
	for (u32 i = 0; fds && i < GP_CHANNEL_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

int gp_channel_recv(int fd, void *to, size_t room, int *fds)
{
	struct iovec part = { .iov_base = to, .iov_len = room };
	union ancillary control;
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	const struct gp_message *m = to;
	ssize_t got;
	u32 nr;

	for (u32 i = 0; fds && i < GP_CHANNEL_FDS; i++)
		fds[i] = -1;
	do {
		got = gp_sys->recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	/* Without memory the message stays in the socket. */
	if (got < 0 && (errno == ENOMEM || errno == ENOBUFS))
		return -EAGAIN;
	if (got < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	nr = take_fds(&msg, fds);
	if (!got && !nr)
		return -EPIPE;
	if (got >= (ssize_t)sizeof(*m) && m->version == GP_CHANNEL_VERSION &&
	    m->bytes == (size_t)got && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	    (fds || !nr))
		return (int)got;
	drop_fds(fds);
	return -EPROTO;
}
