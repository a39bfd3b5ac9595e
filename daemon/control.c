// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The socket, who gets a connection, and whose turn it is. */
#include "control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conn.h"
#include "peer.h"

enum {
	MAX_CLIENTS = 255,		/* the low byte of a token */
	BACKLOG = 64,
	EVENTS_PER_RUN = 8,
	ACCEPTS_PER_RUN = 4,
	SENDS_PER_RUN = 16,
	LISTENER = 0xffff,		/* instead of a connection's number, in epoll */
};

#define OUT_OF_DESCRIPTORS_NS	(100 * GP_MSEC)

/* ---- life ---- */

static void fill_in(struct gp_control_args *a)
{
	a->clients = a->clients ? a->clients : 64;
	a->clients_per_uid = a->clients_per_uid ? a->clients_per_uid : 16;
	a->calls_per_second = a->calls_per_second ? a->calls_per_second : 1000;
	a->calls_per_run = a->calls_per_run ? a->calls_per_run : 1;
	a->partial_ns = a->partial_ns ? a->partial_ns : 5 * GP_SEC;
	a->unsent_ns = a->unsent_ns ? a->unsent_ns : 10 * GP_SEC;
	a->idle_ns = a->idle_ns ? a->idle_ns : 600 * GP_SEC;
	a->reply_max = a->reply_max ? a->reply_max : 1 << 20;
	a->events_max = a->events_max ? a->events_max : 256 << 10;
}

/* Nobody answers there any more: the file of a daemon that died. */
static bool is_stale(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool stale;

	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)at, sizeof(*at)) && errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static int listen_at(struct gp_control *c, const char **why)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const struct sockaddr *to = (const struct sockaddr *)&at;

	*why = "the path of the control socket is too long";
	if (strlen(c->args.path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, c->args.path, strlen(c->args.path) + 1);
	*why = "cannot make the control socket";
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener < 0)
		return -errno;
	*why = "cannot bind the control socket";
	if (bind(c->listener, to, sizeof(at))) {
		if (errno != EADDRINUSE || !is_stale(&at))
			return -errno;
		if (unlink(at.sun_path) || bind(c->listener, to, sizeof(at)))
			return -errno;
	}
	/* Everybody may connect: what they may do is decided call by call. */
	*why = "cannot let everybody use the control socket";
	if (chmod(at.sun_path, 0666) || listen(c->listener, BACKLOG))
		return -errno;
	return 0;
}

static void listen_on(struct gp_control *c, bool on)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = LISTENER };

	if (on == c->listening)
		return;
	if (!epoll_ctl(c->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, c->listener, &e))
		c->listening = on;
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
	fill_in(&c->args);
	/* Copies: the configuration that they are of goes with the next reload. */
	c->args.path = strdup(args->path);
	c->args.group = args->group ? strdup(args->group) : NULL;
	c->epoll = c->listener = -1;
	c->wake_ns = GP_NEVER;
	c->group = gp_peer_group(args->group);
	c->conns = calloc(c->args.clients, sizeof(*c->conns));
	err = c->conns && c->args.path && !args->group == !c->args.group ? 0 : -ENOMEM;
	for (i = 0; c->conns && i < c->args.clients; i++)
		c->conns[i] = (struct gp_conn){ .fd = -1 };
	if (!err && (c->args.clients > MAX_CLIENTS || gp_method_check(args->ops))) {
		*why = "the control socket was given a table that does not do";
		err = -EINVAL;
	}
	if (!err)
		err = listen_at(c, why);
	if (!err) {
		c->epoll = epoll_create1(EPOLL_CLOEXEC);
		listen_on(c, true);
		err = c->listening ? 0 : -EMFILE;
		*why = "cannot watch the control socket";
	}
	if (err) {
		gp_control_free(c);
		return err;
	}
	/* Until here the file, if there was one, may have been another's. */
	c->ours = true;
	*ret = c;
	return 0;
}

void gp_control_free(struct gp_control *c)
{
	u32 i;

	if (!c)
		return;
	for (i = 0; c->conns && i < c->args.clients; i++)
		if (c->conns[i].state)
			gp_conn_close(c, &c->conns[i]);
	if (c->ours)
		unlink(c->args.path);
	if (c->listener >= 0)
		close(c->listener);
	if (c->epoll >= 0)
		close(c->epoll);
	free(c->conns);
	free((char *)c->args.path);
	free((char *)c->args.group);
	free(c);
}

/* ---- who gets a connection ---- */

static u32 connections_of(const struct gp_control *c, uid_t uid)
{
	u32 i, n = 0;

	for (i = 0; i < c->args.clients; i++)
		n += c->conns[i].state && c->conns[i].peer.uid == uid;
	return n;
}

/* Of whom it can be said without harm that it is not needed: the longest idle one. */
static struct gp_conn *dispensable(struct gp_control *c, const struct gp_peer *peer, bool own)
{
	struct gp_conn *found = NULL, *conn;

