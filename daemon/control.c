// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "control_private.h"
#include "core/param.h"
#include "lib/sys.h"

enum {
	BACKLOG = 64,
	EVENTS_PER_RUN = 8,
	ACCEPTS_PER_RUN = 4,
	SENDS_PER_RUN = 16,
	LISTENER = 0xffff,		/* in epoll, instead of a connection's number */
	BURST = 64,			/* calls at once */
	LIST_UNSENT = 64 << 10,		/* a list pauses while so much of it is unsent */
	USER_SHARE = 20,		/* calls that take long take a twentieth of the time */
};

/* Processor time of a cheap call. Calls above it are charged by time, others by number. */
#define CHEAP_NS		(200 * GP_USEC)

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS		83
#endif

#define OUT_OF_DESCRIPTORS_NS	(100 * GP_MSEC)

/* ---- answers ---- */

void gp_connection_end(struct connection *conn, enum end why)
{
	if (!conn->end)
		conn->end = (u8)why;
}

static void put(struct connection *conn, const char *text, size_t n)
{
	if (gp_varlink_put(&conn->out, text, n))
		gp_connection_end(conn, FULL);
}

static void flush(struct connection *conn)
{
	ssize_t n = conn->end ? 0 : gp_varlink_flush(&conn->out, conn->fd);

	if (n < 0 && n != -EAGAIN)
		gp_connection_end(conn, GONE);
	/* A stream has no end, so any progress of its client counts. */
	if (n > 0 && conn->state == STREAMING)
		conn->unsent_ns = 0;
}

/* Consumes @message. */
static void send_message(struct connection *conn, json_t *message)
{
	if (!message || gp_varlink_put_json(&conn->out, message))
		gp_connection_end(conn, FULL);
	json_decref(message);
	flush(conn);
}

/* Consumes @parameters, NULL: none. @error: NULL if the call succeeded. */
static void answer(struct connection *conn, const char *error, json_t *parameters)
{
	conn->state = READY;
	if (conn->oneway) {
		json_decref(parameters);
		return;
	}
	if (!parameters)
		parameters = json_object();
	if (error)
		send_message(conn, json_pack("{s:s, s:o}", "error", error, "parameters",
					     parameters));
	else
		send_message(conn, json_pack("{s:o}", "parameters", parameters));
}

static void answer_errno(struct gp_control *c, struct connection *conn, int err,
			 const char *parameter, const char *why)
{
	const char *name = gp_varlink_error_name(err);
	const char *text = why && *why ? why : strerrordesc_np(err);
	json_t *o = json_object(), *message = json_string(text ? text : "failed");

	c->stats.errors++;
	c->stats.denied += err == EPERM;
	/* The text may contain a process name, which need not be UTF-8. */
	if (!message)
		message = json_string("failed; the reason is not valid UTF-8");
	json_object_set_new(o, "message", message);
	if (!strcmp(name, GP_INTERFACE ".InvalidParameter"))
		json_object_set_new(o, "parameter", json_string(parameter ? parameter : ""));
	if (!strcmp(name, GP_INTERFACE ".Failed"))
		json_object_set_new(o, "errno", json_integer(err));
	answer(conn, name, o);
}

static struct connection *by_token(struct gp_control *c, gp_token token)
{
	struct connection *conn;

	if ((token & 0xff) >= c->args.clients)
		return NULL;
	conn = &c->conns[token & 0xff];
	return conn->state == ASKED && conn->token == token ? conn : NULL;
}

int gp_control_reply(struct gp_control *c, gp_token token, json_t *parameters)
{
	struct connection *conn = by_token(c, token);

	if (!conn) {
		json_decref(parameters);
		return -ENOENT;
	}
	answer(conn, NULL, parameters);
	c->wake_ns = 0;
	return 0;
}

int gp_control_fail(struct gp_control *c, gp_token token, int err, const char *why)
{
	struct connection *conn = by_token(c, token);

	if (!conn)
		return -ENOENT;
	answer_errno(c, conn, err, NULL, why);
	c->wake_ns = 0;
	return 0;
}

static u64 cpu_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * GP_SEC + (u64)t.tv_nsec;
}

/*
 * Charges @user for work that began at @began_ns, so that a user gets at most a share of the time.
 */
