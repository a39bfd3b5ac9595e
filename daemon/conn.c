// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* One connection: bytes in, calls, bytes out, and how long each may take. */
#include "conn.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	BURST = 64,			/* calls at once, of a client without privilege */
	PIECES_UNSENT = 64 << 10,	/* a long answer waits while so much is not fetched */
};

/* ---- answering ---- */

void gp_conn_doom(struct gp_conn *conn, enum gp_doom why)
{
	if (!conn->doom)
		conn->doom = (u8)why;
}

void gp_conn_send(struct gp_conn *conn, json_t *message)
{
	ssize_t n;

	if (!message || gp_varlink_put_json(&conn->out, message))
		gp_conn_doom(conn, GP_DOOM_FULL);
	json_decref(message);
	if (conn->doom)
		return;
	n = gp_varlink_flush(&conn->out, conn->fd);
	if (n < 0 && n != -EAGAIN)
		gp_conn_doom(conn, GP_DOOM_GONE);
}

void gp_conn_answer(struct gp_conn *conn, json_t *parameters)
{
	conn->state = GP_CONN_READY;
	if (conn->oneway) {
		json_decref(parameters);
		return;
	}
	gp_conn_send(conn, json_pack("{s:o}", "parameters",
				     parameters ? parameters : json_object()));
}

void gp_conn_error(struct gp_conn *conn, const char *name, json_t *parameters)
{
	conn->state = GP_CONN_READY;
	if (conn->oneway) {
		json_decref(parameters);
		return;
	}
	gp_conn_send(conn, json_pack("{s:s, s:o}", "error", name, "parameters", parameters));
}

void gp_conn_fail(struct gp_conn *conn, int err, const char *parameter, const char *why)
{
	const char *name = gp_varlink_error_name(err);
	const char *text = why && *why ? why : strerrordesc_np(err);
	json_t *o = json_object(), *message = json_string(text ? text : "failed");

	/* It may hold a process's name, which need not be UTF-8. */
	if (!message)
		message = json_string("failed, for a reason that is not text");
	json_object_set_new(o, "message", message);
	if (!strcmp(name, GP_INTERFACE ".InvalidParameter"))
		json_object_set_new(o, "parameter", json_string(parameter ? parameter : ""));
	if (!strcmp(name, GP_INTERFACE ".Failed"))
		json_object_set_new(o, "errno", json_integer(err));
	gp_conn_error(conn, name, o);
}

/* ---- the connection ---- */

void gp_conn_close(struct gp_control *c, struct gp_conn *conn)
{
	gp_token token = conn->state == GP_CONN_ASKED ? conn->token : 0;

	c->stats.evicted += conn->doom == GP_DOOM_EVICTED;
	c->stats.malformed += conn->doom == GP_DOOM_MALFORMED;
	c->stats.timed_out += conn->doom == GP_DOOM_LATE;
	c->stats.overflowed += conn->doom == GP_DOOM_FULL;
	c->stats.clients--;
	close(conn->fd);
	gp_varlink_reader_fini(&conn->in);
	gp_varlink_writer_fini(&conn->out);
	*conn = (struct gp_conn){ .fd = -1 };
	if (token && c->args.ops->gone)
		c->args.ops->gone(c->args.ctx, token);
}

bool gp_conn_idle(struct gp_conn *conn)
{
	return conn->state == GP_CONN_READY && !conn->doom && !gp_varlink_unsent(&conn->out) &&
	       !gp_varlink_waiting(&conn->in) && !gp_varlink_partial(&conn->in);
}

/* When its next call may be taken. */
static u64 may_call_at(const struct gp_control *c, const struct gp_conn *conn)
{
	u64 burst = BURST * (GP_SEC / c->args.calls_per_second);

	if (conn->peer.privileged || conn->paid_ns < burst)
		return 0;
	return conn->paid_ns - burst;
}

static void pay(const struct gp_control *c, struct gp_conn *conn)
{
	if (conn->paid_ns < c->now_ns)
		conn->paid_ns = c->now_ns;
	conn->paid_ns += GP_SEC / c->args.calls_per_second;
}

/* Is it the client's turn, with all answers fetched? */
static bool its_turn(const struct gp_conn *conn)
{
	return conn->state == GP_CONN_READY && !conn->doom && !gp_varlink_unsent(&conn->out);
}

static void take_call(struct gp_control *c, struct gp_conn *conn)
{
	struct gp_varlink_call call;
	json_t *message = NULL;

	c->calls_left--;
	c->stats.calls++;
	pay(c, conn);
	if (gp_varlink_next(&conn->in, &message) || gp_varlink_call(message, &call)) {
		gp_conn_doom(conn, GP_DOOM_MALFORMED);
	} else {
		conn->oneway = call.oneway;
		gp_method_call(c, conn, &call);
	}
	json_decref(message);
}

static void receive(struct gp_conn *conn)
{
	ssize_t n = gp_varlink_receive(&conn->in, conn->fd);

	if (n == -EMSGSIZE)
		gp_conn_doom(conn, GP_DOOM_MALFORMED);
	else if (n == 0 || (n < 0 && n != -EAGAIN))
		gp_conn_doom(conn, GP_DOOM_GONE);
}

