/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The control socket: who is connected, what they ask, what they may.
 *
 * It knows nothing of scheduling. A call that is well formed, allowed and of the
 * right types reaches one function of struct gp_control_ops, which answers it
 * with gp_control_reply() at once or later.
 *
 *	epoll: gp_control_fd() is readable, or gp_control_wake_at() has come
 *		-> gp_control_run()
 *
 * gp_control_run() does a bounded amount of work and never waits, whatever the
 * clients do, so a decision is never further away than one call of it. One
 * thread calls everything here.
 *
 * What a client can cost:
 *   - one call at a time; the next is read when the last answer is sent;
 *   - a call of more than 2 KB or 128 values, or that is no call, ends the connection;
 *   - a call begun and not finished in time, or an answer not fetched in time, too;
 *   - calls per second are limited, except for root and the group;
 *   - events that do not fit its buffer are counted and dropped;
 *   - when there are too many connections, the longest idle one of that user goes.
 */
#ifndef GP_CONTROL_H
#define GP_CONTROL_H

#include <sys/types.h>

#include <jansson.h>

#include "gp_env.h"

/* A call that waits for its answer. Never 0, never reused. */
typedef u64 gp_token;

enum { GP_WHY_MAX = 256 };

struct gp_peer {
	pid_t pid;		/* 0 if it cannot be seen from here */
	uid_t uid;
	gid_t gid;
	bool privileged;	/* root, or in the group */
};

/* Whom a call is about. */
struct gp_target {
	pid_t pid;
	u64 start;		/* as in /proc/PID/stat; 0: whoever has the pid */
};

struct gp_request {
	gp_token token;
	const struct gp_peer *peer;	/* only during the call */
	char *why;		/* GP_WHY_MAX bytes, "": a sentence for the client if it fails */
};

/* By these names, in small letters, in the interface. */
enum gp_event_kind {
	GP_EVENT_PROCESS, GP_EVENT_QUEUE, GP_EVENT_CLASS, GP_EVENT_STATE, GP_EVENT_HOLD,
	GP_EVENT_POLICY, GP_EVENT_ENABLED, GP_EVENT_GPU, GP_EVENT_TROUBLE, GP_EVENT_PREEMPTION,
	GP_NR_EVENTS,
	GP_EVENT_RECORD = GP_NR_EVENTS,	/* of the method Record */
};

struct gp_list_args {
	const char *gpu;	/* index or BDF; NULL: all */
	pid_t pid;		/* 0: all */
};

struct gp_policy_args {
	const char *policy;	/* NULL: keep */
	json_t *parameters;	/* object of strings; NULL: keep all */
	bool dry_run;
};

/*
 * What the daemon does for clients. Strings and objects in arguments live only
 * during the call. Permission has been checked before, with @owner and @raises.
 *
 * Each returns 0: the call is or will be answered exactly once through its token;
 * or -errno: it is answered now by the error that says this (with request->why if that is not
 * empty), and the token is dead. NULL: the method is "not implemented".
 */
struct gp_control_ops {
	/* ---- what permission depends on; required ---- */

	/*
	 * Whose process is it, whether it uses a GPU or not? Its user if all its user ids
	 * agree, else root: who runs a set-uid program does not own it. -ESRCH: no such process.
	 */
	int (*owner)(void *ctx, const struct gp_target *target, uid_t *ret);
	/*
	 * Would @class (NULL: what the rules give) give @target more than it has now (than the
	 * rules would give it, if it has none yet)? 1, 0, -EINVAL (no such class), -ESRCH.
	 */
	int (*raises)(void *ctx, const struct gp_target *target, const char *class);

	/* ---- reading: answered as documented in lib/org.gpreempt.varlink ---- */

	int (*status)(void *ctx, struct gp_request *rq);
	int (*get_policy)(void *ctx, struct gp_request *rq);
	/*
	 * The answers that can be long are made in pieces, a few per gp_control_run().
	 * @head: the answer without its processes (a new object, the caller's).
	 * @next: the process after *@cursor, which is 0 at first and the callee's to
	 * move (ordered by pid, say: processes come and go in between). 1 and *@ret (a new
	 * object, the caller's), 0 at the end, -errno: this one is left out if *@cursor moved,
	 * else it is the end.
	 */
	int (*list_head)(void *ctx, struct gp_request *rq, const struct gp_list_args *args,
			 json_t **ret);
	int (*list_next)(void *ctx, const struct gp_list_args *args, u64 *cursor, json_t **ret);
	int (*stats_head)(void *ctx, struct gp_request *rq, json_t **ret);
	int (*stats_next)(void *ctx, pid_t pid, u64 *cursor, json_t **ret);

	/* ---- changing ---- */