static void charge(struct client_user *user, u64 began_ns)
{
	u64 took = cpu_ns() - began_ns;

	if (took > CHEAP_NS)
		user->paid_ns += took * USER_SHARE;
}

/* ---- lists ---- */

/* Writes @o without its last @cut bytes. Consumes @o. */
static void put_object(struct connection *conn, json_t *o, size_t cut)
{
	char *text = json_dumps(o, JSON_COMPACT);

	if (text)
		put(conn, text, strlen(text) - cut);
	else
		gp_connection_end(conn, FULL);
	free(text);
	json_decref(o);
}

/* {"parameters":{HEAD,"processes":[ is @head without its last brace. Consumes @head. */
static void begin_list(struct connection *conn, json_t *head)
{
	static const char before[] = "{\"parameters\":", list[] = ",\"processes\":[";
	bool empty = !json_object_size(head);

	if (conn->oneway) {
		answer(conn, NULL, head);
		return;
	}
	put(conn, before, sizeof(before) - 1);
	put_object(conn, head, 1);
	put(conn, list + empty, sizeof(list) - 1 - empty);
	conn->some = false;
	conn->state = LISTING;
}

/* Writes one entry of the list, or its end. */
static void continue_list(struct gp_control *c, struct connection *conn)
{
	static const char end[] = "]}}";
	u64 before = conn->listing.cursor, began_ns = cpu_ns();
	json_t *entry = NULL;
	int r = c->args.next(c->args.ctx, &conn->peer, &conn->listing, &entry);

	/* Too late for an error, so skip the entry to show those after it. */
	if (r < 0 && conn->listing.cursor != before)
		return;
	if (r <= 0) {
		put(conn, end, sizeof(end));
		conn->state = READY;
		return;
	}
	if (conn->some)
		put(conn, ",", 1);
	put_object(conn, entry, 0);
	conn->some = true;
	charge(conn->user, began_ns);
}

static bool entry_due(const struct connection *conn)
{
	return conn->state == LISTING && !conn->end &&
	       gp_varlink_unsent(&conn->out) < LIST_UNSENT;
}

/* ---- streams ---- */

/* Consumes @first. */
static void begin_stream(struct gp_control *c, struct connection *conn, u32 wants, json_t *first)
{
	if (!conn->peer.privileged && conn->user->streams >= c->args.streams_per_user) {
		json_decref(first);
		answer_errno(c, conn, EBUSY, NULL, "this user has too many subscriptions");
		return;
	}
	if (!first)
		first = json_object();
	json_object_set_new(first, "lost", json_integer(0));
	send_message(conn, json_pack("{s:o, s:b}", "parameters", first, "continues", 1));
	conn->state = STREAMING;
	conn->wants = wants;
	conn->lost = 0;
	conn->user->streams++;
}

static bool hears(const struct connection *conn, u32 audience, uid_t owner)
{
	if (conn->state != STREAMING || conn->end)
		return false;
	return audience & (conn->peer.privileged ? GP_TO_PRIVILEGED :
			   conn->peer.uid == owner ? GP_TO_OWNER : GP_TO_OTHERS);
}

u32 gp_control_wanted(const struct gp_control *c, u32 audience, uid_t owner)
{
	const struct connection *conn;
	u32 wanted = 0;

	for (EACH(c, conn))
		if (hears(conn, audience, owner))
			wanted |= conn->wants;
	return wanted;
}

/* Returns true if @n bytes fit after a note about lost events. */
static bool has_room(const struct gp_control *c, struct connection *conn, size_t n)
{
	char text[64];
	int len;

	if (gp_varlink_unsent(&conn->out) + n + sizeof(text) > c->args.events_max)
		return false;
	if (conn->lost) {
		len = snprintf(text, sizeof(text), "{\"parameters\":{\"lost\":%u},"
			       "\"continues\":true}", conn->lost);
		if (gp_varlink_put(&conn->out, text, (size_t)len + 1))
			return false;
		conn->lost = 0;
	}
	return true;
}

