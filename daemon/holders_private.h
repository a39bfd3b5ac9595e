/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the files of holders.h share: holders.c (life, tasks, events), holders_users.c (holder
 * processes and sessions) and holders_act.c (actions).
 */
#ifndef GP_DAEMON_HOLDERS_PRIVATE_H
#define GP_DAEMON_HOLDERS_PRIVATE_H

#include "children.h"
#include "core/param.h"
#include "holder.h"
#include "holders.h"

enum {
	GP_HOLDERS_GPUS		= 64,
	GP_HOLDERS_MESSAGES	= 32,	/* of one channel that are read in one run */
};

/* Processes take turns in each of these lines. */
enum { GP_LINE_ATTACH, GP_LINE_LEAVE, GP_HOLDERS_LINES };

struct gp_hold_task {
	u32 number;
	u32 refs;		/* the table's, its wards', its moves' */
	u64 devices;
	bool gone;		/* deleted: it is not answered any more */
};

/* What a descriptor in the epoll is. */
enum gp_hold_source { GP_SOURCE_SUPERVISOR, GP_SOURCE_BELL, GP_SOURCE_USER, GP_SOURCE_WARD };

/* A user with processes that may be stopped, and this user's holder. */
struct gp_hold_user {
	u32 source;		/* GP_SOURCE_USER, first */
	struct gp_hold_user *next;
	uid_t uid;
	u64 child;		/* of children.h; 0: no holder */
	int control;		/* -1: it is gone, or there is none */
	u32 nr_wards, nr_asks;
	u32 nr_stuck;		/* sessions that hang, as its holder says */
	u32 nr_hung;		/* the same, as actions have shown */
	bool trouble;		/* gp_holders_in_trouble() */
	u64 started_ns;
	u64 not_before_ns;	/* no holder is started before */
	u64 backoff_ns;
	u64 closed_ns;		/* when it closed @control, which only its end does */
	u64 idle_ns;		/* since then it has nothing to do */
	u64 turn_ns[GP_HOLDERS_LINES];	/* when it had one last */
	u64 hung_ns;		/* when the driver hung on one of its processes last */
	u64 hung_wait_ns;	/* no process of it is attached for so long after that */
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
	GP_WARD_LEAVING,	/* to be left */
	GP_WARD_CLOSING,	/* told to leave: the end of the channel says that it has */
	GP_WARD_DEAD,		/* freed when all descriptors have been served */
};

/* A request to a session that is not answered yet. */
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
	bool follows;		/* an earlier session of the process may not have ended */
	int channel;
	u64 wanted;		/* devices on which it is to be off */
	u64 renew_ns;		/* when its lease is to be renewed */
	bool lapses;		/* it is not: a release has failed */
	u64 closing_ns;		/* since when */
	u64 hung;		/* devices of calls that it was given up for */
	struct gp_hold_op *ops;
	struct kfd_queue_snapshot_entry *queues;
	u32 nr_queues, room_queues;
	/* What happened and was not fetched yet: a bit for each kind, and the sums of each. */
	u32 news;
	struct gp_holders_event event[GP_HOLDERS_WHATS];
	bool in_news;		/* it is in the list of wards with news */
	struct gp_ward *next_news;
};

/* One task of an action: on its way out or in. */
struct gp_move {
	struct gp_move *next;	/* of all that are not over */
	u32 refs;		/* the list's, the action's, its operations' */
	u64 action;
	u64 deadline_ns;	/* if @timed_out: when it did */
	u32 device;
	struct gp_hold_task *task;	/* with a reference */
	u32 pending;		/* operations */
	bool out, begun, undoing, over;
	bool timed_out;		/* answered so; the real answer comes late */
	int err;
	struct gp_answer times;
	u64 begun_ns;
};

struct gp_hold_action {
	u64 id;			/* 0: nothing is under way */
	u64 deadline_ns;
	u64 replied_ns;		/* when the driver did one of its operations last; 0: none yet */
	u32 nr, nr_out, open;	/* moves; those without an answer */
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
		u64 replied_ns;	/* when the driver did something there last */
	} device[GP_HOLDERS_GPUS];
	struct gp_hold_task **tasks;	/* by number */
	u32 room_tasks;
	struct gp_ward *wards;
	struct gp_hold_user *users;
	struct gp_move *moves;
	struct gp_hold_ask *asks;
	u64 serial;
	u32 troubles;		/* how often gp_holders_in_trouble() changed */
	u64 next_turn_ns[GP_HOLDERS_LINES];
	u64 tend_at_ns;		/* when something is due */
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
/* Something may be due at @ns. */
void gp_holders_due(struct gp_holders *h, u64 ns);
/* Takes what has been said, and does what is due. */
void gp_holders_run(struct gp_holders *h);
/* gp_holders_fd() is readable exactly if there is something to fetch. */
void gp_holders_ring(struct gp_holders *h);

/* holders_users.c */
int gp_hold_user_get(struct gp_holders *h, uid_t uid, struct gp_hold_user **ret);
/* 0, or -errno: then the session is ended, and everything that waits for it is told. */
int gp_ward_send(struct gp_holders *h, struct gp_ward *w, struct gp_holder_request *r);
/* Ends its session: its queues run. The ward is there until the session has ended. */
void gp_ward_close(struct gp_holders *h, struct gp_ward *w);
/* No more is heard of it. It is not in the list any more, and freed later. */
void gp_ward_forget(struct gp_holders *h, struct gp_ward *w);
void gp_ward_free(struct gp_holders *h, struct gp_ward *w);
void gp_ward_read(struct gp_holders *h, struct gp_ward *w);
void gp_hold_user_read(struct gp_holders *h, struct gp_hold_user *u);
void gp_holders_own_role(struct gp_holders *h);
/* Holders, attaches, detaches, renewals. Sets when it is to be called next. */
void gp_holders_tend(struct gp_holders *h, u64 now);
void gp_hold_user_drop(struct gp_holders *h, struct gp_hold_user *u);

/* holders_act.c */
extern const struct gp_mechanism_ops gp_holders_ops;
void gp_hold_act_clear(struct gp_holders *h, u32 device);
/* The reply to one of its operations: @err and the driver's times. */
void gp_ward_replied(struct gp_holders *h, struct gp_ward *w, const struct gp_holder_reply *m);
/* Its lease ended although it is wanted off: it runs, and is left. */
void gp_ward_expired(struct gp_holders *h, struct gp_ward *w);
/* The session is gone: what is under way ends with @err. */
void gp_ward_fail_ops(struct gp_holders *h, struct gp_ward *w, int err);
/* Deadlines by @now. */
void gp_holders_time_out(struct gp_holders *h, u64 now);
u64 gp_holders_deadline(const struct gp_holders *h);

#endif /* GP_DAEMON_HOLDERS_PRIVATE_H */
