/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Connections of the control socket, for control.c and control_users.c. */
#ifndef GP_DAEMON_CONTROL_PRIVATE_H
#define GP_DAEMON_CONTROL_PRIVATE_H

#include <sys/wait.h>

#include "control.h"
#include "lib/varlink.h"

/*
 * A state says whether the client or the daemon acts next.
 *
 *	        call            answered
 *	READY --------> ASKED ------------> READY
 *	                  | \--- list ---> LISTING ---> READY
 *	                  '--- more ----> STREAMING
 *
 * Any state ends when the client leaves or is to be closed. Then only @end is set. step() alone
 * closes, so a callback never loses the connection it was called for.
 */
enum connection_state { FREE, READY, ASKED, LISTING, STREAMING };
enum end { OPEN, GONE, MALFORMED, LATE, FULL, EVICTED };

enum {
	GP_CONTROL_CLIENTS	= 255,	/* the low byte of a token */
	GP_CONTROL_DOOMED	= 512,
	GP_CONTROL_CLOSERS	= 8,
};

/* The share of one user. Kept after the last connection, so reconnecting does not reset it. */
struct client_user {
	uid_t user;
	u32 connections, streams;
	u64 paid_ns;		/* the calls so far are paid for until then */
};

struct connection {
	u8 state;		/* enum connection_state */
	u8 end;			/* enum end */
	bool oneway;		/* the call wants no answer */
	bool readable, writable;	/* epoll said so in this run */
	bool some;		/* LISTING: an entry was written */
	int fd;
	u32 armed;		/* the events that epoll waits for */
	struct gp_peer peer;
	struct client_user *user;
	struct gp_varlink_reader in;
	struct gp_varlink_writer out;
	gp_token token;		/* of the current call */
	struct gp_listing listing;
	u32 wants;		/* STREAMING: bit per enum gp_event_kind */
	u32 lost;		/* dropped events not yet reported to the client */
	u64 late_ns;		/* when to close it if nothing changes; GP_NEVER */
	/* begin of the condition; 0: it does not hold */
	u64 idle_ns, partial_ns, unsent_ns;
};

struct gp_control {
	struct gp_control_args args;	/* with default limits and own copies of the texts */
	bool ours;		/* the daemon owns the socket file */
	gid_t group;
	int epoll, listener;
	bool listening;		/* the listener is in epoll */
	u64 listen_again_ns;	/* no accept() before, for want of descriptors */
	u64 now_ns;		/* of the last run */
	u64 wake_ns;
	u64 serial;
	u32 turn;		/* the connection with which the next run begins */
	u32 calls_left, entries_left, sends_left;	/* in this run */
	u32 plain;		/* connections without privilege */
	struct gp_control_stats stats;
	struct connection *conns;	/* args.clients of them */
	struct client_user *users;	/* twice as many */

	/* control_close.c: connections with descriptors, and the processes that close them */
	int doomed[GP_CONTROL_DOOMED + 1];
	u32 nr_doomed;
	pid_t closer[GP_CONTROL_CLOSERS];
	u32 nr_closers;
	u64 dispose_ns;		/* not before, unless there are many */
};

#define EACH(c, conn) \
	(conn) = (c)->conns; (conn) < (c)->conns + (c)->args.clients; (conn)++

/* control.c */
void gp_connection_end(struct connection *conn, enum end why);
void gp_connection_close(struct gp_control *c, struct connection *conn);
/* Returns true if the connection has no call, complete or partial, and no unsent answer. */
bool gp_connection_idle(struct connection *conn);

/* control_close.c */
/* Closes a connection. Never waits, whatever the client has sent. */
void gp_control_close(struct gp_control *c, int fd);
/* Closes connections that have descriptors. Returns when to call it again, or GP_NEVER. */
u64 gp_control_dispose(struct gp_control *c);

/* control_users.c */
struct client_user *gp_control_user(struct gp_control *c, uid_t user);
struct connection *gp_control_place(struct gp_control *c, const struct gp_peer *peer,
				    const struct client_user *user);

#endif /* GP_DAEMON_CONTROL_PRIVATE_H */