void gp_control_publish(struct gp_control *c, enum gp_event_kind kind, json_t *event,
			u32 audience, uid_t owner)
{
	json_t *parameters = event, *message;
	struct connection *conn;
	char *text = NULL;
	size_t n;

	if (!(gp_control_wanted(c, audience, owner) & (1u << kind))) {
		json_decref(event);
		return;
	}
	if (kind != GP_EVENT_RECORD)
		parameters = json_pack("{s:o}", "event", event);
	json_object_set_new(parameters, "lost", json_integer(0));
	message = json_pack("{s:o, s:b}", "parameters", parameters, "continues", 1);
	if (message)
		text = json_dumps(message, JSON_COMPACT);
	n = text ? strlen(text) + 1 : 0;
	for (EACH(c, conn)) {
		if (!text || !hears(conn, audience, owner) || !(conn->wants & (1u << kind)))
			continue;
		if (has_room(c, conn, n) && !gp_varlink_put(&conn->out, text, n)) {
			c->stats.events++;
		} else {
			conn->lost++;
			c->stats.events_lost++;
		}
	}
	free(text);
	json_decref(message);
	/* The next run sends them. */
	c->wake_ns = 0;
}

/* ---- one call ---- */

static void dispatch(struct gp_control *c, struct connection *conn,
		     const struct gp_varlink_call *varlink)
{
	struct gp_call call = {
		.peer = &conn->peer, .method = varlink->method,
		.parameters = varlink->parameters, .more = varlink->more,
		.oneway = varlink->oneway,
	};
	json_t *ret = NULL;
	int result;

	conn->oneway = varlink->oneway;
	conn->token = call.token = ++c->serial << 8 | (u64)(conn - c->conns);
	conn->state = ASKED;
	result = c->args.call(c->args.ctx, &call, &ret);
	if (result == GP_CALL_DONE) {
		answer(conn, NULL, ret);
	} else if (result == GP_CALL_LIST) {
		conn->listing = call.listing;
		begin_list(conn, ret);
	} else if (result == GP_CALL_STREAM) {
		begin_stream(c, conn, call.wants, ret);
	} else if (result == GP_CALL_REFUSED) {
		c->stats.errors++;
		answer(conn, call.error, ret);
	} else if (result < 0) {
		call.why[GP_WHY_MAX - 1] = '\0';
		answer_errno(c, conn, -result, call.bad, call.why);
	}
}

/* Returns when the next call of the connection's user may be taken. */
static u64 may_call_at(const struct gp_control *c, const struct connection *conn)
{
	u64 burst = BURST * (GP_SEC / c->args.calls_per_second);

	if (conn->peer.privileged || conn->user->paid_ns < burst)
		return 0;
	return conn->user->paid_ns - burst;
}

static void take_call(struct gp_control *c, struct connection *conn)
{
	struct gp_varlink_call call;
	u64 began_ns = cpu_ns();
	json_t *message = NULL;

	c->calls_left--;
	c->stats.calls++;
	if (conn->user->paid_ns < c->now_ns)
		conn->user->paid_ns = c->now_ns;
	conn->user->paid_ns += GP_SEC / c->args.calls_per_second;
	if (gp_varlink_next(&conn->in, &message) || gp_varlink_call(message, &call))
		gp_connection_end(conn, MALFORMED);
	else
		dispatch(c, conn, &call);
	json_decref(message);
	charge(conn->user, began_ns);
}

/* ---- one connection ---- */

void gp_connection_close(struct gp_control *c, struct connection *conn)
{
	gp_token token = conn->state == ASKED ? conn->token : 0;

	c->stats.evicted += conn->end == EVICTED;
	c->stats.malformed += conn->end == MALFORMED;
	c->stats.timed_out += conn->end == LATE;
	c->stats.overflowed += conn->end == FULL;
	c->stats.clients--;
	c->plain -= !conn->peer.privileged;
	conn->user->connections--;
	conn->user->streams -= conn->state == STREAMING;
	gp_control_close(c, conn->fd);
	gp_varlink_reader_fini(&conn->in);
	gp_varlink_writer_fini(&conn->out);
	*conn = (struct connection){ .fd = -1 };
	if (token && c->args.gone)
		c->args.gone(c->args.ctx, token);
}

/* Returns true if it is the client's turn and the client has read all answers. */
static bool its_turn(const struct connection *conn)
{
	return conn->state == READY && !conn->end && !gp_varlink_unsent(&conn->out);
}

bool gp_connection_idle(struct connection *conn)
{
	return its_turn(conn) && !gp_varlink_waiting(&conn->in) && !gp_varlink_partial(&conn->in);
}

