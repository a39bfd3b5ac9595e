/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Shared by the files of the decider's side of the readers.
 *
 *	readers.c		users and their readers: start, tell, judge, abandon
 *	readers_events.c	messages and samples of the readers
 */
#ifndef GP_DAEMON_READERS_INTERNAL_H
#define GP_DAEMON_READERS_INTERNAL_H

#include "core/param.h"
#include "reader.h"
#include "readers.h"

/* The kind of a descriptor in the epoll, in the low bits; the user's index is above it. */
enum gp_readers_descriptor { GP_READERS_CHANNEL, GP_READERS_WAKE, GP_READERS_OLD, GP_READERS_NR };

struct gp_readers_user;

/* A queue to read. */
struct gp_wanted_slot {
	struct gp_watch *of;	/* NULL: unused */
	u32 generation;
	u32 wake;
	bool given;		/* the reader has this slot in use */
	bool told;		/* the reader has the present order for it */
	struct gp_ring_pointers ring;
};

struct gp_watch {
	struct gp_readers_user *user;
	struct gp_watch *next;
	struct gp_reader_target who;
	u32 nr;
	u32 *slots;
};

struct gp_readers_question {
	struct gp_reader_target who;
	u64 number;
	u64 sent_ns;		/* 0: it waits */
	int failed;		/* an errno for next() to report; 0 */
};

struct gp_readers_user {
	bool used;
	uid_t uid;
	u32 state, told_state;	/* enum gp_reader_state */

	/* its reader */
	u64 id;
	int channel, wakefd;	/* -1: none */
	const struct gp_reader_page *page;
	struct {
		u64 id;
		int channel;
	} stuck[GP_READERS_STUCK];
	u32 nr_stuck;

	/* times */
	u64 looks;		/* the heartbeat as last seen */
	u64 beat_ns;		/* when it changed */
	u64 started_ns, late_ns, good_ns, idle_ns;
	u64 retry_at_ns, retry_ns;

	/* the wanted state, and how much of it the reader has */
	struct gp_watch *watches;
	u32 nr_watches;
	struct gp_wanted_slot *slot;	/* GP_READER_SLOTS */
	u32 nr_slots;		/* one more than the highest ever used */
	u32 untold;
	u64 interval_ns;
	bool interval_told;
	u64 look_asked, look_told, look_done, look_ns;
	struct gp_readers_question question[GP_READERS_ASKED];
	u32 nr_questions;
	u64 last_question;
	bool blocked;		/* the channel is full */

	/* for next() */
	bool readable, woken, looked;
	u32 budget;
};

struct gp_readers {
	struct gp_readers_args args;
	int epoll;
	u64 now_ns, wake_ns;
	u64 last_id;
	bool dirty;		/* some user needs tend() */
	bool busy;		/* next() may have something */
	u32 nr_users, cursor;
	struct gp_readers_user *user;	/* GP_READERS_USERS */
	struct {
		bool asked, sent, done;
		pid_t only;
		u64 ns, number;
		int error;
		struct gp_mqd_list list;
	} dump;
	struct gp_readers_stats stats;
	struct gp_report report;	/* the last one that next() received */
};

static inline u64 gp_readers_later(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Returns how long a look of the reader of @u may take. */
static inline u64 gp_readers_limit(const struct gp_readers *rs, const struct gp_readers_user *u)
{
	return gp_readers_later(rs->args.late_ns, rs->args.late_intervals * u->interval_ns);
}

/* readers.c */

struct gp_readers_user *gp_readers_find(const struct gp_readers *rs, uid_t uid);
/* Kills the reader of @u. It may be stuck in the kernel; its channel closes when it ends. */
void gp_readers_abandon(struct gp_readers *rs, struct gp_readers_user *u);
/* Handles the end of the channel of the reader of @u. */
void gp_readers_ended(struct gp_readers *rs, struct gp_readers_user *u);

/* readers_events.c */

/* Reads from the page whether the reader of @u did a look, and which LOOK it answered. */
void gp_readers_beat(struct gp_readers *rs, struct gp_readers_user *u);

#endif /* GP_DAEMON_READERS_INTERNAL_H */
