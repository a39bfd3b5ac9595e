/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The transport of the control socket: connections, limits, framing, turns, streams.
 *
 * It does not interpret methods. Each complete call goes to gp_control_args.call, which answers it
 * at once, later or piece by piece.
 *
 *	epoll: gp_control_fd() is readable, or gp_control_wake_at() has passed
 *		-> gp_control_run()
 *
 * gp_control_run() does a bounded amount of work and never blocks, whatever the clients do. So a
 * scheduling decision waits for one run at most. All calls come from one thread.
 *
 * What a client can cost the daemon:
 *   - one call at a time; the next is read after the last answer was sent;
 *   - a call of more than 2 KB or 128 values, or invalid JSON, ends the connection;
 *   - so does a call or an answer that takes too long, or a descriptor that comes with a call;
 *   - each user has a limit of connections, subscriptions, calls per second and time;
 *   - a connection buffers at most events_max bytes, so a user clients_per_user times that;
 *   - root and the group are exempt, and an eighth of the connections is theirs alone.
 * A user is struct gp_peer.user: all uids of a subuid range count as the range's owner.
 */
#ifndef GP_CONTROL_H
#define GP_CONTROL_H

#include <jansson.h>
#include <sys/types.h>

#include "gp_env.h"

/* The peer of a connection, as the kernel reports it. */
struct gp_peer {
	pid_t pid;		/* 0: not visible from this pid namespace */
	uid_t uid;
	gid_t gid;
	uid_t user;		/* the user charged for it: lib/user.h */
	bool privileged;	/* root, or in the group */
};

/* A call that waits for its answer. Never 0, never reused. */
typedef u64 gp_token;

enum { GP_WHY_MAX = 256 };

/* The interface uses these names in lower case. */
enum gp_event_kind {
	GP_EVENT_PROCESS, GP_EVENT_QUEUE, GP_EVENT_CLASS, GP_EVENT_STATE, GP_EVENT_HOLD,
	GP_EVENT_POLICY, GP_EVENT_ENABLED, GP_EVENT_GPU, GP_EVENT_TROUBLE, GP_EVENT_PREEMPTION,
	GP_NR_EVENTS,
	GP_EVENT_RECORD = GP_NR_EVENTS,	/* of the method Record */
};

/* A list that is being answered one entry at a time. */
struct gp_listing {
	u32 which;		/* the callee's: list number */
	pid_t pid;		/* the callee's: only this process; 0: all */
	char gpu[32];		/* the callee's: only this GPU; "": all */
	u64 cursor;		/* 0 at first; the callee moves it */
};

enum gp_call_result {
	GP_CALL_DONE,		/* *@ret is the answer; NULL: an empty one */
	GP_CALL_LATER,		/* gp_control_reply() or gp_control_fail() follows */
	GP_CALL_LIST,		/* *@ret is the answer without "processes"; @listing is set */
	GP_CALL_STREAM,		/* *@ret is the first answer; @wants is set */
	GP_CALL_REFUSED,	/* *@ret are the parameters of @error */
};

/* One call. Pointers are valid only during gp_control_args.call(). */
struct gp_call {
	gp_token token;
	const struct gp_peer *peer;
	const char *method;	/* "interface.Method" */
	json_t *parameters;	/* an object, or NULL */
	bool more, oneway;
	/* results */
	char why[GP_WHY_MAX];	/* after -errno: a sentence for the client; "": none */
	const char *bad;	/* after -EINVAL: the invalid parameter; NULL: unknown */
	const char *error;	/* after GP_CALL_REFUSED: the name of the error */
	u32 wants;		/* of GP_CALL_STREAM: bit per enum gp_event_kind */
	struct gp_listing listing;
};

