/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The wire of the control socket: Varlink, JSON objects that each end with a
 * NUL byte.
 *
 *	call	{"method": "org.gpreempt.Hold", "parameters": {...}, "more": false}
 *	reply	{"parameters": {...}, "continues": false}
 *	error	{"error": "org.gpreempt.NotFound", "parameters": {...}}
 *
 * No input is trusted. The size, nesting and number of values of a message are checked before it is
 * parsed. Nothing prints or keeps global state, and only struct gp_wire waits.
 */
#ifndef GP_VARLINK_H
#define GP_VARLINK_H

#include <sys/types.h>
#include <sys/un.h>

#include <jansson.h>

#include "gp_env.h"

enum {
	GP_VARLINK_CALL_MAX	= 2 << 10,	/* bytes of a call, without its NUL */
	GP_VARLINK_CALL_VALUES	= 128,		/* things in a call: each costs time to read */
	GP_VARLINK_REPLY_MAX	= 16 << 20,	/* bytes of a reply */
	GP_VARLINK_DEPTH_MAX	= 12,		/* arrays and objects within each other */
	GP_VARLINK_READ_MAX	= 16 << 10,	/* bytes taken from a socket at a time */
	GP_VARLINK_FLUSH_MAX	= 64 << 10,	/* bytes given to a socket at a time */
};

/* ---- reading ---- */

/* Splits received bytes into messages. Zero it, set @max and @values. */
struct gp_varlink_reader {
	size_t max;		/* bytes of a message */
	size_t values;		/* numbers, texts... in a message, about; 0: any */
	char *buf;
	size_t len, room;
	size_t begin;		/* of the first message not yet taken */
	size_t seen;		/* no NUL before this */
};

void gp_varlink_reader_fini(struct gp_varlink_reader *r);
/*
 * Appends @n bytes. -EMSGSIZE: a message is longer than @max; -ENOMEM. Close the connection after
 * an error, because the next message cannot be found.
 */
int gp_varlink_feed(struct gp_varlink_reader *r, const void *bytes, size_t n);
/*
 * Calls recv() without waiting, and never receives descriptors: -EBADF if the next bytes come with
 * some. Else returns how many bytes, 0 at the end of the stream, or -errno.
 */
ssize_t gp_varlink_recv(int fd, void *to, size_t room);
/*
 * Calls gp_varlink_recv() once, for at most GP_VARLINK_READ_MAX bytes and not much more than the
 * longest message. Returns how many, 0 at the end of the stream, -EAGAIN if there are none, -EBADF,
 * else as gp_varlink_feed().
 */
ssize_t gp_varlink_receive(struct gp_varlink_reader *r, int fd);
/* Returns true if a complete message is buffered, valid or not. */
bool gp_varlink_waiting(struct gp_varlink_reader *r);
/* Returns how many bytes of an incomplete message are buffered. */
size_t gp_varlink_partial(struct gp_varlink_reader *r);
/*
 * Takes the next message, an object that the caller owns. -EAGAIN: not complete yet. -EBADMSG: not
 * a JSON object, nested too deep, of too many values, or with a name twice; it is skipped.
 */
int gp_varlink_next(struct gp_varlink_reader *r, json_t **ret);
/* Parses one message of @n bytes as gp_varlink_next() does; @values as in the reader. */
int gp_varlink_parse(const char *text, size_t n, size_t values, json_t **ret);

/* ---- writing ---- */

/* Bytes that wait to be sent, in order. Zero it, set @max. */
struct gp_varlink_writer {
	size_t max;		/* bytes that may wait */
	char *buf;
	size_t begin, len, room;
};