static void receive(struct connection *conn)
{
	ssize_t n = gp_varlink_receive(&conn->in, conn->fd);

	if (n == -EMSGSIZE || n == -EBADF)
		gp_connection_end(conn, MALFORMED);
	else if (n == 0 || (n < 0 && n != -EAGAIN))
		gp_connection_end(conn, GONE);
}

static void since(u64 *stamp, bool so, u64 now_ns)
{
	if (!so)
		*stamp = 0;
	else if (!*stamp)
		*stamp = now_ns;
}

static void earlier(u64 *at, u64 since_ns, u64 after_ns)
{
	if (since_ns && since_ns + after_ns < *at)
		*at = since_ns + after_ns;
}

static void check_time(struct gp_control *c, struct connection *conn)
{
	since(&conn->idle_ns, gp_connection_idle(conn), c->now_ns);
	since(&conn->partial_ns, its_turn(conn) && gp_varlink_partial(&conn->in), c->now_ns);
	since(&conn->unsent_ns, gp_varlink_unsent(&conn->out) || conn->state == LISTING,
	      c->now_ns);
	conn->late_ns = GP_NEVER;
	earlier(&conn->late_ns, conn->idle_ns, c->args.idle_ns);
	earlier(&conn->late_ns, conn->partial_ns, c->args.partial_ns);
	earlier(&conn->late_ns, conn->unsent_ns, c->args.unsent_ns);
	if (c->now_ns >= conn->late_ns)
		gp_connection_end(conn, LATE);
}

static void arm(struct gp_control *c, struct connection *conn)
{
	struct epoll_event e = { .data.u32 = (u32)(conn - c->conns) };

	if (its_turn(conn) && !gp_varlink_waiting(&conn->in))
		e.events |= EPOLLIN;
	if (gp_varlink_unsent(&conn->out))
		e.events |= EPOLLOUT;
	if (e.events == conn->armed)
		return;
	conn->armed = e.events;
	if (gp_sys->epoll_ctl(c->epoll, EPOLL_CTL_MOD, conn->fd, &e))
		gp_connection_end(conn, GONE);
}

static void flush_in_run(struct gp_control *c, struct connection *conn)
{
	if (!c->sends_left)
		return;
	c->sends_left--;
	flush(conn);
}

static void step(struct gp_control *c, struct connection *conn)
{
	if (conn->writable)
		flush_in_run(c, conn);
	if (conn->readable && its_turn(conn))
		receive(conn);
	conn->readable = conn->writable = false;
	if (its_turn(conn) && c->calls_left && may_call_at(c, conn) <= c->now_ns &&
	    gp_varlink_waiting(&conn->in))
		take_call(c, conn);
	while (entry_due(conn) && c->entries_left && may_call_at(c, conn) <= c->now_ns) {
		c->entries_left--;
		continue_list(c, conn);
	}
	/* New bytes that epoll does not wait for yet can usually be sent at once. */
	if (gp_varlink_unsent(&conn->out) && !(conn->armed & EPOLLOUT))
		flush_in_run(c, conn);
	if (!conn->end)
		check_time(c, conn);
	if (!conn->end)
		arm(c, conn);
	if (conn->end)
		gp_connection_close(c, conn);
}

/* Returns when @conn needs a step even if epoll has no event for it, or GP_NEVER. */
static u64 wake_at(const struct gp_control *c, struct connection *conn)
{
	if (conn->end)
		return 0;
	if (entry_due(conn) || (its_turn(conn) && gp_varlink_waiting(&conn->in)))
		return may_call_at(c, conn);
	return conn->late_ns;
}

/* ---- new connections ---- */

static void take_in(struct gp_control *c, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct client_user *user = NULL;
	struct connection *conn = NULL;
	struct gp_peer peer = { 0 };
	int err, on = 1;

	/* Without this recv() drops urgent bytes, and the descriptors with them. */
	gp_sys->setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	err = c->args.identify ? c->args.identify(c->args.ctx, fd, &peer) :
				 gp_peer_identify(fd, c->group, &peer);
	if (!err) {
		user = gp_control_user(c, peer.user);
		conn = gp_control_place(c, &peer, user);
	}
	e.data.u32 = conn ? (u32)(conn - c->conns) : 0;
	if (!conn || gp_sys->epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e)) {
		c->stats.refused++;
		gp_control_close(c, fd);
		return;
	}
	c->stats.accepted++;
	c->stats.clients++;
	c->plain += !peer.privileged;
	user->connections++;
	*conn = (struct connection){
		.state = READY, .fd = fd, .armed = EPOLLIN, .peer = peer, .user = user,
		.in.max = GP_VARLINK_CALL_MAX, .in.values = GP_VARLINK_CALL_VALUES,
		.out.max = peer.privileged ? c->args.reply_max : c->args.events_max,
		.idle_ns = c->now_ns, .late_ns = GP_NEVER,
	};
}