static void flush(struct gp_control *c, struct gp_conn *conn)
{
	ssize_t n;

	if (!c->sends_left || conn->doom)
		return;
	c->sends_left--;
	n = gp_varlink_flush(&conn->out, conn->fd);
	if (n < 0 && n != -EAGAIN)
		gp_conn_doom(conn, GP_DOOM_GONE);
	/* A stream never ends, so it is enough that its client fetches something. */
	if (n > 0 && conn->state == GP_CONN_STREAM)
		conn->unsent_ns = 0;
}

static void since(u64 *stamp, bool so, u64 now_ns)
{
	if (!so)
		*stamp = 0;
	else if (!*stamp)
		*stamp = now_ns;
}

static void watch_time(struct gp_control *c, struct gp_conn *conn)
{
	u64 now = c->now_ns;

	since(&conn->idle_ns, gp_conn_idle(conn), now);
	since(&conn->partial_ns, its_turn(conn) && gp_varlink_partial(&conn->in), now);
	since(&conn->unsent_ns, gp_varlink_unsent(&conn->out) || conn->state == GP_CONN_PIECES,
	      now);
	if ((conn->idle_ns && now - conn->idle_ns >= c->args.idle_ns) ||
	    (conn->partial_ns && now - conn->partial_ns >= c->args.partial_ns) ||
	    (conn->unsent_ns && now - conn->unsent_ns >= c->args.unsent_ns))
		gp_conn_doom(conn, GP_DOOM_LATE);
}

static void arm(struct gp_control *c, struct gp_conn *conn)
{
	struct epoll_event e = { .data.u32 = (u32)(conn - c->conns) };

	if (its_turn(conn) && !gp_varlink_waiting(&conn->in))
		e.events |= EPOLLIN;
	if (gp_varlink_unsent(&conn->out))
		e.events |= EPOLLOUT;
	if (e.events == conn->armed)
		return;
	conn->armed = e.events;
	if (epoll_ctl(c->epoll, EPOLL_CTL_MOD, conn->fd, &e))
		gp_conn_doom(conn, GP_DOOM_GONE);
}

static bool piece_due(const struct gp_conn *conn)
{
	return conn->state == GP_CONN_PIECES && !conn->doom &&
	       gp_varlink_unsent(&conn->out) < PIECES_UNSENT;
}

void gp_conn_step(struct gp_control *c, struct gp_conn *conn)
{
	if (conn->writable)
		flush(c, conn);
	if (conn->readable && its_turn(conn))
		receive(conn);
	conn->readable = conn->writable = false;
	if (its_turn(conn) && c->calls_left && may_call_at(c, conn) <= c->now_ns &&
	    gp_varlink_waiting(&conn->in))
		take_call(c, conn);
	while (piece_due(conn) && c->pieces_left) {
		c->pieces_left--;
		gp_pieces_step(c, conn);
	}
	/* New since epoll was last told: most often it can be sent at once. */
	if (gp_varlink_unsent(&conn->out) && !(conn->armed & EPOLLOUT))
		flush(c, conn);
	if (!conn->doom)
		watch_time(c, conn);
	if (!conn->doom)
		arm(c, conn);
	if (conn->doom)
		gp_conn_close(c, conn);
}

static void earlier(u64 *at, u64 since_ns, u64 after_ns)
{
	if (since_ns && since_ns + after_ns < *at)
		*at = since_ns + after_ns;
}

u64 gp_conn_wake_at(struct gp_control *c, struct gp_conn *conn)
{
	u64 at = GP_NEVER;

	if (conn->doom || piece_due(conn))
		return 0;
	if (its_turn(conn) && gp_varlink_waiting(&conn->in))
		return may_call_at(c, conn);
	earlier(&at, conn->idle_ns, c->args.idle_ns);
	earlier(&at, conn->partial_ns, c->args.partial_ns);
	earlier(&at, conn->unsent_ns, c->args.unsent_ns);
	return at;
}

/* ---- what the daemon calls ---- */

static struct gp_conn *by_token(struct gp_control *c, gp_token token)
{
	struct gp_conn *conn;

	if ((token & 0xff) >= c->args.clients)
		return NULL;
	conn = &c->conns[token & 0xff];
	return conn->state == GP_CONN_ASKED && conn->token == token ? conn : NULL;
}

int gp_control_reply(struct gp_control *c, gp_token token, json_t *parameters)
{
	struct gp_conn *conn = by_token(c, token);

	if (!conn) {
		json_decref(parameters);
		return -ENOENT;
	}
	gp_conn_answer(conn, parameters);
	c->wake_ns = 0;
	return 0;
}

int gp_control_fail(struct gp_control *c, gp_token token, int err, const char *why)
{
	struct gp_conn *conn = by_token(c, token);

	if (!conn)
		return -ENOENT;
	c->stats.errors++;
	gp_conn_fail(conn, err, NULL, why);
	c->wake_ns = 0;
	return 0;
}