	int (*set_policy)(void *ctx, struct gp_request *rq, const struct gp_policy_args *args);
	int (*set_class)(void *ctx, struct gp_request *rq, const struct gp_target *target,
			 const char *class);
	/*
	 * @class NULL: what the rules give; for one that was given less that is more, and
	 * refused like any other rise. @target need not use a GPU yet.
	 */
	int (*enrol)(void *ctx, struct gp_request *rq, const struct gp_target *target,
		     const char *class);
	int (*hint)(void *ctx, struct gp_request *rq, const struct gp_target *target, u64 in_ns,
		    u64 for_ns);
	/* @wait: answer when it is off (or lost) on all its GPUs. */
	int (*hold)(void *ctx, struct gp_request *rq, const struct gp_target *target,
		    u64 lease_ns, bool wait);
	int (*release)(void *ctx, struct gp_request *rq, const struct gp_target *target);
	int (*trigger)(void *ctx, struct gp_request *rq, const struct gp_target *target);
	int (*enable)(void *ctx, struct gp_request *rq, bool on);
	int (*reload)(void *ctx, struct gp_request *rq);

	/* ---- streams ---- */

	/*
	 * The first answer to Record: {"tasks": [...]}, a new object, the caller's.
	 * From now on gp_control_wanted() has GP_EVENT_RECORD.
	 */
	int (*record)(void *ctx, struct gp_request *rq, json_t **ret);
	/* The client of an unanswered call is gone: forget the token. NULL: nothing to forget. */
	void (*gone)(void *ctx, gp_token token);
};

struct gp_control_args {
	const char *path;	/* of the socket; one that nobody listens on is replaced */
	const char *group;	/* NULL: only root is privileged */
	const struct gp_control_ops *ops;
	void *ctx;
	const char *version;	/* of the product, for GetInfo */
	/* limits; 0: what is good for a daemon */
	u32 clients;		/* 64, at most 255; an eighth only for the privileged */
	u32 clients_per_uid;	/* 16, root and the group excepted */
	u32 calls_per_second;	/* of a client without privilege: 1000, in bursts of 64 */
	u32 calls_per_run;	/* 1, and as many pieces of long answers */
	u64 partial_ns;		/* a call must be complete after its first byte within: 5 s */
	u64 unsent_ns;		/* an answer must be fetched within: 10 s */
	u64 idle_ns;		/* a client that asks nothing and awaits nothing: 10 min */
	u32 reply_max;		/* bytes of an answer, if not made in pieces: 1 MB */
	u32 events_max;		/* bytes of events that may wait for a subscriber: 256 KB */
	/* for tests: instead of SO_PEERCRED. 0, -errno: refuse the connection. */
	int (*identify)(void *ctx, int fd, struct gp_peer *ret);
};

struct gp_control_stats {
	u64 accepted, refused, evicted;		/* connections */
	u64 calls, errors, denied;
	u64 malformed, timed_out, overflowed;	/* connections ended for it */
	u64 events, events_lost;
	u32 clients, subscribers;		/* now */
};

struct gp_control;

/* -EINVAL: bad ops; -EADDRINUSE: somebody listens there; -errno. *@why says which step. */
int gp_control_new(const struct gp_control_args *args, struct gp_control **ret, const char **why);
/* Sends nothing more. The socket's file is removed. NULL is fine. */
void gp_control_free(struct gp_control *c);

/* Readable when there is something to do. The same for the life of @c. */
int gp_control_fd(const struct gp_control *c);
/* When to call gp_control_run() though the descriptor is not readable; GP_NEVER. */
u64 gp_control_wake_at(const struct gp_control *c);
/* A bounded amount of work. @now_ns: CLOCK_MONOTONIC. */
void gp_control_run(struct gp_control *c, u64 now_ns);

/*
 * Answer a call. Consumes @parameters (NULL: none) in any case. -ENOENT: the
 * client is gone or was answered; not an error of the caller's.
 */
int gp_control_reply(struct gp_control *c, gp_token token, json_t *parameters);
/* @err: positive errno, decides which error of the interface. */
int gp_control_fail(struct gp_control *c, gp_token token, int err, const char *why);

/* Bit per enum gp_event_kind that somebody subscribed to: make no others. */
u32 gp_control_wanted(const struct gp_control *c);
/*
 * To all who want @kind: {"event": @event}, or for GP_EVENT_RECORD @event itself.
 * Consumes @event. Costs one encoding and one copy per subscriber; never waits.
 */
void gp_control_publish(struct gp_control *c, enum gp_event_kind kind, json_t *event);

void gp_control_stats(const struct gp_control *c, struct gp_control_stats *ret);

#endif /* GP_CONTROL_H */