static void listen_on(struct gp_control *c, bool on)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = LISTENER };

	if (on == c->listening)
		return;
	if (!gp_sys->epoll_ctl(c->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, c->listener, &e))
		c->listening = on;
}

/* Stops accept() for a while, because the listener stays readable. */
static void pause_listening(struct gp_control *c)
{
	listen_on(c, false);
	c->listen_again_ns = c->now_ns + OUT_OF_DESCRIPTORS_NS;
}

static void accept_some(struct gp_control *c)
{
	u32 i;
	int fd;

	for (i = 0; i < ACCEPTS_PER_RUN; i++) {
		/* Keep room for all connections. */
		if (c->nr_doomed + GP_CONTROL_CLIENTS >= GP_CONTROL_DOOMED) {
			pause_listening(c);
			return;
		}
		fd = gp_sys->accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_listening(c);
		if (fd < 0)
			return;
		take_in(c, fd);
	}
}

/* ---- turns ---- */

int gp_control_fd(const struct gp_control *c)
{
	return c->epoll;
}

u64 gp_control_wake_at(const struct gp_control *c)
{
	return c->wake_ns;
}

/* Marks the connections that can be read and written, and accepts new ones. */
static void poll_all(struct gp_control *c)
{
	struct epoll_event e[EVENTS_PER_RUN];
	struct connection *conn;
	int i, n = gp_sys->epoll_wait(c->epoll, e, EVENTS_PER_RUN, 0);
	bool knock = false;

	for (i = 0; i < n; i++) {
		if (e[i].data.u32 == LISTENER) {
			knock = true;
			continue;
		}
		conn = &c->conns[e[i].data.u32];
		conn->readable = e[i].events & EPOLLIN;
		conn->writable = e[i].events & EPOLLOUT;
		/* A call that was sent before the client left is still read. */
		if (e[i].events & (EPOLLHUP | EPOLLERR) && !conn->readable)
			gp_connection_end(conn, GONE);
	}
	if (knock)
		accept_some(c);
}

void gp_control_run(struct gp_control *c, u64 now_ns)
{
	struct connection *conn;
	u32 i;

	c->now_ns = now_ns;
	c->calls_left = c->entries_left = c->args.calls_per_run;
	c->sends_left = SENDS_PER_RUN;
	if (!c->listening && now_ns >= c->listen_again_ns)
		listen_on(c, true);
	poll_all(c);
	for (i = 0; i < c->args.clients; i++) {
		conn = &c->conns[(c->turn + i) % c->args.clients];
		if (conn->state)
			step(c, conn);
	}
	c->turn++;
	c->wake_ns = gp_control_dispose(c);
	if (!c->listening && c->listen_again_ns < c->wake_ns)
		c->wake_ns = c->listen_again_ns;
	for (EACH(c, conn)) {
		u64 at = conn->state ? wake_at(c, conn) : GP_NEVER;

		c->wake_ns = at < c->wake_ns ? at : c->wake_ns;
	}
}

void gp_control_stats(const struct gp_control *c, struct gp_control_stats *ret)
{
	const struct connection *conn;

	*ret = c->stats;
	for (EACH(c, conn)) {
		ret->subscribers += conn->state == STREAMING;
		ret->buffered += conn->in.room + conn->out.room;
	}
}

/* ---- the socket ---- */

static void set_defaults(struct gp_control_args *a)
{
	a->clients = a->clients ? a->clients : 64;
	a->clients_per_user = a->clients_per_user ? a->clients_per_user : 16;
	a->streams_per_user = a->streams_per_user ? a->streams_per_user : 8;
	a->calls_per_second = a->calls_per_second ? a->calls_per_second : 1000;
	a->calls_per_run = a->calls_per_run ? a->calls_per_run : 1;
	a->partial_ns = a->partial_ns ? a->partial_ns : 5 * GP_SEC;
	a->unsent_ns = a->unsent_ns ? a->unsent_ns : 10 * GP_SEC;
	a->idle_ns = a->idle_ns ? a->idle_ns : 600 * GP_SEC;
	a->reply_max = a->reply_max ? a->reply_max : 1 << 20;
	a->events_max = a->events_max ? a->events_max : 256 << 10;
}

