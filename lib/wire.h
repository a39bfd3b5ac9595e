/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One connection to the daemon: what client.c and events.c share. */
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

struct gp_daemon;
/* One call and its answer's parameters, the caller's, never NULL. Takes over @parameters. */
int gp_wire_call(struct gp_daemon *daemon, const char *method, json_t *parameters, json_t **ret);
/* Another connection to where @daemon is. */
int gp_wire_again(struct gp_daemon *daemon, struct gp_wire *ret, u64 *deadline_ns);

/* The string called @name in @object, cut to @size; "" if there is none. */
void gp_wire_text(const json_t *object, const char *name, char *to, size_t size);
/* The integer called @name in @object; 0 if there is none. */
s64 gp_wire_number(const json_t *object, const char *name);
/* enum gp_daemon_state by its name in the interface. */
u32 gp_wire_state(const char *name);

#endif /* GP_WIRE_H */