struct gp_control_args {
	const char *path;	/* of the socket; a stale one is replaced */
	const char *group;	/* its members are privileged; NULL: only root is */
	void *ctx;
	/* Answers @call. Returns enum gp_call_result, or -errno: an error is sent. */
	int (*call)(void *ctx, struct gp_call *call, json_t **ret);
	/*
	 * Gets the entry of a list after listing->cursor. 1 and *@ret, a new object; 0 at the end;
	 * -errno: skip the entry if the cursor moved, else end the list.
	 */
	int (*next)(void *ctx, const struct gp_peer *peer, struct gp_listing *listing,
		    json_t **ret);
	/* The client of an unanswered call has left. NULL: ignore. */
	void (*gone)(void *ctx, gp_token token);
	/* limits; 0: the default */
	u32 clients;		/* 64, at most 255 */
	u32 clients_per_user;	/* 16 */
	u32 streams_per_user;	/* 8 */
	u32 calls_per_second;	/* of a user: 1000, in bursts of 64 */
	u32 calls_per_run;	/* 1, and as many entries of lists */
	u64 partial_ns;		/* from the first byte of a call to its last: 5 s */
	u64 unsent_ns;		/* until the client reads its answer: 10 s */
	u64 idle_ns;		/* without a call: 10 min */
	u32 reply_max;		/* bytes of one answer to root or the group: 1 MB */
	u32 events_max;		/* bytes buffered for any other client, or a stream: 256 KB */
	/* For tests, instead of SO_PEERCRED. 0, or -errno: refuse the connection. */
	int (*identify)(void *ctx, int fd, struct gp_peer *ret);
};

struct gp_control_stats {
	u64 accepted, refused, evicted;		/* connections */
	u64 calls, errors, denied;
	u64 malformed, timed_out, overflowed;	/* connections closed for it */
	u64 events, events_lost;
	u32 clients, subscribers;		/* now */
	u64 buffered;				/* bytes of all buffers now */
};

struct gp_control;

/* -EADDRINUSE: another daemon listens there; -errno. *@why says which step failed. */
int gp_control_new(const struct gp_control_args *args, struct gp_control **ret, const char **why);
/* Closes all connections and removes the socket. NULL is a no-op. */
void gp_control_free(struct gp_control *c);

/* Readable when there is work. The same descriptor for the life of @c. */
int gp_control_fd(const struct gp_control *c);
/* Returns when to call gp_control_run() even if the descriptor is not readable, or GP_NEVER. */
u64 gp_control_wake_at(const struct gp_control *c);
/* Does a bounded amount of work. @now_ns: CLOCK_MONOTONIC. */
void gp_control_run(struct gp_control *c, u64 now_ns);

/*
 * Answers a call. Consumes @parameters (NULL: none) in any case. -ENOENT: the client has left or
 * the call was answered before; the caller may ignore it.
 */
int gp_control_reply(struct gp_control *c, gp_token token, json_t *parameters);
/* Fails a call. @err: a positive errno, which is mapped to an error of the interface. */
int gp_control_fail(struct gp_control *c, gp_token token, int err, const char *why);

/* The clients that receive an event. */
enum gp_audience {
	GP_TO_PRIVILEGED	= 1 << 0,	/* root and the group */
	GP_TO_OWNER		= 1 << 1,	/* other clients with the given uid */
	GP_TO_OTHERS		= 1 << 2,	/* all other clients */
	GP_TO_ALL		= GP_TO_PRIVILEGED | GP_TO_OWNER | GP_TO_OTHERS,
};

/* Returns a bit per enum gp_event_kind that some client of @audience subscribed to. */
u32 gp_control_wanted(const struct gp_control *c, u32 audience, uid_t owner);
/*
 * Sends {"event": @event}, or for GP_EVENT_RECORD @event itself, to the subscribers of
 * @kind in @audience. Consumes @event. Costs one encoding and a copy per subscriber.
 */
void gp_control_publish(struct gp_control *c, enum gp_event_kind kind, json_t *event,
			u32 audience, uid_t owner);

void gp_control_stats(const struct gp_control *c, struct gp_control_stats *ret);

/* @group: its members are privileged; (gid_t)-1: none. 0 or -errno. */
int gp_peer_identify(int fd, gid_t group, struct gp_peer *ret);
/* Returns the group called @name, or (gid_t)-1 if there is none. */
gid_t gp_peer_group(const char *name);

#endif /* GP_CONTROL_H */