/* Returns true if the socket belongs to a daemon that died. */
static bool is_stale(const struct sockaddr_un *at)
{
	int fd = gp_sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool stale;

	if (fd < 0)
		return false;
	stale = gp_sys->connect(fd, (const struct sockaddr *)at, sizeof(*at)) &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static int listen_at(struct gp_control *c, const char **why)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const struct sockaddr *to = (const struct sockaddr *)&at;
	int no = 0;

	*why = "the path of the control socket is too long";
	if (strlen(c->args.path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, c->args.path, strlen(c->args.path) + 1);
	*why = "cannot create the control socket";
	c->listener = gp_sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener < 0)
		return -errno;
	*why = "cannot bind the control socket";
	if (gp_sys->bind(c->listener, to, sizeof(at))) {
		if (errno != EADDRINUSE || !is_stale(&at))
			return -errno;
		if (gp_sys->unlink(at.sun_path) || gp_sys->bind(c->listener, to, sizeof(at)))
			return -errno;
	}
	/* No client may send descriptors (control_close.c). New in Linux 6.16. */
	gp_sys->setsockopt(c->listener, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof(no));
	/* Every user may connect; each call is checked. */
	*why = "cannot open the control socket to all users";
	if (gp_sys->chmod(at.sun_path, 0666) || gp_sys->listen(c->listener, BACKLOG))
		return -errno;
	return 0;
}

int gp_control_new(const struct gp_control_args *args, struct gp_control **ret, const char **why)
{
	struct gp_control *c = calloc(1, sizeof(*c));
	u32 i;
	int err;

	*why = "out of memory";
	if (!c)
		return -ENOMEM;
	c->args = *args;
	set_defaults(&c->args);
	/* Copies, because a reload replaces the configuration they belong to. */
	c->args.path = strdup(args->path);
	c->args.group = args->group ? strdup(args->group) : NULL;
	c->epoll = c->listener = -1;
	c->wake_ns = GP_NEVER;
	c->group = gp_peer_group(args->group);
	if (c->args.clients > GP_CONTROL_CLIENTS)
		c->args.clients = GP_CONTROL_CLIENTS;
	c->conns = calloc(c->args.clients, sizeof(*c->conns));
	c->users = calloc(2 * c->args.clients, sizeof(*c->users));
	err = c->conns && c->users && c->args.path && !args->group == !c->args.group ? 0 : -ENOMEM;
	for (i = 0; c->conns && i < c->args.clients; i++)
		c->conns[i].fd = -1;
	if (!err)
		err = listen_at(c, why);
	if (!err) {
		c->epoll = gp_sys->epoll_create(EPOLL_CLOEXEC);
		listen_on(c, true);
		err = c->listening ? 0 : -EMFILE;
		*why = "cannot watch the control socket";
	}
	if (err) {
		gp_control_free(c);
		return err;
	}
	/* Only now is the file certainly the daemon's own. */
	c->ours = true;
	*ret = c;
	return 0;
}

/* Closes clients that were not accepted yet too, because they may have sent descriptors. */
static void close_listener(struct gp_control *c)
{
	int fd;

	shutdown(c->listener, SHUT_RDWR);
	while ((fd = gp_sys->accept4(c->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		gp_control_close(c, fd);
	close(c->listener);
}

void gp_control_free(struct gp_control *c)
{
	struct connection *conn;

	if (!c)
		return;
	if (c->conns && c->users)
		for (EACH(c, conn))
			if (conn->state)
				gp_connection_close(c, conn);
	if (c->ours)
		gp_sys->unlink(c->args.path);
	if (c->listener >= 0)
		close_listener(c);
	c->dispose_ns = 0;
	gp_control_dispose(c);
	if (c->epoll >= 0)
		close(c->epoll);
	free(c->conns);
	free(c->users);
	free((char *)c->args.path);
	free((char *)c->args.group);
	free(c);
}
