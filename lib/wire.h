/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One connection to the daemon, for client.c and our own programs. */
#ifndef GP_WIRE_H
#define GP_WIRE_H

#include <sys/un.h>

#include "varlink.h"

struct gp_wire {
	struct sockaddr_un at;
	int fd;			/* -1: not connected */
	struct gp_varlink_reader in;
	struct gp_varlink_writer out;
};

/* All of them return 0 or -errno with a sentence (gp_fail()). */

/* NULL: the usual path. Only remembers it. */
int gp_wire_init(struct gp_wire *wire, const char *path);
/* Until @deadline_ns of CLOCK_MONOTONIC, as in all calls here; GP_NEVER. */
int gp_wire_connect(struct gp_wire *wire, u64 deadline_ns);
/* Disconnects; gp_wire_connect() may follow. */
void gp_wire_close(struct gp_wire *wire);
/* Sends a call; takes over @parameters, NULL: none. -EPIPE: the other side has closed. */
int gp_wire_send(struct gp_wire *wire, const char *method, json_t *parameters, bool more,
		 u64 deadline_ns);
/* The next message, the caller's. -EPIPE: the other side has closed. */
int gp_wire_receive(struct gp_wire *wire, u64 deadline_ns, json_t **ret);
/* What an error reply says, as -errno. 0 if it is none. -EPROTO: not a reply. */
int gp_wire_result(json_t *message, struct gp_varlink_reply *ret);

/* A deadline @milliseconds from now; negative: GP_NEVER. */
u64 gp_wire_deadline(int milliseconds);

/* ---- a call that is answered again and again, for our own programs (client.c) ---- */

struct gp_daemon;

struct gp_events {
	struct gp_wire wire;
	json_t *first;		/* the parameters of the first answer */
	u32 lost;		/* said by answers, not yet passed on */
};

/* Takes over @parameters, NULL: none. End it with gp_events_close(). */
int gp_events_open(struct gp_daemon *daemon, const char *method, json_t *parameters,
		   struct gp_events **ret);
/* The parameters of the next answer, the caller's. -EAGAIN: none yet; -ENOTCONN. */
int gp_events_parameters(struct gp_events *events, json_t **ret);

#endif /* GP_WIRE_H */
