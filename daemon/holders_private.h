/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by the files that implement holders.h: holders.c (life, tasks, events), holders_users.c
 * (holder processes and sessions) and holders_act.c (actions).
 */
#ifndef GP_DAEMON_HOLDERS_PRIVATE_H
#define GP_DAEMON_HOLDERS_PRIVATE_H

#include "children.h"
#include "core/param.h"
#include "holder.h"
#include "holders.h"

enum {
	GP_HOLDERS_GPUS		= 64,
	GP_HOLDERS_MESSAGES	= 32,	/* read from one channel in one run */
};

/* Queues in which processes wait for their turn. */
enum { GP_LINE_ATTACH, GP_LINE_LEAVE, GP_HOLDERS_LINES };

struct gp_hold_task {
	u32 number;
	u32 refs;		/* held by the table, its wards and its moves */
	u64 devices;
	bool gone;		/* deleted: gets no more answers */
};

/* The kind of a descriptor in the epoll. */
enum gp_hold_source { GP_SOURCE_SUPERVISOR, GP_SOURCE_BELL, GP_SOURCE_USER, GP_SOURCE_WARD };

/* A user with processes that may be stopped, and this user's holder. */
struct gp_hold_user {
	u32 source;		/* GP_SOURCE_USER, first */
	struct gp_hold_user *next;
	uid_t uid;
	u64 child;		/* of children.h; 0: no holder */
	int control;		/* -1: no holder, or it is gone */
	u32 nr_wards, nr_asks;
	u32 nr_stuck;		/* hanging sessions, reported by the holder */
	u32 nr_hung;		/* hanging sessions, detected by actions */
	bool trouble;		/* gp_holders_in_trouble() */
	u64 started_ns;
	u64 not_before_ns;	/* start no holder before */
	u64 backoff_ns;
	u64 closed_ns;		/* when the holder closed @control by its end */
	u64 idle_ns;		/* when it became idle */
	u64 turn_ns[GP_HOLDERS_LINES];	/* last turn in each */
	u64 hung_ns;		/* when the driver last hung on one of its processes */
	u64 hung_wait_ns;	/* attach no process for so long after that */
};

/*
 *	         its turn           ATTACHED             process_del
 *	WAITING -----------> OPENING ------> ATTACHED ------------> LEAVING
 *	   |                   |  FAILED        | LEFT                 | its turn, or it is off
 *	   v                   v                v                      v
 *	  gone               gone             gone      end of channel CLOSING -> gone
 */
enum gp_ward_state {
	GP_WARD_WATCHED,	/* never attached */
	GP_WARD_WAITING,	/* to be attached */
	GP_WARD_OPENING,	/* its session attaches */
	GP_WARD_ATTACHED,
	GP_WARD_LEAVING,	/* waits to be detached */
	GP_WARD_CLOSING,	/* closing: waits for the end of its channel */
	GP_WARD_DEAD,		/* freed when all descriptors have been served */
};

/* A pending request to a session. */
struct gp_hold_op {
	struct gp_hold_op *next;
	u64 serial;
	u32 device;
	struct gp_move *move;	/* with a reference */
	bool hold;
};

/* A process, and the decider's end of its session. */
struct gp_ward {
	u32 source;		/* GP_SOURCE_WARD, first */
	u32 state;		/* enum gp_ward_state */
	struct gp_ward *next;
	struct gp_hold_task *task;	/* with a reference */
	struct gp_hold_user *user;	/* NULL: only watched */
	pid_t pid;
	u64 start;
	bool follows;		/* an earlier session of the process may still be open */
	int channel;
	u64 wanted;		/* devices on which it should be off */
	u64 renew_ns;		/* when to renew its lease */
	bool lapses;		/* do not renew: a release has failed */
	u64 closing_ns;		/* when it began to close */
	u64 hung;		/* devices of the hung calls for which it was abandoned */
	struct gp_hold_op *ops;
	struct kfd_queue_snapshot_entry *queues;
	u32 nr_queues, room_queues;
	/* Pending events: a bit for each kind, and the sums of each. */
	u32 news;
	struct gp_holders_event event[GP_HOLDERS_WHATS];
	bool in_news;		/* in the list of wards with news */
	struct gp_ward *next_news;
};

/* One task of an action that stops or starts. */
struct gp_move {
	struct gp_move *next;	/* of all pending moves */
	u32 refs;		/* held by the list, the action and its operations */
	u64 action;
	u64 deadline_ns;	/* if @timed_out: when it timed out */
	u32 device;
	struct gp_hold_task *task;	/* with a reference */
	u32 pending;		/* operations */
	bool out, begun, undoing, over;
	bool timed_out;		/* answered with a timeout; the real answer comes late */
	int err;
	struct gp_answer times;
	u64 begun_ns;
};

