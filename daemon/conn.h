/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside the control socket: its connections, and what its files share. */
#ifndef GP_CONN_H
#define GP_CONN_H

#include "control.h"
#include "core/param.h"
#include "lib/varlink.h"

/*
 * A state says whose turn it is.
 *
 *	        call             answered
 *	READY --------> ASKED ------------> READY
 *	                  | \--- long ---> PIECES ---> READY
 *	                  '--- more -----> STREAM
 *
 * Any of them ends when the client goes or is doomed: that only marks it, and
 * gp_conn_step() alone lets go of it, so that a callback never loses its connection.
 */
enum gp_conn_state {
	GP_CONN_FREE,
	GP_CONN_READY,		/* the client's: its next call may come */
	GP_CONN_ASKED,		/* the daemon's: it owes an answer */
	GP_CONN_PIECES,		/* ours: a long answer is being made */
	GP_CONN_STREAM,		/* the daemon's: it publishes */
};

enum gp_doom { GP_DOOM_NONE, GP_DOOM_GONE, GP_DOOM_MALFORMED, GP_DOOM_LATE, GP_DOOM_FULL,
	       GP_DOOM_EVICTED };

/* A long answer under way. */
struct gp_pieces {
	bool stats;		/* of Stats, else of List */
	bool some;		/* a process has been written */
	pid_t pid;
	char gpu[32];		/* "": all */
	u64 cursor;
};

struct gp_conn {
	u8 state;		/* enum gp_conn_state */
	u8 doom;		/* enum gp_doom */
	bool oneway;		/* the call wants no answer */
	bool readable, writable;	/* epoll said so in this run */
	int fd;
	u32 armed;		/* what epoll was told to watch */
	struct gp_peer peer;
	struct gp_varlink_reader in;
	struct gp_varlink_writer out;
	gp_token token;		/* of the call under way */
	struct gp_pieces pieces;
	u32 wants;		/* STREAM: bit per enum gp_event_kind */
	u32 lost;		/* events dropped and not yet told */
	u64 paid_ns;		/* calls so far are paid for until then */
	/* since when; 0: not so */
	u64 idle_ns, partial_ns, unsent_ns;
};

struct gp_control {
	struct gp_control_args args;	/* limits filled in, texts copied */
	bool ours;		/* the socket's file */
	gid_t group;
	int epoll, listener;
	bool listening;		/* the listener is in epoll */
	u64 listen_again_ns;	/* out of descriptors until then */
	u64 now_ns;		/* of the last run */
	u64 wake_ns;
	u64 serial;
	u32 turn;		/* whom the next run begins with */
	u32 calls_left, pieces_left, sends_left;	/* of this run */
	struct gp_control_stats stats;
	struct gp_conn *conns;	/* args.clients of them */
};

/* ---- conn.c ---- */

/* What there is to do for one connection, bounded. */
void gp_conn_step(struct gp_control *c, struct gp_conn *conn);
/* When it wants another step, whatever epoll says; GP_NEVER. */
u64 gp_conn_wake_at(struct gp_control *c, struct gp_conn *conn);
/* Lets go of everything it has. */
void gp_conn_close(struct gp_control *c, struct gp_conn *conn);
void gp_conn_doom(struct gp_conn *conn, enum gp_doom why);
/* Nothing asked, nothing owed, nothing begun. */
bool gp_conn_idle(struct gp_conn *conn);
/* Append a message; the first failure dooms. Consumes @message. */
void gp_conn_send(struct gp_conn *conn, json_t *message);
/* Answers by an error that need not be ours. Consumes @parameters. */
void gp_conn_error(struct gp_conn *conn, const char *name, json_t *parameters);
/* The usual answer. Consumes @parameters, NULL: none. */
void gp_conn_answer(struct gp_conn *conn, json_t *parameters);
/* An error of ours. */
void gp_conn_fail(struct gp_conn *conn, int err, const char *parameter, const char *why);

/* ---- method.c ---- */

/* The connection is READY and this came. */
void gp_method_call(struct gp_control *c, struct gp_conn *conn,
		    const struct gp_varlink_call *call);
/* Does @ops keep its promises? */
int gp_method_check(const struct gp_control_ops *ops);

/* ---- service.c ---- */

/* Is it a method of org.varlink.service, or of no interface here? Then it is answered. */
bool gp_service_call(struct gp_control *c, struct gp_conn *conn,
		     const struct gp_varlink_call *call);

/* ---- pieces.c ---- */

/* Begin an answer: @head, then "processes" one by one. Consumes @head. */
void gp_pieces_begin(struct gp_conn *conn, json_t *head);
/* One more, or the end of the answer. */
void gp_pieces_step(struct gp_control *c, struct gp_conn *conn);

#endif /* GP_CONN_H */