void gp_varlink_writer_fini(struct gp_varlink_writer *w);
/* Appends raw text. -ENOBUFS: more than @max would wait, nothing was appended; -ENOMEM. */
int gp_varlink_put(struct gp_varlink_writer *w, const void *text, size_t n);
/* Appends @message and its NUL. The caller keeps its reference. Returns as gp_varlink_put(). */
int gp_varlink_put_json(struct gp_varlink_writer *w, const json_t *message);
/*
 * Calls send() once without waiting, for at most GP_VARLINK_FLUSH_MAX bytes. Returns how many, 0 if
 * nothing waits, -EAGAIN if the socket is full, -errno.
 */
ssize_t gp_varlink_flush(struct gp_varlink_writer *w, int fd);
static inline size_t gp_varlink_unsent(const struct gp_varlink_writer *w)
{
	return w->len - w->begin;
}

/* ---- calls ---- */

struct gp_varlink_call {
	const char *method;	/* in the message, "interface.Method" */
	json_t *parameters;	/* in the message, an object; NULL if absent */
	bool more, oneway, upgrade;
};

/* -EBADMSG: @message is not a call. *@ret points into @message. */
int gp_varlink_call(json_t *message, struct gp_varlink_call *ret);

struct gp_varlink_reply {
	const char *error;	/* in the message, NULL on success */
	json_t *parameters;	/* in the message, NULL if absent */
	bool continues;
};

/* -EBADMSG: @message is not a reply. *@ret points into @message. */
int gp_varlink_reply(json_t *message, struct gp_varlink_reply *ret);

/* ---- errors ---- */

#define GP_INTERFACE	"org.gpreempt"

/* The interfaces, as org.gpreempt.varlink and org.varlink.service.varlink describe them. */
extern const char gp_varlink_description[], gp_varlink_service[];

/* Returns the name of the interface's error that fits -@err best, never NULL. */
const char *gp_varlink_error_name(int err);
/* Returns the errno, positive, of the error with this name; EREMOTEIO if unknown. */
int gp_varlink_error_number(const char *name);

/* ---- a connection to the daemon, for client.c and the project's own programs ---- */

struct gp_wire {
	struct sockaddr_un at;
	int fd;			/* -1: not connected */
	struct gp_varlink_reader in;
	struct gp_varlink_writer out;
};

/* All of them return 0 or -errno with a sentence (gp_fail()). */

/* Stores the path; NULL: the default path. Does not connect. */
int gp_wire_init(struct gp_wire *wire, const char *path);
/* Connects. @deadline_ns: of CLOCK_MONOTONIC, as in all calls here; GP_NEVER. */
int gp_wire_connect(struct gp_wire *wire, u64 deadline_ns);
/* Disconnects; gp_wire_connect() may follow. */
void gp_wire_close(struct gp_wire *wire);
/* Sends a call. Takes over @parameters, NULL: none. -EPIPE: the other side has closed. */
int gp_wire_send(struct gp_wire *wire, const char *method, json_t *parameters, bool more,
		 u64 deadline_ns);
/* Receives the next message, which the caller owns. -EPIPE: the other side has closed. */
int gp_wire_receive(struct gp_wire *wire, u64 deadline_ns, json_t **ret);
/* Returns the -errno of an error reply; 0: not an error. -EPROTO: not a reply. */
int gp_wire_result(json_t *message, struct gp_varlink_reply *ret);

/* Returns the deadline @milliseconds from now; negative: GP_NEVER. */
u64 gp_wire_deadline(int milliseconds);

/* ---- a call with several answers, for the project's own programs (client.c) ---- */

struct gp_daemon;

struct gp_events {
	struct gp_wire wire;
	json_t *first;		/* the parameters of the first answer */
	u32 lost;		/* reported by answers, not yet passed on */
};

/* Makes a call with "more". Takes over @parameters, NULL: none. End it with gp_events_close(). */
int gp_events_open(struct gp_daemon *daemon, const char *method, json_t *parameters,
		   struct gp_events **ret);
/* Gets the parameters of the next answer, which the caller owns. -EAGAIN: none yet; -ENOTCONN. */
int gp_events_parameters(struct gp_events *events, json_t **ret);

#endif /* GP_VARLINK_H */