struct gp_hold_action {
	u64 id;			/* 0: nothing is under way */
	u64 deadline_ns;
	u64 replied_ns;		/* when the driver last did one of its operations; 0: none */
	u32 nr, nr_out, open;	/* moves; those to stop; those without an answer */
	bool ins_begun;
	struct gp_move **move;	/* with references */
};

struct gp_hold_ask {
	struct gp_hold_ask *next;
	struct gp_hold_user *user;
	struct gp_holders_kfd answer;
	u32 which;
	u64 serial;		/* 0: not sent */
	u64 sent_ns;
	bool answered;
};

struct gp_holders {
	struct gp_mechanism base;
	struct gp_holders_args args;
	int epoll, bell;
	bool rung;
	bool broken;		/* the supervisor is gone */
	struct {
		struct gp_holders_gpu gpu;
		struct gp_hold_action action;
		u64 replied_ns;	/* when the driver last acted there */
	} device[GP_HOLDERS_GPUS];
	struct gp_hold_task **tasks;	/* by number */
	u32 room_tasks;
	struct gp_ward *wards;
	struct gp_hold_user *users;
	struct gp_move *moves;
	struct gp_hold_ask *asks;
	u64 serial;
	u32 troubles;		/* changes of gp_holders_in_trouble() */
	u64 next_turn_ns[GP_HOLDERS_LINES];
	u64 tend_at_ns;		/* when to call gp_holders_tend() */
	bool any_dead;
	struct {
		struct gp_answer *at;
		u32 first, nr, room;	/* room: a power of two, or 0 */
	} answers;
	u32 nr_moves;
	struct gp_ward *news, **last_news;	/* wards with events, the oldest first */
	struct gp_holders_stats stats;
};

/* holders.c */
u64 gp_holders_now(const struct gp_holders *h);
int gp_holders_watch(struct gp_holders *h, int fd, void *source);
void gp_holders_tell(struct gp_holders *h, struct gp_ward *w, struct gp_holders_event event);
struct gp_hold_task *gp_holders_task(const struct gp_holders *h, u32 task);
void gp_hold_task_put(struct gp_hold_task *t);
/* Makes sure that a run takes place at @ns. */
void gp_holders_due(struct gp_holders *h, u64 ns);
/* Takes all messages and does the work that is due. */
void gp_holders_run(struct gp_holders *h);
/* Makes gp_holders_fd() readable if and only if there is something to fetch. */
void gp_holders_ring(struct gp_holders *h);

/* holders_users.c */
int gp_hold_user_get(struct gp_holders *h, uid_t uid, struct gp_hold_user **ret);
/*
 * Sends a request. On an error the session is ended, and its pending operations fail. 0 or -errno.
 */
int gp_ward_send(struct gp_holders *h, struct gp_ward *w, struct gp_holder_request *r);
/* Ends the session, so the queues run. The ward is kept until the session has ended. */
void gp_ward_close(struct gp_holders *h, struct gp_ward *w);
/* Removes a ward from the list and drops its events. It is freed later. */
void gp_ward_forget(struct gp_holders *h, struct gp_ward *w);
void gp_ward_free(struct gp_holders *h, struct gp_ward *w);
void gp_ward_read(struct gp_holders *h, struct gp_ward *w);
void gp_hold_user_read(struct gp_holders *h, struct gp_hold_user *u);
void gp_holders_own_role(struct gp_holders *h);
/* Starts and ends holders, attaches, detaches, renews leases. Sets the time of its next call. */
void gp_holders_tend(struct gp_holders *h, u64 now);
void gp_hold_user_drop(struct gp_holders *h, struct gp_hold_user *u);

/* holders_act.c */
extern const struct gp_mechanism_ops gp_holders_ops;
void gp_hold_act_clear(struct gp_holders *h, u32 device);
/* Takes the reply to one of the ward's operations: @err and the driver's times. */
void gp_ward_replied(struct gp_holders *h, struct gp_ward *w, const struct gp_holder_reply *m);
/* Detaches a ward whose lease ended although it should be off. It runs. */
void gp_ward_expired(struct gp_holders *h, struct gp_ward *w);
/* Ends the pending operations of a ward with @err, because its session is gone. */
void gp_ward_fail_ops(struct gp_holders *h, struct gp_ward *w, int err);
/* Handles the deadlines that have passed at @now. */
void gp_holders_time_out(struct gp_holders *h, u64 now);
u64 gp_holders_deadline(const struct gp_holders *h);

#endif /* GP_DAEMON_HOLDERS_PRIVATE_H */