	for (conn = c->conns; conn < c->conns + c->args.clients; conn++) {
		if (!conn->state || !gp_conn_idle(conn))
			continue;
		if (own ? conn->peer.uid != peer->uid
			: conn->peer.privileged && !peer->privileged)
			continue;
		if (!found || conn->idle_ns < found->idle_ns)
			found = conn;
	}
	return found;
}

static struct gp_conn *free_slot(struct gp_control *c)
{
	struct gp_conn *conn;

	for (conn = c->conns; conn < c->conns + c->args.clients; conn++)
		if (!conn->state)
			return conn;
	return NULL;
}

/* A place for @peer, if need be that of another; NULL: refuse. */
static struct gp_conn *place_for(struct gp_control *c, const struct gp_peer *peer)
{
	u32 reserved = peer->privileged ? 0 : c->args.clients / 8;
	bool own = !peer->privileged && connections_of(c, peer->uid) >= c->args.clients_per_uid;
	struct gp_conn *victim;

	if (!own && c->stats.clients + reserved < c->args.clients)
		return free_slot(c);
	victim = dispensable(c, peer, own);
	if (victim) {
		gp_conn_doom(victim, GP_DOOM_EVICTED);
		gp_conn_close(c, victim);
	}
	return victim;
}

static int identify(struct gp_control *c, int fd, struct gp_peer *ret)
{
	if (c->args.identify)
		return c->args.identify(c->args.ctx, fd, ret);
	return gp_peer_identify(fd, c->group, ret);
}

static void take_in(struct gp_control *c, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct gp_peer peer = { 0 };
	struct gp_conn *conn = NULL;

	if (!identify(c, fd, &peer))
		conn = place_for(c, &peer);
	e.data.u32 = conn ? (u32)(conn - c->conns) : 0;
	if (!conn || epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e)) {
		c->stats.refused++;
		close(fd);
		return;
	}
	c->stats.accepted++;
	c->stats.clients++;
	*conn = (struct gp_conn){
		.state = GP_CONN_READY, .fd = fd, .armed = EPOLLIN, .peer = peer,
		.in.max = GP_VARLINK_CALL_MAX, .in.values = GP_VARLINK_CALL_VALUES,
		.out.max = c->args.reply_max,
		.idle_ns = c->now_ns,
	};
}

static void accept_some(struct gp_control *c)
{
	u32 i;
	int fd;

	for (i = 0; i < ACCEPTS_PER_RUN; i++) {
		fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
			/* The descriptor stays readable: come back when there may be one. */
			listen_on(c, false);
			c->listen_again_ns = c->now_ns + OUT_OF_DESCRIPTORS_NS;
		}
		if (fd < 0)
			return;
		take_in(c, fd);
	}
}

/* ---- whose turn it is ---- */

int gp_control_fd(const struct gp_control *c)
{
	return c->epoll;
}

u64 gp_control_wake_at(const struct gp_control *c)
{
	return c->wake_ns;
}

/* Says which connections can be read and written, and lets new ones in. */
static void poll_all(struct gp_control *c)
{
	struct epoll_event e[EVENTS_PER_RUN];
	struct gp_conn *conn;
	int i, n = epoll_wait(c->epoll, e, EVENTS_PER_RUN, 0);
	bool knock = false;

	for (i = 0; i < n; i++) {
		if (e[i].data.u32 == LISTENER) {
			knock = true;
			continue;
		}
		conn = &c->conns[e[i].data.u32];
		conn->readable = e[i].events & EPOLLIN;
		conn->writable = e[i].events & EPOLLOUT;
		/* What it sent before it went is still a call: read first, if it is its turn. */
		if (e[i].events & (EPOLLHUP | EPOLLERR) && !conn->readable)
			gp_conn_doom(conn, GP_DOOM_GONE);
	}
	if (knock)
		accept_some(c);
}

void gp_control_run(struct gp_control *c, u64 now_ns)
{
	struct gp_conn *conn;
	u64 at;
	u32 i;

	c->now_ns = now_ns;
	c->calls_left = c->pieces_left = c->args.calls_per_run;
	c->sends_left = SENDS_PER_RUN;
	if (!c->listening && now_ns >= c->listen_again_ns)
		listen_on(c, true);
	poll_all(c);
	for (i = 0; i < c->args.clients; i++) {
		conn = &c->conns[(c->turn + i) % c->args.clients];
		if (conn->state)
			gp_conn_step(c, conn);
	}
	c->turn++;
	c->wake_ns = c->listening ? GP_NEVER : c->listen_again_ns;
	for (i = 0; i < c->args.clients; i++) {
		conn = &c->conns[i];
		at = conn->state ? gp_conn_wake_at(c, conn) : GP_NEVER;
		c->wake_ns = at < c->wake_ns ? at : c->wake_ns;
	}
}

void gp_control_stats(const struct gp_control *c, struct gp_control_stats *ret)
{
	u32 i;

	*ret = c->stats;
	ret->subscribers = 0;
	for (i = 0; i < c->args.clients; i++)
		ret->subscribers += c->conns[i].state == GP_CONN_STREAM;
}
